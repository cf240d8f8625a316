import type { Block } from './block.ts';
import type { Place } from './place.ts';

export interface TableCell {
  text: string;
  /** Columns and rows that it takes. */
  across?: number;
  down?: number;
}

export interface TableRow {
  /** As people count them, from 1. */
  row: number;
  cells: TableCell[];
  /** The file says that its cells name the columns. */
  heads?: boolean;
}

/** Rows whose cells all stand in their columns, a merged one in each that it takes. */
interface GridRow {
  row: number;
  cells: string[];
  heads: boolean;
  /** Some of its cells take several columns. */
  merged: boolean;
}

const mostColumns = 500;
const longestCaption = 60;

const gridOf = function* (rows: Iterable<TableRow>): Generator<GridRow> {
  /** What reaches down from rows above, by its column. */
  const above = new Map<number, { text: string; left: number }>();
  for (const { row, cells, heads = false } of rows) {
    const grid: string[] = [];
    const reach = () => {
      for (let from = above.get(grid.length); from; from = above.get(grid.length)) {
        from.left -= 1;
        if (from.left <= 0) above.delete(grid.length);
        grid.push(from.text);
      }
    };
    let merged = false;
    for (const { text, across = 1, down = 1 } of cells) {
      reach();
      merged ||= across > 1;
      const clean = text.replaceAll(/\s+/g, ' ').trim();
      for (let nth = 0; nth < across && grid.length < mostColumns; nth += 1) {
        if (down > 1) above.set(grid.length, { text: clean, left: down - 1 });
        grid.push(clean);
      }
    }
    reach();
    if (grid.some((text) => text !== '')) yield { row, cells: grid, heads, merged };
  }
};

const isNumber = (text: string): boolean =>
  /^[\s\d.,，%％¥￥$€+\-−/:：年月日时分秒()（）]*\d[\s\d.,，%％¥￥$€+\-−/:：年月日时分秒元()（）]*$/.test(
    text,
  );

const distinct = ({ cells }: GridRow): Set<string> => new Set(cells.filter((text) => text !== ''));

const couldName = (row: GridRow): boolean => {
  const names = row.cells.filter((text) => text !== '');
  return names.length >= 2 && names.every((text) => text.length <= 40 && !isNumber(text));
};

/** Whether the first row names the columns, as far as one can see. */
const namesColumns = (first: GridRow, second?: GridRow, third?: GridRow): boolean => {
  if (!second || !couldName(first)) return false;
  if (first.heads || second.cells.length > 2) return true;
  // Of two columns the first one names the rows as often, unless numbers stand below words.
  return [0, 1].some((at) => [second, third].every((row) => isNumber(row?.cells[at] ?? '')));
};

/** What the first row of a table calls its columns; null: as far as one can see, nothing. */
export const headOf = (rows: Iterable<TableRow>): string[] | null => {
  const [first, second, third] = gridOf(rows);
  return first && namesColumns(first, second, third) ? first.cells : null;
};

/** The names of a column by a first row that groups them and a second one. */
const joined = (first: GridRow, second: GridRow): string[] =>
  first.cells.map((text, at) => {
    const below = second.cells[at] ?? '';
    return below === '' || below === text ? text : `${text}${text === '' ? '' : ' '}${below}`;
  });

const rowText = ({ cells }: GridRow, names: readonly string[]): string => {
  const parts: string[] = [];
  let last = '';
  for (const [at, text] of cells.entries()) {
    const name = names[at] ?? '';
    const said = name === '' ? text : `${name}：${text}`;
    if (text !== '' && said !== last) parts.push(said);
    last = said;
  }
  return parts.join(names.length > 0 ? '；' : ' | ');
};

const keyed = ({ cells }: GridRow): string => {
  const [key = '', value = ''] = cells;
  return key === '' || value === '' || key === value ? key || value : `${key}：${value}`;
};

/**
 * The rows of a table as blocks, each with the names of its columns; what stands above all columns
 * is its caption.
 */
export const tableBlocks = function* (rows: Iterable<TableRow>, place: Place): Generator<Block> {
  const grid = gridOf(rows);
  const ahead: GridRow[] = [];
  const look = (at: number): GridRow | undefined => {
    while (ahead.length <= at) {
      const next = grid.next();
      if (next.done) return undefined;
      ahead.push(next.value);
    }
    return ahead[at];
  };
  const captions: string[] = [];
  for (let first = look(0); first && distinct(first).size === 1; first = look(0)) {
    const next = look(1);
    if (first.heads || !next || next.cells.length < 2) break;
    const [text = ''] = distinct(first);
    if (text.length > longestCaption) yield { kind: 'text', text, place };
    else captions.push(text);
    ahead.shift();
  }
  let names: string[] = [];
  const first = look(0);
  const second = look(1);
  if (first && namesColumns(first, second, look(2))) {
    names = first.cells;
    ahead.shift();
    if (second && (second.heads || first.merged) && couldName(second) && look(1)) {
      names = joined(first, second);
      ahead.shift();
    }
  }
  const columns = first?.cells.length ?? 0;
  for (let row = look(0); row; row = look(0)) {
    ahead.shift();
    const text = names.length === 0 && columns === 2 ? keyed(row) : rowText(row, names);
    const heading = captions.length > 0 ? { heading: captions } : {};
    yield { kind: 'row', text, place: { ...place, ...heading, row: row.row } };
  }
};
