import { setTimeout as wait } from 'node:timers/promises';
import type { ChatEngine } from './chat-engine.ts';
import { answer, type Handbook } from '../../packages/assistant/answer.ts';

/** Letters of one part. */
const partLetters = 6;

const segmenter = new Intl.Segmenter('zh', { granularity: 'grapheme' });

/** Cuts a text into parts of a few letters, never through one that is made of several code points. */
function* pieces(text: string): Generator<string> {
  let piece = '';
  let count = 0;
  for (const { segment } of segmenter.segment(text)) {
    piece += segment;
    count += 1;
    if (count < partLetters) continue;
    yield piece;
    piece = '';
    count = 0;
  }
  if (piece !== '') yield piece;
}

/**
 * 内置助手: answers without any outside service. It is no neural model and says so; it costs nothing,
 * so its usage is zero.
 * @param deps.rate letters a second, as fast as one reads along; 0: all at once
 */
export const createBuiltInEngine = (deps: { help: () => Handbook; rate: number }): ChatEngine => ({
  async write({ messages, signal }, take) {
    signal.throwIfAborted();
    const text = answer(messages, { help: deps.help(), now: new Date() });
    const pauseMs = deps.rate > 0 ? (partLetters / deps.rate) * 1000 : 0;
    let isFirst = true;
    for (const piece of pieces(text)) {
      if (!isFirst && pauseMs > 0) {
        try {
          await wait(pauseMs, undefined, { signal });
        } catch {
          throw signal.reason;
        }
      }
      isFirst = false;
      take([{ kind: 'text', text: piece }]);
    }
    take([{ kind: 'usage', promptTokens: 0, completionTokens: 0 }]);
  },
});
