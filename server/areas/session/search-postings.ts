/**
 * Sets of messages as `search_postings.ids` keeps them, segment by segment: a bit for each of a
 * segment's numbers here, and in the database either that or a list of places.
 */

/** How many numbers of messages a segment takes. */
const segmentSize = 2 ** 14;
const bytesOfBits = segmentSize / 8;
const wordsOfBits = bytesOfBits / 4;

export interface Posting {
  gram: number;
  segment: number;
  ids: Buffer;
}

/** A bit for each number of a segment, by bytes and, for what is done to all of them, by words. */
class Bits {
  readonly bytes = new Uint8Array(bytesOfBits);
  readonly words = new Uint32Array(this.bytes.buffer);

  /** Puts in what a posting says. */
  add(ids: Buffer): void {
    if (ids.length === bytesOfBits) {
      spare.bytes.set(ids);
      for (let at = 0; at < wordsOfBits; at++) this.words[at]! |= spare.words[at]!;
      return;
    }
    for (let at = 0; at + 1 < ids.length; at += 2) {
      // Two bytes, the higher first.
      this.bytes[(ids[at]! << 5) | (ids[at + 1]! >> 3)]! |= 1 << (ids[at + 1]! & 7);
    }
  }

  keepCommon({ words }: Bits): void {
    for (let at = 0; at < wordsOfBits; at++) this.words[at]! &= words[at]!;
  }

  remove({ words }: Bits): void {
    for (let at = 0; at < wordsOfBits; at++) this.words[at]! &= ~words[at]!;
  }
}

/** What comes from the database does not begin where a word may. */
const spare = new Bits();

export type Segments = Map<number, Bits>;

/** For each segment its numbers that some posting names. */
export const union = (postings: Iterable<Posting>): Segments => {
  const all: Segments = new Map();
  for (const { segment, ids } of postings) {
    const bits = all.get(segment) ?? new Bits();
    bits.add(ids);
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
    if (others) bits.keepCommon(others);
    else all.delete(segment);
  }
};

/** Leaves in `all` what is not in `those`. */
export const remove = (all: Segments, those: Segments): void => {
  for (const [segment, others] of those) all.get(segment)?.remove(others);
};

/** The numbers of messages in a set, the highest first. */
export const idsIn = (segments: Segments): number[] => {
  const ids: number[] = [];
  for (const [segment, { bytes, words }] of [...segments].sort(([a], [b]) => b - a)) {
    for (let at = bytesOfBits - 1; at >= 0; at--) {
      // Most words of a set are empty.
      if ((at & 3) === 3 && words[at >> 2] === 0) {
        at -= 3;
        continue;
      }
      const byte = bytes[at]!;
      if (byte === 0) continue;
      for (let bit = 7; bit >= 0; bit--)
        if (byte & (1 << bit)) ids.push(segment * segmentSize + at * 8 + bit);
    }
  }
  return ids;
};
