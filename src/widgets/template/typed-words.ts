/** What the typed list is asked for: the sign, the words behind it, and what stands before it. */
export interface Typed {
  sign: '/' | '@';
  words: string;
  before: string;
}

/**
 * The end of what was typed, where it calls the list: behind a slash that begins a line, or behind an
 * @ that begins a word; null: it does not. Either sign may be the wide one of a Chinese keyboard.
 */
export const typedAtEnd = (text: string): Typed | null => {
  const found =
    /(?:^|\n)[ \t]*([/／])([^\s/／]*)$/.exec(text) ?? /(?:^|\s)([@＠])([^\s@＠]*)$/.exec(text);
  const [, sign = '', words = ''] = found ?? [];
  if (!found) return null;
  return {
    sign: sign === '/' || sign === '／' ? '/' : '@',
    words: words.toLowerCase(),
    before: text.slice(0, text.length - sign.length - words.length),
  };
};

/** The text with a sign at its end that calls the list: what a button does instead of a key. */
export const withSign = (text: string, sign: '/' | '@'): string => {
  const begins = sign === '/' ? /(?:^|\n)$/ : /(?:^|\s)$/;
  return begins.test(text) ? text + sign : `${text}${sign === '/' ? '\n' : ' '}${sign}`;
};

/** Ids of what was used last, the newest first, with this one. */
export const withRecent = (ids: readonly number[], id: number, most: number): number[] =>
  [id, ...ids.filter((each) => each !== id)].slice(0, most);
