import { usualForms } from '#server/search/forms.ts';
import type { Block } from './block.ts';
import type { Place } from './place.ts';
import { headOf, tableBlocks, type TableRow } from './table.ts';

/** Letters on a page, from its upper left corner. */
export interface Piece {
  x: number;
  y: number;
  width: number;
  height: number;
  text: string;
}

/** A line of a page and where it stands, in shares of the page's sides. */
export interface PageLine {
  text: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Places of words that are told of a page. */
const mostPageLines = 4000;

const share = (part: number, whole: number): number => Math.round((part / whole) * 10_000) / 10_000;

/** Pieces of a page of that size as they are told to who looks at it. */
export const pageLines = (
  pieces: readonly Piece[],
  { width, height }: { width: number; height: number },
): PageLine[] =>
  pieces.slice(0, mostPageLines).map((piece) => ({
    text: usualForms(piece.text),
    x: share(piece.x, width),
    y: share(piece.y, height),
    width: share(piece.width, width),
    height: share(piece.height, height),
  }));

/** Pieces at one height, from left to right. */
interface Line {
  pieces: Piece[];
  top: number;
  bottom: number;
  height: number;
}

const middle = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
const endOf = ({ x, width }: Piece): number => x + width;
const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}，。、；：？！“”（）《》【】]/u;

/** Two texts beside each other: Chinese needs no space there. */
const glued = (before: string, after: string): string => {
  const last = before.at(-1) ?? '';
  const first = after[0] ?? '';
  if (last === '' || first === '' || /\s/.test(last) || wide.test(last) || wide.test(first))
    return before + after;
  return last === '-' && /[a-z]/.test(first) ? before.slice(0, -1) + after : `${before} ${after}`;
};

/** Pieces at one height become a line; those that nearly touch become one. */
const linesOf = (pieces: readonly Piece[]): Line[] => {
  const lines: Line[] = [];
  const sorted = [...pieces].sort(
    (one, other) => one.y + one.height / 2 - (other.y + other.height / 2),
  );
  for (const piece of sorted) {
    const centre = piece.y + piece.height / 2;
    const line = lines.at(-1);
    // A small letter beside a large one, such as a footnote's number, is in its line.
    const same = line && centre < line.bottom - line.height * 0.25 && centre > line.top;
    if (!same) {
      lines.push({
        pieces: [piece],
        top: piece.y,
        bottom: piece.y + piece.height,
        height: piece.height,
      });
      continue;
    }
    line.pieces.push(piece);
    if (piece.height > line.height) {
      line.height = piece.height;
      line.top = piece.y;
      line.bottom = piece.y + piece.height;
    }
  }
  for (const line of lines) {
    line.pieces.sort((one, other) => one.x - other.x);
    const joined: Piece[] = [];
    for (const piece of line.pieces) {
      const last = joined.at(-1);
      const gap = last ? piece.x - endOf(last) : Infinity;
      if (last && gap < line.height * 0.9) {
        const apart = gap > line.height * 0.15;
        last.text = apart ? glued(last.text, piece.text) : last.text + piece.text;
        last.width = Math.max(endOf(last), endOf(piece)) - last.x;
        last.height = Math.max(last.height, piece.height);
      } else joined.push({ ...piece });
    }
    line.pieces = joined;
  }
  return lines;
};

/** Where a page is cut into two columns of prose; null: it is not. */
const gutterOf = (pieces: readonly Piece[]): number | null => {
  if (pieces.length < 24) return null;
  const left = Math.min(...pieces.map(({ x }) => x));
  const right = Math.max(...pieces.map(endOf));
  const [from, to] = [left + (right - left) * 0.35, left + (right - left) * 0.65];
  let best: { at: number; crossed: number } | null = null;
  for (let at = from; at < to; at += (right - left) / 100) {
    const crossed = pieces.filter((piece) => piece.x < at && endOf(piece) > at).length;
    if (!best || crossed < best.crossed) best = { at, crossed };
  }
  if (!best || best.crossed > pieces.length * 0.1) return null;
  const { at } = best;
  // Cells are shorter than their column; lines of prose fill it.
  const filled = (side: readonly Piece[], width: number) =>
    side.length > 8 && middle(side.map((piece) => piece.width)) > width * 0.7;
  const one = pieces.filter((piece) => endOf(piece) <= at);
  const other = pieces.filter(({ x }) => x >= at);
  return filled(one, at - left) && filled(other, right - at) ? at : null;
};

/** Lines that stand in the same columns, and those columns' left and right ends. */
interface Grid {
  lines: Line[];
  columns: { from: number; to: number }[];
}

const columnsOf = (lines: readonly Line[]): { from: number; to: number }[] => {
  const columns: { from: number; to: number }[] = [];
  const pieces = lines.flatMap((line) => line.pieces).sort((one, other) => one.x - other.x);
  for (const piece of pieces) {
    const last = columns.at(-1);
    if (last && piece.x < last.to) last.to = Math.max(last.to, endOf(piece));
    else columns.push({ from: piece.x, to: endOf(piece) });
  }
  return columns;
};

/** Columns of which no line has two beside each other are one: words to the left, numbers to the right. */
const joinedColumns = ({ lines, columns }: Grid): Grid['columns'] => {
  const joined: Grid['columns'] = [];
  for (const column of columns) {
    const last = joined.at(-1);
    const has = (line: Line, { from, to }: { from: number; to: number }) =>
      line.pieces.some(({ x }) => x >= from - 1 && x < to);
    if (last && !lines.some((line) => has(line, last) && has(line, column))) last.to = column.to;
    else joined.push({ ...column });
  }
  return joined;
};

/** Tables and single lines, from above. */
const partsOf = (lines: readonly Line[]): (Line | Grid)[] => {
  const parts: (Line | Grid)[] = [];
  let run: Line[] = [];
  const end = () => {
    // What follows the last row of several cells is none of the table's.
    let last = run.length;
    while (last > 0 && (run[last - 1]?.pieces.length ?? 0) < 2) last -= 1;
    const table = run.slice(0, last);
    const several = table.filter(({ pieces }) => pieces.length > 1).length;
    const columns = joinedColumns({ lines: table, columns: columnsOf(table) });
    if (several >= 2 && columns.length > 1) parts.push({ lines: table, columns });
    else parts.push(...table);
    parts.push(...run.slice(last));
    run = [];
  };
  for (const line of lines) {
    const before = run.at(-1);
    if (run.length === 0) {
      if (line.pieces.length > 1) run.push(line);
      else parts.push(line);
      continue;
    }
    const columns = columnsOf([...run, line]);
    const most = Math.max(...run.map(({ pieces }) => pieces.length), line.pieces.length);
    const gap = line.top - (before?.bottom ?? 0);
    const [alone, second] = line.pieces;
    // A line that begins at the left and has nothing beside it is below the table, if not in a cell.
    const below =
      !second &&
      alone &&
      gap > line.height * 0.5 &&
      alone.x < (columns[0]?.to ?? 0) &&
      run.length > 1;
    const far = gap > line.height * 2.5 || line.height > (before?.height ?? 0) * 1.25;
    if (far || below || columns.length < Math.max(2, Math.ceil(most * 0.75))) {
      end();
      if (line.pieces.length > 1) run.push(line);
      else parts.push(line);
    } else run.push(line);
  }
  end();
  return parts;
};

/** The rows of a table: a line that begins in no first column, or close to the one above, goes on. */
const rowsOf = ({ lines, columns }: Grid): TableRow[] => {
  const gaps = lines.slice(1).map((line, at) => line.top - (lines[at]?.top ?? 0));
  const usual = middle(gaps);
  const rows: { cells: string[] }[] = [];
  for (const [at, line] of lines.entries()) {
    const cells = columns.map(({ from, to }) =>
      line.pieces
        .filter((piece) => piece.x >= from - 1 && piece.x < to)
        .map(({ text }) => text)
        .join(' '),
    );
    const last = rows.at(-1);
    const filled = cells.filter((text) => text !== '').length;
    const close = (gaps[at - 1] ?? Infinity) < usual * 0.8;
    const few = cells[0] === '' && filled * 2 <= columns.length;
    const goesOn = last && filled < columns.length && (close || few);
    if (!goesOn) rows.push({ cells });
    else last.cells = last.cells.map((text, each) => glued(text, cells[each] ?? ''));
  }
  return rows.map(({ cells }, at) => ({ row: at + 1, cells: cells.map((text) => ({ text })) }));
};

const paragraphEnd = /[。！？!?.:：；;”"』】)）]$/;
/** Lists and numbered headings begin a paragraph of their own. */
const listStart =
  /^(?:[•·●■◆○▪▶\-–—*]\s|[（(]?[\d一二三四五六七八九十]{1,3}[)）、.．]|第[\d一二三四五六七八九十百]+[章节条款])/;

/** The table that a region ends with, and what its columns are called. */
interface Open {
  columns: Grid['columns'];
  head: string[] | null;
}

/** What may stand between a table and the edge of its page: one line, as a head or a foot. */
const besideEdge = 2;

/** What the columns are called of the table that this one goes on from. */
const headAbove = ({ columns }: Grid, open: Open | null): string[] | null => {
  const same = open?.columns.every(({ from, to }, at) => {
    const column = columns[at];
    return column !== undefined && from < column.to && column.from < to;
  });
  return open && same && open.columns.length === columns.length ? open.head : null;
};

/** The rows of a table, below the names of the one that it goes on from. */
const rowsBelow = (grid: Grid, open: Open | null): { rows: TableRow[]; head: string[] | null } => {
  const rows = rowsOf(grid);
  const head = headAbove(grid, open);
  if (head === null) return { rows, head: headOf(rows) };
  const again = rows[0]?.cells.every(({ text }, at) => text === head[at]);
  const cells = head.map((text) => ({ text }));
  return { rows: [{ row: 0, cells, heads: true }, ...(again ? rows.slice(1) : rows)], head };
};

/**
 * A region's lines as paragraphs, headings and tables. `body`: the height of most letters; `open`: the
 * table that the region before ends with.
 */
const regionBlocks = (
  pieces: readonly Piece[],
  place: Place,
  { body, open }: { body: number; open: Open | null },
): { blocks: Block[]; open: Open | null } => {
  const lines = linesOf(pieces);
  if (lines.length === 0) return { blocks: [], open };
  const right = Math.max(...lines.flatMap((line) => line.pieces.map(endOf)));
  const left = Math.min(...lines.flatMap((line) => line.pieces.map(({ x }) => x)));
  const blocks: Block[] = [];
  let before: (Line & { full: boolean }) | null = null;
  const parts = partsOf(lines);
  let last: Open | null = null;
  for (const [at, part] of parts.entries()) {
    if ('columns' in part) {
      const { rows, head } = rowsBelow(part, at < besideEdge ? open : null);
      blocks.push(...tableBlocks(rows, place));
      last = at >= parts.length - besideEdge ? { columns: part.columns, head } : null;
      before = null;
      continue;
    }
    const text = part.pieces
      .map((piece) => piece.text)
      .join(' ')
      .trim();
    if (text === '') continue;
    const [first] = part.pieces;
    const large = part.height > body * 1.18 && text.length < 60 && !/[。；，]$/.test(text);
    const full = endOf(part.pieces.at(-1) ?? part.pieces[0]!) > right - (right - left) * 0.08;
    const above = blocks.at(-1);
    const goesOn =
      !large &&
      before !== null &&
      above?.kind === 'text' &&
      before.full &&
      part.top - before.bottom < part.height * 1.3 &&
      (first?.x ?? 0) < left + part.height * 1.2 &&
      !listStart.test(text);
    if (goesOn && above) above.text = glued(above.text, text);
    else if (large)
      blocks.push({ kind: 'heading', level: part.height > body * 1.5 ? 1 : 2, text, place });
    else blocks.push({ kind: 'text', text, place });
    before = large ? null : { ...part, full };
  }
  return { blocks, open: last };
};

const heightsOf = (pages: readonly (readonly Piece[])[]): number => {
  const heights: number[] = [];
  for (const pieces of pages)
    for (const { height, text } of pieces)
      for (let at = 0; at < text.length; at += 8) heights.push(height);
  return middle(heights);
};

/** Lines at the top and at the bottom of a page that may say the same on each page. */
const edge = 2;

/** Whether a line is a row among others: cells of the lines beside it begin where its own do. */
const isRow = (line: Line, beside: readonly (Line | undefined)[]): boolean =>
  beside.some(
    (other) =>
      line.pieces.filter(({ x }) => other?.pieces.some((piece) => Math.abs(piece.x - x) < 4))
        .length > 1,
  );

/** What may be the head or the foot of a page, each with what is the same on all pages. */
const edgesOf = (pieces: readonly Piece[]) => {
  const lines = linesOf(pieces);
  return lines.flatMap((line, at) => {
    if (at >= edge && at < lines.length - edge) return [];
    if (isRow(line, [lines[at - 1], lines[at + 1]])) return [];
    const text = line.pieces.map((piece) => piece.text).join('');
    const same = text.replaceAll(/\d+/g, '#').replaceAll(/\s/g, '');
    return [{ key: `${Math.round(line.top / 4)} ${same}`, line }];
  });
};

/** The pages without what stands on most of them at the same height, but for the numbers in it. */
const withoutEdges = (pages: readonly (readonly Piece[])[]): (readonly Piece[])[] => {
  const filled = pages.map((pieces) => pieces.filter(({ text }) => text.trim() !== ''));
  if (pages.length < 3) return filled;
  const edges = filled.map(edgesOf);
  const count = new Map<string, number>();
  for (const each of edges)
    for (const key of new Set(each.map(({ key }) => key)))
      count.set(key, (count.get(key) ?? 0) + 1);
  const most = Math.max(3, pages.length * 0.5);
  const left = filled.map((pieces, at) => {
    const gone = (edges[at] ?? []).filter(({ key }) => (count.get(key) ?? 0) >= most);
    return pieces.filter(({ y, height }) => {
      const centre = y + height / 2;
      return !gone.some(({ line }) => centre >= line.top && centre <= line.bottom);
    });
  });
  // Where nothing else is said, it is what the pages say.
  return left.every(({ length }) => length === 0) ? filled : left;
};

/** A page's pieces, column by column. */
const regionsOf = (pieces: readonly Piece[]): Piece[][] => {
  const gutter = gutterOf(pieces);
  return gutter === null
    ? [[...pieces]]
    : [pieces.filter(({ x }) => x < gutter), pieces.filter(({ x }) => x >= gutter)];
};

/** What stands on a page, line by line. */
export const pageText = (pieces: readonly Piece[]): string =>
  regionsOf(pieces)
    .flatMap((region) =>
      linesOf(region).map((line) => line.pieces.map(({ text }) => text).join(' ')),
    )
    .join('\n');

/** What stands on pages of a document, from `first` on: columns, paragraphs, headings and tables. */
export const pageBlocks = (pages: readonly (readonly Piece[])[], first = 1): Block[] => {
  const body = heightsOf(pages);
  const blocks: Block[] = [];
  let open: Open | null = null;
  for (const [at, pieces] of withoutEdges(pages).entries()) {
    const place = { page: first + at };
    for (const region of regionsOf(pieces)) {
      const made = regionBlocks(region, place, { body, open });
      open = made.open;
      const [head, ...rest] = made.blocks;
      const last = blocks.at(-1);
      // A sentence that goes on overleaf stays whole, where it began.
      if (
        head?.kind === 'text' &&
        last?.kind === 'text' &&
        !paragraphEnd.test(last.text) &&
        last.text.length > 30
      )
        last.text = glued(last.text, head.text);
      else if (head) blocks.push(head);
      blocks.push(...rest);
    }
  }
  return blocks;
};
