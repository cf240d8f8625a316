/**
 * What a message is found by, as 32-bit numbers (`search_fresh.grams`, `search_postings.gram`):
 * - a pair of neighbouring UTF-16 units of words: the first in the upper half, the second below;
 * - a single unit of a word beyond ASCII, with nothing below: one Chinese character is a word;
 * - three neighbouring ASCII letters or digits, in the lower 21 bits: pairs of them say little;
 * - marks of whose list and which session it is in, where Unicode has its private use area, of
 *   which no unit counts as part of a word.
 * Large letters of ASCII count as small ones, as in PostgreSQL's lower() in collation C.
 * A message with all grams of a word may still not hold it: the text decides.
 */

/** Longer texts are found by their beginning, UTF-16 units. */
export const searchedLetters = 50_000;

/** A word is asked for by no more grams than this, from its beginning on. */
const gramsOfWord = 40;

/** Kinds of UTF-16 units: not of a word, ASCII letter or digit, other letter, other part of a word. */
const none = 0;
const ascii = 1;
const letter = 2;
const part = 3;

const kinds = new Uint8Array(0x10000);
for (let unit = 0; unit < kinds.length; unit++) {
  const text = String.fromCharCode(unit);
  const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
  if (isSurrogate || text === '+' || text === '#') kinds[unit] = part;
  else if (/[\p{L}\p{N}\p{M}]/u.test(text)) kinds[unit] = unit < 128 ? ascii : letter;
}

const small = (unit: number): number => (unit >= 65 && unit <= 90 ? unit + 32 : unit);

const pair = (one: number, other: number): number => (one << 16) | other;
const triple = (one: number, other: number, third: number): number =>
  (one << 14) | (other << 7) | third;

/** Adds the grams of a text to a set, of all that is searched of it or of a part, ends in UTF-16 units. */
export const addGrams = (grams: Set<number>, text: string, from = 0, to = text.length): void => {
  const length = Math.min(to, text.length, searchedLetters);
  let unit = 0;
  let kind = none;
  let before = 0;
  let kindBefore = none;
  // The first units of a part make grams with the two before it.
  for (let at = Math.max(0, from - 2); at < length; at++) {
    const first = before;
    const kindOfFirst = kindBefore;
    before = unit;
    kindBefore = kind;
    unit = small(text.charCodeAt(at));
    kind = kinds[unit] ?? none;
    if (kind === none) continue;
    if (kind === letter) grams.add(pair(unit, 0));
    if (kindBefore === none) continue;
    grams.add(pair(before, unit));
    if (kind === ascii && kindBefore === ascii && kindOfFirst === ascii)
      grams.add(triple(first, before, unit));
  }
};

/** The grams that say the most about a word, which every message with that word has. */
export const gramsOf = (word: string): number[] => {
  const units = Array.from({ length: word.length }, (_, at) => small(word.charCodeAt(at)));
  const kindAt = (at: number): number => kinds[units[at] ?? 0] ?? none;
  const isAscii = (from: number): boolean =>
    kindAt(from) === ascii && kindAt(from + 1) === ascii && kindAt(from + 2) === ascii;
  const grams = new Set<number>();
  units.forEach((unit, at) => {
    const [next = 0, third = 0] = units.slice(at + 1, at + 3);
    if (isAscii(at)) grams.add(triple(unit, next, third));
    // A pair within three letters says no more than they do.
    else if (kindAt(at) !== none && kindAt(at + 1) !== none && !isAscii(at - 1))
      grams.add(pair(unit, next));
    else if (kindAt(at) === letter && kindAt(at - 1) === none && kindAt(at + 1) === none)
      grams.add(pair(unit, 0));
  });
  return [...grams].slice(0, gramsOfWord);
};

// ---- marks ------------------------------------------------------------------

const room = 2 ** 27;
const mark = (base: number, value: number): number => (base + (value % room)) | 0;

/** In the list of that person's own sessions. */
export const listMark = (userId: number): number => mark(0xe000_0000, userId);
export const sessionMark = (sessionId: number): number => mark(0xe800_0000, sessionId);
export const publicMark = 0xf800_0000 | 0;
/** Public, and of people: in the forum. */
export const forumMark = 0xf800_0002 | 0;
/** Deleted for good, or of a session that is: nothing takes a message out of its other lists. */
export const goneMark = 0xf800_0001 | 0;
