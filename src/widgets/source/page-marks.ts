import { tableRow } from '#common/table-row.ts';
import type { DrawnLine } from '#contract/embedding.ts';
import { cellsOf } from './lines.ts';

/** A part of a page, in shares of its width and height. */
export interface PageMark {
  x: number;
  y: number;
  width: number;
  height: number;
}

const bare = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, '').toLowerCase();
const isNarrow = /[\p{Script=Latin}\p{N}]/u;

/** Letters without spaces and signs, each with the piece that it is of and its share of the width. */
const lettersOf = (lines: readonly DrawnLine[]) => {
  let text = '';
  const places: { line: DrawnLine; from: number; to: number }[] = [];
  for (const line of lines) {
    const letters = Array.from(line.text);
    const widths = letters.map((letter) => (isNarrow.test(letter) || letter === ' ' ? 0.55 : 1));
    const whole = widths.reduce((sum, width) => sum + width, 0) || 1;
    let at = 0;
    for (const [nth, letter] of letters.entries()) {
      const from = at / whole;
      at += widths[nth] ?? 0;
      const kept = bare(letter);
      text += kept;
      for (let each = 0; each < kept.length; each += 1) places.push({ line, from, to: at / whole });
    }
  }
  return { text, places };
};

/** Pieces at the height of one, as a row of a table has them. */
const beside = (lines: readonly DrawnLine[], { y, height }: DrawnLine): DrawnLine[] => {
  const centre = y + height / 2;
  return lines.filter((each) => centre > each.y && centre < each.y + each.height);
};

/** The pieces that are a row with these cells. */
const rowMarks = (lines: readonly DrawnLine[], row: string): PageMark[] => {
  const cells = [...cellsOf(row).values()].map(bare).filter((cell) => cell !== '');
  for (const line of lines) {
    if (!cells.some((cell) => bare(line.text).includes(cell))) continue;
    const all = beside(lines, line);
    const said = bare(all.map(({ text }) => text).join(''));
    if (cells.every((cell) => said.includes(cell))) return all;
  }
  return [];
};

/** Letters of the passage's start and end by which it is found on the page. */
const ends = 12;
/** A word shorter than this says nothing of where it stands. */
const shortest = 2;

/**
 * Where on a page the marked words of a passage stand.
 * @param passage the whole passage: words that stand elsewhere on the page, too, are marked in it alone
 */
export const pageMarks = (
  lines: readonly DrawnLine[],
  passage: string,
  marked: readonly string[],
): PageMark[] => {
  const { text, places } = lettersOf(lines);
  const own = bare(passage);
  const start = text.indexOf(own.slice(0, ends));
  const end = start < 0 ? -1 : text.indexOf(own.slice(-ends), start);
  const [from, to] = end < 0 ? [0, text.length] : [start, end + ends];
  const marks: PageMark[] = [];
  const mark = (first: number, last: number) => {
    for (let at = first; at < last;) {
      const place = places[at];
      if (!place) return;
      const { line } = place;
      let stop = at;
      while (stop + 1 < last && places[stop + 1]?.line === line) stop += 1;
      const right = places[stop]?.to ?? 1;
      const x = line.x + line.width * place.from;
      marks.push({ ...line, x, width: line.width * (right - place.from) });
      at = stop + 1;
    }
  };
  for (const said of new Set(marked.flatMap((part) => part.split('\n')))) {
    if (tableRow.test(said)) {
      marks.push(...rowMarks(lines, said));
      continue;
    }
    const word = bare(said);
    if (word.length < shortest) continue;
    for (
      let at = text.indexOf(word, from);
      at >= 0 && at < to;
      at = text.indexOf(word, at + word.length)
    )
      mark(at, at + word.length);
  }
  return marks.map(({ x, y, width, height }) => ({ x, y, width, height }));
};
