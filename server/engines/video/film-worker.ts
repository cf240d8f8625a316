import {
  BufferTarget,
  EncodedPacket,
  EncodedVideoPacketSource,
  Output,
  WebMOutputFormat,
} from 'mediabunny';
import { markRaster } from '#server/labels/mark.ts';
import { loadSharp, openImage } from '#server/open-image.ts';
import { serveThread, type ThreadIo } from '../thread-work.ts';
import { openFilmEncoder } from './film-encoder.ts';
import { drawMark, markedFor } from './film-mark.ts';
import { cameraAt, marginOf, see, type Plane } from './film-camera.ts';
import { nearness, stretched } from './film-depth.ts';
import type { Film, FilmJob, FilmTask } from './film-task.ts';

/** Makes films, so that nothing else in the server stands still meanwhile. */

const framesASecond = 24;
const keyEvery = framesASecond * 2;
/** Pixels that nearness is told from, of the longer side. */
const sketch = 160;

/** The image as light and two differences of colour (BT.709, limited range), each with its nearness. */
const planesOf = async ({ base, width, height }: FilmTask): Promise<Plane[]> => {
  const { image: opened } = await openImage(
    Buffer.from(base.buffer, base.byteOffset, base.byteLength),
  );
  const image = opened.resize(width, height, { fit: 'cover' }).removeAlpha();
  const rgb = await image.toColourspace('srgb').raw().toBuffer();
  const part = sketch / Math.max(width, height);
  const [wide, high] = [width, height].map((side) => Math.max(8, Math.round(side * part)));
  const sharp = await loadSharp();
  const small = await sharp(rgb, { raw: { width, height, channels: 3 } })
    .resize(wide, high, { fit: 'fill' })
    .raw()
    .toBuffer();
  const near = nearness(small, wide ?? 8, high ?? 8);
  const halfWidth = width / 2;
  const halfHeight = height / 2;
  const light = new Uint8Array(width * height);
  const blue = new Uint8Array(halfWidth * halfHeight);
  const red = new Uint8Array(halfWidth * halfHeight);
  for (let at = 0; at < light.length; at += 1) {
    const [r, g, b] = [rgb[at * 3]!, rgb[at * 3 + 1]!, rgb[at * 3 + 2]!];
    light[at] = 16 + 0.1826 * r + 0.6142 * g + 0.062 * b + 0.5;
  }
  for (let y = 0; y < halfHeight; y += 1)
    for (let x = 0; x < halfWidth; x += 1) {
      let [r, g, b] = [0, 0, 0];
      for (const at of [0, 1, width, width + 1]) {
        const from = (y * 2 * width + x * 2 + at) * 3;
        r += rgb[from]! / 4;
        g += rgb[from + 1]! / 4;
        b += rgb[from + 2]! / 4;
      }
      blue[y * halfWidth + x] = 128 - 0.1006 * r - 0.3386 * g + 0.4392 * b + 0.5;
      red[y * halfWidth + x] = 128 + 0.4392 * r - 0.3989 * g - 0.0403 * b + 0.5;
    }
  const halfNear = stretched(near, halfWidth, halfHeight);
  return [
    { width, height, values: light, near: stretched(near, width, height) },
    { width: halfWidth, height: halfHeight, values: blue, near: halfNear },
    { width: halfWidth, height: halfHeight, values: red, near: halfNear },
  ];
};

/** An image of the film as WebP, at half its sides unless it is to be whole. */
const shown = async (data: Uint8Array, width: number, height: number, whole: boolean) => {
  const step = whole ? 1 : 2;
  const [wide, high] = [width / step, height / step];
  const half = width / 2;
  const blueFrom = width * height;
  const redFrom = blueFrom + blueFrom / 4;
  const rgb = new Uint8ClampedArray(wide * high * 3);
  for (let y = 0, at = 0; y < high; y += 1)
    for (let x = 0; x < wide; x += 1, at += 3) {
      const light = (data[y * step * width + x * step]! - 16) * 1.1644;
      const colour = ((y * step) >> 1) * half + ((x * step) >> 1);
      const blue = data[blueFrom + colour]! - 128;
      const red = data[redFrom + colour]! - 128;
      rgb[at] = light + 1.7927 * red;
      rgb[at + 1] = light - 0.2132 * blue - 0.5329 * red;
      rgb[at + 2] = light + 2.1124 * blue;
    }
  const sharp = await loadSharp();
  return sharp(rgb, { raw: { width: wide, height: high, channels: 3 } })
    .webp({ quality: whole ? 82 : 60, effort: 2 })
    .toBuffer();
};

const film = async (task: FilmTask, io: ThreadIo): Promise<Film> => {
  const { width, height, seconds, reach, marked } = task;
  const mark = marked ? await markRaster(width, height) : null;
  const planes = await planesOf(task);
  await io.turn();
  const output = new Output({ format: new WebMOutputFormat(), target: new BufferTarget() });
  const track = new EncodedVideoPacketSource('vp9');
  output.addVideoTrack(track, { frameRate: framesASecond });
  await output.start();
  const encoder = await openFilmEncoder(
    { width, height, framesASecond, keyEvery },
    ({ data, type, timestamp, duration, facts }) =>
      track.add(new EncodedPacket(data, type, timestamp, duration), facts),
  );
  const frames = Math.max(2, Math.round(seconds * framesASecond));
  const margin = marginOf(reach);
  const data = new Uint8Array((width * height * 3) / 2);
  let poster: Uint8Array = new Uint8Array();
  try {
    for (let at = 0; at < frames; at += 1) {
      const camera = cameraAt(task, at / frames);
      let from = 0;
      for (const plane of planes) {
        const size = plane.width * plane.height;
        see(plane, camera, margin, data.subarray(from, from + size));
        from += size;
      }
      if (mark && at < markedFor * framesASecond) drawMark(data, width, height, mark);
      if (at === 0) poster = await shown(data, width, height, true);
      await encoder.add(data, at);
      await io.progress((at + 1) / (frames + 2), () => shown(data, width, height, false));
    }
    await encoder.end();
  } finally {
    await encoder.close();
  }
  await output.finalize();
  const { buffer } = output.target;
  if (buffer === null) throw new Error('nothing was written');
  return { data: new Uint8Array(buffer), poster };
};

serveThread<FilmJob>(film);
