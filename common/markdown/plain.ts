/** Without the innermost marks of emphasis and code; what they enclosed stays where it was. */
const withoutPairs = (text: string): string =>
  text.replace(/(\*{1,3}|~~|(?<!`)`(?!`))(?=\S)([^\n*~`]{1,300})(?<=\S)\1/g, '$2');

/** The beginning of a Markdown text as it reads without its marks, line by line. */
export const withoutMarks = (text: string): string =>
  withoutPairs(withoutPairs(text))
    .replace(/^[ \t]*(```|~~~).*$/gm, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^[ \t]*(#{1,6}|>|[-*+]|\d+\.)[ \t]+/gm, '')
    .replace(/^[ \t|:-]+$/gm, '')
    .replace(/[*_`|]+/g, ' ');
