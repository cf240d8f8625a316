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

/**
 * At least so long a sound is, by what is in it: whoever hears it hears that, whatever its head says.
 * 0 where nothing in it tells.
 */
const soundSeconds = async (track: InputAudioTrack): Promise<number> => {
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
  const bits = codec?.startsWith('pcm-') ? Number(/\d+/.exec(codec)?.[0] ?? 0) : 0;
  if (bits === 0) return 0;
  let bytes = 0;
  for await (const { byteLength } of sink.packets(undefined, undefined, { metadataOnly: true }))
    bytes += byteLength;
  return (bytes * 8) / bits / numberOfChannels / sampleRate;
};

serveThread<LookJob>(async (data) => {
  const input = new Input({ source: new BufferSource(data), formats: ALL_FORMATS });
  if (!(await input.canRead())) return null;
  const film = await input.getPrimaryVideoTrack();
  const sound = await input.getPrimaryAudioTrack();
  const told = await input.computeDuration();
  const seconds = sound ? Math.max(told, await soundSeconds(sound)) : told;
  if ((!film && !sound) || !Number.isFinite(seconds) || seconds <= 0) return null;
  const { mimeType } = await input.getFormat();
  return {
    mime: mimeType,
    seconds,
    width: film?.displayWidth ?? 0,
    height: film?.displayHeight ?? 0,
    sound: sound !== null,
  };
});
