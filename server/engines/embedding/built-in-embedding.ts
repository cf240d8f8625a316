/** Numbers of a vector, each kept as one signed byte. */
export const builtInDimensions = 256;

/** Letters of a text that are read, also of what one letter stands for: it may be eighteen. */
const mostRead = 20_000;

const plain = (text: string): string =>
  text
    .slice(0, mostRead)
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s\p{P}\p{S}]+/gu, ' ')
    .trim()
    .slice(0, mostRead);

/**
 * What letters stand together in a text, hashed into a vector (one to three letters at a time, the
 * longer ones counting more). It knows nothing of meaning: it finds what is written alike, other
 * forms and slips of the pen included. Of a long text the first 20,000 letters count.
 */
export const gramVector = (text: string): Int8Array => {
  const sums = new Float32Array(builtInDimensions);
  const letters = plain(text);
  for (let size = 1; size <= 3; size += 1) {
    const weight = size === 1 ? 0.4 : size === 2 ? 1 : 0.8;
    for (let at = 0; at + size <= letters.length; at += 1) {
      let hash = 0x811c9dc5 ^ size;
      for (let each = 0; each < size; each += 1)
        hash = Math.imul(hash ^ letters.charCodeAt(at + each), 0x01000193);
      hash ^= hash >>> 15;
      const place = (hash >>> 1) % builtInDimensions;
      sums[place] = sums[place]! + ((hash & 1) === 0 ? weight : -weight);
    }
  }
  let most = 1e-9;
  for (let at = 0; at < sums.length; at += 1) {
    const value = sums[at]!;
    // What is said ten times is not ten times as much about the matter.
    sums[at] = Math.sign(value) * Math.sqrt(Math.abs(value));
    most = Math.max(most, Math.abs(sums[at]!));
  }
  return Int8Array.from(sums, (value) => Math.round((value / most) * 127));
};
