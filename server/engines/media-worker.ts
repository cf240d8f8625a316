import {
  ALL_FORMATS,
  BufferSource,
  EncodedPacketSink,
  Input,
  type InputAudioTrack,
} from 'mediabunny';
import type { LookJob } from './media.ts';
import { goesOn } from './sound-end.ts';
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

/** Samples a second of MPEG audio by the index in its head: of MPEG 1; MPEG 2 has half, 2.5 a quarter. */
const mpegRates = [44_100, 48_000, 32_000];
const aacRates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
  7_350,
];

/**
 * Seconds of one frame of MP3 or AAC. Each tells its own rate where it has a head (ISO 11172-3, 2.4.2.3;
 * ISO 13818-7, 6.2): the first of a file may tell another than those that follow.
 * @param fallback the rate of frames without a head, Hz
 */
const frameSeconds = (frame: Uint8Array, codec: 'aac' | 'mp3', fallback: number): number => {
  const [sync = 0, kind = 0, rate = 0] = frame;
  const headed = sync === 255 && kind >> 4 >= 14;
  if (codec === 'aac') return 1024 / ((headed && aacRates[(rate >> 2) & 15]) || fallback);
  const version = headed ? (kind >> 3) & 3 : fallback > 24_000 ? 3 : 2;
  const layer = headed ? (kind >> 1) & 3 : 1;
  const part = version === 3 ? 1 : version === 2 ? 2 : 4;
  const samples = layer === 3 ? 384 : layer === 1 && version !== 3 ? 576 : 1152;
  const told = mpegRates[(rate >> 2) & 3];
  return samples / (headed && told !== undefined ? told / part : fallback);
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
  if (codec === 'aac' || codec === 'mp3') {
    for await (const { data } of sink.packets()) seconds += frameSeconds(data, codec, sampleRate);
    return seconds;
  }
  if (tellsItself.has(mime)) {
    for await (const { duration } of sink.packets()) seconds += duration;
    return seconds;
  }
  const lawful = codec === 'ulaw' || codec === 'alaw';
  const bits = lawful ? 8 : codec?.startsWith('pcm-') ? Number(/\d+/.exec(codec)?.[0] ?? 0) : 0;
  if (bits === 0) return null;
  return ((await bytesOf(track)) * 8) / bits / numberOfChannels / sampleRate;
};

const bytesOf = async (track: InputAudioTrack): Promise<number> => {
  let bytes = 0;
  const packets = new EncodedPacketSink(track).packets(undefined, undefined, {
    metadataOnly: true,
  });
  for await (const { byteLength } of packets) bytes += byteLength;
  return bytes;
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
  const whole = sound !== null && !goesOn(data, mime, await bytesOf(sound));
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
