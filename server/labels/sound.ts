import type { Aigc } from './aigc.ts';
import { aigcText, aigcXmp, readAigc } from './aigc.ts';

/**
 * The label in sounds: of MP3 a frame TXXX of ID3v2 named AIGC, of WAV a chunk AIGC, and the same
 * among what its list INFO says.
 */

const name = 'AIGC';
/** UTF-8, in ID3v2.4. */
const utf8 = 3;

/** A number in seven bits of each of four bytes. */
const synchsafe = (value: number): Buffer =>
  Buffer.from([(value >> 21) & 127, (value >> 14) & 127, (value >> 7) & 127, value & 127]);
const readSynchsafe = (data: Buffer, at: number): number =>
  [0, 1, 2, 3].reduce((all, step) => all * 128 + (data[at + step]! & 127), 0);

const mp3Frame = (label: Aigc): Buffer => {
  const body = Buffer.concat([
    Buffer.from([utf8]),
    Buffer.from(`${name}\0${aigcText(label)}`, 'utf8'),
  ]);
  return Buffer.concat([
    Buffer.from('TXXX', 'latin1'),
    synchsafe(body.length),
    Buffer.alloc(2),
    body,
  ]);
};

/** Some readers look for another frame behind the last: they find that there is none. */
const padding = Buffer.alloc(10);

/** A tag that stands before the frames of an MP3, or before a tag that is there already. */
const mp3Tag = (label: Aigc): Buffer => {
  const frames = Buffer.concat([mp3Frame(label), padding]);
  return Buffer.concat([Buffer.from('ID3\x04\0\0', 'latin1'), synchsafe(frames.length), frames]);
};

interface Id3 {
  version: number;
  /** Where its frames begin and the sound does. */
  from: number;
  end: number;
}

/** The tag at the beginning; null: there is none, or one that is not to be touched. */
const id3Of = (data: Buffer): Id3 | null => {
  if (data.length < 10 || data.toString('latin1', 0, 3) !== 'ID3') return null;
  const version = data[3]!;
  const flags = data[5]!;
  const end = 10 + readSynchsafe(data, 6);
  // Unsynchronised, with a further head, or with a foot: rare, and not plain to write into.
  return (version === 3 || version === 4) && flags === 0 && end <= data.length
    ? { version, from: 10, end }
    : null;
};

const labelledMp3 = (data: Buffer, label: Aigc): Buffer => {
  const there = id3Of(data);
  if (there?.version !== 4) return Buffer.concat([mp3Tag(label), data]);
  const frames = Buffer.concat([mp3Frame(label), data.subarray(there.from, there.end)]);
  return Buffer.concat([
    data.subarray(0, 6),
    synchsafe(frames.length),
    frames,
    data.subarray(there.end),
  ]);
};

const readMp3 = (data: Buffer): Aigc | null => {
  const tag = id3Of(data);
  if (!tag) return null;
  for (let at = tag.from; at + 10 <= tag.end;) {
    const size = tag.version === 4 ? readSynchsafe(data, at + 4) : data.readUInt32BE(at + 4);
    if (size === 0 || at + 10 + size > tag.end) return null;
    const body = data.subarray(at + 10, at + 10 + size);
    const plain = body[0] === utf8 || body[0] === 0;
    if (plain && data.toString('latin1', at, at + 4) === 'TXXX') {
      const [said, value = ''] = body.toString('utf8', 1).split('\0');
      if (said?.toUpperCase() === name) return readAigc(value);
    }
    at += 10 + size;
  }
  return null;
};

const riffChunk = (id: string, given: string | Buffer): Buffer => {
  const body = Buffer.from(given);
  const head = Buffer.alloc(8);
  head.write(id, 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
};

/** Of a WAV whose length was not known when its beginning was written. */
const endless = 0xffffffff;

const isRiff = (data: Buffer): boolean =>
  data.length >= 12 &&
  data.toString('latin1', 0, 4) === 'RIFF' &&
  data.toString('latin1', 8, 12) === 'WAVE';

const infoType = Buffer.from('INFO', 'latin1');

/** Its chunks before the samples stand first: a player that reads on finds the label before them. */
const labelledWav = (data: Buffer, label: Aigc): Buffer => {
  if (!isRiff(data)) return data;
  const chunks = Buffer.concat([
    riffChunk(name, aigcText(label)),
    // XMP in RIFF files (XMP specification, part 3).
    riffChunk('_PMX', aigcXmp(label)),
    // What players and ffprobe read of a WAV; tags of ID3 they leave alone where there are others.
    riffChunk('LIST', Buffer.concat([infoType, riffChunk(name, aigcText(label))])),
  ]);
  for (let at = 12; at + 8 <= data.length;) {
    const size = data.readUInt32LE(at + 4);
    if (data.toString('latin1', at, at + 4) === 'data') {
      const made = Buffer.concat([data.subarray(0, at), chunks, data.subarray(at)]);
      const told = data.readUInt32LE(4);
      if (told !== endless && told + chunks.length < endless)
        made.writeUInt32LE(told + chunks.length, 4);
      return made;
    }
    at += 8 + size + (size % 2);
  }
  return data;
};

const readWav = (data: Buffer): Aigc | null => {
  if (!isRiff(data)) return null;
  for (let at = 12; at + 8 <= data.length;) {
    const size = data.readUInt32LE(at + 4);
    if (data.toString('latin1', at, at + 4) === name)
      return readAigc(data.toString('utf8', at + 8, at + 8 + size));
    at += 8 + size + (size % 2);
  }
  return null;
};

export type SoundMime = 'audio/mpeg' | 'audio/wav';

/**
 * A sound with a label. It may be its first part alone: what follows is not changed. A WAV whose
 * head is not whole in it is given back as it came.
 */
export const labelledSound = (data: Buffer, mime: SoundMime, label: Aigc): Buffer =>
  mime === 'audio/wav' ? labelledWav(data, label) : labelledMp3(data, label);

/** The label of a sound; null: there is none. */
export const readSoundLabel = (data: Buffer): Aigc | null => readWav(data) ?? readMp3(data);

/** Bytes of a beginning that are waited for where the head of a WAV comes in pieces. */
const mostHead = 64 * 1024;

/** Labels a sound that comes in parts: gives what may go on, part by part, and what is left. */
export const labelParts = (label: Aigc) => {
  let held: Buffer | null = Buffer.alloc(0);
  let kind: SoundMime = 'audio/mpeg';
  return {
    /** May give nothing yet. */
    next(part: Buffer, mime: SoundMime): Buffer {
      if (!held) return part;
      kind = mime;
      held = Buffer.concat([held, part]);
      const made = labelledSound(held, mime, label);
      if (made.length === held.length && isRiff(held) && held.length < mostHead)
        return Buffer.alloc(0);
      held = null;
      return made;
    },
    /** What is still held once all parts were given. */
    rest(): Buffer {
      const left = held ?? Buffer.alloc(0);
      held = null;
      return left.length === 0 ? left : labelledSound(left, kind, label);
    },
  };
};
