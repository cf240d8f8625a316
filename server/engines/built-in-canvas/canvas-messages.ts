import type { CodeName } from '#contract/errors.ts';
import type { CanvasAnswer, CanvasTask } from '#packages/canvas/task.ts';

/** What the thread that draws is told, and what it says. */

export type ToCanvas =
  | { kind: 'start'; id: number; task: CanvasTask; seconds: number }
  | { kind: 'stop'; id: number };

export type FromCanvas =
  | { kind: 'progress'; id: number; fraction: number; preview?: Uint8Array }
  | { kind: 'done'; id: number; answer: CanvasAnswer }
  | { kind: 'failed'; id: number; refused: CodeName | null; message: string };
