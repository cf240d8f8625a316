import type { Block } from './block.ts';
import { csvBlocks } from './csv.ts';
import { htmlBlocks } from './html.ts';
import { endingOf } from './kinds.ts';
import { markdownBlocks } from './markdown.ts';
import type { Place } from './place.ts';

const page = /^【第 (\d{1,7}) 页】$/;
const slide = /^【第 (\d{1,7}) 张幻灯片】$/;
const sheet = /^【表：(.{1,200})】$/;
const row = /^第 (\d{1,7}) 行　/;
const heading = /^(#{1,6}) (.+)$/;
const note = '备注：';

const placeOf = (line: string): Place | null => {
  const [, onPage] = page.exec(line) ?? [];
  if (onPage !== undefined) return { page: Number(onPage) };
  const [, onSlide] = slide.exec(line) ?? [];
  if (onSlide !== undefined) return { slide: Number(onSlide) };
  const [, onSheet] = sheet.exec(line) ?? [];
  return onSheet === undefined ? null : { sheet: onSheet };
};

/** The blocks that `textOf` made a text of, one a line. */
const documentBlocks = function* (text: string): Generator<Block> {
  let place: Place = {};
  for (const line of text.split('\n')) {
    const next = placeOf(line);
    const [mark = '', number = ''] = row.exec(line) ?? [];
    const [, marks = '', words = ''] = heading.exec(line) ?? [];
    if (next) place = next;
    else if (mark !== '')
      yield {
        kind: 'row',
        text: line.slice(mark.length),
        place: { ...place, row: Number(number) },
      };
    else if (marks !== '') yield { kind: 'heading', level: marks.length, text: words, place };
    else if (line.startsWith(note)) yield { kind: 'note', text: line.slice(note.length), place };
    else if (line.trim() !== '') yield { kind: 'text', text: line, place };
  }
};

const ofEndings: Readonly<Record<string, (text: string) => Iterable<Block>>> = {
  csv: csvBlocks,
  tsv: csvBlocks,
  md: markdownBlocks,
  markdown: markdownBlocks,
  html: htmlBlocks,
  htm: htmlBlocks,
};
const documents = new Set(['pdf', 'doc', 'docx', 'docm', 'xlsx', 'xlsm', 'pptx', 'pptm', 'epub']);

/**
 * The text that is kept of a file, as blocks again; null: it is plain, and its lines are its places.
 * @throws Unwanted where a page is nested too deep
 */
export const blocksOfText = (name: string, text: string): Iterable<Block> | null => {
  const ending = endingOf(name);
  if (documents.has(ending)) return documentBlocks(text);
  return ofEndings[ending]?.(text) ?? null;
};
