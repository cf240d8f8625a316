/** A part of a file's text, with where it stands. */
export interface Section {
  /** From 1; 0: the file has no pages. */
  page: number;
  heading: string;
  text: string;
}

export interface Chunk {
  page: number;
  heading: string;
  content: string;
}

/** Where a text may be cut, the best places first. */
const places = [/\n\s*\n/g, /\n/g, /[。！？!?；;…]+[”’"'）)】」』]*|\.(?=\s)/g, /[，,、：:]|\s/g];

/** Cuts a text into pieces of at most so many letters, at the best places there are. */
const cut = (text: string, most: number, level = 0): string[] => {
  if (text.length <= most) return text.trim() === '' ? [] : [text];
  const place = places[level];
  if (!place) {
    const pieces: string[] = [];
    for (let at = 0; at < text.length;) {
      let end = Math.min(text.length, at + most);
      const half = text.charCodeAt(end - 1);
      if (end < text.length && half >= 0xd800 && half <= 0xdbff) end -= 1;
      pieces.push(text.slice(at, end));
      at = end;
    }
    return pieces;
  }
  const parts: string[] = [];
  let from = 0;
  for (const found of text.matchAll(place)) {
    const end = found.index + found[0].length;
    parts.push(text.slice(from, end));
    from = end;
  }
  parts.push(text.slice(from));
  const pieces: string[] = [];
  let piece = '';
  for (const part of parts) {
    if (piece.length + part.length <= most) {
      piece += part;
      continue;
    }
    if (piece.trim() !== '') pieces.push(piece);
    piece = '';
    if (part.length <= most) piece = part;
    else {
      const smaller = cut(part, most, level + 1);
      piece = smaller.pop() ?? '';
      pieces.push(...smaller);
    }
  }
  if (piece.trim() !== '') pieces.push(piece);
  return pieces;
};

/** As people write it in a form: `\n` stands for a new line. */
const separatorOf = (text: string): string => text.replaceAll('\\n', '\n').replaceAll('\\t', '\t');

/**
 * Cuts sections into passages of at most `size` letters, along sentences. A separator cuts wherever
 * it stands; without one, short neighbours under the same heading and page become one.
 */
export const chunksOf = (
  sections: readonly Section[],
  { separator, size }: { separator: string; size: number },
): Chunk[] => {
  const mark = separatorOf(separator);
  const chunks: Chunk[] = [];
  for (const { page, heading, text } of sections) {
    const parts = mark === '' ? [text] : text.split(mark);
    for (const part of parts)
      for (const piece of cut(part, size)) {
        const content = piece.trim();
        if (content === '') continue;
        const last = chunks.at(-1);
        const joins =
          mark === '' &&
          last?.page === page &&
          last.heading === heading &&
          last.content.length + content.length + 1 <= size / 2;
        if (joins) last.content += `\n${content}`;
        else chunks.push({ page, heading, content });
      }
  }
  return chunks;
};
