import type { Quote } from '#common/chat-message.ts';
import { type Block, Unwanted, upTo } from '#server/reading/block.ts';
import { blocksOfText } from '#server/reading/from-text.ts';
import { placeText } from '#server/reading/place.ts';
import { readingsOf } from '#server/search/question.ts';
import { quotesOf } from '#server/search/quotes.ts';
import { chunksOf, type Chunk } from './chunk.ts';
import {
  answersByWords,
  byWords,
  enough,
  lookedAt,
  mostPassages,
  questionLength,
  quotableOf,
} from './fit.ts';
import { PassageIndex } from './passage-index.ts';

/** An attached file by what is kept of it. */
export interface ReadFile {
  name: string;
  text: string;
}

/** Letters of all files together that are looked through. */
const mostLetters = 400_000;
/** A row that carries the names of its columns is longer than it was. */
const mostGrowth = 2;
/** Letters of a passage. */
const passage = { separator: '', size: 800 };

interface Place {
  file: ReadFile;
  chunk: Chunk;
  /** What its file was read as; null: its lines are its only places. */
  blocks: readonly Block[] | null;
}

/** Null for a plain text, and for what is nested too deep to be read as what its name says. */
const blocksIn = ({ name, text }: ReadFile): Block[] | null => {
  try {
    const made = blocksOfText(name, text);
    return made && upTo(made, text.length * mostGrowth).blocks;
  } catch (error) {
    if (error instanceof Unwanted) return null;
    throw error;
  }
};

const placesIn = (file: ReadFile): Place[] => {
  const blocks = blocksIn(file);
  const read = blocks ?? [{ kind: 'text' as const, text: file.text, place: {} }];
  return chunksOf(read, passage).map((chunk) => ({ file, chunk, blocks }));
};

/** Of several rows the one that is quoted. */
const rowOf = ({ chunk, blocks }: Place, quote: string): number | undefined => {
  const { row = 0, toRow = 0 } = chunk.place;
  const start = quote.slice(0, 60);
  return blocks?.find(
    ({ text, place }) =>
      (place.row ?? 0) >= row && (place.row ?? 0) <= toRow && text.startsWith(start),
  )?.place.row;
};

/** The line of a plain text on which a quote begins; 0: it is not told. */
const lineOf = ({ file, chunk }: Place, quote: string): number => {
  const from = file.text.indexOf(chunk.content);
  // Several sentences are put together without what stood between them.
  const at = [60, 30, 15, 8].map((most) => chunk.content.indexOf(quote.slice(0, most)));
  const within = at.find((each) => each >= 0);
  return from < 0 || within === undefined
    ? 0
    : file.text.slice(0, from + within).split('\n').length;
};

/** Where a quote stands: 第 3 页, 表“茶叶” · 第 3 行. */
const placeOf = (place: Place, quote: string): string => {
  if (place.blocks === null) {
    const line = lineOf(place, quote);
    return line > 0 ? placeText({ row: line }) : '';
  }
  const { toRow: _, ...whole } = place.chunk.place;
  const row = rowOf(place, quote);
  return placeText(row === undefined ? place.chunk.place : { ...whole, row });
};

const titleOf = (place: Place, quote: string): string =>
  [`《${place.file.name}》`, placeOf(place, quote)].filter((part) => part !== '').join(' · ');

/**
 * The sentences of attached files that answer a question, as a knowledge base is quoted; empty: none
 * fits. Its time grows with the letters of the files.
 */
export const quotesInFiles = (asked: string, files: readonly ReadFile[]): Quote[] => {
  let left = mostLetters;
  const places = files.flatMap(({ name, text }) => {
    const looked = text.slice(0, left);
    left -= looked.length;
    return placesIn({ name, text: looked });
  });
  const index = new PassageIndex();
  index.add({
    mark: 1,
    ids: places.map((_, at) => at),
    headings: places.map(({ chunk }) => chunk.heading),
    texts: places.map(({ chunk }) => chunk.content),
    vectors: new Uint8Array(),
    model: '',
  });
  const readings = readingsOf(asked.slice(0, questionLength), index.holds);
  const { candidates, values } = index.search(readings, null);
  const best = candidates
    .sort((one, other) => one.wordsRank - other.wordsRank)
    .slice(0, lookedAt)
    .flatMap((candidate) => {
      const place = places[candidate.id];
      if (!place) return [];
      const written = `${place.chunk.heading}\n${place.chunk.content}`;
      return [{ place, ...byWords(candidate, written, readings, values) }];
    })
    .sort((one, other) => other.words - one.words)
    .slice(0, mostPassages)
    .filter(({ relevance }) => relevance.coverage >= enough);
  const [first] = best;
  if (!first || !best.some((fit) => answersByWords(fit, readings))) return [];
  const quotes = quotesOf(
    best.map((fit) => ({
      ...quotableOf(fit.place.chunk, fit, readings, values),
      weight: fit.words / first.words,
    })),
  );
  return best.flatMap(({ place }, at) => {
    const text = quotes[at] ?? '';
    return text === '' ? [] : [{ n: 0, title: titleOf(place, text), text }];
  });
};
