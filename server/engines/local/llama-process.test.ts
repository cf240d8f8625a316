import type * as ChildProcesses from 'node:child_process';
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ChatRequest } from '../chat-engine.ts';
import { createLlamaProcess, type LlamaAnswer } from './llama-process.ts';
import { createLocalEngine } from './local-engine.ts';

/** What was started in place of processes with a model. */
const started = vi.hoisted(
  (): { emit: (name: string, told: unknown) => void; ended: boolean }[] => [],
);

vi.mock('node:child_process', async (original) => ({
  ...(await original<typeof ChildProcesses>()),
  spawn: () => {
    const child = Object.assign(new EventEmitter(), {
      connected: true,
      exitCode: null,
      ended: false,
      send: () => true,
      kill: () => {
        child.ended = true;
        return true;
      },
    });
    started.push(child);
    return child;
  },
}));

beforeEach(() => {
  vi.useFakeTimers();
  started.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

const minute = 60_000;
const local = () => {
  const llama = createLlamaProcess();
  const engine = createLocalEngine({ llama, fileOf: () => Promise.resolve('/models/tiny.gguf') });
  const ask = (signal = new AbortController().signal) =>
    engine.write(
      { model: 'tiny', messages: [{ role: 'user', content: '山间明月' }], signal } as ChatRequest,
      () => {},
    );
  return { ask };
};
const tell = (answer: LlamaAnswer) => started.at(-1)?.emit('message', answer);
const done: LlamaAnswer = { kind: 'done', promptTokens: 1, completionTokens: 1 };

test('the process of a model ends when nothing is asked of it for minutes, and not while it writes', async () => {
  const { ask } = local();
  const first = ask();
  await vi.advanceTimersByTimeAsync(20 * minute);
  expect(started.map(({ ended }) => ended)).toEqual([false]);
  tell(done);
  await first;
  await vi.advanceTimersByTimeAsync(4 * minute);
  const second = ask();
  await vi.advanceTimersByTimeAsync(4 * minute);
  tell(done);
  await second;
  await vi.advanceTimersByTimeAsync(4 * minute);
  expect(started.map(({ ended }) => ended)).toEqual([false]);
  await vi.advanceTimersByTimeAsync(2 * minute);
  expect(started.map(({ ended }) => ended)).toEqual([true]);
  // The next question has one of its own again.
  const third = ask();
  await vi.advanceTimersByTimeAsync(0);
  expect(started.map(({ ended }) => ended)).toEqual([true, false]);
  tell(done);
  await third;
});

test('who finds the line for a model full is told so at once, and has a place when one is free', async () => {
  const { ask } = local();
  const line = Array.from({ length: 9 }, () => ask());
  await vi.advanceTimersByTimeAsync(0);
  await expect(ask()).rejects.toMatchObject({
    code: 'rate_limited',
    message: expect.stringContaining('排队的满了') as string,
  });
  tell(done);
  await line[0];
  line.push(ask());
  for (const each of line.slice(1)) {
    await vi.advanceTimersByTimeAsync(0);
    tell(done);
    await each;
  }
  expect(started).toHaveLength(1);
});
