import type { Chunk } from '#server/areas/embedding/chunk.ts';
import type { Aigc } from '#server/labels/aigc.ts';
import type { Block } from '#server/reading/block.ts';
import type { FileKind } from './kinds.ts';

/** What the thread that reads people's files is asked for. */
export type ReadTask =
  | {
      want: 'passages';
      kind: FileKind;
      data: Uint8Array;
      separator: string;
      size: number;
      /** What was seen on those of its pages that are pictures; left out: nobody has looked yet. */
      seen?: Block[];
    }
  /** The next passages of the file that was read last. */
  | { want: 'more' }
  | { want: 'files'; name: string; data: Uint8Array }
  | {
      want: 'segments';
      kind: FileKind;
      data: Uint8Array;
      /** They are learned from, not translated and put back. */
      learned: boolean;
    }
  | {
      want: 'written';
      kind: FileKind;
      data: Uint8Array;
      targets: string[];
      bilingual: boolean;
      label: Aigc;
      /** Words that say that a model made it; empty: none. */
      mark: string;
    };

/** Passages of a file, as many as come at once: those that are left are asked for. */
interface Piece {
  chunks: Chunk[];
  left: number;
}

export interface ReadAnswers {
  /** `pictures`: pages of which only the picture tells what stands there. */
  passages: Piece & { cut: boolean; pictures: number[] };
  more: Piece;
  files: { files: { name: string; data: Uint8Array }[]; skipped: string[] };
  segments: { segments: string[] };
  written: { data: Uint8Array; ending: string };
}

/** What it says: what was asked for, or in Chinese why not. */
export type ReadAnswer<W extends ReadTask['want'] = ReadTask['want']> =
  | { done: ReadAnswers[W] }
  | { refused: string };
