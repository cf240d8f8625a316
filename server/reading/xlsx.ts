import { format, isDateFormat } from 'numfmt';
import { type Block, tooLargeFile, Unwanted } from './block.ts';
import { bare, linksOf, walkXml } from './markup.ts';
import { partAt, partsOf } from './parts.ts';
import { tableBlocks, type TableCell, type TableRow } from './table.ts';

/** Rows of one sheet that are read: more than that is a database. */
const mostRows = 200_000;
const mostMerges = 20_000;

/** What a number of the built-in formats looks like, where the file does not say it. */
const builtIn: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  14: 'yyyy-mm-dd',
  15: 'yyyy-mm-dd',
  16: 'mm-dd',
  17: 'yyyy-mm',
  18: 'hh:mm',
  19: 'hh:mm:ss',
  20: 'hh:mm',
  21: 'hh:mm:ss',
  22: 'yyyy-mm-dd hh:mm',
  27: 'yyyy"年"m"月"',
  28: 'm"月"d"日"',
  31: 'yyyy"年"m"月"d"日"',
  45: 'mm:ss',
  57: 'yyyy"年"m"月"',
  58: 'm"月"d"日"',
};

/** The format of each style, by its number. */
const formatsOf = (part: Uint8Array | undefined): string[] => {
  const codes = new Map(Object.entries(builtIn).map(([id, code]) => [Number(id), code]));
  const styles: string[] = [];
  let inStyles = false;
  walkXml(part, {
    open: (name, { numFmtId = '0', formatCode = '' }) => {
      if (bare(name) === 'numFmt') codes.set(Number(numFmtId), formatCode);
      if (bare(name) === 'cellXfs') inStyles = true;
      if (inStyles && bare(name) === 'xf') styles.push(codes.get(Number(numFmtId)) ?? '');
    },
    close: (name) => {
      if (bare(name) === 'cellXfs') inStyles = false;
    },
  });
  return styles;
};

const sharedTexts = (part: Uint8Array | undefined): string[] => {
  const texts: string[] = [];
  let text = '';
  let inside = false;
  let sound = false;
  walkXml(part, {
    open: (name) => {
      if (bare(name) === 'si') text = '';
      // How a Japanese word is read stands beside it.
      if (bare(name) === 'rPh') sound = true;
      inside = bare(name) === 't' && !sound;
    },
    text: (more) => {
      if (inside) text += more;
    },
    close: (name) => {
      inside = false;
      if (bare(name) === 'rPh') sound = false;
      if (bare(name) === 'si') texts.push(text);
    },
  });
  return texts;
};

interface Book {
  texts: readonly string[];
  formats: readonly string[];
  /** Days that its calendar begins later. */
  shift: number;
}

const shown = (value: string, type: string, style: string, book: Book): string => {
  if (type === 's') return book.texts[Number(value)] ?? '';
  if (type === 'b') return value === '1' ? '是' : '否';
  if (type !== '' && type !== 'n') return value;
  const number = Number(value);
  const code = book.formats[Number(style)] ?? '';
  // What a sum of fractions leaves behind the fifteenth digit is no part of it.
  const plain = Number.isFinite(number) ? String(Number(number.toPrecision(15))) : value;
  if (code === '' || value === '' || !Number.isFinite(number)) return plain;
  try {
    const day = isDateFormat(code) ? number + book.shift : number;
    // A day is no midnight.
    return format(code, day, { throws: true })
      .replace(/ 0?0:00(?::00)?$/, '')
      .trim();
  } catch {
    return plain;
  }
};

/** The column, from 0, and the row, from 1, of a cell's address such as B3. */
const addressOf = (address: string): { column: number; row: number } => {
  const [, letters = '', digits = ''] = /^([A-Z]{1,3})(\d{1,7})$/.exec(address) ?? [];
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return { column: column - 1, row: Number(digits) };
};

/** How far merged cells reach, by the address of their first one. */
const mergesOf = (xml: string): Map<string, { across: number; down: number }> => {
  const merges = new Map<string, { across: number; down: number }>();
  for (const [, from = '', to = ''] of xml.matchAll(/<(?:\w+:)?mergeCell ref="(\w+):(\w+)"/g)) {
    const [first, last] = [addressOf(from), addressOf(to)];
    if (merges.size < mostMerges)
      merges.set(from, {
        across: Math.max(1, last.column - first.column + 1),
        down: Math.max(1, last.row - first.row + 1),
      });
  }
  return merges;
};

/** The rows of a sheet, up to so many letters. */
const rowsOf = (part: Uint8Array, book: Book, most: number): { rows: TableRow[]; cut: boolean } => {
  const merges = mergesOf(new TextDecoder().decode(part));
  const rows: TableRow[] = [];
  let length = 0;
  let cut = false;
  let row: TableRow = { row: 0, cells: [] };
  /** The column that comes next, those that a merged cell takes left out. */
  let column = 0;
  let taken: { from: number; to: number; until: number }[] = [];
  let cell = { address: '', type: '', style: '' };
  let value = '';
  let inside = false;
  const put = (found: TableCell) => {
    row.cells.push(found);
    column += found.across ?? 1;
  };
  const skipTo = (wanted: number) => {
    while (column < wanted && row.cells.length < 500) {
      const merged = taken.find(({ from, to }) => column >= from && column < to);
      if (merged) column = merged.to;
      else put({ text: '' });
    }
  };
  walkXml(part, {
    open: (name, attributes) => {
      const tag = bare(name);
      if (tag === 'row') {
        row = { row: Number(attributes['r']) || row.row + 1, cells: [] };
        column = 0;
        taken = taken.filter(({ until }) => until >= row.row);
      } else if (tag === 'c') {
        const { r: address = '', t: type = '', s: style = '' } = attributes;
        cell = { address, type, style };
        value = '';
      }
      inside = tag === 'v' || (tag === 't' && cell.type === 'inlineStr');
    },
    text: (text) => {
      if (inside) value += text;
    },
    close: (name) => {
      inside = false;
      if (cut) return;
      if (bare(name) === 'c') {
        const at = addressOf(cell.address);
        if (taken.some(({ from, to }) => at.column >= from && at.column < to)) return;
        if (at.column < column && at.column >= 0) return;
        skipTo(at.column);
        const text = shown(value, cell.type, cell.style, book);
        const { across = 1, down = 1 } = merges.get(cell.address) ?? {};
        length += text.length;
        if (down > 1) taken.push({ from: column, to: column + across, until: row.row + down - 1 });
        put({ text, across: Math.min(across, 500), down });
      } else if (bare(name) === 'row') {
        rows.push(row);
        cut = length > most || rows.length >= mostRows;
      }
    },
  });
  return { rows, cut };
};

/** A workbook's sheets, row by row; what is hidden in it is read as well. @throws Unwanted */
export const xlsxBlocks = function* (data: Uint8Array, most: number): Generator<Block> {
  const parts = partsOf(data, (name) =>
    /^xl\/(?:workbook\.xml|_rels\/workbook\.xml\.rels|sharedStrings\.xml|styles\.xml|worksheets\/[^/]+\.xml)$/i.test(
      name,
    ),
  );
  const workbook = parts.get('xl/workbook.xml');
  if (!workbook) throw new Error('no workbook');
  const links = linksOf(parts.get('xl/_rels/workbook.xml.rels'));
  const sheets: { name: string; part: string }[] = [];
  let shift = 0;
  walkXml(workbook, {
    open: (tag, attributes) => {
      const { name = '', 'r:id': id = '' } = attributes;
      if (bare(tag) === 'sheet')
        sheets.push({ name, part: partAt('xl/workbook.xml', links.get(id)?.target ?? '') });
      if (bare(tag) === 'workbookPr' && /^(?:1|true)$/.test(attributes['date1904'] ?? ''))
        shift = 1462;
    },
  });
  const book = {
    texts: sharedTexts(parts.get('xl/sharedStrings.xml')),
    formats: formatsOf(parts.get('xl/styles.xml')),
    shift,
  };
  let left = most;
  for (const { name, part } of sheets) {
    const sheet = parts.get(part);
    if (!sheet) continue;
    const { rows, cut } = rowsOf(sheet, book, left);
    for (const block of tableBlocks(rows, { sheet: name })) {
      left -= block.text.length;
      yield block;
    }
    if (cut && left > 0) throw new Unwanted(tooLargeFile);
    if (left <= 0) return;
  }
};
