/** Tags behind a sound, bytes at most. */
const tagsBehind = 16 * 1024;
const ogg = Buffer.from('OggS');

/** Whether a file of Ogg goes on behind the end of its first streams, as many chained ones do. */
const isChained = (data: Buffer): boolean => {
  const ended = new Set<number>();
  let said = false;
  for (let at = data.indexOf(ogg); at >= 0; at = data.indexOf(ogg, at + ogg.length)) {
    const kind = data[at + 5] ?? 0;
    const serial = at + 18 <= data.length ? data.readUInt32LE(at + 14) : 0;
    const begins = (kind & 2) !== 0;
    if ((begins && said) || ended.has(serial)) return true;
    said ||= !begins;
    if ((kind & 4) !== 0) ended.add(serial);
  }
  return false;
};

/** Bytes before the first packet of a file whose packets follow one another to its end. */
const headOf = (data: Buffer): number => {
  let at = 0;
  // ID3: its length in four times seven bits.
  if (data.toString('latin1', 0, 3) === 'ID3' && data.length > 10)
    at = 10 + data.subarray(6, 10).reduce((all, each) => all * 128 + (each & 127), 0);
  if (data.toString('latin1', at, at + 4) !== 'fLaC') return at;
  at += 4;
  for (let last = false; !last && at + 4 <= data.length; at += 4 + data.readUIntBE(at + 1, 3))
    last = (data[at]! & 128) !== 0;
  return at;
};

/**
 * Whether a WAVE file has more sound than was counted: a second chunk of it, one that its head or the
 * file's calls shorter than it is, or something behind it that is no chunk.
 */
const hasMoreWave = (data: Buffer, counted: number): boolean => {
  const big = data.toString('latin1', 0, 4) === 'RIFX';
  let found = false;
  let at = 12;
  while (at + 8 <= data.length) {
    const size = big ? data.readUInt32BE(at + 4) : data.readUInt32LE(at + 4);
    const from = at + 8;
    if (data.toString('latin1', at, at + 4) === 'data') {
      if (found) return true;
      found = true;
      const endless = size === 0 || size === 0xffffffff;
      const bytes = Math.min(endless ? Infinity : size, data.length - from);
      if (counted + tagsBehind < bytes) return true;
    }
    if (from + size > data.length) break;
    at = from + size + (size & 1);
  }
  const whole = at >= data.length - 8;
  return !found || (!whole && counted + tagsBehind < data.length - at);
};

/** Formats that are frames and tags alone: frames of MP3 that are unlike its first are not counted. */
const inFrames = new Set(['audio/flac', 'audio/aac', 'audio/mpeg']);

/**
 * Whether more lies in a file than was looked at: who reads on behind what is no sound hears more of
 * it than is counted here.
 * @param counted bytes of the packets that were found
 */
export const goesOn = (data: Buffer, mime: string, counted: number): boolean => {
  if (mime === 'application/ogg') return isChained(data);
  if (mime === 'audio/wav') return hasMoreWave(data, counted);
  if (!inFrames.has(mime)) return false;
  return headOf(data) + counted + tagsBehind < data.length;
};
