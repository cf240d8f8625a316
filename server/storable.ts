/** A text without NUL and halves of surrogate pairs, which PostgreSQL cannot keep: as in an HTML parser they become U+FFFD. */
export const storableText = (text: string): string =>
  text.replaceAll('\0', '\uFFFD').replace(/\p{Surrogate}/gu, '\uFFFD');

/** The same of all texts in a value whose depth is bounded, and of the names of its fields. */
export const storable = (value: unknown): unknown => {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [storableText(key), storable(part)]),
    );
  return value;
};
