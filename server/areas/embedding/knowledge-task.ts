import type { Reading } from '#server/search/question.ts';
import type { Found, IndexedFile } from './passage-index.ts';

/** What the thread that holds the indexes is asked for, and what it says. */
export type ToKnowledge =
  /** How a text is said: pinyin without tones. */
  | { kind: 'sound'; id: number; text: string }
  | { kind: 'files'; id: number; base: number }
  | { kind: 'add'; id: number; base: number; files: IndexedFile[] }
  | { kind: 'drop'; id: number; base: number; files: number[] }
  | {
      kind: 'search';
      id: number;
      base: number;
      question: string;
      vector: { bytes: Uint8Array; model: string } | null;
    };

export type FromKnowledge =
  | { kind: 'files'; id: number; files: number[]; model: string | null }
  | { kind: 'done'; id: number; model: string | null }
  | { kind: 'found'; id: number; readings: Reading[]; found: Found }
  | { kind: 'sound'; id: number; text: string }
  | { kind: 'failed'; id: number; message: string };
