import type { Block } from './block.ts';
import { tableBlocks, type TableRow } from './table.ts';

/** What stands before a page's text, such as `title: …`: its title goes with all of it. */
const frontMatter = /^---\n([^]*?)\n---\n/;
const tableRule = /^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$/;
/** No rule and no heading is longer: what a line of blanks takes grows with its square. */
const longestMark = 500;
const isRule = (line = ''): boolean => line.length <= longestMark && tableRule.test(line);
const headingOf = (line: string) =>
  line.length <= longestMark ? /^(#{1,6})\s+(.*?)#*\s*$/.exec(line) : null;

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.replaceAll('\\|', '|').trim());

/** Headings, tables, and the text between them as it is written. */
export const markdownBlocks = function* (source: string): Generator<Block> {
  const front = frontMatter.exec(source);
  const title =
    /^title:\s*["']?(.{1,500}?)["']?\s*$/m.exec(front?.[1]?.slice(0, 10_000) ?? '')?.[1] ?? '';
  if (title !== '') yield { kind: 'heading', level: 1, text: title, place: {} };
  let fence = false;
  let text = '';
  const said = function* (): Generator<Block> {
    if (text.trim() !== '') yield { kind: 'text', text: text.trimEnd(), place: {} };
    text = '';
  };
  const lines = source.slice(front?.[0].length ?? 0).split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (/^\s*(?:```|~~~)/.test(line)) fence = !fence;
    const [, marks = '', words = ''] = fence ? [] : (headingOf(line) ?? []);
    if (marks !== '') {
      yield* said();
      yield { kind: 'heading', level: marks.length, text: words.trim(), place: {} };
    } else if (!fence && line.includes('|') && isRule(lines[at + 1])) {
      yield* said();
      const rows: TableRow[] = [];
      for (; (lines[at] ?? '').includes('|'); at += 1) {
        if (isRule(lines[at])) continue;
        const cells = cellsOf(lines[at] ?? '').map((cell) => ({ text: cell }));
        rows.push({ row: rows.length + 1, cells, heads: rows.length === 0 });
      }
      at -= 1;
      yield* tableBlocks(rows, {});
    } else text += `${line}\n`;
  }
  yield* said();
};
