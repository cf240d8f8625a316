const segmenter = new Intl.Segmenter('zh', { granularity: 'grapheme' });
/** Each step of the segmenter costs as much as the text that it was given is long, so it is given little. */
const window = 256;
const firstHalf = /[\ud800-\udbff]$/;

/** What people take for the letters of a text; one of more than 256 units is cut. */
export function* graphemesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length;) {
    // Half a character would be a letter of its own.
    const some = text.slice(from, from + window).replace(firstHalf, '') || text.slice(from);
    const isEnd = from + some.length === text.length;
    let last = '';
    for (const { segment } of segmenter.segment(some)) {
      if (last !== '') yield last;
      from += last.length;
      last = segment;
    }
    // The last one may go on behind the window.
    if (isEnd || last.length === some.length) {
      yield last;
      from += last.length;
    }
  }
}
