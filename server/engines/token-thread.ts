import { estimateTokens } from '#contract/price.ts';
import { startTaskThread, type TaskThread } from '../task-thread.ts';
import { workerUrl } from '../worker-url.ts';

/** How long the thread and its 70 MB stay without work, and how long some work may take, ms. */
const patience = { idleMs: 10 * 60_000, workMs: 20_000 };

interface Task {
  texts: readonly string[];
  resolve: (counts: number[]) => void;
}

const startThread = (): TaskThread<Task> =>
  startTaskThread<Task, { id: number; counts: number[] }>({
    ...patience,
    url: workerUrl('./tokens-worker.ts', import.meta.url),
    onMessage: ({ id, counts }, thread) => thread.take(id)?.resolve(counts),
    onEnd: (left, thread) => {
      if (running === thread) running = undefined;
      // The better half of a count is still one.
      for (const { texts, resolve } of left) resolve(texts.map(estimateTokens));
    },
  });

let running: TaskThread<Task> | undefined;

/**
 * Tokens of each text, as countTokens has them, counted in a thread of their own: loading its tables
 * takes 0.3 s and a long text some more, for which all streams would stand still. The thread starts
 * when it is first needed and ends when it has had nothing to do for ten minutes. Should it fail, the
 * texts are estimated.
 */
export const countInThread = (texts: readonly string[], model = ''): Promise<number[]> => {
  if (texts.every((text) => text === '')) return Promise.resolve(texts.map(() => 0));
  const thread = (running ??= startThread());
  return new Promise((resolve) => {
    thread.post({ id: thread.add({ texts, resolve }), texts, model });
  });
};
