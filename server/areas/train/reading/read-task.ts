import type { Section } from '../../embedding/chunk.ts';
import type { FileKind } from './kinds.ts';

/** What the thread that reads people's files is asked for. */
export type ReadTask =
  | { want: 'sections'; kind: FileKind; data: Uint8Array; separator: string; size: number }
  | { want: 'files'; name: string; data: Uint8Array }
  | { want: 'segments'; kind: FileKind; data: Uint8Array }
  | {
      want: 'written';
      kind: FileKind;
      data: Uint8Array;
      targets: string[];
      bilingual: boolean;
    };

export interface ReadAnswers {
  sections: { chunks: Section[]; cut: boolean };
  files: { files: { name: string; data: Uint8Array }[]; skipped: string[] };
  segments: { segments: string[] };
  written: { data: Uint8Array; ending: string };
}

/** What it says: what was asked for, or in Chinese why not. */
export type ReadAnswer<W extends ReadTask['want'] = ReadTask['want']> =
  | { done: ReadAnswers[W] }
  | { refused: string };
