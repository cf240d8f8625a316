/** A text without NUL and halves of surrogate pairs, which PostgreSQL cannot keep: as in an HTML parser they become U+FFFD. */
export const storableText = (text: string): string =>
  text.replaceAll('\0', '\uFFFD').replace(/\p{Surrogate}/gu, '\uFFFD');

/** The same of all texts in a value whose depth is bounded, and of the names of its fields. */
export const storable = <T>(value: T): T => {
  const kept = (part: unknown): unknown => {
    if (typeof part === 'string') return storableText(part);
    if (Array.isArray(part)) return part.map(kept);
    if (typeof part === 'object' && part !== null)
      return Object.fromEntries(
        Object.entries(part).map(([key, inner]) => [storableText(key), kept(inner)]),
      );
    return part;
  };
  return kept(value) as T;
};

/** JSON as PostgreSQL keeps it. Long texts are looked through once, and hardly ever rewritten. */
export const storableJson = (value: unknown): string => {
  const text = JSON.stringify(value);
  return /\\u(?:0000|d[89a-f])/.test(text) ? JSON.stringify(storable(value)) : text;
};
