/** [1], 【资料 1】, [1、2]: what a model writes for the numbers of its sources. */
const citation =
  /^[[【]\s*(?:(?:资料|来源|参考)\s*)?\d{1,3}(?:\s*[,，、;；和-]\s*(?:资料\s*)?\d{1,3})*\s*[\]】]$/;
/** Runs of backticks, what may be a citation, and all else. */
const token = /`+|[[【][^[\]【】`\n]{0,32}(?:[\]】]|$)|[^`[【]+|[[【]/g;
/** No citation is longer. */
const longest = 34;
/** Letters before a number that are looked at for the sentence that it stands behind. */
const looked = 400;

/** Stands where a number was, shown or taken out. */
const numbered = '\uE000';
/** Fewer letters behind the number before are no statement of their own. */
const leastClause = 6;

/**
 * What a number is a source of: the sentence before it, without marks; of several statements in one
 * sentence, each with its number, the last.
 */
const sentenceBefore = (text: string): string => {
  const line = text.slice(-looked).split('\n').at(-1) ?? '';
  const bare = line
    .replaceAll(/\]\([^)]*\)/g, ' ')
    .replace(/[\s。．.！？!?；;，,：:、”"』」）)*_`\uE000]+$/, '');
  const sentence = bare.split(/[。！？!?；;]|\.\s/).at(-1) ?? '';
  const clause = sentence.split(numbered).at(-1) ?? '';
  return clause.length >= leastClause ? clause : sentence.replaceAll(numbered, '');
};

/**
 * Takes numbers that name no source out of a text that comes in pieces, and writes the others in one
 * way: [1][2]. Code and links stay as they are.
 */
export class Citations {
  readonly #sources: number;
  readonly #holds: (n: number, sentence: string) => boolean;
  /** The end of what was shown, with marks in the place of numbers. */
  #before = '';
  /** Numbers that were taken out as their page does not hold what they stand behind. */
  removed = 0;
  #held = '';
  /** Backticks that opened the code it stands in; 0: none. */
  #ticks = 0;

  /**
   * @param sources so many were given, from 1
   * @param holds whether a source says what a sentence does
   */
  constructor(sources: number, holds: (n: number, sentence: string) => boolean = () => true) {
    this.#sources = sources;
    this.#holds = holds;
  }

  /** What of the text so far can be shown. */
  take(piece: string): string {
    return this.#read(this.#held + piece, false);
  }

  /** What was held back. */
  end(): string {
    return this.#read(this.#held, true);
  }

  #read(text: string, isEnd: boolean): string {
    this.#held = '';
    let shown = '';
    for (const found of text.matchAll(token)) {
      const [part] = found;
      const after = found.index + part.length;
      const mayGrow = !isEnd && after === text.length;
      if (part.startsWith('`')) {
        if (mayGrow) return this.#hold(shown, part);
        if (this.#ticks === 0) this.#ticks = part.length;
        else if (this.#ticks === part.length) this.#ticks = 0;
      } else if (/^[[【]/.test(part)) {
        // A bracket behind it makes it a link.
        if (mayGrow && part.length <= longest) return this.#hold(shown, part);
        if (this.#ticks === 0 && citation.test(part) && text[after] !== '(') {
          shown += this.#named(part);
          this.#before += numbered;
          continue;
        }
      } else if (this.#ticks < 3 && part.includes('\n')) this.#ticks = 0;
      shown += part;
      this.#before = (this.#before + part).slice(-looked);
    }
    return shown;
  }

  #hold(shown: string, part: string): string {
    this.#held = part;
    return shown;
  }

  #named(part: string): string {
    const numbers = (part.match(/\d+/g) ?? []).map(Number);
    const sentence = sentenceBefore(this.#before);
    const known = [...new Set(numbers)].filter((n) => n >= 1 && n <= this.#sources);
    const held = known.filter((n) => this.#holds(n, sentence));
    this.removed += known.length - held.length;
    return held.map((n) => `[${n}]`).join('');
  }
}
