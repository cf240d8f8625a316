/** Terms of a text: Latin words and numbers, Chinese characters, and pairs of neighbouring ones. */

export const latinWord = /[a-z][a-z0-9_+#.-]*[a-z0-9+#]|[a-z]|\d+/g;
const hanRun = /\p{Script=Han}+/gu;

/** What stands between the parts of a Latin word such as `base_url`. */
export const partsOfWord = /[_.-]/;

/** @param text in searched letters; gives how often each term is in it */
export const termsOf = (text: string): Map<string, number> => {
  const terms = new Map<string, number>();
  const add = (term: string) => terms.set(term, (terms.get(term) ?? 0) + 1);
  for (const [word] of text.matchAll(latinWord)) {
    add(word);
    if (partsOfWord.test(word))
      for (const part of word.split(partsOfWord)) if (part.length > 1) add(part);
  }
  for (const [run] of text.matchAll(hanRun)) {
    const letters = Array.from(run);
    for (const [at, letter] of letters.entries()) {
      add(letter);
      const next = letters[at + 1];
      if (next !== undefined) add(letter + next);
    }
  }
  return terms;
};

/** Letters and digits alone. */
export const squeeze = (text: string): string => text.replace(/[\s\p{P}\p{S}]+/gu, '');
