import type { Reading } from '#server/search/question.ts';
import type { Quotable } from '#server/search/quotes.ts';
import { type Relevance, relevanceOf, searchedText } from '#server/search/relevance.ts';
import type { Candidate, Found } from './passage-index.ts';

/** How well passages fit a question by its words, and from where on they do. */

/** Share of the question's words that a passage must hold to be about it. */
export const enough = 0.3;
/**
 * How well the best passage fits by its words where the question has an answer: of 50 questions
 * without one 45 stay below (tests/load/no-answer.ts).
 */
const fitting = 0.78;
/** So many passages go along with a question at most. */
export const mostPassages = 4;
/** Of those that were found, so many are looked at a second time. */
export const lookedAt = 50;
/** Letters of a question that count. */
export const questionLength = 200;
/** What words near each other, and a run of the question's own letters, count beside BM25. */
const beside = { together: 0.8, run: 0.4 } as const;

/** How well a passage fits, and to which reading of the question. */
interface Fit {
  words: number;
  relevance: Relevance;
  at: number;
}

/** How well a passage answers by its words, by the reading of the question that it fits best. */
export const byWords = (
  candidate: Pick<Candidate, 'scores'>,
  written: string,
  readings: readonly Reading[],
  values: Found['values'],
): Fit => {
  const text = searchedText(written);
  let best: Fit | null = null;
  for (const [at, reading] of readings.entries()) {
    const relevance = relevanceOf(reading, values[at] ?? [], text);
    const words =
      reading.weight *
      ((candidate.scores[at] ?? 0) +
        relevance.together * beside.together +
        relevance.run * beside.run);
    if (!best || words > best.words) best = { words, relevance, at };
  }
  return best ?? { words: 0, relevance: { coverage: 0, together: 0, run: 0, terms: [] }, at: 0 };
};

/** A passage with what is asked of it by the reading that it fits best. */
export const quotableOf = (
  { heading, content }: Pick<Quotable, 'heading' | 'content'>,
  { at }: Pick<Fit, 'at'>,
  readings: readonly Reading[],
  values: Found['values'],
): Quotable => ({
  heading,
  content,
  reading: readings[at] ?? { text: '', weight: 0, slots: [] },
  values: values[at] ?? [],
});

/** What a question is about: its pairs of letters and words, without what only asks. */
const matters = ({ weight, words: [own] }: Reading['slots'][number]): boolean =>
  weight >= 0.5 && (own?.text.length ?? 0) > 1;

/**
 * Whether a passage holds the answer by its words: it fits well enough, and has one of the pairs that
 * the question is about. 丧假有几天 is answered by no line on 年假, however many letters they share.
 */
export const answersByWords = (
  { words, relevance, at }: Fit,
  readings: readonly Reading[],
): boolean => {
  if (words < fitting) return false;
  const about = readings[at]?.slots.filter(matters) ?? [];
  const held = new Set(relevance.terms);
  return about.length === 0 || about.some((slot) => slot.words.some(({ text }) => held.has(text)));
};
