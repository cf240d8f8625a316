import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { workerUrl } from '#server/worker-url.ts';
import type { Grey, Part } from './grey.ts';
import { linePart, type ReadLine } from './read-line.ts';

/** Reading lines is most of the work: two threads, where there are cores for them, share it. */
const most = 2;

/** What a thread says to a line. Only a thread that was asked keeps the process alive. */
const ask = (thread: Worker, line: Grey): Promise<ReadLine> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      thread.off('message', told);
      thread.off('error', reject);
      thread.unref();
    };
    const told = (read: ReadLine) => {
      stop();
      resolve(read);
    };
    thread.on('message', told);
    thread.on('error', reject);
    thread.ref();
    thread.postMessage(line, []);
  });

let threads: Worker[] | null = null;

/** A line with a letter that is less sure than this is read once more, as wide as it is. */
const unsure = 0.55;

const readOne = async (thread: Worker, grey: Grey, box: Part): Promise<string> => {
  const first = await ask(thread, await linePart(grey, box));
  if (first.least >= unsure) return first.text;
  const again = await ask(thread, await linePart(grey, box, 1));
  return again.sure > first.sure ? again.text : first.text;
};

/** Lets the threads load, while something else is done. */
export const startReaders = (): Worker[] =>
  (threads ??= Array.from({ length: Math.min(most, availableParallelism()) }, () => {
    const thread = new Worker(workerUrl('./read-line-worker.ts', import.meta.url), {
      execArgv: [],
    });
    thread.unref();
    return thread;
  }));

/** A line of a picture, and what stands in it: empty, nothing that is text; null, it is not read yet. */
export interface Line {
  box: Part;
  text: string | null;
}

/** Reads the lines of a picture that are not read yet, or a few of them where the time is over. */
export const readLines = async (
  grey: Grey,
  lines: readonly Line[],
  isOver: () => boolean,
): Promise<void> => {
  // The longest first, so that no thread is left alone with one at the end.
  const waiting = lines
    .filter(({ text }) => text === null)
    .sort(({ box: one }, { box: other }) => one.width / one.height - other.width / other.height);
  const work = async (thread: Worker): Promise<void> => {
    for (let line = waiting.pop(); line; line = isOver() ? undefined : waiting.pop())
      line.text = await readOne(thread, grey, line.box);
  };
  await Promise.all(startReaders().map(work));
};
