import type { Block } from './block.ts';
import { bare, walkXml } from './markup.ts';
import { partsOf } from './parts.ts';
import { tableBlocks, type TableCell, type TableRow } from './table.ts';

/** A style's name that says it is a heading, where it does not say of which level. */
const headingName = /^(?:heading|标题|title|subtitle|副标题)\s*(\d)?/i;
const longestHeading = 100;

/** The level of the headings among the styles, from 1. */
const levelsOf = (part: Uint8Array | undefined): Map<string, number> => {
  const levels = new Map<string, number>();
  let style = '';
  walkXml(part, {
    open: (name, attributes) => {
      const value = attributes['w:val'] ?? '';
      if (bare(name) === 'style') style = attributes['w:styleId'] ?? '';
      else if (bare(name) === 'name') {
        const found = headingName.exec(value);
        if (found) levels.set(style, Number(found[1] ?? 1));
      } else if (bare(name) === 'outlineLvl' && Number(value) < 9)
        levels.set(style, Number(value) + 1);
    },
    close: (name) => {
      if (bare(name) === 'style') style = '';
    },
  });
  return levels;
};

/** A cell that goes on below has no text of its own there. */
interface OpenTable {
  rows: TableRow[];
  cell: (TableCell & { goesOn?: boolean }) | null;
}

/** Cells that go on below take as many rows, as a page's table says it. */
const withReach = (rows: TableRow[]): TableRow[] => {
  const last = new Map<number, TableCell>();
  return rows.map(({ row, cells, heads }) => {
    let column = 0;
    const kept: TableCell[] = [];
    for (const cell of cells as (TableCell & { goesOn?: boolean })[]) {
      const above = last.get(column);
      if (cell.goesOn && above) above.down = (above.down ?? 1) + 1;
      else {
        last.set(column, cell);
        kept.push(cell);
      }
      column += cell.across ?? 1;
    }
    return { row, cells: kept, ...(heads ? { heads } : {}) };
  });
};

/** The paragraphs and tables of a part of a Word file. */
const bodyBlocks = (
  part: Uint8Array | undefined,
  levels: ReadonlyMap<string, number>,
  kind: 'text' | 'note',
): Block[] => {
  const blocks: Block[] = [];
  const tables: OpenTable[] = [];
  /** Boxes stand within paragraphs: theirs are put aside meanwhile. */
  const outer: { text: string; level: number }[] = [];
  let paragraph = { text: '', level: 0 };
  let inText = false;
  let inFallback = 0;
  const cellText = (text: string) => {
    const cell = tables.at(-1)?.cell;
    if (cell) cell.text += `${cell.text === '' ? '' : ' '}${text}`;
    return cell !== null && cell !== undefined;
  };
  const tag: Record<string, (attributes: Readonly<Record<string, string>>) => void> = {
    p: () => {
      outer.push(paragraph);
      paragraph = { text: '', level: 0 };
    },
    pStyle: (attributes) => {
      paragraph.level = levels.get(attributes['w:val'] ?? '') ?? 0;
    },
    outlineLvl: (attributes) => {
      const level = Number(attributes['w:val']);
      paragraph.level = level < 9 ? level + 1 : 0;
    },
    tab: () => {
      paragraph.text += outer.length > 0 ? ' ' : '';
    },
    br: () => {
      paragraph.text += '\n';
    },
    tbl: () => tables.push({ rows: [], cell: null }),
    tr: () => {
      const rows = tables.at(-1)?.rows;
      rows?.push({ row: rows.length + 1, cells: [] });
    },
    tblHeader: (attributes) => {
      const row = tables.at(-1)?.rows.at(-1);
      if (row && !/^(?:0|false|off)$/.test(attributes['w:val'] ?? '')) row.heads = true;
    },
    tc: () => {
      const table = tables.at(-1);
      if (!table) return;
      table.cell = { text: '' };
      table.rows.at(-1)?.cells.push(table.cell);
    },
    gridSpan: (attributes) => {
      const cell = tables.at(-1)?.cell;
      if (cell) cell.across = Math.min(500, Math.max(1, Number(attributes['w:val']) || 1));
    },
    vMerge: (attributes) => {
      const cell = tables.at(-1)?.cell;
      if (cell && attributes['w:val'] !== 'restart') cell.goesOn = true;
    },
  };
  const ends: Record<string, () => void> = {
    p: () => {
      const { text, level } = paragraph;
      paragraph = outer.pop() ?? { text: '', level: 0 };
      if (text.trim() === '' || cellText(text.trim())) return;
      if (level > 0 && text.length < longestHeading)
        blocks.push({ kind: 'heading', level, text: text.trim(), place: {} });
      else blocks.push({ kind, text, place: {} });
    },
    tc: () => {
      const table = tables.at(-1);
      if (table) table.cell = null;
    },
    tbl: () => {
      const made = [...tableBlocks(withReach(tables.pop()?.rows ?? []), {})];
      if (!cellText(made.map(({ text }) => text).join(' '))) blocks.push(...made);
    },
  };
  walkXml(part, {
    open: (name, attributes) => {
      if (name === 'mc:Fallback') inFallback += 1;
      // What stands there stands beside it once more, for newer programs.
      if (inFallback > 0) return;
      inText = bare(name) === 't' && name.startsWith('w:');
      if (name.startsWith('w:')) tag[bare(name)]?.(attributes);
    },
    text: (text) => {
      if (inText) paragraph.text += text;
    },
    close: (name) => {
      inText = false;
      if (name === 'mc:Fallback') inFallback -= 1;
      else if (inFallback === 0 && name.startsWith('w:')) ends[bare(name)]?.();
    },
  });
  return blocks;
};

/** A Word file: headings, paragraphs, tables, and its notes at the end. */
export const docxBlocks = (data: Uint8Array): Block[] => {
  const parts = partsOf(data, (name) =>
    /^word\/(?:document|styles|footnotes|endnotes)\.xml$/.test(name),
  );
  const document = parts.get('word/document.xml');
  if (!document) throw new Error('no document');
  const levels = levelsOf(parts.get('word/styles.xml'));
  for (const level of [1, 2, 3, 4, 5, 6])
    for (const name of [
      `Heading${level}`,
      `heading${level}`,
      `标题${level}`,
      `${level}`,
      ...(level === 1 ? ['Title'] : []),
    ])
      if (!levels.has(name)) levels.set(name, level);
  return [
    ...bodyBlocks(document, levels, 'text'),
    ...['footnotes', 'endnotes'].flatMap((name) =>
      bodyBlocks(parts.get(`word/${name}.xml`), levels, 'note'),
    ),
  ];
};
