import { createFairQueue, type Waiter } from '#server/fair-queue.ts';
import { openApart } from '#server/guarded-process.ts';
import { ThreadFailure } from '#server/guarded-thread.ts';
import { workerUrl } from '#server/worker-url.ts';
import type { ReadAnswer, ReadAnswers, ReadTask } from './read-task.ts';

/** The heap of the thread, MB, and all that the process may grow meanwhile, bytes. */
const bounds = { heapMb: 512, growth: 700 * 1024 * 1024 };

/** So many times what a file may take of the processor it may take of the clock: nobody waits for it. */
const longer = 8;

const inTurn = createFairQueue(2);

/** A file from which nothing can be learned, with the reason for people. */
export class UnreadableFile extends Error {}

type Passages = Omit<ReadAnswers['passages'], 'left'>;
type TaskOf<W extends ReadTask['want']> = Extract<ReadTask, { want: W }>;

type Whole = 'files' | 'segments' | 'written';

export interface FileReader {
  /** @throws UnreadableFile */
  read: <W extends Whole>(task: TaskOf<W>) => Promise<ReadAnswers[W]>;
  /** The passages of a file, which come a few at a time. @throws UnreadableFile, the signal's reason */
  passages: (task: Omit<TaskOf<'passages'>, 'want'>, signal?: AbortSignal) => Promise<Passages>;
  close: () => void;
}

/** Whether an answer is but the first passages of more. */
const goesOn = (answer: ReadAnswer): boolean =>
  'done' in answer && 'left' in answer.done && answer.done.left > 0;

/**
 * Reads one person's files, one after the other, in a process that is ended when one of them takes
 * too much; the next one then has a new process.
 */
export const openReader = ({
  seconds,
  owner,
}: {
  /** Of the processor, that one file may take. */
  seconds: number;
  /** Who has one slot at a time. */
  owner: Waiter;
}): FileReader => {
  const apart = openApart(workerUrl('./read-worker.ts', import.meta.url), {
    ...bounds,
    seconds: seconds * longer,
    processorSeconds: seconds,
  });
  const ask = async <W extends ReadTask['want']>(task: TaskOf<W>): Promise<ReadAnswers[W]> => {
    let answer: ReadAnswer<W>;
    try {
      answer = await apart.ask<ReadAnswer<W>>(task, goesOn);
    } catch (error) {
      if (!(error instanceof ThreadFailure)) throw error;
      throw new UnreadableFile(
        error.tooMuch ? '文件太大或太复杂，无法读取' : '文件已损坏、已加密或无法读取',
      );
    }
    if ('refused' in answer) throw new UnreadableFile(answer.refused);
    return answer.done;
  };
  return {
    read: <W extends Whole>(task: TaskOf<W>) => inTurn(owner, () => ask<W>(task)),
    passages: (task, signal) =>
      inTurn(owner, async () => {
        const {
          chunks,
          left: more,
          ...told
        } = await ask<'passages'>({ want: 'passages', ...task });
        for (let left = more; left > 0;) {
          signal?.throwIfAborted();
          const piece = await ask<'more'>({ want: 'more' });
          chunks.push(...piece.chunks);
          left = piece.left;
        }
        return { ...told, chunks };
      }),
    close: () => apart.close(),
  };
};
