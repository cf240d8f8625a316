/** Bytes behind a sound that are no tag and yet none of it: a frame that was cut off. */
const remainder = 1500;
/** Bytes of a tag of APE without a picture. */
const mostApe = 4096;

/** Bytes of the tags at the end of a file: ID3 of the first version, APE, and empty ones. */
const tagsBehind = (data: Buffer): number => {
  let end = data.length;
  while (end > 0 && data[end - 1] === 0) end -= 1;
  if (data.length - end < remainder) end = data.length;
  if (data.toString('latin1', end - 128, end - 125) === 'TAG') end -= 128;
  if (data.toString('latin1', end - 32, end - 24) === 'APETAGEX') {
    const size = data.readUInt32LE(end - 20);
    const headed = (data.readUInt32LE(end - 12) & 0x80000000) !== 0;
    // In a large one there is room for sound, which a player hears.
    if (size <= mostApe) end -= size + (headed ? 32 : 0);
  }
  return data.length - Math.max(0, end);
};
const ogg = Buffer.from('OggS');

/**
 * Whether a file of Ogg has more than one stream, of which some are not known here and nobody knows
 * which is heard, or goes on behind the end of it.
 */
const isChained = (data: Buffer): boolean => {
  const ended = new Set<number>();
  let streams = 0;
  for (let at = data.indexOf(ogg); at >= 0; at = data.indexOf(ogg, at + ogg.length)) {
    const kind = data[at + 5] ?? 0;
    const serial = at + 18 <= data.length ? data.readUInt32LE(at + 14) : 0;
    if ((kind & 2) !== 0) streams += 1;
    if (streams > 1 || ended.has(serial)) return true;
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
  let formed = false;
  let at = 12;
  while (at + 8 <= data.length) {
    const size = big ? data.readUInt32BE(at + 4) : data.readUInt32LE(at + 4);
    const from = at + 8;
    const name = data.toString('latin1', at, at + 4);
    if (name === 'fmt ') {
      // Some believe the first of several, some the last.
      if (formed) return true;
      formed = true;
    }
    if (name === 'data') {
      if (found) return true;
      found = true;
      const endless = size === 0 || size === 0xffffffff;
      const bytes = Math.min(endless ? Infinity : size, data.length - from);
      if (counted + remainder < bytes) return true;
    }
    if (from + size > data.length) break;
    at = from + size + (size & 1);
  }
  const whole = at >= data.length - 8;
  return !found || (!whole && remainder < data.length - at);
};

/** What a file of Matroska and its segment begin with, each with what comes soon after (RFC 9559). */
const beginnings = (
  [
    ['1a45dfa3', ['4282']],
    ['18538067', ['114d9b74', '1549a966', '1654ae6b', '1f43b675', 'ec']],
  ] as const
).map(([mark, next]) => ({
  mark: Buffer.from(mark, 'hex'),
  next: next.map((each) => Buffer.from(each, 'hex')),
}));
const soon = 64;

/** Whether a file of Matroska or WebM has another one behind it, or a second segment. */
const hasSecondMatroska = (data: Buffer): boolean =>
  beginnings.some(({ mark, next }) => {
    let at = data.indexOf(mark);
    while (at >= 0) {
      at = data.indexOf(mark, at + mark.length);
      const near = data.subarray(at + mark.length, at + soon);
      if (at >= 0 && next.some((each) => near.includes(each))) return true;
    }
    return false;
  });

interface Place {
  from: number;
  to: number;
}

const mostBoxes = 20_000;

/** The boxes of ISO base media between two places: their names, and where their content lies. */
const boxesIn = (data: Buffer, { from, to }: Place): (Place & { name: string })[] => {
  const boxes = [];
  for (let at = from; at + 8 <= to;) {
    const short = data.readUInt32BE(at);
    const long = short === 1 && at + 16 <= to;
    const size = long ? Number(data.readBigUInt64BE(at + 8)) : short === 0 ? to - at : short;
    const end = Math.min(to, at + Math.max(size, 8));
    const name = data.toString('latin1', at + 4, at + 8);
    boxes.push({ name, from: at + (long ? 16 : 8), to: end });
    if (boxes.length > mostBoxes) throw new Error('a file of too many boxes');
    at = end;
  }
  return boxes;
};

const boxAt = (data: Buffer, within: Place, way: readonly string[]): Place | undefined =>
  way.reduce<Place | undefined>(
    (box, name) => box && boxesIn(data, box).find((each) => each.name === name),
    within,
  );

/** What tracks that are neither heard nor seen hold: times, titles and data of cameras. */
const silentTracks = new Set(['mebx', 'tmcd', 'text', 'tx3g', 'wvtt', 'stpp', 'c608', 'mp4s']);

/** Bytes of a film that belong to none of its tracks: indexes and padding. */
const padding = 16 * 1024;

/**
 * Whether a file of MP4 holds much that is in no track that was counted, or a track that is heard by
 * what it holds and not by what it is called.
 */
const hasHiddenTrack = (data: Buffer, counted: number): boolean => {
  const whole = { from: 0, to: data.length };
  const held = boxesIn(data, whole).filter(({ name }) => name === 'mdat');
  const bytes = held.reduce((sum, { from, to }) => sum + to - from, 0);
  if (bytes > counted + padding) return true;
  const movie = boxAt(data, whole, ['moov']);
  if (!movie) return false;
  for (const track of boxesIn(data, movie)) {
    if (track.name !== 'trak') continue;
    const called = boxAt(data, track, ['mdia', 'hdlr']);
    const kind = called ? data.toString('latin1', called.from + 8, called.from + 12) : '';
    if (kind === 'soun' || kind === 'vide') continue;
    const held = boxAt(data, track, ['mdia', 'minf', 'stbl', 'stsd']);
    const format = held ? data.toString('latin1', held.from + 12, held.from + 16) : '';
    if (!silentTracks.has(format)) return true;
  }
  return false;
};

/** Formats that are frames and tags alone: frames of MP3 that are unlike its first are not counted. */
const inFrames = new Set(['audio/flac', 'audio/aac', 'audio/mpeg']);

/**
 * Whether more lies in a file than was looked at: who reads on behind what is no sound hears more of
 * it than is counted here.
 * @param counted bytes of the packets that were found, of all its tracks
 */
export const goesOn = (data: Buffer, mime: string, counted: number): boolean => {
  // A packet that is said to reach beyond the file is read in part by some.
  if (counted > data.length) return true;
  if (mime === 'application/ogg') return isChained(data);
  if (mime === 'audio/wav') return hasMoreWave(data, counted);
  if (mime.endsWith('/mp4') || mime.endsWith('/quicktime')) return hasHiddenTrack(data, counted);
  if (mime.endsWith('/webm') || mime.endsWith('/x-matroska')) return hasSecondMatroska(data);
  if (!inFrames.has(mime)) return false;
  return headOf(data) + counted + remainder + tagsBehind(data) < data.length;
};
