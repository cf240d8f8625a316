import { createFairQueue, type Waiter } from '#server/fair-queue.ts';
import { runApart } from '#server/guarded-process.ts';
import { ThreadFailure } from '#server/guarded-thread.ts';
import { Refusal } from '#server/http/handlers.ts';
import { workerUrl } from '#server/worker-url.ts';
import type { ProgramFile } from './code-files.ts';
import { ToolFailure } from './tool.ts';

/** What an engine takes of the processor to begin, s. */
const beginning = 4;
const bounds = { heapMb: 256, growth: 400 * 1024 * 1024, seconds: 45 };

export const languages = ['javascript', 'python'] as const;
export type Language = (typeof languages)[number];

export interface CodeTask {
  language: Language;
  code: string;
  /** What it may read. */
  files: ProgramFile[];
  /** Of the processor, s. */
  seconds: number;
  /** What the program may hold, bytes. */
  memory: number;
}
export type CodeAnswer = { text: string; files: ProgramFile[] } | { refused: string };

/** Two at once of everybody, and what one person may have waiting. */
const inTurn = createFairQueue(2, 8);

/**
 * Runs a program in an engine of its own, without network, files or anything of this server.
 * @param seconds what it may take of the processor
 * @throws ToolFailure
 */
export const runProgram = async (
  program: Pick<CodeTask, 'language' | 'code' | 'files'>,
  user: Waiter,
  seconds = 10,
): Promise<{ text: string; files: ProgramFile[] }> => {
  const task: CodeTask = { ...program, seconds, memory: 256 * 1024 * 1024 };
  const most = { ...bounds, processorSeconds: seconds + beginning };
  const url = workerUrl('./code-worker.ts', import.meta.url);
  try {
    const answer = await inTurn(user, () => runApart<CodeAnswer>(url, task, most));
    if ('refused' in answer) throw new ToolFailure(answer.refused);
    return answer;
  } catch (error) {
    if (error instanceof ThreadFailure)
      throw new ToolFailure(error.tooMuch ? '代码用了太多时间或内存，已停下' : '代码没有运行成');
    if (error instanceof Refusal) throw new ToolFailure(error.message);
    throw error;
  }
};
