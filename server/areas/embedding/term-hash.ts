import { simplifiedCodes } from '#server/search/letters.ts';

/** Two numbers of 32 bits stand for a word: no two words of a base have both the same. */
export interface TermHash {
  high: number;
  low: number;
}

const hash: TermHash = { high: 0, low: 0 };
let codes: Uint16Array | null = null;

/** Of a part of a text, traditional letters as simplified ones; the same object every time. */
export const hashOf = (text: string, from = 0, to = text.length): TermHash => {
  codes ??= simplifiedCodes();
  let one = 0x811c9dc5;
  let other = 0x9e3779b9;
  for (let at = from; at < to; at += 1) {
    const code = codes[text.charCodeAt(at)]!;
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x85ebca6b);
    other ^= other >>> 13;
  }
  one = Math.imul(one ^ (one >>> 16), 0x7feb352d);
  other = Math.imul(other ^ (other >>> 16), 0x846ca68b);
  hash.high = (one ^ (one >>> 15)) | 0;
  hash.low = (other ^ (other >>> 16)) | 0;
  return hash;
};
