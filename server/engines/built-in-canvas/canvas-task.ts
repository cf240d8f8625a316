import type { CodeName } from '../../../contract/errors.ts';
import type { ImageOrder } from '../image-engine.ts';
import type { StyleProfile } from './profiles.ts';

/** What the thread that draws is asked for, and what it says. */

export type CanvasTask =
  | { kind: 'make'; order: CanvasOrder }
  | { kind: 'detect'; image: Uint8Array; module: string; parameters: Record<string, number> }
  | { kind: 'interrogate'; image: Uint8Array }
  | { kind: 'measure'; images: Uint8Array[]; batch: number; epochs: number };

/** An order as it reaches the thread: with a seed, and bytes instead of buffers. */
export interface CanvasOrder extends Pick<
  ImageOrder,
  | 'task'
  | 'prompt'
  | 'n'
  | 'width'
  | 'height'
  | 'parameters'
  | 'strength'
  | 'resizeMode'
  | 'profiles'
> {
  seed: number;
  base: Uint8Array | null;
  control: { image: Uint8Array; module: string; mode: 0 | 1 | 2 } | null;
  background: Uint8Array | null;
}

export type CanvasAnswer =
  | { kind: 'made'; pictures: { data: Uint8Array; seed: number | null }[] }
  | { kind: 'detected'; data: Uint8Array }
  | { kind: 'described'; text: string; chinese: string }
  | { kind: 'measured'; profile: Omit<StyleProfile, 'key' | 'label'> };

/** How a work is followed while it is done. */
export interface CanvasIo {
  /**
   * Tells how far the work is and shows the picture so far; goes on when it is time to, and rejects
   * when nobody wants the work any more.
   */
  progress: (fraction: number, preview?: () => Promise<Uint8Array>) => Promise<void>;
}

/** What the asker, not the canvas, is at fault for. */
export class CanvasRefusal extends Error {
  readonly codeName: CodeName;
  constructor(codeName: CodeName, message: string) {
    super(message);
    this.codeName = codeName;
  }
}

export type ToCanvas =
  | { kind: 'start'; id: number; task: CanvasTask; seconds: number }
  | { kind: 'stop'; id: number };

export type FromCanvas =
  | { kind: 'progress'; id: number; fraction: number; preview?: Uint8Array }
  | { kind: 'done'; id: number; answer: CanvasAnswer }
  | { kind: 'failed'; id: number; refused: CodeName | null; message: string };
