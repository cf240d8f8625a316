import type { CodeName } from '#contract/errors.ts';
import type { ImageParameters } from '#contract/image.ts';
import type { StyleProfile } from './style-profile.ts';

/** What the canvas is asked for, and what it says. */

export type CanvasTask =
  | { kind: 'make'; order: CanvasOrder }
  | { kind: 'detect'; image: Uint8Array; module: string; parameters: Record<string, number> }
  | { kind: 'interrogate'; image: Uint8Array }
  | { kind: 'measure'; images: Uint8Array[]; batch: number; epochs: number };

export interface CanvasOrder {
  task: 'generate' | 'upscale' | 'edit' | 'remove-background' | 'edit-background' | 'action';
  prompt: string;
  n: number;
  /** Pixels. */
  width: number;
  height: number;
  parameters: ImageParameters;
  /** How much of `base` is changed, percent. */
  strength: number;
  /** 0 stretch, 1 crop, 2 fill, 3 upscale. */
  resizeMode: number;
  seed: number;
  /** PNG or JPEG, upright; null: none. */
  base: Uint8Array | null;
  control: { image: Uint8Array; module: string; mode: 0 | 1 | 2 } | null;
  /** Of an edited background. */
  background: Uint8Array | null;
  /** Styles that were trained here. */
  profiles: readonly StyleProfile[];
}

export type CanvasAnswer =
  | { kind: 'made'; images: { data: Uint8Array; seed: number | null }[] }
  | { kind: 'detected'; data: Uint8Array }
  | { kind: 'described'; text: string; chinese: string }
  | { kind: 'measured'; profile: Omit<StyleProfile, 'key' | 'label'> };

/** How a work is followed while it is done. */
export interface CanvasIo {
  /**
   * Tells how far the work is and shows the image so far; goes on when it is time to, and rejects
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
