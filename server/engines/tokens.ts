import { createRequire } from 'node:module';

/** Longer texts are counted in part and the rest is taken to be like it. */
const wholeUpTo = 60_000;
/**
 * Joining the bytes of one word costs the square of its length: a word of 20,000 letters would take
 * seconds. Words this long are cut, which moves the count by at most one token per cut.
 */
const longRun = /[\p{L}\p{M}]{48}|[^\s\p{L}\p{M}\p{N}]{48}|\s{48}/gu;

type Count = (text: string, options: { disallowedSpecial: Set<string> }) => number;

const require = createRequire(import.meta.url);
let count: Count | undefined;

/** The tables take 70 MB and 0.3 s, so they are loaded when first needed. */
const load = (): Count => {
  count ??= (require('gpt-tokenizer/cjs/encoding/o200k_base') as { countTokens: Count })
    .countTokens;
  return count;
};

const noneForbidden = new Set<string>();

const countPieces = (text: string): number => {
  const countOne = load();
  let total = 0;
  let from = 0;
  for (const match of text.matchAll(longRun)) {
    const to = match.index + match[0].length;
    total += countOne(text.slice(from, to), { disallowedSpecial: noneForbidden });
    from = to;
  }
  return total + countOne(text.slice(from), { disallowedSpecial: noneForbidden });
};

/** Tokens of the text by o200k_base. Special tokens written out in the text count as plain text. */
export const countTokens = (text: string): number => {
  if (text === '') return 0;
  if (text.length <= wholeUpTo) return countPieces(text);
  const part = wholeUpTo / 3;
  const middle = Math.floor((text.length - part) / 2);
  const sample =
    countPieces(text.slice(0, part)) +
    countPieces(text.slice(middle, middle + part)) +
    countPieces(text.slice(-part));
  return Math.ceil((sample / wholeUpTo) * text.length);
};
