/** The kinds of file that text is read from. */
export type ReadKind =
  | 'text'
  | 'markdown'
  | 'html'
  | 'subtitles'
  | 'csv'
  | 'pdf'
  | 'docx'
  | 'doc'
  | 'xlsx'
  | 'pptx'
  | 'epub'
  | 'image';

/** Kinds that lie in a zip, by the ending of their names. */
export const zippedKinds: Readonly<Record<string, ReadKind>> = {
  docx: 'docx',
  docm: 'docx',
  xlsx: 'xlsx',
  xlsm: 'xlsx',
  pptx: 'pptx',
  pptm: 'pptx',
  epub: 'epub',
};
const images = new Set(['png', 'jpg', 'jpeg', 'webp']);
const plain: Readonly<Record<string, ReadKind>> = {
  txt: 'text',
  md: 'markdown',
  html: 'html',
  htm: 'html',
  csv: 'csv',
  tsv: 'csv',
  srt: 'subtitles',
};

export const endingOf = (name: string): string => {
  const last = name.toLowerCase().trim();
  const dot = last.lastIndexOf('.');
  return dot < 0 ? '' : last.slice(dot + 1);
};

/**
 * How a file is read, by its first bytes, which must be what its name says; null: no kind that is
 * known, or its name lies.
 */
export const readKindOf = (name: string, data: Uint8Array): ReadKind | null => {
  const ending = endingOf(name);
  const start = Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, 1024));
  const hex = start.subarray(0, 12).toString('hex');
  if (hex.startsWith('504b03')) return zippedKinds[ending] ?? null;
  // With a password an Office file is a compound file as an old one is.
  if (hex.startsWith('d0cf11e0a1b11ae1'))
    return ending === 'doc' ? 'doc' : (zippedKinds[ending] ?? null);
  const isImage =
    hex.startsWith('89504e47') ||
    hex.startsWith('ffd8ff') ||
    (hex.startsWith('52494646') && hex.endsWith('57454250'));
  if (isImage) return images.has(ending) ? 'image' : null;
  if (start.includes('%PDF-')) return ending === 'pdf' ? 'pdf' : null;
  return plain[ending] ?? null;
};
