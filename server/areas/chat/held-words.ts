/** Words that stand in any text and say nothing of what it is about. */
const empty = new Set(
  'the and for that with this from are was were has have had its his her not but which their they you'.split(
    ' ',
  ),
);
const han = /\p{Script=Han}/u;
/** A sentence is looked for within so many letters at once. */
const window = 700;
/** So much of what a sentence says stands there. */
const enough = 0.4;

/** Pairs of Chinese letters, words and numbers of a text, with their places. */
const termsOf = (text: string): { term: string; at: number }[] => {
  const terms: { term: string; at: number }[] = [];
  const plain = text.normalize('NFKC').toLowerCase();
  for (const { 0: run, index } of plain.matchAll(/\p{Script=Han}+|[\p{L}\p{N}]+/gu)) {
    if (!han.test(run)) {
      const one = /^\d+$/.test(run) || run.length > 2;
      if (one && !empty.has(run)) terms.push({ term: run, at: index });
    } else if (run.length === 1) terms.push({ term: run, at: index });
    else
      for (let from = 0; from < run.length - 1; from += 1)
        terms.push({ term: run.slice(from, from + 2), at: index + from });
  }
  return terms;
};

/** Thousands and what stands for nothing do not tell numbers apart: 1,400.0 is 1400. */
const numbersOf = (text: string): string[] =>
  (text.normalize('NFKC').match(/\d[\d,]*(?:\.\d+)?/g) ?? [])
    .map((number) => number.replaceAll(',', '').replace(/\.0+$/, ''))
    .filter((number) => number.length > 1);

/**
 * Whether a page holds what a sentence says of it: its numbers, and within one stretch much of its
 * words. Of a page in another script only its numbers and names can be looked for; without any there
 * is nothing to be held.
 */
export const createHeldWords = (page: string): ((sentence: string) => boolean) => {
  const places = new Map<string, number[]>();
  for (const { term, at } of termsOf(page)) {
    const known = places.get(term);
    if (known) known.push(at);
    else places.set(term, [at]);
  }
  const numbers = new Set(numbersOf(page));
  const isHan = (page.match(/\p{Script=Han}/gu)?.length ?? 0) * 10 > page.length;
  return (sentence) => {
    const said = new Set(termsOf(sentence).map(({ term }) => term));
    // A number by itself points at the page as a whole.
    if (said.size === 0) return true;
    // A page that writes its numbers out has none to compare.
    if (numbers.size > 0 && numbersOf(sentence).some((number) => !numbers.has(number)))
      return false;
    const terms = isHan ? [...said] : [...said].filter((term) => !han.test(term));
    if (terms.length === 0) return false;
    const hits = terms
      .flatMap((term) => (places.get(term) ?? []).map((at) => ({ term, at })))
      .sort((one, other) => one.at - other.at);
    const within = new Map<string, number>();
    let from = 0;
    for (const { term, at } of hits) {
      within.set(term, (within.get(term) ?? 0) + 1);
      for (; at - hits[from]!.at > window; from += 1) {
        const left = within.get(hits[from]!.term)! - 1;
        if (left === 0) within.delete(hits[from]!.term);
        else within.set(hits[from]!.term, left);
      }
      if (within.size >= terms.length * enough) return true;
    }
    return false;
  };
};
