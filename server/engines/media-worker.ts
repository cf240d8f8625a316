import {
  ALL_FORMATS,
  BufferSource,
  EncodedPacketSink,
  Input,
  type InputAudioTrack,
} from 'mediabunny';
import type { LookJob } from './media.ts';
import { serveThread } from './thread-work.ts';

/** Seconds of one Opus packet, by its first byte and its number of frames (RFC 6716, 3.1 and 3.2). */
const opusSeconds = ([head = 0, count = 0]: Uint8Array): number => {
  const config = head >> 3;
  const frame =
    config < 12
      ? [0.01, 0.02, 0.04, 0.06][config & 3]!
      : config < 16
        ? [0.01, 0.02][config & 1]!
        : [0.0025, 0.005, 0.01, 0.02][config & 3]!;
  const frames = [1, 2, 2, count & 63][head & 3]!;
  return frame * frames;
};

/** Formats in which the sound itself tells how long each packet is, and not what stands around it. */
const tellsItself = new Set(['audio/flac', 'application/ogg']);

/**
 * At least so long a sound is, by what is in it: whoever hears it hears that, whatever its head says.
 * Null where nothing in it tells.
 */
const soundSeconds = async (track: InputAudioTrack, mime: string): Promise<number | null> => {
  const { codec, sampleRate, numberOfChannels } = track;
  const sink = new EncodedPacketSink(track);
  let seconds = 0;
  if (codec === 'opus') {
    for await (const { data } of sink.packets()) seconds += opusSeconds(data);
    return seconds;
  }
  // AAC has 1024 samples in a packet, MP3 1152 or half as many at low rates.
  const perPacket =
    codec === 'aac' ? 1024 : codec === 'mp3' ? (sampleRate > 24_000 ? 1152 : 576) : 0;
  if (perPacket > 0) {
    let packets = 0;
    for await (const _ of sink.packets(undefined, undefined, { metadataOnly: true })) packets += 1;
    return (packets * perPacket) / sampleRate;
  }
  if (tellsItself.has(mime)) {
    for await (const { duration } of sink.packets()) seconds += duration;
    return seconds;
  }
  const lawful = codec === 'ulaw' || codec === 'alaw';
  const bits = lawful ? 8 : codec?.startsWith('pcm-') ? Number(/\d+/.exec(codec)?.[0] ?? 0) : 0;
  if (bits === 0) return null;
  let bytes = 0;
  for await (const { byteLength } of sink.packets(undefined, undefined, { metadataOnly: true }))
    bytes += byteLength;
  return (bytes * 8) / bits / numberOfChannels / sampleRate;
};

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
 * Whether more lies in a file than was looked at: who reads on behind what is no sound hears more of
 * it than is counted here.
 */
const goesOn = async (data: Buffer, mime: string, track: InputAudioTrack): Promise<boolean> => {
  if (mime === 'application/ogg') return isChained(data);
  if (mime !== 'audio/flac' && mime !== 'audio/aac') return false;
  let bytes = 0;
  const packets = new EncodedPacketSink(track).packets(undefined, undefined, {
    metadataOnly: true,
  });
  for await (const { byteLength } of packets) bytes += byteLength;
  return headOf(data) + bytes + tagsBehind < data.length;
};

/** The longest of a file's sounds: nobody knows which of them a service hears. Null: not known. */
const longestSound = async (
  tracks: readonly InputAudioTrack[],
  mime: string,
): Promise<number | null> => {
  let longest = 0;
  for (const track of tracks) {
    const seconds = await soundSeconds(track, mime);
    if (seconds === null) return null;
    longest = Math.max(longest, seconds);
  }
  return longest;
};

serveThread<LookJob>(async (given) => {
  const data = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const input = new Input({ source: new BufferSource(data), formats: ALL_FORMATS });
  if (!(await input.canRead())) return null;
  const film = await input.getPrimaryVideoTrack();
  const sound = await input.getPrimaryAudioTrack();
  const told = await input.computeDuration();
  const { mimeType: mime } = await input.getFormat();
  const whole = sound !== null && !(await goesOn(data, mime, sound));
  const heard = whole ? await longestSound(await input.getAudioTracks(), mime) : null;
  // Sums of hundredths are a hair more than they should be.
  const seconds = Math.round(Math.max(told, heard ?? 0) * 1000) / 1000;
  if ((!film && !sound) || !Number.isFinite(seconds) || seconds <= 0) return null;
  return {
    mime,
    seconds,
    width: film?.displayWidth ?? 0,
    height: film?.displayHeight ?? 0,
    sound: heard !== null,
  };
});
