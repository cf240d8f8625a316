import {
  BufferTarget,
  EncodedAudioPacketSource,
  type EncodedPacket,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  type Input,
  type InputAudioTrack,
  type InputVideoTrack,
  Output,
  type OutputFormat,
} from 'mediabunny';
import { markRaster } from '#server/labels/mark.ts';
import { drawMark, markedFor } from './film-mark.ts';
import { decodeVpx, openVpxEncoder, type VpxCodec } from './vpx.ts';

/**
 * Draws on the beginning of a film of VP8 or VP9: what they need to be decoded stands in their frames,
 * so all from the first key frame behind the words is copied as it is, and so is the sound.
 */

/** Frames of the beginning; with more of them up to a key frame the film keeps its images. */
const mostFrames = 900;

const packetsOf = async (track: InputVideoTrack): Promise<EncodedPacket[]> => {
  const packets: EncodedPacket[] = [];
  for await (const packet of new EncodedPacketSink(track).packets()) packets.push(packet);
  return packets;
};

/** The beginning, encoded anew with the words over its first two seconds. */
const encodedAnew = async (
  codec: VpxCodec,
  packets: readonly EncodedPacket[],
  { width, height, bitrate }: { width: number; height: number; bitrate: number },
): Promise<EncodedPacket[]> => {
  const from = packets[0]!.timestamp;
  const mark = await markRaster(width, height);
  const span = packets.at(-1)!.timestamp - from;
  const framesASecond = span > 0 ? Math.max(1, Math.round((packets.length - 1) / span)) : 30;
  const shape = { width, height, bitrate, framesASecond, keyEvery: mostFrames };
  const encoder = await openVpxEncoder(codec, shape);
  const made: EncodedPacket[] = [];
  const put = (encoded: Awaited<ReturnType<typeof encoder.end>>) => {
    for (const { data, type, at } of encoded)
      made.push(packets[at]!.clone({ data, type, sideData: {} }));
  };
  await decodeVpx(
    codec,
    packets.map(({ data }) => data),
    async (frame, at, size) => {
      if (size.width !== width || size.height !== height) throw new Error('frames of other sizes');
      if (packets[at]!.timestamp - from < markedFor) drawMark(frame, width, height, mark);
      put(await encoder.encode(frame, at, made.length === 0));
    },
  );
  put(await encoder.end());
  await encoder.close();
  return made;
};

const copySound = async (track: InputAudioTrack, source: EncodedAudioPacketSource) => {
  const decoderConfig = await track.getDecoderConfig();
  for await (const packet of new EncodedPacketSink(track).packets())
    await source.add(packet, decoderConfig ? { decoderConfig } : undefined);
  source.close();
};

/** Null: it cannot be drawn on so. @throws Error for a film that cannot be read */
export const markedStart = async (
  input: Input,
  track: InputVideoTrack,
  { codec, format, bitrate }: { codec: VpxCodec; format: OutputFormat; bitrate: number },
): Promise<Uint8Array | null> => {
  const packets = await packetsOf(track);
  const [first] = packets;
  // A second picture beside it says what is seen through.
  if (first?.type !== 'key' || packets.some(({ sideData }) => sideData.alpha)) return null;
  const behind = packets.findIndex(
    ({ type, timestamp }) => type === 'key' && timestamp >= first.timestamp + markedFor,
  );
  const start = packets.slice(0, behind < 0 ? packets.length : behind);
  if (start.length > mostFrames) return null;
  const { codedWidth: width, codedHeight: height } = track;
  const made = await encodedAnew(codec, start, { width, height, bitrate });
  // Frames that are never shown are in no packet of their own any more.
  if (made.length === 0) return null;
  const target = new BufferTarget();
  const output = new Output({ format, target });
  const images = new EncodedVideoPacketSource(codec);
  output.addVideoTrack(images);
  const sounds = (await input.getAudioTracks()).map((sound) => {
    if (sound.codec === null) throw new Error('sound that cannot be copied');
    const source = new EncodedAudioPacketSource(sound.codec);
    output.addAudioTrack(source);
    return { sound, source };
  });
  output.setMetadataTags(await input.getMetadataTags());
  await output.start();
  const decoderConfig = await track.getDecoderConfig();
  const copyImages = async () => {
    for (const packet of [...made, ...packets.slice(start.length)])
      await images.add(packet, decoderConfig ? { decoderConfig } : undefined);
    images.close();
  };
  await Promise.all([copyImages(), ...sounds.map((each) => copySound(each.sound, each.source))]);
  await output.finalize();
  return target.buffer && new Uint8Array(target.buffer);
};
