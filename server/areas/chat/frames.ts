import type { StreamEvent } from '#contract/chat.ts';
import type { PartKind } from './reply-log.ts';
import type { StoredTool } from '#contract/tool.ts';
import { viewTool, type ToolViewer } from './stored-tool.ts';

/** Ids of the events that end a stream: larger than any position, and the last the largest. */
export const errorEventId = Number.MAX_SAFE_INTEGER - 1;
const doneEventId = Number.MAX_SAFE_INTEGER;

const frame = (id: number, event: StreamEvent): string =>
  `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`;

/** @param end The position after the text. */
export const textFrame = (kind: PartKind, text: string, end: number): string =>
  frame(end, kind === 'text' ? text : { reasoning: text });

/** @param position What the reader has of the text. */
export const toolFrame = (position: number, tool: StoredTool, viewer: ToolViewer): string =>
  frame(position, { tool: viewTool(tool, viewer) });

export const errorFrame = (code: string, message: string): string =>
  frame(errorEventId, { code, message });

export const doneData = '[DONE]';
export const doneFrame = `id: ${doneEventId}\ndata: ${doneData}\n\n`;
