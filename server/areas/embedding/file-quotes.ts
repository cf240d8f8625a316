import type { Quote } from '#common/chat-message.ts';
import { startTaskThread, type TaskThread } from '#server/task-thread.ts';
import { workerUrl } from '#server/worker-url.ts';
import type { ReadFile } from './quotes-in-files.ts';

/** How long the thread stays without work, and how long the files of one question may take, ms. */
const patience = { idleMs: 2 * 60_000, workMs: 30_000 };

type Task = (quotes: Quote[] | null) => void;

let running: TaskThread<Task> | undefined;

const startThread = (): TaskThread<Task> =>
  startTaskThread<Task, { id: number; quotes: Quote[] }>({
    ...patience,
    url: workerUrl('./file-quotes-worker.ts', import.meta.url),
    onMessage: ({ id, quotes }, thread) => thread.take(id)?.(quotes),
    onEnd: (left, thread) => {
      if (running === thread) running = undefined;
      for (const resolve of left) resolve(null);
    },
  });

const look = (asked: string, files: readonly ReadFile[]): Promise<Quote[] | null> => {
  const thread = (running ??= startThread());
  return new Promise((resolve) => {
    thread.post({ id: thread.add(resolve), asked, files });
  });
};

const ended = (signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));

let before: Promise<unknown> = Promise.resolve();

/**
 * The sentences of attached files that answer a question; empty: none fits; null: they could not be
 * looked through. One question at a time: what takes too long ends with the thread, and with it
 * nothing of anybody else.
 */
export const quotesFromFiles = (
  asked: string,
  files: readonly ReadFile[],
  signal: AbortSignal,
): Promise<Quote[] | null> => {
  const turn = before.then(() => (signal.aborted ? null : look(asked, files)));
  before = turn;
  return Promise.race([turn, ended(signal)]);
};
