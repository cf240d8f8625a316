import type { Block } from './block.ts';
import { walkHtml } from './markup.ts';
import type { Place } from './place.ts';
import { tableBlocks, type TableCell, type TableRow } from './table.ts';

const hidden = /^(?:script|style|svg|template|noscript|head|math|iframe|object|select)$/;
const apart =
  /^(?:p|div|li|br|hr|ul|ol|dl|section|article|aside|header|footer|main|nav|blockquote|pre|figure|figcaption|h[1-6]|dd|dt|address|details|summary|form|body)$/;
const span = (text: string | undefined): number =>
  Math.min(500, Math.max(1, Math.trunc(Number(text)) || 1));

/** A page's headings, paragraphs and tables. */
export const htmlBlocks = (source: string, place: Place = {}): Block[] => {
  const blocks: Block[] = [];
  let text = '';
  let level = 0;
  let inHidden = 0;
  let inPre = 0;
  let title = false;
  /** Tables within tables: what stands in an inner one is a part of the outer one's cell. */
  let depth = 0;
  let rows: TableRow[] = [];
  let cell: TableCell | null = null;
  const flush = () => {
    const said = inPre > 0 ? text.trimEnd() : text.replaceAll(/[^\S\n]+/g, ' ').trim();
    text = '';
    if (said.trim() === '') return;
    if (level > 0) blocks.push({ kind: 'heading', level, text: said.slice(0, 200), place });
    else blocks.push({ kind: 'text', text: said, place });
  };
  const inCell = () => depth > 0 && cell !== null;
  walkHtml(source, {
    open: (name, attributes) => {
      if (name === 'title' && inHidden > 0) title = true;
      if (hidden.test(name)) inHidden += 1;
      if (inHidden > 0) return;
      if (name === 'table') {
        if (depth === 0) flush();
        depth += 1;
        if (depth === 1) rows = [];
      } else if (depth === 1 && name === 'tr') {
        rows.push({ row: rows.length + 1, cells: [] });
      } else if (depth === 1 && (name === 'td' || name === 'th')) {
        cell = { text: '', across: span(attributes['colspan']), down: span(attributes['rowspan']) };
        const row = rows.at(-1) ?? { row: 1, cells: [] };
        if (rows.length === 0) rows.push(row);
        row.heads = name === 'th' && (row.heads ?? row.cells.length === 0);
        row.cells.push(cell);
      } else if (inCell()) {
        if (apart.test(name) && cell) cell.text += ' ';
      } else if (apart.test(name)) {
        flush();
        if (name === 'pre') inPre += 1;
        level = Number(/^h([1-6])$/.exec(name)?.[1] ?? 0);
        if (name === 'li') text = '• ';
      } else if (name === 'img' && (attributes['alt'] ?? '') !== '') text += attributes['alt'];
    },
    text: (more) => {
      if (title && blocks.length === 0 && more.trim() !== '')
        blocks.push({ kind: 'heading', level: 1, text: more.trim().slice(0, 200), place });
      if (inHidden > 0) return;
      if (cell && depth > 0) cell.text += more;
      else text += inPre > 0 ? more : more.replaceAll(/\s+/g, ' ');
    },
    close: (name) => {
      if (name === 'title') title = false;
      if (hidden.test(name)) inHidden = Math.max(0, inHidden - 1);
      if (inHidden > 0) return;
      if (name === 'table') {
        depth = Math.max(0, depth - 1);
        if (depth > 0) return;
        cell = null;
        flush();
        blocks.push(...tableBlocks(rows, place));
      } else if (depth === 1 && (name === 'td' || name === 'th')) cell = null;
      else if (!inCell() && apart.test(name)) {
        flush();
        if (name === 'pre') inPre = Math.max(0, inPre - 1);
        level = 0;
      }
    },
  });
  flush();
  return blocks;
};
