import { streamCodes } from '#contract/errors.ts';
import {
  type ChatEngine,
  type ChatPart,
  type ChatRequest,
  EngineError,
} from '#server/engines/chat-engine.ts';
import type { Checked, SafetyService } from './safety.service.ts';

/**
 * Letters of a window: some 20 tokens where words alone are looked for, more where somebody far away
 * is asked about each. Nothing of a window is handed on before it is judged, so that of a bad one
 * nothing is seen, and nothing of it is paid for.
 */
const windows = { words: 24, held: 160 } as const;
/** Letters from before a window that are judged with it: what is bad may begin there. */
const overlap = 40;

const blocked = (reason: string, what: string): EngineError =>
  new EngineError(
    'blocked',
    reason === ''
      ? `${what}${streamCodes.blocked}`
      : `${what}没有通过内容安全检查（${reason}），没有显示的部分不计费`,
    { retriable: false, askerAtFault: true },
  );

const lastQuestion = ({ messages }: ChatRequest): string => {
  const last = [...messages].reverse().find(({ role }) => role === 'user');
  if (!last) return '';
  if (typeof last.content === 'string') return last.content;
  return (last.content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('\n');
};

const wordsIn = (parts: readonly ChatPart[]): string =>
  parts
    .map((part) => (part.kind === 'text' || part.kind === 'reasoning' ? part.text : ''))
    .join('');

/** An engine whose questions and answers are checked. */
export const guarded = (
  engine: ChatEngine,
  safety: Pick<SafetyService, 'checkText' | 'manner'>,
  of: Checked,
): ChatEngine => ({
  write: async (request, take) => {
    const asked = await safety.checkText('in', lastQuestion(request), of);
    if (asked.level === 'refuse') throw blocked(asked.reason, '问题');
    const manner = await safety.manner();
    if (manner === 'none') return engine.write(request, take);
    const stop = new AbortController();
    let bad: EngineError | null = null;
    let before = '';
    let open: ChatPart[] = [];
    let size = 0;
    let chain: Promise<void> = Promise.resolve();
    /** One doubtful window of an answer is enough to have somebody look at it. */
    let noted = asked.level === 'review';

    const judged = async (earlier: Promise<void>, parts: ChatPart[]): Promise<void> => {
      await earlier;
      if (bad) return;
      const words = wordsIn(parts);
      const verdict = await safety.checkText('out', before + words, { ...of, noted });
      noted ||= verdict.level === 'review';
      if (verdict.level === 'refuse') {
        bad = blocked(verdict.reason, '回复');
        stop.abort(bad);
        return;
      }
      before = (before + words).slice(-overlap);
      take(parts);
    };
    const judge = (): void => {
      chain = judged(chain, open);
      open = [];
      size = 0;
      chain.catch((error: unknown) => stop.abort(error));
    };
    try {
      await engine.write(
        { ...request, signal: AbortSignal.any([request.signal, stop.signal]) },
        (parts) => {
          open.push(...parts);
          size += wordsIn(parts).length;
          if (size >= windows[manner]) judge();
        },
      );
    } catch (error) {
      // What was written before it broke is judged and handed on, as without a guard.
      if (!bad && !request.signal.aborted) {
        if (open.length > 0) judge();
        await chain;
      }
      throw bad ?? error;
    }
    if (open.length > 0) judge();
    await chain;
    // Set by the windows meanwhile.
    const found = bad as EngineError | null;
    if (found) throw found;
  },
});
