import {
  archiveEndings,
  knowledgeEndings,
  projectTypes,
  translationEndings,
} from '../../../../contract/train-limits.ts';

/** How a file is read. */
export type FileKind =
  | 'text'
  | 'markdown'
  | 'html'
  | 'subtitles'
  | 'pdf'
  | 'docx'
  | 'doc'
  | 'archive';

export const endingOf = (name: string): string => {
  const last = name.toLowerCase().trim();
  const dot = last.lastIndexOf('.');
  return dot < 0 ? '' : last.slice(dot + 1);
};

/** The first bytes that tell a kind by themselves. */
const marks: readonly [hex: string, kind: FileKind | 'zip', endings: readonly string[]][] = [
  ['504b0304', 'zip', ['zip', 'docx']],
  ['504b0506', 'zip', ['zip']],
  ['377abcaf271c', 'archive', ['7z']],
  ['526172211a07', 'archive', ['rar']],
  ['fd377a585a00', 'archive', ['xz']],
  ['1f8b', 'archive', ['gz']],
  ['d0cf11e0a1b11ae1', 'doc', ['doc']],
];

const textKinds: Readonly<Record<string, FileKind>> = {
  txt: 'text',
  md: 'markdown',
  html: 'html',
  htm: 'html',
  srt: 'subtitles',
};

/**
 * The kind of a file by its bytes, which must be what its name says; null: it is none that can be
 * learned from, or its name lies.
 */
const kindOf = (name: string, data: Uint8Array): FileKind | null => {
  const ending = endingOf(name);
  if (!(translationEndings as readonly string[]).includes(ending) && ending !== 'tar') return null;
  const start = Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, 1024));
  const hex = start.subarray(0, 8).toString('hex');
  const mark = marks.find(([first]) => hex.startsWith(first));
  if (mark) {
    const [, kind, endings] = mark;
    if (!endings.includes(ending)) return null;
    if (kind !== 'zip') return kind;
    return ending === 'docx' ? 'docx' : 'archive';
  }
  if (start.includes('%PDF-')) return ending === 'pdf' ? 'pdf' : null;
  if (ending === 'tar') return start.subarray(257, 262).toString() === 'ustar' ? 'archive' : null;
  return textKinds[ending] ?? null;
};

/** The kind of a file that a project of this type can learn from; null: it cannot. */
export const kindFor = (type: number, name: string, data: Uint8Array): FileKind | null => {
  const kind = kindOf(name, data);
  const translatedOnly = kind === 'html' || kind === 'subtitles';
  return translatedOnly && type === projectTypes.knowledge ? null : kind;
};

/** The endings of files that a project of this type takes, for people. */
export const endingsFor = (type: number): string =>
  (type === projectTypes.knowledge ? knowledgeEndings : translationEndings).join('、');

export const isArchiveName = (name: string): boolean =>
  (archiveEndings as readonly string[]).includes(endingOf(name)) || endingOf(name) === 'tar';
