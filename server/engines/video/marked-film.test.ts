import {
  BufferSource,
  BufferTarget,
  Input,
  MP4,
  Mp4OutputFormat,
  Output,
  VideoSample,
  VideoSampleSink,
  VideoSampleSource,
} from 'mediabunny';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadOptional } from '#server/optional-packages.ts';
import { markedFilm } from './marked-film.ts';

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

/** When frames have bright pixels in their lower right quarter, and when they have none. */
const brightTimes = async (film: Buffer) => {
  const input = new Input({ source: new BufferSource(film), formats: [MP4] });
  const sink = new VideoSampleSink((await input.getPrimaryVideoTrack())!);
  const times = { bright: [] as number[], dark: [] as number[] };
  for await (const frame of sink.samples()) {
    const data = new Uint8Array(frame.allocationSize());
    await frame.copyTo(data);
    const bright = data.subarray(0, width * height).filter((value, at) => {
      const [x, y] = [at % width, Math.floor(at / width)];
      return value > 150 && x > width / 2 && y > height * 0.75;
    }).length;
    (bright > 50 ? times.bright : times.dark).push(frame.timestamp);
    frame.close();
  }
  return times;
};

const work = { signal: new AbortController().signal, owner: { person: '1', guest: false } };
const posterOf = () =>
  sharp({ create: { width, height, channels: 3, background: '#000' } })
    .png()
    .toBuffer();

test('a film of a service shows the words for its first two seconds, and as long as it was', async () => {
  const data = await darkFilm();
  expect((await brightTimes(data)).bright).toEqual([]);
  const poster = await posterOf();
  const made = await markedFilm({ data, poster }, 'video/mp4', work, () => {
    throw new Error('not marked');
  });
  const { bright, dark } = await brightTimes(made.data);
  expect(bright).toHaveLength(2 * framesASecond);
  expect(dark).toHaveLength((seconds - 2) * framesASecond);
  expect(Math.max(...bright)).toBeLessThan(Math.min(...dark));
  const { channels } = await sharp(made.poster).greyscale().stats();
  expect(channels[0]!.max).toBeGreaterThan(200);
}, 60_000);

test('what cannot be drawn on keeps its images, says so, and has the words on its poster', async () => {
  const poster = await posterOf();
  for (const [data, mime] of [
    [Buffer.from('no film at all'), 'video/mp4'],
    [Buffer.from('a film of another kind'), 'video/webm'],
  ] as const) {
    let told = 0;
    const made = await markedFilm({ data, poster }, mime, work, () => (told += 1));
    expect([made.data, told]).toEqual([data, 1]);
    expect(made.poster.equals(poster)).toBe(false);
  }
}, 60_000);
