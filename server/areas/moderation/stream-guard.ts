import { streamCodes } from '#contract/page-errors.ts';
import {
  type ChatEngine,
  type ChatPart,
  type ChatRequest,
  EngineError,
} from '#server/engines/chat-engine.ts';
import {
  type ChatBody,
  type ChatRelay,
  RelayError,
  type RelayEvent,
} from '#server/engines/chat-relay.ts';
import { producedBy } from '#server/engines/produced.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { Checked, SafetyService, Verdict } from './safety.service.ts';

/**
 * Letters of a window: some 20 tokens where words alone are looked for, more where somebody far away
 * is asked about each. Nothing of a window is handed on before it is judged, so that of a bad one
 * nothing is seen, and nothing of it is paid for.
 */
const windows = { words: 24, held: 160 } as const;
/** Letters from before a window that are judged with it: what is bad may begin there. */
const overlap = 40;

type Checks = Pick<SafetyService, 'checkText' | 'manner'>;
type Refuse = (reason: string, what: string) => Error;

const sentence = (reason: string, what: string): string =>
  reason === ''
    ? `${what}${streamCodes.blocked}`
    : `${what}没有通过内容安全检查（${reason}），没有显示的部分不计费`;

const engineRefusal: Refuse = (reason, what) =>
  new EngineError('blocked', sentence(reason, what), { retriable: false, askerAtFault: true });
const relayRefusal: Refuse = (reason, what) =>
  new RelayError(sentence(reason, what), {
    status: 400,
    code: 'content_filter',
    retriable: false,
    askerAtFault: true,
  });

/** What a stream says of a refusal. */
const inStream = (error: unknown): never => {
  if (!(error instanceof Refusal)) throw error;
  throw new EngineError('rate_limited', error.message, { retriable: false, askerAtFault: true });
};

const lastQuestion = (messages: ChatRequest['messages'] | ChatBody['messages']): string => {
  const last = [...messages].reverse().find(({ role }) => role === 'user');
  const content = last?.content;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as { type?: unknown; text?: unknown }[])
    .map(({ type, text }) => (type === 'text' && typeof text === 'string' ? text : ''))
    .join('\n');
};

const wordsIn = (parts: readonly ChatPart[]): string =>
  parts
    .map((part) => (part.kind === 'text' || part.kind === 'reasoning' ? part.text : ''))
    .join('');

const wordsOf = (events: readonly RelayEvent[]): string =>
  events.map(({ chunk }) => producedBy(chunk)).join('');

/** @throws what `refuse` makes, where the question is refused; Refusal too_many */
const checkQuestion = async (
  safety: Checks,
  of: Checked,
  question: string,
  refuse: Refuse,
): Promise<Verdict> => {
  const asked = await safety.checkText('in', question, of);
  if (asked.level === 'refuse') throw refuse(asked.reason, '问题');
  return asked;
};

interface Judging<T> {
  safety: Checks;
  of: Checked;
  /** Somebody looks at the question already. */
  noted: boolean;
  /** Letters that make a window. */
  size: number;
  words: (items: readonly T[]) => string;
  take: (items: T[]) => Promise<void> | void;
  refuse: Refuse;
}

/**
 * Runs what writes an answer; what comes of it is handed on window by window, each once it is judged.
 * What came before it breaks is judged and handed on, too, unless the asker has gone.
 * @throws what `write` throws, or what `refuse` makes of a bad window
 */
const inWindows = async <T>(
  judging: Judging<T>,
  signal: AbortSignal,
  write: (signal: AbortSignal, take: (items: T[]) => Promise<void> | undefined) => Promise<void>,
): Promise<void> => {
  const { safety, of, words, take, refuse } = judging;
  const stop = new AbortController();
  const found: { bad: Error | null } = { bad: null };
  let { noted } = judging;
  let before = '';
  let open: T[] = [];
  let size = 0;
  let chain: Promise<void> = Promise.resolve();

  const judged = async (earlier: Promise<void>, items: T[]): Promise<void> => {
    await earlier;
    if (found.bad || signal.aborted) return;
    const text = words(items);
    const verdict = await safety.checkText('out', before + text, { ...of, noted, signal });
    // One doubtful window of an answer is enough to have somebody look at it.
    noted ||= verdict.level === 'review';
    if (verdict.level === 'refuse') {
      found.bad = refuse(verdict.reason, '回复');
      stop.abort(found.bad);
      return;
    }
    before = (before + text).slice(-overlap);
    await take(items);
  };
  const judge = (): Promise<void> => {
    chain = judged(chain, open);
    open = [];
    size = 0;
    chain.catch((error: unknown) => stop.abort(error));
    return chain;
  };
  try {
    await write(AbortSignal.any([signal, stop.signal]), (items) => {
      open.push(...items);
      size += words(items).length;
      return size >= judging.size ? judge() : undefined;
    });
  } catch (error) {
    if (!found.bad && !signal.aborted) {
      if (open.length > 0) void judge();
      await chain;
    }
    throw found.bad ?? error;
  }
  if (open.length > 0) void judge();
  await chain;
  if (found.bad) throw found.bad;
};

/** An engine whose questions and answers are checked. */
export const guarded = (engine: ChatEngine, safety: Checks, of: Checked): ChatEngine => ({
  write: async (request, take) => {
    const question = lastQuestion(request.messages);
    const asking = { ...of, signal: request.signal };
    const asked = await checkQuestion(safety, asking, question, engineRefusal).catch(inStream);
    const manner = await safety.manner();
    if (manner === 'none') return engine.write(request, take);
    const noted = asked.level === 'review';
    const size = windows[manner];
    return inWindows(
      { safety, of, noted, size, words: wordsIn, take, refuse: engineRefusal },
      request.signal,
      (signal, hold) => engine.write({ ...request, signal }, (parts) => void hold(parts)),
    );
  },
});

/** The same of what passes a completion on for a program. */
export const guardedRelay = (relay: ChatRelay, safety: Checks, of: Checked): ChatRelay => ({
  ...relay,
  complete: async (body, signal) => {
    const question = lastQuestion(body.messages);
    const { level } = await checkQuestion(safety, { ...of, signal }, question, relayRefusal);
    const answer = await relay.complete(body, signal);
    const noted = level === 'review';
    const said = await safety.checkText('out', producedBy(answer), { ...of, noted });
    if (said.level === 'refuse') throw relayRefusal(said.reason, '回复');
    return answer;
  },
  stream: async (body, signal, take) => {
    const question = lastQuestion(body.messages);
    const asked = await checkQuestion(safety, { ...of, signal }, question, relayRefusal);
    const manner = await safety.manner();
    if (manner === 'none') return relay.stream(body, signal, take);
    const noted = asked.level === 'review';
    const size = windows[manner];
    return inWindows(
      { safety, of, noted, size, words: wordsOf, take, refuse: relayRefusal },
      signal,
      (joined, hold) => relay.stream(body, joined, hold),
    );
  },
});
