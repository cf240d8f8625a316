import type { Token, Tokens } from 'marked';
import type { Line, Run, Style } from './pdf-line.ts';
import { runsOf } from './pdf-runs.ts';
import { showImages } from './pdf-shown-image.ts';
import { colors, plain, type Writer } from './pdf-style.ts';

const mostColumns = 24;
const cellStyle: Style = { ...plain, size: 9.5 };
const headStyle: Style = { ...cellStyle, kind: 'bold' };
/** Points above and below a cell's lines, and left and right of them together. */
const pad = 4;
const padding = 10;

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** Widths that give each column what it needs, and more to those that have more to say. */
const columnWidths = (
  { flow, breaker }: Writer,
  cells: readonly (readonly Run[])[][],
  columns: number,
): number[] => {
  const most = flow.width;
  const wanted = Array.from({ length: columns }, () => 24);
  const least = Array.from({ length: columns }, () => 24);
  for (const row of cells.slice(0, 200))
    for (let at = 0; at < columns; at++) {
      const { whole, word } = breaker.measure(row[at] ?? []);
      wanted[at] = Math.max(wanted[at] ?? 0, whole + padding + 1);
      least[at] = Math.max(least[at] ?? 0, Math.min(word + padding + 1, most / 3));
    }
  if (sum(wanted) <= most) return wanted;
  const room = most - sum(least);
  if (room <= 0) return least.map((one) => (one / sum(least)) * most);
  const more = wanted.map((one, at) => one - (least[at] ?? 0));
  return least.map((one, at) => one + ((more[at] ?? 0) / sum(more)) * room);
};

const heightOf = ({ flow }: Writer, line: Line): number =>
  flow.sizeOf(line, 1.4, cellStyle.size).height;
const rowHeight = (writer: Writer, cells: readonly Line[][]): number =>
  pad * 2 + Math.max(...cells.map((lines) => sum(lines.map((line) => heightOf(writer, line)))), 0);

/** How many of a cell's lines fit into so many points, one at least, and how high those are. */
const fitting = (writer: Writer, lines: readonly Line[], room: number) => {
  let height = 0;
  let count = 0;
  for (const line of lines) {
    const next = heightOf(writer, line);
    if (height + next > room && count > 0) break;
    height += next;
    count += 1;
  }
  return { height, count };
};

interface Columns {
  /** Points. */
  widths: readonly number[];
  header: Tokens.Table['header'];
}

/** As many lines of each cell as the page has room for; gives what is left. */
const drawPart = (
  writer: Writer,
  { widths, header }: Columns,
  cells: readonly Line[][],
  ground?: (typeof colors)['head'],
): Line[][] => {
  const { flow } = writer;
  const x0 = flow.left;
  const total = sum(widths);
  const parts = cells.map((lines) => fitting(writer, lines, flow.room - pad * 2));
  const height = Math.max(...parts.map((part) => part.height), 0) + pad * 2;
  flow.paintGrounds(height);
  if (ground) flow.fill(x0, flow.y, total, height, ground);
  let x = x0;
  cells.forEach((lines, at) => {
    const width = widths[at] ?? 0;
    const align = header[at]?.align;
    let y = flow.y + pad;
    for (const line of lines.slice(0, parts[at]?.count)) {
      const { height: tall, above } = flow.sizeOf(line, 1.4, cellStyle.size);
      const spare = width - padding - line.width;
      const shift = align === 'right' ? spare : align === 'center' ? spare / 2 : 0;
      flow.drawLine(line, x + padding / 2 + Math.max(0, shift), y + above);
      y += tall;
    }
    x += width;
  });
  x = x0;
  for (const width of [...widths, 0]) {
    flow.fill(x, flow.y, 0.5, height, colors.line);
    x += width;
  }
  flow.fill(x0, flow.y, total, 0.5, colors.line);
  flow.y += height;
  flow.fill(x0, flow.y, total, 0.5, colors.line);
  return cells.map((lines, at) => lines.slice(parts[at]?.count));
};

/** A table; its head stands again at the top of each page that it reaches. */
export const table = (writer: Writer, { header, rows }: Tokens.Table): void => {
  const { flow, breaker } = writer;
  const count = Math.min(header.length, mostColumns);
  const found: Tokens.Image[] = [];
  const runsIn = (cells: readonly { tokens: Token[] }[], style: Style) =>
    cells.slice(0, count).map((cell) => runsOf(writer, cell.tokens, style, found));
  const head = runsIn(header, headStyle);
  const body = rows.map((row) => runsIn(row, cellStyle));
  const widths = columnWidths(writer, [head, ...body], count);
  const columns = { widths, header };
  const rowLines = (row: readonly Run[][]): Line[][] =>
    widths.map((width, at) => breaker.breakLines(row[at] ?? [], width - padding));

  const headLines = rowLines(head);
  const headHeight = rowHeight(writer, headLines);
  const drawHead = () => void drawPart(writer, columns, headLines, colors.head);
  const nextPage = () => {
    flow.newPage();
    if (headHeight < 200) drawHead();
  };
  flow.need(Math.min(headHeight + 30, 300));
  drawHead();
  for (const row of body) {
    let left = rowLines(row);
    const height = rowHeight(writer, left);
    if (height > flow.room && (height < 400 || flow.room < 60)) nextPage();
    left = drawPart(writer, columns, left);
    while (left.some((lines) => lines.length > 0)) {
      nextPage();
      left = drawPart(writer, columns, left);
    }
  }
  flow.space(8);
  showImages(writer, found);
};
