/** The beginning of a Markdown text as it reads without its marks, line by line. */
export const withoutMarks = (text: string): string =>
  text
    .replace(/^[ \t]*(```|~~~).*$/gm, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^[ \t]*(#{1,6}|>|[-*+]|\d+\.)[ \t]+/gm, '')
    .replace(/^[ \t|:-]+$/gm, '')
    .replace(/[*_`|]+/g, ' ');
