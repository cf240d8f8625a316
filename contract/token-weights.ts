/**
 * Tokens that a UTF-16 unit takes of a text, guessed: prose takes fewer, and letters that nobody
 * writes together at most twice as many (measured with o200k_base). Letters that a vocabulary does
 * not have take a token for each of their bytes.
 */

/** By the last code of a range, in their order. */
const ranges: readonly (readonly [last: number, tokens: number])[] = [
  [0x1f, 1],
  [0x2f, 0.6],
  [0x39, 0.45],
  [0x40, 0.6],
  [0x5a, 0.55],
  [0x60, 0.6],
  [0x7a, 1 / 3.2],
  [0x2ff, 1],
  // Marks above and below other letters.
  [0x36f, 2],
  [0x6ff, 1],
  // From Syriac to the scripts of Africa; Indic ones and Thai have words of their own.
  [0x8ff, 2],
  [0xeff, 1],
  [0x1dff, 2.5],
  [0x1eff, 1],
  [0x1fff, 2.5],
  [0x206f, 1],
  // Arrows, mathematics, boxes, signs.
  [0x2e7f, 2.2],
  [0x2fff, 2.7],
  // Chinese marks and kana.
  [0x30ff, 0.85],
  [0x4dff, 3],
  // Rare Han; the usual ones are set below.
  [0x9fff, 2],
  [0xabff, 3],
  // Hangul, and halves of emoji and of the rarest Han.
  [0xdfff, 1.5],
  [0xfeff, 2.8],
  [0xffef, 0.85],
  [0xffff, 3],
];

/** The Han of everyday life stand together in these encodings: bytes of a first one to a last. */
const everyday = [
  { encoding: 'gbk', first: [0xb0, 0xd7], second: [0xa1, 0xfe] },
  { encoding: 'big5', first: [0xa4, 0xc6], second: [0x40, 0xfe] },
] as const;

/** Pages and servers have it; the contract is checked without the types of either. */
declare const TextDecoder: new (encoding: string) => { decode: (bytes: Uint8Array) => string };

/** Weights are kept in parts of a token, so that a byte takes one. */
export const partsOfToken = 80;

const makeWeights = (): Uint8Array => {
  const weights = new Uint8Array(0x10000);
  let from = 0;
  for (const [last, tokens] of ranges) {
    weights.fill(Math.ceil(tokens * partsOfToken), from, last + 1);
    from = last + 1;
  }
  for (const letter of ' \n\r\t') weights[letter.charCodeAt(0)] = partsOfToken / 3.2;
  for (const { encoding, first, second } of everyday) {
    const decoder = new TextDecoder(encoding);
    for (let high = first[0]; high <= first[1]; high += 1)
      for (let low = second[0]; low <= second[1]; low += 1) {
        const code = decoder.decode(new Uint8Array([high, low])).charCodeAt(0);
        if (code >= 0x4e00 && code <= 0x9fff) weights[code] = partsOfToken * 0.85;
      }
  }
  return weights;
};

let made: Uint8Array | undefined;

/** By UTF-16 unit. */
export const tokenWeights = (): Uint8Array => (made ??= makeWeights());
