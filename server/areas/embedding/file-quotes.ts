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

let busy = false;
const waiting: { letters: number; begin: () => void }[] = [];

/** One after the other, and of those that wait the shortest: long files keep nobody else waiting. */
const inTurn = async <T>(letters: number, act: () => Promise<T>): Promise<T> => {
  if (busy) await new Promise<void>((begin) => waiting.push({ letters, begin }));
  busy = true;
  try {
    return await act();
  } finally {
    const [next] = waiting.sort((one, other) => one.letters - other.letters).splice(0, 1);
    if (next) next.begin();
    else busy = false;
  }
};

/**
 * The sentences of attached files that answer a question; empty: none fits; null: they could not be
 * looked through. What takes too long ends with the thread, and with it nothing of anybody else.
 */
export const quotesFromFiles = (
  asked: string,
  files: readonly ReadFile[],
  signal: AbortSignal,
): Promise<Quote[] | null> => {
  const letters = files.reduce((sum, { text }) => sum + text.length, 0);
  const looked = inTurn(letters, async () => (signal.aborted ? null : look(asked, files)));
  return Promise.race([looked, ended(signal)]);
};
