import { createFairQueue } from '#server/fair-queue.ts';
import { runApart } from '#server/guarded-process.ts';
import { ThreadFailure } from '#server/guarded-thread.ts';
import { Refusal } from '#server/http/handlers.ts';
import { workerUrl } from '#server/worker-url.ts';
import { textOf, texts, ToolFailure, type Tool } from './tool.ts';

const seconds = 10;
const bounds = { heapMb: 256, growth: 400 * 1024 * 1024, seconds: seconds + 2 };

export interface CodeTask {
  code: string;
  /** s. */
  seconds: number;
  /** What the program may hold, bytes. */
  memory: number;
}
export type CodeAnswer = { text: string } | { refused: string };

/** Two at once of everybody, and what one person may have waiting. */
const inTurn = createFairQueue(2, 8);

/** Runs a program in an engine of its own, without network, files or anything of this server. */
export const runCode: Tool = {
  label: '运行代码',
  // Others may be before it.
  seconds: 60,
  spec: {
    name: 'run_code',
    description:
      '运行一段 JavaScript（没有网络，10 秒，256 MB）；用 console.log 输出，最后一个表达式的值也会给出',
    parameters: texts({ code: 'JavaScript 代码' }),
  },
  run: async (given, { user }) => {
    const code = textOf(given, 'code', 20_000);
    const task: CodeTask = { code, seconds, memory: 256 * 1024 * 1024 };
    const url = workerUrl('./code-worker.ts', import.meta.url);
    try {
      const answer = await inTurn(user, () => runApart<CodeAnswer>(url, task, bounds));
      if ('refused' in answer) throw new ToolFailure(answer.refused);
      return answer;
    } catch (error) {
      if (error instanceof ThreadFailure)
        throw new ToolFailure(error.tooMuch ? '代码用了太多时间或内存，已停下' : '代码没有运行成');
      if (error instanceof Refusal) throw new ToolFailure(error.message);
      throw error;
    }
  },
};
