import { Converter } from 'opencc-js';
import { usualForms } from './forms.ts';

/**
 * Letters in the one form that is searched: traditional as simplified, the radicals that some PDF
 * files hold instead of characters as those characters, compatibility and full-width forms as usual
 * ones, small letters.
 */

/** Simplified letters for 16-bit codes; each other code stands for itself. */
let codes: Uint16Array | null = null;
export const simplifiedCodes = (): Uint16Array => {
  if (codes) return codes;
  const simplify = Converter({ from: 't', to: 'cn' });
  codes = Uint16Array.from({ length: 0x10000 }, (_, code) => code);
  for (let code = 0x3400; code < 0xa000; code += 1)
    codes[code] = simplify(String.fromCharCode(code)).charCodeAt(0);
  return codes;
};

/** Full and half width, compatibility forms and radicals as one, 〇 as 零, in small letters. */
export const evenLetters = (text: string): string =>
  usualForms(text).normalize('NFKC').toLowerCase().replaceAll('〇', '零');

/** As `evenLetters`, and traditional letters as simplified ones, one for one. */
export const searchedLetters = (text: string): string => {
  const simple = simplifiedCodes();
  return evenLetters(text).replace(/[\u3400-\u9fff]/g, (letter) =>
    String.fromCharCode(simple[letter.charCodeAt(0)] ?? 0),
  );
};
