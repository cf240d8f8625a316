/** Line ends, tabs and all other characters that no screen shows as themselves. */
const controls = /[\p{Cc}\p{Zl}\p{Zp}]/gu;
/** What turns the reading direction, hides itself or spells unseen words. */
const unseen =
  /[\u00AD\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu;
/** More marks on one letter than any script needs. */
const marks = /(\p{M}{4})\p{M}+/gu;

/**
 * A text of somebody else's as one line for a place that this app does not draw, such as a phone's
 * list of notifications: nothing in it can act, run on or look like another's words.
 */
export const plainLine = (text: string, most: number): string => {
  // Of what is much longer nothing further on would be kept.
  const line = text
    .slice(0, most * 16)
    .replaceAll(/\p{Cs}/gu, '\uFFFD')
    .replaceAll(controls, ' ')
    .replaceAll(unseen, '')
    .replaceAll(marks, '$1')
    .replaceAll(/\s+/gu, ' ')
    .trim();
  const letters = Array.from(line);
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : line;
};
