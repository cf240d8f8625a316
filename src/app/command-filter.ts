/** The text of an entry that words may find. */
export interface Findable {
  label: string;
  hint?: string;
}

/**
 * Those that have all the words, in label or hint and in any order; of them first those whose label
 * begins with what was typed, else as they came.
 */
export const findEntries = <T extends Findable>(entries: readonly T[], typed: string): T[] => {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const [first = ''] = words;
  return entries
    .filter(({ label, hint = '' }) => {
      const text = `${label} ${hint}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .toSorted(
      (a, b) =>
        Number(b.label.toLowerCase().startsWith(first)) -
        Number(a.label.toLowerCase().startsWith(first)),
    );
};

/** Where the mark goes with a key, of so many entries; undefined: the key is for something else. */
export const markAfter = (key: string, at: number, count: number): number | undefined => {
  if (count === 0) return undefined;
  if (key === 'ArrowDown') return (at + 1) % count;
  if (key === 'ArrowUp') return (at - 1 + count) % count;
  return undefined;
};
