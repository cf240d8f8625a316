/**
 * A link or an image, with its words. Neither its words nor its address go on beyond the next bracket
 * of their kind: thousands of brackets that nobody closes are read once and not from each of them.
 */
const linkPattern = /(!?)\[([^[\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)*\)/g;

/** Of links their words stay, of images nothing. */
const withoutLinks = (text: string): string =>
  text.replace(linkPattern, (_whole, image: string, words: string) => (image === '' ? words : ''));

/** What is left of Markdown when it is read aloud: no code, no addresses, no signs. */
export const speechText = (markdown: string): string =>
  // An image within a link goes first, and then the link, which has no words any more.
  withoutLinks(
    withoutLinks(
      markdown
        .replace(
          /^[ \t]*(```|~~~)[^\n]*\n[\s\S]*?(?:^[ \t]*\1[ \t]*$|$(?![\s\S]))/gm,
          '（代码略）\n',
        )
        .replace(/\$\$[\s\S]*?\$\$/g, '（公式略）'),
    ),
  )
    .replace(/<[^<>\n]{1,200}>/g, '')
    .replace(/https?:\/\/\S+/g, '')
    .replace(/^[ \t]*(#{1,6}|>|[-*+]|\d+\.)[ \t]+/gm, '')
    .replace(/^[ \t|:-]+$/gm, '')
    .replace(/\|/g, '，')
    .replace(/[*_`~#]+/g, '')
    .replace(/[ \t]+/g, ' ')
    .replace(/\n{2,}/g, '\n')
    .replace(/，(?:\s*，)+/g, '，')
    .trim();

/** How many characters of it are spoken and paid for. */
export const spokenLength = (text: string): number => Array.from(text).length;
