import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ChatEngine, ChatRequest } from '#server/engines/chat-engine.ts';
import { guarded } from './stream-guard.ts';

/** A model goes on writing while it is judged what it wrote: so many tokens at most. */
const mostTokens = 40;
const bad = '赌博网站';
const good = '好好好';

const request = (): ChatRequest => ({
  model: 'm',
  messages: [{ role: 'user', content: '怎样种树' }],
  temperature: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  maxTokens: 4_000,
  signal: new AbortController().signal,
});

test.each([
  // Words are looked for at once, in windows of some 20 tokens; a service takes its time over more.
  { manner: 'words', judgeMs: 0, tokenMs: 0, window: 24 },
  { manner: 'held', judgeMs: 120, tokenMs: 5, window: 160 },
] as const)(
  'a stream that turns bad is stopped soon after its first bad window ($manner)',
  async ({ manner, judgeMs, tokenMs, window }) => {
    for (const before of manner === 'words' ? [0, 3, 5, 7, 8, 40, 200] : [0, 53]) {
      let written = '';
      let tokens = 0;
      let stopped = false;
      const engine: ChatEngine = {
        write: async ({ signal }, take) => {
          while (tokens < 2_000) {
            if (signal.aborted) {
              stopped = true;
              throw signal.reason;
            }
            // The bad word comes one letter a token, as rare words do.
            const text = tokens >= before && tokens < before + 4 ? bad[tokens - before]! : good;
            written += text;
            tokens += 1;
            take([{ kind: 'text', text }]);
            await sleep(tokenMs);
          }
        },
      };
      const safety = {
        manner: () => Promise.resolve(manner),
        checkText: async (_way: 'in' | 'out', text: string) => {
          await sleep(judgeMs);
          const level = text.includes(bad) ? ('refuse' as const) : ('pass' as const);
          return { level, reason: level === 'refuse' ? '不行' : '' };
        },
      };
      let seen = '';
      const answer = guarded(engine, safety, { userId: 1, keep: true }).write(
        request(),
        (parts) => {
          for (const part of parts) if (part.kind === 'text') seen += part.text;
        },
      );
      await expect(answer).rejects.toMatchObject({ code: 'blocked' });
      expect(stopped).toBe(true);
      expect(seen).not.toContain(bad);
      // The window that it ends in is at most one of letters, and then it is judged.
      const inWindow = Math.ceil(window / good.length);
      const after = tokens - (before + bad.length);
      expect(after).toBeLessThanOrEqual(manner === 'words' ? mostTokens : inWindow + mostTokens);
      expect(written.includes(bad)).toBe(true);
    }
  },
  30_000,
);

test('nothing more is judged for an asker who has gone', async () => {
  const gone = new AbortController();
  let judged = 0;
  const safety = {
    manner: () => Promise.resolve('held' as const),
    checkText: async () => {
      judged += 1;
      await sleep(20);
      return { level: 'pass' as const, reason: '' };
    },
  };
  const engine: ChatEngine = {
    write: async ({ signal }, take) => {
      for (let at = 0; at < 2_000; at += 1) take([{ kind: 'text', text: good }]);
      gone.abort();
      signal.throwIfAborted();
    },
  };
  const answer = guarded(engine, safety, { userId: 1, keep: true }).write(
    { ...request(), signal: gone.signal },
    () => undefined,
  );
  await expect(answer).rejects.toThrow();
  await sleep(200);
  // The question, and no window of the answer.
  expect(judged).toBe(1);
});
