/**
 * What keeps a decoder at work for minutes on a few hundred kilobytes, though the pixels are few. A
 * photograph has twelve scans, a sticker some hundred frames, what a camera wrote some hundred entries.
 */
const most = { scans: 100, packedTexts: 20, frames: 2000, entries: 5000, chunks: 50_000 };

const pointers = new Set([0x8769, 0x8825, 0xa005]);

/** Counts what libexif reads: a list of entries may point to itself, again and again. */
const isCostlyExif = (exif: Buffer): boolean => {
  const from = exif.toString('latin1', 0, 4) === 'Exif' ? 6 : 0;
  const data = exif.subarray(from);
  if (data.length < 8) return false;
  const little = data[0] === 0x49;
  const two = (at: number) => (little ? data.readUInt16LE(at) : data.readUInt16BE(at));
  const four = (at: number) => (little ? data.readUInt32LE(at) : data.readUInt32BE(at));
  const lists = [four(4)];
  let entries = 0;
  for (const [place, list] of lists.entries()) {
    if (list + 2 > data.length) continue;
    const end = list + 2 + 12 * two(list);
    for (let at = list + 2; at < end && at + 12 <= data.length; at += 12) {
      entries += 1;
      if (entries > most.entries) return true;
      if (pointers.has(two(at))) lists.push(four(at + 8));
    }
    // The small picture within has a list of its own.
    if (place === 0 && end + 4 <= data.length) lists.push(four(end));
  }
  return false;
};

/** Goes from marker to marker as libjpeg does: each scan is a way through all pixels. */
const isCostlyJpeg = (data: Buffer): boolean => {
  let [at, scans] = [2, 0];
  while (at < data.length - 1) {
    const marker = data[at + 1]!;
    if (data[at] !== 0xff || marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === 0xd9) return false;
    // A byte of the pixels, or a marker that is nothing else.
    const bare = marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd8);
    const next = at + 2 + (bare || at + 4 > data.length ? 0 : data.readUInt16BE(at + 2));
    if (marker === 0xda) scans += 1;
    if (scans > most.scans) return true;
    const isExif = marker === 0xe1 && data.toString('latin1', at + 4, at + 8) === 'Exif';
    if (isExif && isCostlyExif(data.subarray(at + 4, next))) return true;
    at = next;
  }
  return false;
};

/** Of texts that are packed 50 KB become 50 MB, each. */
const isCostlyPng = (data: Buffer): boolean => {
  let [texts, chunks] = [0, 0];
  for (let at = 8; at + 8 <= data.length;) {
    const name = data.toString('latin1', at + 4, at + 8);
    const end = at + 12 + data.readUInt32BE(at);
    if (name === 'zTXt' || name === 'iTXt') texts += 1;
    chunks += 1;
    if (texts > most.packedTexts || chunks > most.chunks) return true;
    if (name === 'eXIf' && isCostlyExif(data.subarray(at + 8, end - 4))) return true;
    at = end;
  }
  return false;
};

/** To find a frame of a WebP all before it are gone through. */
const isCostlyWebp = (data: Buffer): boolean => {
  let [frames, chunks] = [0, 0];
  for (let at = 12; at + 8 <= data.length;) {
    const name = data.toString('latin1', at, at + 4);
    const length = data.readUInt32LE(at + 4);
    if (name === 'ANMF') frames += 1;
    chunks += 1;
    if (frames > most.frames || chunks > most.chunks) return true;
    if (name === 'EXIF' && isCostlyExif(data.subarray(at + 8, at + 8 + length))) return true;
    at += 8 + length + (length % 2);
  }
  return false;
};

/** Whether an image takes a decoder longer than its pixels do. */
export const isCostly = (data: Buffer): boolean => {
  if (data[0] === 0xff) return isCostlyJpeg(data);
  if (data[0] === 0x89) return isCostlyPng(data);
  return data[0] === 0x52 && isCostlyWebp(data);
};
