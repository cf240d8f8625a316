/** Spaces and letters that nobody sees hide no word. */
export const plain = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s\p{Cf}\0]+/gu, '');

/** Finds the first of many words in a text; each letter is looked at once for the words it begins. */
export const createWordFinder = (words: readonly string[]): ((text: string) => string | null) => {
  const byFirst = new Map<string, string[]>();
  for (const word of words) {
    const first = word.charAt(0);
    const known = byFirst.get(first);
    if (known) known.push(word);
    else byFirst.set(first, [word]);
  }
  return (text) => {
    const given = plain(text);
    for (let at = 0; at < given.length; at += 1)
      for (const word of byFirst.get(given.charAt(at)) ?? [])
        if (given.startsWith(word, at)) return word;
    return null;
  };
};
