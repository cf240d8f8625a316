import type { FastifyBaseLogger } from 'fastify';
import type { StoredTool } from '#contract/tool.ts';
import {
  AnswerWanted,
  SignInWanted,
  type Tool,
  ToolFailure,
  type ToolResult,
} from '../tool/tool.ts';

export const wrong = (call: StoredTool, result: string): StoredTool => ({
  ...call,
  state: 'failed',
  result,
});

/** Runs one call within its tool's time, whether or not the tool heeds it. Gives what it found, or how it ended. */
export const runCall = async (
  call: StoredTool,
  tool: Pick<Tool, 'seconds'>,
  {
    run,
    signal,
    log,
  }: {
    run: (signal: AbortSignal) => Promise<ToolResult> | ToolResult;
    signal: AbortSignal;
    log: Pick<FastifyBaseLogger, 'error'>;
  },
): Promise<{ found: ToolResult } | { ended: StoredTool }> => {
  const late = AbortSignal.timeout(tool.seconds * 1000);
  const until = AbortSignal.any([signal, late]);
  const over = new Promise<never>((_, reject) => {
    until.addEventListener('abort', () => reject(new ToolFailure('over')), { once: true });
  });
  over.catch(() => undefined);
  try {
    const running = Promise.resolve(run(until));
    running.catch(() => undefined);
    return { found: await Promise.race([running, over]) };
  } catch (error) {
    if (signal.aborted) return { ended: { ...call, state: 'stopped', result: '已停止' } };
    if (late.aborted) return { ended: wrong(call, `超过了 ${tool.seconds} 秒，没有等到结果`) };
    if (error instanceof SignInWanted)
      return { ended: { ...call, state: 'asking', sign_in: error.server } };
    if (error instanceof AnswerWanted)
      return { ended: { ...call, state: 'asking', question: error.question } };
    if (error instanceof ToolFailure) return { ended: wrong(call, error.message) };
    log.error({ err: error, tool: call.name }, 'a tool broke');
    return { ended: wrong(call, '工具出错了') };
  }
};
