import { deduction, estimateTokens, type Price } from '#contract/price.ts';
import { trainLimits } from '#contract/train-limits.ts';
import { wordsOf } from './translation/marks.ts';
import { needsWork, nextBatch, type Direction } from './translation/ask-translation.ts';

/** What one direction of a translation has to do in a file. */
interface Work {
  /** Of the sentences that are translated. */
  tokens: number;
  sentences: number;
  requests: number;
}

/** What a file holds, as far as its price and its language go. */
export interface FileContent {
  tokens: number;
  /** Chinese characters, and words of Latin letters. */
  han: number;
  latin: number;
  /** From English to Chinese, and the other way. */
  work: readonly [Work, Work];
}

const workOf = (sentences: readonly string[], direction: Direction): Work => {
  let left = sentences
    .filter((sentence) => needsWork(sentence, direction))
    .map((source) => ({ source }));
  const tokens = left.reduce((sum, { source }) => sum + estimateTokens(source), 0);
  const { length } = left;
  let requests = 0;
  for (; left.length > 0; requests += 1) left = left.slice(nextBatch(left).length);
  return { tokens, sentences: length, requests };
};

export const contentOf = (sentences: readonly string[]): FileContent => {
  const words = sentences.map(wordsOf).join('\n');
  return {
    tokens: sentences.reduce((sum, sentence) => sum + estimateTokens(sentence), 0),
    han: words.match(/\p{Script=Han}/gu)?.length ?? 0,
    latin: words.match(/\p{Script=Latin}+/gu)?.length ?? 0,
    work: [workOf(sentences, 1), workOf(sentences, 2)],
  };
};

/** What is told of the work and of what was said before, in each request; numbers of lines, each. */
const around = { request: 220, sentence: 4 };

/** Tokens that translating these files will take, guessed. */
export const translationPrice = (
  writer: Price,
  contents: readonly FileContent[],
  direction: Direction,
): number =>
  contents.reduce((sum, { work }) => {
    const { tokens, sentences, requests } = work[direction - 1] ?? work[0];
    const lines = sentences * around.sentence;
    return sum + deduction(writer, tokens + lines + requests * around.request, tokens + lines);
  }, 0);

/** Tokens that embedding these files by a service will take, guessed. */
export const embeddingPrice = (contents: readonly FileContent[]): number =>
  Math.ceil(contents.reduce((sum, { tokens }) => sum + tokens, 0) * trainLimits.embeddingFactor);

/** The direction that files ask for by their language; null: they do not say. */
export const directionFor = (contents: readonly FileContent[]): Direction | null => {
  const han = contents.reduce((sum, each) => sum + each.han, 0);
  const latin = contents.reduce((sum, each) => sum + each.latin, 0);
  if (han + latin < 4) return null;
  // A Chinese text quotes English words more often than the other way round.
  return han > latin * 1.5 ? 2 : latin > han * 1.5 ? 1 : null;
};
