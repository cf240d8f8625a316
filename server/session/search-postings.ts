/**
 * Sets of messages as `search_postings.ids` keeps them, segment by segment: a bit for each of a
 * segment's numbers here, and in the database either that or a list of places.
 */

/** How many numbers of messages a segment takes. */
const segmentSize = 2 ** 14;
const bytesOfBits = segmentSize / 8;

export interface Posting {
  gram: number;
  segment: number;
  ids: Buffer;
}

/** Puts what a posting says into a set. */
const addTo = (bits: Uint8Array, ids: Buffer): void => {
  if (ids.length === bytesOfBits) {
    for (let at = 0; at < bytesOfBits; at++) bits[at]! |= ids[at]!;
    return;
  }
  for (let at = 0; at + 1 < ids.length; at += 2) {
    const place = ids.readUInt16BE(at);
    bits[place >> 3]! |= 1 << (place & 7);
  }
};

const keepCommon = (bits: Uint8Array, others: Uint8Array): void => {
  for (let at = 0; at < bytesOfBits; at++) bits[at]! &= others[at]!;
};

export type Segments = Map<number, Uint8Array>;

/** For each segment its numbers that some posting names. */
export const union = (postings: Iterable<Posting>): Segments => {
  const all: Segments = new Map();
  for (const { segment, ids } of postings) {
    const bits = all.get(segment) ?? new Uint8Array(bytesOfBits);
    addTo(bits, ids);
    all.set(segment, bits);
  }
  return all;
};

/** For each segment its numbers that have all of the grams. */
export const intersection = (
  postings: readonly Posting[],
  grams: readonly number[],
): Segments | null => {
  let all: Segments | null = null;
  for (const gram of grams) {
    const those = union(postings.filter((posting) => posting.gram === gram));
    if (all) narrow(all, those);
    else all = those;
  }
  return all;
};

/** Leaves in `all` what is in `those`, too. */
export const narrow = (all: Segments, those: Segments): void => {
  for (const [segment, bits] of all) {
    const others = those.get(segment);
    if (others) keepCommon(bits, others);
    else all.delete(segment);
  }
};

/** Leaves in `all` what is not in `those`. */
export const remove = (all: Segments, those: Segments): void => {
  for (const [segment, others] of those) {
    const bits = all.get(segment);
    if (bits) for (let at = 0; at < bytesOfBits; at++) bits[at]! &= ~others[at]!;
  }
};

/** The numbers of messages in a set, the highest first. */
export const idsIn = (segments: Segments): number[] => {
  const ids: number[] = [];
  for (const [segment, bits] of [...segments].sort(([a], [b]) => b - a)) {
    for (let at = bytesOfBits - 1; at >= 0; at--) {
      const byte = bits[at]!;
      if (byte === 0) continue;
      for (let bit = 7; bit >= 0; bit--)
        if (byte & (1 << bit)) ids.push(segment * segmentSize + at * 8 + bit);
    }
  }
  return ids;
};
