import { createFairLanes } from '../../../fair-lanes.ts';
import { runApart } from '../../../guarded-process.ts';
import { ThreadFailure } from '../../../guarded-thread.ts';
import { workerUrl } from '../../../worker-url.ts';
import type { ReadAnswer, ReadAnswers, ReadTask } from './read-task.ts';

/** The heap of the thread, MB, and all that the process may grow meanwhile, bytes. */
const bounds = { heapMb: 512, growth: 700 * 1024 * 1024 };

const inLane = createFairLanes(2);

/** A file from which nothing can be learned, with the reason for people. */
export class UnreadableFile extends Error {}

/**
 * Reads one of people's files in a process that is ended when it takes too much.
 * @throws UnreadableFile
 */
export const readFile = <W extends ReadTask['want']>(
  task: Extract<ReadTask, { want: W }>,
  { seconds, userId }: { seconds: number; userId: number },
): Promise<ReadAnswers[W]> =>
  inLane(String(userId), async () => {
    let answer: ReadAnswer<W>;
    try {
      const url = workerUrl('./read-worker.ts', import.meta.url);
      answer = await runApart<ReadAnswer<W>>(url, task, { ...bounds, seconds });
    } catch (error) {
      if (!(error instanceof ThreadFailure)) throw error;
      throw new UnreadableFile(
        error.tooMuch ? '文件太大或太复杂，无法读取' : '文件已损坏、已加密或无法读取',
      );
    }
    if ('refused' in answer) throw new UnreadableFile(answer.refused);
    return answer.done;
  });
