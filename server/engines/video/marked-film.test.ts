import {
  BufferSource,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  type InputTrack,
  MP4,
  Mp4OutputFormat,
  Output,
  VideoSample,
  VideoSampleSink,
  VideoSampleSource,
  WEBM,
  WebMOutputFormat,
} from 'mediabunny';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { markRaster } from '#server/labels/mark.ts';
import { loadOptional } from '#server/optional-packages.ts';
import { drawMark } from './film-mark.ts';
import { markedFilm } from './marked-film.ts';
import { decodeVpx, openVpxEncoder, type VpxCodec } from './vpx.ts';

const [width, height, seconds, framesASecond] = [320, 240, 3, 12];
const black = new Uint8Array((width * height * 3) / 2).fill(16, 0, width * height);
black.fill(128, width * height);

/** The codecs' threads do not keep a process alive. */
let alive: NodeJS.Timeout;
beforeAll(async () => {
  const { EncodedVideoChunk, VideoColorSpace, VideoDecoder, VideoEncoder, VideoFrame } =
    await loadOptional('@napi-rs/webcodecs');
  const codecs = { EncodedVideoChunk, VideoColorSpace, VideoDecoder, VideoEncoder, VideoFrame };
  Object.assign(globalThis, codecs);
  alive = setInterval(() => {}, 1_000);
});
afterAll(() => clearInterval(alive));

/** A dark film as a service gives it. */
const darkFilm = async (): Promise<Buffer> => {
  const output = new Output({ format: new Mp4OutputFormat(), target: new BufferTarget() });
  const source = new VideoSampleSource({ codec: 'avc', bitrate: 500_000 });
  output.addVideoTrack(source);
  await output.start();
  for (let at = 0; at < seconds * framesASecond; at += 1) {
    const about = { format: 'I420', codedWidth: width, codedHeight: height } as const;
    const times = { timestamp: at / framesASecond, duration: 1 / framesASecond };
    const frame = new VideoSample(black, { ...about, ...times });
    await source.add(frame);
    frame.close();
  }
  await output.finalize();
  return Buffer.from(output.target.buffer!);
};

const isBright = (frame: Uint8Array): boolean =>
  frame.subarray(0, width * height).filter((value, at) => {
    const [x, y] = [at % width, Math.floor(at / width)];
    return value > 150 && x > width / 2 && y > height * 0.75;
  }).length > 50;

/** When frames have bright pixels in their lower right quarter, and when they have none. */
const brightTimes = async (film: Buffer) => {
  const input = new Input({ source: new BufferSource(film), formats: [MP4] });
  const sink = new VideoSampleSink((await input.getPrimaryVideoTrack())!);
  const times = { bright: [] as number[], dark: [] as number[] };
  for await (const frame of sink.samples()) {
    const data = new Uint8Array(frame.allocationSize());
    await frame.copyTo(data);
    (isBright(data) ? times.bright : times.dark).push(frame.timestamp);
    frame.close();
  }
  return times;
};

const work = { signal: new AbortController().signal, owner: { person: '1', guest: false } };
const posterOf = () =>
  sharp({ create: { width, height, channels: 3, background: '#000' } })
    .png()
    .toBuffer();

const mustBe = () => {
  throw new Error('not marked');
};

/** A dark film with sound, and where its frames may be begun at. */
const darkWebm = async (codec: VpxCodec, keyEvery: number): Promise<Buffer> => {
  const output = new Output({ format: new WebMOutputFormat(), target: new BufferTarget() });
  const images = new EncodedVideoPacketSource(codec);
  const sound = new EncodedAudioPacketSource('opus');
  output.addVideoTrack(images);
  output.addAudioTrack(sound);
  await output.start();
  const shape = { width, height, framesASecond, keyEvery, bitrate: 500_000 };
  const encoder = await openVpxEncoder(codec, shape);
  const name = codec === 'vp8' ? 'vp8' : 'vp09.00.10.08';
  const config = { codec: name, codedWidth: width, codedHeight: height };
  const put = async (packets: Awaited<ReturnType<typeof encoder.end>>) => {
    for (const { data, type, at } of packets)
      await images.add(new EncodedPacket(data, type, at / framesASecond, 1 / framesASecond), {
        decoderConfig: config,
      });
  };
  for (let at = 0; at < seconds * framesASecond; at += 1)
    await put(await encoder.encode(black, at, at % keyEvery === 0));
  await put(await encoder.end());
  await encoder.close();
  for (let at = 0; at < seconds * 50; at += 1)
    await sound.add(new EncodedPacket(new Uint8Array([at, 1, 2]), 'key', at / 50, 1 / 50), {
      decoderConfig: { codec: 'opus', numberOfChannels: 1, sampleRate: 48_000 },
    });
  await output.finalize();
  return Buffer.from(output.target.buffer!);
};

const packetsOf = async (track: InputTrack): Promise<EncodedPacket[]> => {
  const packets: EncodedPacket[] = [];
  for await (const packet of new EncodedPacketSink(track).packets()) packets.push(packet);
  return packets;
};

/** Its packets, and of each frame whether it is bright in its corner. */
const lookAt = async (codec: VpxCodec, film: Buffer) => {
  const input = new Input({ source: new BufferSource(film), formats: [WEBM] });
  const images = await packetsOf((await input.getPrimaryVideoTrack())!);
  const sound = await packetsOf((await input.getPrimaryAudioTrack())!);
  const bright: boolean[] = [];
  await decodeVpx(
    codec,
    images.map(({ data }) => data),
    async (frame) => void bright.push(isBright(frame)),
  );
  return { images, sound, bright };
};

test.each([
  ['vp9', 15],
  ['vp9', 999],
  ['vp8', 15],
] as const)(
  'so does one of %s, whose rest is copied from the next of its key frames (each %d)',
  async (codec, keyEvery) => {
    const data = await darkWebm(codec, keyEvery);
    const before = await lookAt(codec, data);
    expect(before.bright).not.toContain(true);
    const made = await markedFilm({ data, poster: await posterOf() }, work, mustBe);
    const after = await lookAt(codec, made.data);
    expect(after.bright).toEqual(before.bright.map((_, at) => at < 2 * framesASecond));
    const times = (packets: EncodedPacket[]) => packets.map(({ timestamp }) => timestamp);
    expect(times(after.images)).toEqual(times(before.images));
    expect(after.sound.map(({ data: bytes }) => bytes)).toEqual(
      before.sound.map(({ data: bytes }) => bytes),
    );
    // Behind the first of its key frames that the words do not reach.
    const bytes = (packets: EncodedPacket[]) => packets.slice(30).map(({ data: each }) => each);
    if (keyEvery === 15) expect(bytes(after.images)).toEqual(bytes(before.images));
  },
  60_000,
);

test('a film of a service shows the words for its first two seconds, and as long as it was', async () => {
  const data = await darkFilm();
  expect((await brightTimes(data)).bright).toEqual([]);
  const poster = await posterOf();
  const made = await markedFilm({ data, poster }, work, mustBe);
  const { bright, dark } = await brightTimes(made.data);
  expect(bright).toHaveLength(2 * framesASecond);
  expect(dark).toHaveLength((seconds - 2) * framesASecond);
  expect(Math.max(...bright)).toBeLessThan(Math.min(...dark));
  const { channels } = await sharp(made.poster).greyscale().stats();
  expect(channels[0]!.max).toBeGreaterThan(200);
}, 60_000);

test('the words are read on light images and on dark ones', async () => {
  const mark = await markRaster(width, height);
  for (const light of [16, 235]) {
    const frame = new Uint8Array((width * height * 3) / 2).fill(light, 0, width * height);
    frame.fill(128, width * height);
    drawMark(frame, width, height, mark);
    const there = Array.from({ length: mark.height }, (_, row) => {
      const from = (mark.top + row) * width + mark.left;
      return [...frame.subarray(from, from + mark.width)];
    }).flat();
    expect(there.filter((value) => value > 200).length).toBeGreaterThan(100);
    expect(there.filter((value) => value < 130).length).toBeGreaterThan(100);
  }
});

test('what cannot be drawn on keeps its images, says so, and has the words on its poster', async () => {
  const poster = await posterOf();
  const whole = await darkWebm('vp9', 15);
  for (const data of [Buffer.from('no film at all'), whole.subarray(0, 900)]) {
    let told = 0;
    const made = await markedFilm({ data, poster }, work, () => (told += 1));
    expect([made.data, told]).toEqual([data, 1]);
    expect(made.poster.equals(poster)).toBe(false);
  }
}, 60_000);
