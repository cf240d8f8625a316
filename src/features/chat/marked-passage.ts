import { tableRow } from '#common/table-row.ts';
import type { Stretch } from '#src/widgets/source/lines.ts';

const sentence = /[^。！？!?；;\n]+[。！？!?；;]*[”’"'）)】」』]*|[。！？!?；;\n]+/g;
/** Letters and digits alone. */
const plain = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, '').toLowerCase();
const pairsOf = (text: string): Set<string> =>
  new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)));
/** Share of a sentence's pairs of letters that the answer says, too, from which on it rests on it. */
const alike = 0.5;

const shared = (one: ReadonlySet<string>, other: ReadonlySet<string>): number => {
  const [fewer, more] = one.size < other.size ? [one, other] : [other, one];
  if (fewer.size < 3) return 0;
  return [...fewer].filter((pair) => more.has(pair)).length / fewer.size;
};

const byTerms = (text: string, terms: readonly string[]): Stretch[] => {
  const words = terms.filter((term) => term.length > 1).sort((a, b) => b.length - a.length);
  if (words.length === 0) return [{ text, marked: false }];
  const any = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('|');
  return text
    .split(new RegExp(`(${any})`, 'i'))
    .map((part, at) => ({ text: part, marked: at % 2 === 1 }))
    .filter((part) => part.text !== '');
};

/**
 * A passage with the sentences marked that an answer says again, or else the words that were asked.
 * @param said words of the answer before its number; empty: not known
 */
export const markedPassage = (
  text: string,
  { said, terms }: { said: string; terms: readonly string[] },
): Stretch[] => {
  const told = pairsOf(plain(said));
  const pieces = text
    .split(/(?<=\n)/)
    .flatMap((line) => (tableRow.test(line.trimEnd()) ? [line] : (line.match(sentence) ?? [])))
    .map((piece) => ({
      text: piece,
      share: shared(pairsOf(plain(piece)), told),
      row: tableRow.test(piece.trimEnd()),
    }));
  // Rows of a table are much alike: an answer rests on the one that is most like it.
  const bestRow = Math.max(0, ...pieces.map(({ row, share }) => (row ? share : 0)));
  const parts = pieces.map(({ text: piece, share, row }) => ({
    text: piece,
    marked: share >= alike && (!row || share === bestRow),
  }));
  return parts.some(({ marked }) => marked) ? parts : byTerms(text, terms);
};
