import { Worker } from 'node:worker_threads';
import { estimateTokens } from '../../contract/price.ts';
import { workerUrl } from '../worker-url.ts';

/** How long the thread and its 70 MB stay without work, and how long some work may take, ms. */
const patience = { idle: 10 * 60_000, work: 20_000 };

interface Task {
  texts: readonly string[];
  resolve: (counts: number[]) => void;
}

interface Thread {
  count: (texts: readonly string[]) => Promise<number[]>;
}

const startThread = (onEnd: (thread: Thread) => void): Thread => {
  const worker = new Worker(workerUrl('./tokens-worker.ts', import.meta.url));
  const tasks = new Map<number, Task>();
  let made = 0;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  const end = (): void => {
    if (ended) return;
    ended = true;
    clearTimeout(timer);
    onEnd(thread);
    // The better half of a count is still one.
    for (const { texts, resolve } of tasks.values()) resolve(texts.map(estimateTokens));
    void worker.terminate();
  };
  const wait = (): void => {
    clearTimeout(timer);
    timer = setTimeout(end, tasks.size > 0 ? patience.work : patience.idle).unref();
  };
  worker.on('message', ({ id, counts }: { id: number; counts: number[] }) => {
    tasks.get(id)?.resolve(counts);
    tasks.delete(id);
    wait();
  });
  worker.on('error', end);
  worker.on('exit', end);
  // It holds no process back that wants to end.
  worker.unref();

  const thread: Thread = {
    count: (texts) =>
      new Promise((resolve) => {
        made += 1;
        tasks.set(made, { texts, resolve });
        worker.postMessage({ id: made, texts }, []);
        wait();
      }),
  };
  return thread;
};

let running: Thread | undefined;

/**
 * Tokens of each text, as countTokens has them, counted in a thread of their own: loading its tables
 * takes 0.3 s and a long text some more, for which all streams would stand still. The thread starts
 * when it is first needed and ends when it has had nothing to do for ten minutes. Should it fail, the
 * texts are estimated.
 */
export const countInThread = (texts: readonly string[]): Promise<number[]> => {
  if (texts.every((text) => text === '')) return Promise.resolve(texts.map(() => 0));
  running ??= startThread((ended) => {
    if (running === ended) running = undefined;
  });
  return running.count(texts);
};
