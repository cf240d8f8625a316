import {
  ALL_FORMATS,
  AudioSampleSink,
  BufferSource,
  EncodedPacketSink,
  Input,
  type InputAudioTrack,
  type InputTrack,
} from 'mediabunny';
import { limits } from '#contract/limits.ts';
import { isInstalled } from '#server/optional-packages.ts';
import type { LookJob } from './media.ts';
import { offerDecoder } from './offer-decoder.ts';
import { goesOn } from './sound-end.ts';
import { serveThread } from './thread-work.ts';

/** Seconds after which a sound is counted no further: longer ones are refused everywhere. */
const mostSeconds = 2 * limits.speech.seconds;

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

/** Bytes of one frame at most: of MP3 (ISO 11172-3, 2.4.3.1), of AAC by channel (ISO 14496-3, 4.5.3). */
const frameBytes = { mp3: 1441, aac: 768 };

/**
 * Seconds of MP3 or AAC, as a decoder hears them: a packet may hold many frames, which their container
 * counts as one. Without a decoder a packet is one frame; null where one is too large for that, or
 * cannot be decoded.
 */
const packedSeconds = async (
  track: InputAudioTrack,
  codec: 'aac' | 'mp3',
): Promise<number | null> => {
  let seconds = 0;
  if (isInstalled('@napi-rs/webcodecs')) {
    await offerDecoder();
    try {
      for await (const sample of new AudioSampleSink(track).samples()) {
        seconds += sample.numberOfFrames / sample.sampleRate;
        sample.close();
        // Nobody hears as much.
        if (seconds > mostSeconds) break;
      }
    } catch {
      return null;
    }
    return seconds;
  }
  const { sampleRate, numberOfChannels } = track;
  const most = frameBytes[codec] * (codec === 'aac' ? numberOfChannels : 1);
  const samples = codec === 'aac' ? 1024 : sampleRate > 24_000 ? 1152 : 576;
  const packets = new EncodedPacketSink(track).packets(undefined, undefined, {
    metadataOnly: true,
  });
  for await (const { byteLength } of packets) {
    if (byteLength > most) return null;
    seconds += samples / sampleRate;
  }
  return seconds;
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
  if (codec === 'aac' || codec === 'mp3') return packedSeconds(track, codec);
  if (tellsItself.has(mime)) {
    for await (const { duration } of sink.packets()) seconds += duration;
    return seconds;
  }
  const lawful = codec === 'ulaw' || codec === 'alaw';
  const bits = lawful ? 8 : codec?.startsWith('pcm-') ? Number(/\d+/.exec(codec)?.[0] ?? 0) : 0;
  if (bits === 0) return null;
  return ((await bytesOf(track)) * 8) / bits / numberOfChannels / sampleRate;
};

const bytesOf = async (track: InputTrack): Promise<number> => {
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
  let counted = 0;
  for (const track of await input.getTracks()) counted += await bytesOf(track);
  const whole = sound !== null && !goesOn(data, mime, counted);
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
