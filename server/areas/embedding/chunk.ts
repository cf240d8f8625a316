import type { Block } from '#server/reading/block.ts';
import type { Place } from '#server/reading/place.ts';

/** A passage of a file. */
export interface Chunk {
  place: Place;
  /** What it stands under, for a search: its headings, its table and its sheet. */
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

/** Rows of one passage, letters: with more of them the right row is found less often (tests/load/tables.ts). */
const rowsLength = 150;
/** Nothing takes in a longer passage: only beyond it is a row cut. */
const longestRow = 6000;
/** What stands before a table and is about it. */
const isCaption = (text: string): boolean =>
  text.length <= 60 &&
  (/^[\s【[]*(?:表|附表|table)\s*[\d一二三四五六七八九十]/i.test(text) ||
    /[:：]$/.test(text.trim()));

/** The headings that a block stands under, kept from one block to the next. */
class Headings {
  private readonly path: string[] = [];

  take(text: string, level: number): void {
    this.path.length = Math.max(0, level - 1);
    this.path[level - 1] = text.trim().slice(0, 80);
  }

  get all(): string[] {
    return this.path.filter((part) => part !== undefined && part !== '');
  }
}

const sameCut = (one: Place, other: Place): boolean =>
  one.page === other.page && one.slide === other.slide && one.sheet === other.sheet;

/** Letters of the headings that stand with each passage. */
const mostHeading = 200;

const chunkOf = (place: Place, headings: readonly string[], content: string): Chunk => {
  let left = mostHeading;
  const heading = headings.flatMap((each) => {
    const part = each.slice(0, left);
    left -= part.length;
    return part === '' ? [] : [part];
  });
  return {
    place: { ...place, ...(heading.length > 0 ? { heading } : {}) },
    heading: [...heading, place.sheet ?? '']
      .filter((part) => part !== '')
      .join(' › ')
      .slice(0, mostHeading),
    content,
  };
};

/** Paragraphs that stand together, cut along sentences. */
const textChunks = (
  blocks: readonly Block[],
  headings: readonly string[],
  { mark, size }: { mark: string; size: number },
): Chunk[] => {
  const chunks: Chunk[] = [];
  let open = '';
  let place: Place = {};
  const end = () => {
    const parts = mark === '' ? [open] : open.split(mark);
    for (const part of parts)
      for (const piece of cut(part, size))
        if (piece.trim() !== '') chunks.push(chunkOf(place, headings, piece.trim()));
    open = '';
  };
  for (const { kind, text, place: own } of blocks) {
    const said = kind === 'note' ? `备注：${text}` : text;
    const apart = !sameCut(own, place) || (mark === '' && open.length + said.length + 1 > size);
    if (open !== '' && apart) end();
    if (open === '') place = own;
    open += open === '' ? said : `\n${said}`;
  }
  end();
  return chunks;
};

/** Rows that stand together: each whole, with the names of its columns in it. */
const rowChunks = (
  blocks: readonly Block[],
  headings: readonly string[],
  size: number,
): Chunk[] => {
  const chunks: Chunk[] = [];
  const most = Math.min(size, rowsLength);
  let open: Block[] = [];
  let length = 0;
  const end = () => {
    const [first] = open;
    if (!first) return;
    const { heading: captions = [], ...rest } = first.place;
    const toRow = open.at(-1)?.place.row;
    const place = toRow === undefined || toRow === rest.row ? rest : { ...rest, toRow };
    for (const text of cut(open.map((row) => row.text).join('\n'), longestRow))
      chunks.push(chunkOf(place, [...headings, ...captions], text.trim()));
    open = [];
    length = 0;
  };
  for (const block of blocks) {
    const before = open.at(-1)?.place;
    const apart =
      before && (!sameCut(before, block.place) || (block.place.row ?? 0) <= (before.row ?? 0));
    if (apart || (open.length > 0 && length + block.text.length > most)) end();
    open.push(block);
    length += block.text.length + 1;
  }
  end();
  return chunks;
};

/** As people write it in a form: `\n` stands for a new line. */
const separatorOf = (text: string): string => text.replaceAll('\\n', '\n').replaceAll('\\t', '\t');

/**
 * Cuts a file's blocks into passages as a person would: a heading, another page, sheet or table
 * begins a new one; paragraphs are put together up to `size` letters and cut along sentences, and a
 * separator cuts wherever it stands; a row is never cut.
 */
export const chunksOf = (
  blocks: readonly Block[],
  { separator, size }: { separator: string; size: number },
): Chunk[] => {
  const mark = separatorOf(separator);
  const headings = new Headings();
  const chunks: Chunk[] = [];
  let run: Block[] = [];
  /** What is said before a table about it. */
  let caption: string[] = [];
  const end = (next?: Block) => {
    if (run[0]?.kind === 'row') {
      chunks.push(...rowChunks(run, [...headings.all, ...caption], size));
      caption = [];
    } else {
      const last = run.at(-1);
      if (next?.kind === 'row' && last && isCaption(last.text)) {
        caption = [last.text.trim()];
        run.pop();
      }
      chunks.push(...textChunks(run, headings.all, { mark, size }));
    }
    run = [];
  };
  for (const block of blocks) {
    if (block.kind === 'heading') {
      end();
      headings.take(block.text, block.level ?? 1);
      continue;
    }
    if (run.length > 0 && (run[0]?.kind === 'row') !== (block.kind === 'row')) end(block);
    run.push(block);
  }
  end();
  return chunks;
};
