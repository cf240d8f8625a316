import { evenLetters } from '#server/search/letters.ts';
import { latinWord, partsOfWord } from '#server/search/terms.ts';
import { hashOf } from './term-hash.ts';

const han = /\p{Script=Han}/u;
let hanTable: Uint8Array | null = null;
/** Of each 16-bit code whether it is a Chinese letter; 2: the first half of a pair of codes. */
const hanCodes = (): Uint8Array => {
  if (hanTable) return hanTable;
  hanTable = new Uint8Array(65_536);
  for (let code = 0; code < 65_536; code += 1)
    hanTable[code] =
      code >= 0xd800 && code < 0xdc00 ? 2 : han.test(String.fromCharCode(code)) ? 1 : 0;
  return hanTable;
};

/**
 * The words of a text as `termsOf` finds them, by their hashes and without an object for each: of a
 * large base there are a hundred million.
 */
export class TermCounter {
  /** Of the last text. */
  size = 0;
  highs = new Int32Array(1024);
  lows = new Int32Array(1024);
  counts = new Int32Array(1024);
  private slots = new Int32Array(4096);
  /** What each term of the part that is counted now counts. */
  private step = 1;

  private add(text: string, from: number, to: number): void {
    const { high, low } = hashOf(text, from, to);
    const { slots, highs, lows } = this;
    const mask = slots.length - 1;
    let slot = low & mask;
    for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const at = slots[slot]! - 1;
      if (highs[at] !== high || lows[at] !== low) continue;
      this.counts[at] = this.counts[at]! + this.step;
      return;
    }
    const at = this.size;
    this.size += 1;
    slots[slot] = this.size;
    highs[at] = high;
    lows[at] = low;
    this.counts[at] = this.step;
  }

  private addWord(word: string): void {
    this.add(word, 0, word.length);
  }

  private makeRoom(letters: number): void {
    // Each code begins a word and a pair at most, and may be a part of a longer word.
    const most = letters * 3 + 1;
    if (this.highs.length < most) {
      this.highs = new Int32Array(most);
      this.lows = new Int32Array(most);
      this.counts = new Int32Array(most);
    }
    let { length } = this.slots;
    while (length < most) length *= 2;
    if (length > this.slots.length) this.slots = new Int32Array(length);
    else this.slots.fill(0);
  }

  /** Counts the terms of several texts as of one; those of each count `times`. */
  count(parts: readonly (readonly [text: string, times: number])[]): void {
    const even = parts.map(([text, times]) => ({ text: evenLetters(text), times }));
    this.size = 0;
    this.makeRoom(even.reduce((sum, { text }) => sum + text.length, 0));
    for (const { text, times } of even) {
      this.step = times;
      if (/[a-z0-9]/.test(text))
        for (const [word] of text.matchAll(latinWord)) {
          this.addWord(word);
          if (!partsOfWord.test(word)) continue;
          for (const part of word.split(partsOfWord)) if (part.length > 1) this.addWord(part);
        }
      this.countHan(text);
    }
  }

  private countHan(plain: string): void {
    const codes = hanCodes();
    /** Where the letter before this one began; -1: there is none in this run. */
    let before = -1;
    for (let at = 0; at < plain.length;) {
      const kind = codes[plain.charCodeAt(at)]!;
      const wide = kind === 2 && han.test(String.fromCodePoint(plain.codePointAt(at) ?? 0));
      const end = at + (wide ? 2 : 1);
      if (kind === 1 || wide) {
        this.add(plain, at, end);
        if (before >= 0) this.add(plain, before, end);
        before = at;
      } else before = -1;
      at = end;
    }
  }
}
