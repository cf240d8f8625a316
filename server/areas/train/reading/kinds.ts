import {
  archiveEndings,
  knowledgeEndings,
  projectTypes,
  translationEndings,
} from '#contract/train-limits.ts';
import { endingOf, readKindOf, type ReadKind } from '#server/reading/kinds.ts';

export { endingOf };

/** How a file is read. */
export type FileKind = ReadKind | 'archive';

/** The first bytes of archives, and the endings that may stand behind them. */
const archives: readonly [hex: string, endings: readonly string[]][] = [
  ['504b0304', ['zip']],
  ['504b0506', ['zip']],
  ['377abcaf271c', ['7z']],
  ['526172211a07', ['rar']],
  ['fd377a585a00', ['xz']],
  ['1f8b', ['gz']],
];

/**
 * The kind of a file by its bytes, which must be what its name says; null: it is none that can be
 * learned from, or its name lies.
 */
const kindOf = (name: string, data: Uint8Array): FileKind | null => {
  const ending = endingOf(name);
  const start = Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, 1024));
  const hex = start.subarray(0, 8).toString('hex');
  if (archives.some(([mark, endings]) => hex.startsWith(mark) && endings.includes(ending)))
    return 'archive';
  if (ending === 'tar') return start.subarray(257, 262).toString() === 'ustar' ? 'archive' : null;
  return readKindOf(name, data);
};

/** The kind of a file that a project of this type can learn from; null: it cannot. */
export const kindFor = (type: number, name: string, data: Uint8Array): FileKind | null => {
  const kind = kindOf(name, data);
  const endings: readonly string[] = endingsOf(type);
  return kind === 'archive' || endings.includes(endingOf(name)) ? kind : null;
};

const endingsOf = (type: number) =>
  type === projectTypes.knowledge ? knowledgeEndings : translationEndings;

/** Whether files of such a name are learned from. */
export const isLearned = (type: number, name: string): boolean =>
  (endingsOf(type) as readonly string[]).includes(endingOf(name));

/** The endings of files that a project of this type takes, for people. */
export const endingsFor = (type: number): string => endingsOf(type).join('、');

export const isArchiveName = (name: string): boolean =>
  (archiveEndings as readonly string[]).includes(endingOf(name)) || endingOf(name) === 'tar';
