/**
 * What within a sentence is not translated but keeps its place travels as a mark: `<1/>` for a whole
 * (code, an image, an address), `<1>…</1>` around words (a link, a change of type).
 */
export type Mark = { whole: string } | { before: string; after: string };

export interface Marked {
  text: string;
  marks: Mark[];
}

const tag = /<(\/?)(\d{1,4})(\/?)>/g;

/** Whether a text has words besides its marks. */
export const wordsOf = (text: string): string => text.replaceAll(tag, ' ').trim();

/**
 * Puts the marks back. A mark that the translation lost stands at its end (a whole one) or is left
 * out (one around words); one that comes twice counts once.
 */
export const unmarked = (
  text: string,
  marks: readonly Mark[],
  escape: (text: string) => string = (plain) => plain,
): string => {
  const used = new Set<number>();
  const open: number[] = [];
  let made = '';
  let from = 0;
  for (const found of text.matchAll(tag)) {
    made += escape(text.slice(from, found.index));
    from = found.index + found[0].length;
    const at = Number(found[2]) - 1;
    const mark = marks[at];
    if (!mark) continue;
    if ('whole' in mark) {
      if (!used.has(at) && found[1] === '') made += mark.whole;
      used.add(at);
    } else if (found[1] === '' && found[3] === '' && !used.has(at)) {
      made += mark.before;
      used.add(at);
      open.push(at);
    } else if (found[1] === '/' && open.includes(at)) {
      // What was opened within it ends with it.
      for (let last = open.pop(); last !== undefined; last = open.pop()) {
        const inner = marks[last];
        if (inner && 'after' in inner) made += inner.after;
        if (last === at) break;
      }
    }
  }
  made += escape(text.slice(from));
  for (const at of open.reverse()) {
    const mark = marks[at];
    if (mark && 'after' in mark) made += mark.after;
  }
  for (const [at, mark] of marks.entries())
    if (!used.has(at) && 'whole' in mark) made += mark.whole;
  return made;
};
