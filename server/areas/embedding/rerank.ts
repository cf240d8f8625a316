import { queryTerms, squeeze, termsOf } from '../help/search.ts';

/** How well a passage answers a question, looked at letter by letter. */
export interface Relevance {
  /** Share of what was asked that is in it, rare words counting more; 0 to 1. */
  coverage: number;
  /** Words of the question that it holds, the rarest first. */
  terms: string[];
  /** All that was seen, for ranking. */
  score: number;
}

/** The longest run of letters that both have, as a share of the first. */
const longestRun = (asked: string, text: string): number => {
  let best = 0;
  for (let from = 0; from + best < asked.length; from += 1)
    while (
      from + best < asked.length &&
      best < 24 &&
      text.includes(asked.slice(from, from + best + 1))
    )
      best += 1;
  return asked.length === 0 ? 0 : best / Math.min(asked.length, 24);
};

/** How near to each other the words stand: 1, all within a sentence; towards 0, scattered. */
const nearness = (terms: readonly string[], text: string): number => {
  const places = terms
    .map((term) => text.indexOf(term))
    .filter((at) => at >= 0)
    .sort((one, other) => one - other);
  if (places.length < 2) return 0;
  const middle = places[Math.floor(places.length / 2)] ?? 0;
  return places.filter((at) => Math.abs(at - middle) < 60).length / places.length;
};

/**
 * @param rarity of each word of the question among the passages; words that are left out count little
 */
export const relevanceOf = (
  question: string,
  passage: { heading: string; content: string },
  rarity: Readonly<Record<string, number>>,
): Relevance => {
  const asked = queryTerms(question);
  const inside = termsOf(`${passage.heading}\n${passage.content}`);
  const inHeading = termsOf(passage.heading);
  let whole = 0;
  let covered = 0;
  let heading = 0;
  const held: { term: string; value: number }[] = [];
  for (const [term, weight] of asked) {
    const value = rarity[term] ?? Math.min(weight, 2) * 0.5;
    whole += value;
    if (inHeading.has(term)) heading += value;
    if (!inside.has(term)) continue;
    covered += value;
    if (term.length > 1) held.push({ term, value });
  }
  if (whole === 0) return { coverage: 0, terms: [], score: 0 };
  held.sort((one, other) => other.value - one.value);
  const terms = held.map(({ term }) => term);
  const text = squeeze(`${passage.heading}${passage.content}`);
  const coverage = covered / whole;
  const score =
    coverage * 0.62 +
    (heading / whole) * 0.14 +
    longestRun(squeeze(question).slice(0, 60), text) * 0.14 +
    nearness(terms.slice(0, 8), text) * 0.1;
  return { coverage, terms: terms.slice(0, 12), score };
};
