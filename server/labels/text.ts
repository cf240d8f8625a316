import { fromXmlText, toXmlText } from '#server/xml-text.ts';
import { type Aigc, aigcText, readAigc } from './aigc.ts';

/** The label in texts: where their format has a place that readers do not see, else below them. */

/** The last line of a Markdown text; nobody sees it where that is shown. */
export const markdownLabel = (label: Aigc): string => `<!-- AIGC ${aigcText(label)} -->\n`;

/** The text with what stands before the last place that matches, or at its end. */
const beforeLast = (text: string, place: RegExp, more: string): string => {
  const at = [...text.matchAll(place)].at(-1)?.index ?? text.length;
  return text.slice(0, at) + more + text.slice(at);
};

const labelledHtml = (text: string, label: Aigc, words: string): string => {
  const meta = `<meta name="AIGC" content="${toXmlText(aigcText(label))}">`;
  const head = /<head(?:\s[^<>]*)?>/i.exec(text) ?? /<html(?:\s[^<>]*)?>/i.exec(text);
  // Before a doctype nothing may stand; a page without any head takes it at its end.
  const at = head ? head.index + head[0].length : text.length;
  const made = text.slice(0, at) + meta + text.slice(at);
  return words === '' ? made : beforeLast(made, /<\/body\s*>/gi, `<p>${toXmlText(words)}</p>`);
};

/** Subtitles have no place for metadata: the words are seen for the first two seconds. */
const markedSubtitles = (text: string, words: string): string =>
  words === '' ? text : `0\n00:00:00,000 --> 00:00:02,000\n${words}\n\n${text}`;

/**
 * A text that a model wrote with its label, and with words that people see unless they are empty.
 *
 * @param ending of its file: md, html or srt; every other one is plain text, whose label is as visible
 *   as its words and is there with them alone
 */
export const labelledText = (text: string, ending: string, label: Aigc, words: string): string => {
  if (ending === 'html') return labelledHtml(text, label, words);
  if (ending === 'srt') return markedSubtitles(text, words);
  if (ending === 'md') {
    // Front matter is read only at the very beginning.
    const said = words === '' ? '' : `\n\n${words}\n`;
    return `${text}${said}\n\n${markdownLabel(label)}`;
  }
  return words === '' ? text : `${text}\n\n${words}\nAIGC ${aigcText(label)}\n`;
};

/** The label of a Markdown, HTML or plain text; null: there is none. */
export const readTextLabel = (text: string): Aigc | null => {
  const [, attribute] = /<meta name="AIGC" content="([^"<>]{1,8192})">/i.exec(text) ?? [];
  if (attribute !== undefined) return readAigc(fromXmlText(attribute));
  const [, plain] = /(?:^|\n)(?:<!-- )?AIGC (\{[^\n]{1,8192}\})/.exec(text) ?? [];
  return plain === undefined ? null : readAigc(plain);
};
