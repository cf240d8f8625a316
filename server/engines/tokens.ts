import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';

/**
 * Of longer texts so many parts are counted, each of so many letters, and the rest is taken to be like
 * them. Where they lie in their shares of the text is drawn by its digest, so that nobody can put
 * blanks there and the words elsewhere.
 */
const sampled = { parts: 60, letters: 1000 };
const wholeUpTo = sampled.parts * sampled.letters;
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

/** How many tokens a maker's models need where o200k_base needs one. */
interface Family {
  han: number;
  other: number;
  /** Each digit is a token of its own; o200k_base takes three at once. */
  singleDigits: boolean;
}

/**
 * Makers whose tokenizers are public and far from o200k_base, by their models' names; measured on
 * Chinese and English prose and on code. One text may be as far from it as a tenth, many are not.
 */
const families: readonly [RegExp, Family][] = [
  [/(?:^|\/)(?:qwen|qwq|qvq)|distill-qwen/i, { han: 0.9, other: 1, singleDigits: true }],
  [/(?:^|\/)deepseek(?!\S*distill)/i, { han: 0.83, other: 1.03, singleDigits: false }],
];

const hanRun = /[\p{Script=Han}\u3000-\u303f\uff00-\uffef]+/gu;
const digitRun = /\d+/g;

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

const sumOf = (runs: readonly string[] | null, count: (run: string) => number): number =>
  (runs ?? []).reduce((sum, run) => sum + count(run), 0);

const countAs = (text: string, family: Family | undefined): number => {
  const all = countPieces(text);
  if (!family) return all;
  const han = sumOf(text.match(hanRun), countPieces);
  const more = family.singleDigits
    ? sumOf(text.match(digitRun), ({ length }) => length - Math.ceil(length / 3))
    : 0;
  return Math.max(1, Math.round(han * family.han + (all - han) * family.other + more));
};

/**
 * Tokens of the text as a model of this name counts them, by o200k_base where nothing else is known.
 * Special tokens written out in the text count as plain text.
 */
export const countTokens = (text: string, model = ''): number => {
  if (text === '') return 0;
  const family = families.find(([pattern]) => pattern.test(model))?.[1];
  if (text.length <= wholeUpTo) return countAs(text, family);
  const drawn = createHash('shake128', { outputLength: 2 * sampled.parts })
    .update(text)
    .digest();
  const share = text.length / sampled.parts;
  let sum = 0;
  for (let at = 0; at < sampled.parts; at += 1) {
    const within = ((share - sampled.letters) * drawn.readUInt16LE(2 * at)) / 0x10000;
    const from = Math.floor(at * share + within);
    sum += countAs(text.slice(from, from + sampled.letters), family);
  }
  return Math.ceil((sum / wholeUpTo) * text.length);
};
