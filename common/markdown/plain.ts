/** Without the innermost marks of emphasis and code; what they enclosed stays where it was. */
const withoutPairs = (text: string): string =>
  text.replace(/(\*{1,3}|~~|(?<!`)`(?!`))(?=\S)([^\n*~`]{1,300})(?<=\S)\1/g, '$2');

/** Where a mark stands behind a backslash it is a letter: it is moved out of the way of the marks for a while. */
const escaped = /\\([!-/:-@[-`{-~])/g;
const away = 0xe000;
const moved = /[\ue021-\ue07e]/g;
const shift = (letter: string, by: number): string =>
  String.fromCharCode(letter.charCodeAt(0) + by);

/** The beginning of a Markdown text as it reads without its marks, line by line. */
export const withoutMarks = (text: string): string =>
  withoutPairs(withoutPairs(text.replace(escaped, (_, letter: string) => shift(letter, away))))
    .replace(/^[ \t]*(```|~~~).*$/gm, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^[ \t]*(#{1,6}|>|[-*+]|\d+\.)[ \t]+/gm, '')
    .replace(/^[ \t|:-]+$/gm, '')
    .replace(/[*_`|]+/g, ' ')
    .replace(moved, (letter) => shift(letter, -away));
