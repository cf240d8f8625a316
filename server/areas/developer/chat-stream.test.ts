import { EventEmitter } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { holdLifetime } from '../ledger/ledger.service.ts';
import type { Asking, ChatWorks } from './chat-asking.ts';
import { streamAnswer } from './chat-stream.ts';

afterEach(() => void vi.useRealTimers());

test('a stream that is read slowly ends before what is set aside for it does, and is billed', async () => {
  vi.useFakeTimers();
  /** A service that has always more to say, as fast as it is taken. */
  const endless = async (
    signal: AbortSignal,
    take: (events: object[]) => Promise<void> | void,
  ): Promise<void> => {
    for (;;) {
      signal.throwIfAborted();
      await take([{ data: '', chunk: { choices: [{ delta: { content: '桥' } }] } }]);
    }
  };
  const works = {
    models: {
      relay: async () => ({
        stream: (_body: unknown, signal: AbortSignal, take: (events: object[]) => void) =>
          endless(signal, take),
      }),
    },
    gate: { addTokens: () => undefined },
    silenceMs: 60_000,
    count: async (_asking: unknown, _told: unknown, said: string) => ({
      promptTokens: 1,
      completionTokens: said.length,
    }),
    log: { warn: () => undefined, error: () => undefined },
  } as unknown as ChatWorks;
  const settle = vi.fn(async (counted: { completionTokens: number }) => counted.completionTokens);
  const { signal } = new AbortController();
  const asking = {
    context: { caller: { user: { id: 1 } }, signal, header: () => undefined },
    signal,
    model: { name: 'm', factor: 1, promptFactor: null },
    body: {},
    charge: { settle, extend: async () => undefined, servedBy: () => undefined },
    held: 1_000_000,
    rough: 1,
    sent: false,
    channelId: null,
  } as unknown as Asking;
  const begun = Date.now();
  const answer = await streamAnswer(works, asking, { write: () => '桥', end: () => '完' });
  if (!('events' in answer)) throw new Error('it is no stream');
  const said: string[] = [];
  // Its reader takes a little once in a while: too often to be called silent.
  const sink = Object.assign(new EventEmitter(), {
    write: (frame: string) => {
      said.push(frame);
      setTimeout(() => sink.emit('drain'), 30_000);
      return false;
    },
    end: () => undefined,
  });
  let ended = 0;
  const reading = answer
    .events({ sink: sink as never, failure: ({ message }) => message })
    .then(() => (ended = Date.now()));
  await vi.advanceTimersByTimeAsync(2 * holdLifetime);
  expect(ended - begun).toBeGreaterThan(0);
  expect(ended - begun).toBeLessThan(holdLifetime);
  await reading;
  expect(said.at(-1)).toContain('回答用的时间太长');
  const pieces = said.filter((frame) => frame === '桥').length;
  expect(settle).toHaveBeenCalledOnce();
  expect(settle.mock.calls[0]?.[0].completionTokens).toBeGreaterThanOrEqual(pieces);
});
