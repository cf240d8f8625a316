/** A part of a file as a browser asks for it: from a byte on (up to one), or its last bytes. */
export type ByteRange = { from: number; to: number | null } | { last: number };

/** Which bytes of a file of that size are meant; null: none of it. */
export const bytesOf = (range: ByteRange, size: number): { from: number; to: number } | null => {
  const from = 'last' in range ? Math.max(0, size - range.last) : range.from;
  const to = 'last' in range ? size - 1 : Math.min(range.to ?? size - 1, size - 1);
  return from <= to && from < size ? { from, to } : null;
};
