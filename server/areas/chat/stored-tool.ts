import type { StoredTool, ToolCall, ToolState } from '#contract/tool.ts';

/** Who looks: another process, who asked, or somebody who reads along. */
export type ToolViewer = 'process' | 'asker' | 'other';

/** A call as somebody may see it. */
export const viewTool = (tool: StoredTool, viewer: ToolViewer): ToolCall => {
  if (viewer === 'process') return tool;
  const { round: _round, callId: _callId, own, ...shown } = tool;
  if (viewer === 'asker') return shown;
  const { files: _files, sign_in: _signIn, question: _asked, spent: _spent, ...rest } = shown;
  return { ...rest, ask: '', ...(own ? { arguments: '', result: '' } : {}) };
};

/** Calls that are over, whatever came of them. */
const over: ReadonlySet<ToolState> = new Set(['done', 'failed', 'refused', 'unknown', 'stopped']);
export const isOver = ({ state }: Pick<ToolCall, 'state'>): boolean => over.has(state);

/** What is told of a call that was running when its process died. */
export const unknownText = '服务器在这一步中断了，不知道它做成了没有。没有再做一次。';
