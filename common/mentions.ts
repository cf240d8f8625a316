const at = /[@＠]/g;
/** What stands before it makes an @ a part of an address: lin@example.com. */
const inAddress = /[\w.]/;

/** Whether the names of a text follow each other here: the longest of those that fit. */
const longestAt = (text: string, from: number, names: readonly string[]): string | undefined => {
  // No more of the text than a name is long: it may hold thousands of them.
  const longest = Math.max(0, ...names.map((name) => name.toLowerCase().length));
  const rest = text.slice(from, from + longest).toLowerCase();
  return names
    .filter((name) => name !== '' && rest.startsWith(name.toLowerCase()))
    .sort((a, b) => b.length - a.length)[0];
};

/** Those of the names that stand in a text behind an @, each once. */
export const mentionedIn = (text: string, names: readonly string[]): string[] => {
  const found = new Set<string>();
  for (const { index } of text.matchAll(at)) {
    if (inAddress.test(text.charAt(index - 1))) continue;
    const name = longestAt(text, index + 1, names);
    if (name !== undefined) found.add(name);
  }
  return [...found];
};

/** A text that begins with @ and one of the names: which one, and what is said to it. */
export const spokenTo = (
  text: string,
  names: readonly string[],
): { name: string; rest: string } | null => {
  const begin = /^\s*[@＠]/.exec(text);
  const name = begin && longestAt(text, begin[0].length, names);
  if (!begin || !name) return null;
  const rest = text.slice(begin[0].length + name.length);
  // The name may be the beginning of a word that is another one.
  if (/^\w/.test(rest) && /\w$/.test(name)) return null;
  return { name, rest: rest.replace(/^[\s，,：:]+/, '') };
};
