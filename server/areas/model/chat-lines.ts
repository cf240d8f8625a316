import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { streamCodes } from '#contract/page-errors.ts';
import { textOf } from '#common/chat-message.ts';
import { channelFault } from '#server/engines/channel-fault.ts';
import { type ChatEngine, EngineError } from '#server/engines/chat-engine.ts';
import {
  type Adjusted,
  type ChatBody,
  type ChatRelay,
  RelayError,
  type RelayEvent,
} from '#server/engines/chat-relay.ts';
import { traced } from '#server/tracing.ts';
import { NoRoom, roomWait } from './channel-room.ts';
import type { Form } from './first-words.ts';
import type { KeyMark } from './channel-figures.store.ts';
import type { LineHealth } from './line-health.ts';
import { race } from './line-race.ts';

/** One key of one channel, as a way to a model. */
export interface Line<E> {
  channelId: number;
  engine: E;
  upstreamName: string;
  /** Names the service for people. */
  label: string;
  key: KeyMark;
  /** Calls that all processes together may have running at its channel; null: any number. */
  parallel: number | null;
  /** Asks the service, without the question, whether it takes the key; null: nobody can tell. */
  takesKey: (() => Promise<boolean | null>) | null;
}

export interface LineCall {
  /** As people know it. */
  model: string;
  userId: number;
  /** What a check finds in it may be kept with its case. */
  keep?: boolean;
  /** What one waits at most for the first word of one line, ms. */
  firstMs: number;
  /** Nobody is asked anew once it is aborted; left out: the signal of what is asked. */
  gone?: AbortSignal;
  /** How a program's request is put to a service, by the words that it speaks. */
  words?: {
    /** Why it cannot be put to one; null: it can. */
    unable: (kind: ChatRelay['kind']) => Error | null;
    of: (body: ChatBody, kind: ChatRelay['kind']) => ChatBody;
  };
  /** It is asked now, or it is the one that answers: then with what its words change of the request. */
  onLine?: (line: { channelId: number; label: string; adjusted?: Adjusted | null }) => void;
}

/** Those of one channel that are asked in one call at most: a hundred dead keys keep nobody waiting. */
const mostKeys = 5;

const few = <E>(lines: readonly Line<E>[]): Line<E>[] => {
  const counts = new Map<number, number>();
  return lines.filter(({ channelId }) => {
    const count = (counts.get(channelId) ?? 0) + 1;
    counts.set(channelId, count);
    return count <= mostKeys;
  });
};

interface Asked {
  form: Form;
  /** Characters of the question. */
  size: number;
  signal: AbortSignal;
  /** Its request was refused, or given up: nobody bills for it. */
  onRefused?: () => void;
}

type Attempt<E, T> = (line: Line<E>, signal: AbortSignal, first: () => boolean) => Promise<T>;

/** One request to a channel as a span, named as OpenTelemetry's conventions have it. */
const tracedAttempt =
  <E, T>(attempt: Attempt<E, T>): Attempt<E, T> =>
  (line, signal, first) => {
    const about = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': line.upstreamName,
      'queqiao.channel': line.channelId,
    };
    return traced(`chat ${line.upstreamName}`, about, (span) => {
      let spoke = false;
      return attempt(line, signal, () => {
        const wins = first();
        if (!spoke) span.addEvent(wins ? 'first word' : 'too late');
        spoke = true;
        return wins;
      });
    });
  };

/** Takes one of the places of a line's channel for its attempt. @throws NoRoom */
const inRoom =
  <E, T>(health: LineHealth, full: Set<number>, attempt: Attempt<E, T>): Attempt<E, T> =>
  async (line, signal, first) => {
    const { channelId, parallel } = line;
    if (parallel === null) return attempt(line, signal, first);
    const leave = full.has(channelId) ? null : await health.enter(channelId, parallel);
    if (!leave) {
      full.add(channelId);
      throw new NoRoom();
    }
    try {
      signal.throwIfAborted();
      return await attempt(line, signal, first);
    } finally {
      leave();
    }
  };

/** What is known of a call while its lines are asked. */
interface Course<E> {
  winner: Line<E> | null;
  /** The last failure that says something of a service. */
  failure: Error | null;
  /** No other line is to be asked. */
  hopeless: boolean;
  since: Map<Line<E>, number>;
}

/** One attempt failed: what that says of its line, and who is asked next. */
const judge = <E>(
  { call, health, log }: LinesDeps<E>,
  { asked, course }: { asked: Asked; course: Course<E> },
  { line, error, first }: { line: Line<E>; error: Error; first: boolean },
): { retriable: boolean; sameChannel: boolean } => {
  if (error instanceof NoRoom) return { retriable: true, sameChannel: false };
  const { form, size } = asked;
  const fault = channelFault(error);
  const ms = performance.now() - (course.since.get(line) ?? 0);
  const note = { model: call.model, userId: call.userId, form, size };
  health.failed(line, note, fault, ms, error.message);
  if (!first) asked.onRefused?.();
  const known = error instanceof EngineError || error instanceof RelayError;
  if (!known) log.error({ err: error, channel: line.channelId }, 'an engine broke');
  else if (fault.kind !== 'asker')
    log.warn(
      { channel: line.channelId, kind: fault.kind, status: fault.status },
      'a channel failed',
    );
  course.failure = error;
  course.hopeless = known && !error.retriable && error.askerAtFault;
  const sameChannel = ['key', 'money', 'doubt', 'full'].includes(fault.kind);
  return { retriable: !course.hopeless, sameChannel };
};

/** Asks lines until one answers; those whose channels are full are noted in `full`. */
const askLines = <E, T>(
  deps: LinesDeps<E>,
  asked: Asked,
  course: Course<E>,
  {
    lines,
    full,
    attempt,
    silence,
  }: { lines: Line<E>[]; full: Set<number>; attempt: Attempt<E, T>; silence: () => Error },
): Promise<T> => {
  const { call, health } = deps;
  const { form, size, signal } = asked;
  const { model } = call;
  const note = { model, userId: call.userId, form, size };
  return race({
    lines,
    signal,
    gone: call.gone ?? signal,
    patience: ({ channelId }) =>
      health.words.patience(channelId, model, form, { size, longestMs: call.firstMs }),
    mayHedge: () => health.words.takeHedge(model),
    attempt: inRoom(health, full, tracedAttempt(attempt)),
    silence,
    asked: (line) => {
      course.since.set(line, performance.now());
      call.onLine?.(line);
    },
    won: (line, waited) => {
      course.winner = line;
      health.spoke(line, note, waited);
      call.onLine?.(line);
    },
    lost: (line, waited) => health.lost(line, note, waited),
    failed: (line, error, first) => judge(deps, { asked, course }, { line, error, first }),
  });
};

const run = async <E, T>(
  deps: LinesDeps<E>,
  asked: Asked,
  attempt: Attempt<E, T>,
  { silence, crowded }: { silence: () => Error; crowded: () => Error },
): Promise<T> => {
  const { call, health } = deps;
  const { form, size, signal } = asked;
  const note = { model: call.model, userId: call.userId, form, size };
  const course: Course<E> = { winner: null, failure: null, hopeless: false, since: new Map() };
  const onGone = (): void => {
    const { reason } = signal as { reason: unknown };
    const late = reason instanceof EngineError || reason instanceof RelayError;
    const { winner, since } = course;
    // Whoever asked gave up waiting for its next word.
    if (late && winner) {
      const ms = performance.now() - (since.get(winner) ?? 0);
      health.failed(winner, note, channelFault(reason), ms, reason.message);
    }
  };
  signal.addEventListener('abort', onGone, { once: true });
  try {
    let lines = await health.order(call.model, few(deps.lines), call.userId);
    const until = performance.now() + roomWait.longest;
    for (;;) {
      const full = new Set<number>();
      try {
        const answer = await askLines(deps, asked, course, { lines, full, attempt, silence });
        if (course.winner) health.answered(course.winner, note);
        return answer;
      } catch (error) {
        lines = lines.filter(({ channelId }) => full.has(channelId));
        if (course.winner || course.hopeless || signal.aborted || lines.length === 0) throw error;
        if (performance.now() > until) throw course.failure ?? crowded();
        // Nobody else is left: a place becomes free when a call ends, in whichever process.
        await sleep(roomWait.every);
      }
    }
  } finally {
    signal.removeEventListener('abort', onGone);
  }
};

export interface LinesDeps<E> {
  lines: readonly Line<E>[];
  call: LineCall;
  health: LineHealth;
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>;
}

const nothingSaid = () => new EngineError('empty', streamCodes.empty, { retriable: true });

/** All lines of a model as one engine, which answers as long as one of them does. */
export const engineOfLines = (deps: LinesDeps<ChatEngine>): ChatEngine => ({
  write: (request, take) =>
    run(
      deps,
      {
        form: 'stream',
        size: request.messages.reduce((sum, { content }) => sum + textOf(content).length, 0),
        signal: request.signal,
        ...(request.onRefused && { onRefused: request.onRefused }),
      },
      async ({ engine, upstreamName }, signal, first) => {
        let said = false;
        await engine.write({ ...request, model: upstreamName, signal }, (parts) => {
          said ||= parts.some((part) => part.kind !== 'usage');
          if (said && first()) take(parts);
        });
        if (!said) throw nothingSaid();
      },
      {
        silence: () => new EngineError('timeout', streamCodes.timeout, { retriable: true }),
        crowded: () =>
          new EngineError('rate_limited', streamCodes.rate_limited, { retriable: true }),
      },
    ),
});

/** The service said nothing for too long. */
export const tooLate = () =>
  new RelayError('模型长时间没有回应，请重试', { status: 504, code: 'timeout', retriable: true });

const noRoom = () =>
  new RelayError('模型服务繁忙，请稍后重试', {
    status: 429,
    code: 'rate_limit_exceeded',
    retriable: true,
  });

const empty = () =>
  new RelayError('模型没有返回内容，请重试', { status: 502, code: 'empty', retriable: true });

const hasMore = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== null && value !== undefined && value !== '';

/** Whether an event says something: the role that many begin with comes before the model has begun. */
const isWord = ({ chunk }: RelayEvent): boolean => {
  const [choice] = (chunk['choices'] ?? []) as {
    delta?: Record<string, unknown> | null;
    finish_reason?: unknown;
  }[];
  if (!choice) return false;
  // An answer that stops without a word is none, unless it had no room for one.
  if (hasMore(choice.finish_reason) && choice.finish_reason !== 'stop') return true;
  return Object.entries(choice.delta ?? {}).some(
    ([name, value]) => name !== 'role' && hasMore(value),
  );
};

const isEmpty = (error: unknown): boolean => error instanceof RelayError && error.code === 'empty';

/** Whether a whole answer stopped without a word. */
const saysNothing = (answer: Record<string, unknown>): boolean => {
  const choices = (answer['choices'] ?? []) as {
    message?: Record<string, unknown> | null;
    finish_reason?: unknown;
  }[];
  return !choices.some(
    ({ message, finish_reason: finish }) =>
      (hasMore(finish) && finish !== 'stop') ||
      Object.entries(message ?? {}).some(([name, value]) => name !== 'role' && hasMore(value)),
  );
};

/** The same for what programs ask in OpenAI's words. */
export const relayOfLines = (given: LinesDeps<ChatRelay>): ChatRelay => {
  const { words } = given.call;
  /** Those that can be asked this. @throws what the first of them cannot do, where none can do it */
  const able = (body: ChatBody): LinesDeps<ChatRelay> => {
    const reasons = given.lines.map(
      ({ engine }) => words?.unable(engine.kind) ?? engine.unable?.(body) ?? null,
    );
    const lines = given.lines.filter((_, at) => reasons[at] === null);
    const [reason] = reasons;
    if (lines.length === 0 && reason) throw reason;
    return { ...given, lines, call: { ...given.call, onLine } };
  };
  /** What the words of channels change of the request. */
  const changed = new Map<number, Adjusted | null>();
  const put = (body: ChatBody, { channelId, engine, upstreamName }: Line<ChatRelay>): ChatBody => {
    const asked = { ...body, model: upstreamName };
    changed.set(channelId, engine.adjusts?.(asked) ?? null);
    return words?.of(asked, engine.kind) ?? asked;
  };
  const onLine: LineCall['onLine'] = ({ channelId, label }) =>
    given.call.onLine?.({ channelId, label, adjusted: changed.get(channelId) ?? null });
  const sizeOf = (messages: readonly Record<string, unknown>[]): number =>
    messages.reduce((sum, { content }) => {
      if (typeof content === 'string') return sum + content.length;
      const parts = Array.isArray(content) ? (content as { text?: unknown }[]) : [];
      return parts.reduce(
        (all, { text }) => all + (typeof text === 'string' ? text.length : 0),
        sum,
      );
    }, 0);
  return {
    async complete(body, signal) {
      const deps = able(body);
      let wordless: Record<string, unknown> | null = null;
      try {
        return await run(
          deps,
          { form: 'whole', size: sizeOf(body.messages), signal },
          async (line, own) => {
            const answer = await line.engine.complete(put(body, line), own);
            if (saysNothing(answer)) {
              wordless = answer;
              throw empty();
            }
            return answer;
          },
          { silence: tooLate, crowded: noRoom },
        );
      } catch (error) {
        if (isEmpty(error) && wordless) return wordless;
        throw error;
      }
    },
    async stream(body, signal, take) {
      const deps = able(body);
      let wordless: RelayEvent[] = [];
      try {
        await run(
          deps,
          { form: 'stream', size: sizeOf(body.messages), signal },
          async (line, own, first) => {
            let held: RelayEvent[] = [];
            let said = false;
            await line.engine.stream(put(body, line), own, (events) => {
              if (said) return first() ? take(events) : undefined;
              held = [...held, ...events];
              said = held.some(isWord);
              if (!said || !first()) return undefined;
              const all = held;
              held = [];
              return take(all);
            });
            if (said) return;
            wordless = held;
            throw empty();
          },
          { silence: tooLate, crowded: noRoom },
        );
      } catch (error) {
        // Nobody has a word to say to it: that is what is told.
        if (!isEmpty(error)) throw error;
        if (wordless.length > 0) await take(wordless);
      }
    },
  };
};
