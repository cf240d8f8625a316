import { parentPort, workerData } from 'node:worker_threads';
import {
  BufferSource,
  BufferTarget,
  Conversion,
  Input,
  type InputVideoTrack,
  MP4,
  Mp4OutputFormat,
  Output,
  VideoSample,
} from 'mediabunny';
import { markRaster } from '#server/labels/mark.ts';
import { loadOptional } from '#server/optional-packages.ts';
import { drawMark, markedFor } from './film-mark.ts';
import type { MarkTask } from './marked-film.ts';

/** Draws the words over the first two seconds of a service's film, and encodes it anew as H.264. */

/** Bits a second: what it had and a little more, so that nobody sees that it was done again. */
const rate = { more: 1.3, least: 2_000_000, most: 24_000_000 };

/** A frame with the words. Null: its pixels lie in another way than is written here. */
const withMark = async (
  sample: VideoSample,
  mark: Awaited<ReturnType<typeof markRaster>>,
): Promise<VideoSample | null> => {
  const { format, codedWidth, codedHeight, timestamp, duration, colorSpace } = sample;
  const data = new Uint8Array(sample.allocationSize());
  const [light] = await sample.copyTo(data);
  const tight = (codedWidth * codedHeight * 3) / 2;
  if (format !== 'I420' || data.length !== tight || light?.stride !== codedWidth) return null;
  drawMark(data, codedWidth, codedHeight, mark);
  const about = { format, codedWidth, codedHeight, timestamp, duration, colorSpace };
  return new VideoSample(data, about);
};

const suits = ({ codedWidth, codedHeight, rotation }: InputVideoTrack): boolean =>
  codedWidth % 2 === 0 && codedHeight % 2 === 0 && rotation === 0;

const marked = async ({ data }: MarkTask): Promise<Uint8Array | null> => {
  const { EncodedVideoChunk, VideoColorSpace, VideoDecoder, VideoEncoder, VideoFrame } =
    await loadOptional('@napi-rs/webcodecs');
  Object.assign(globalThis, {
    EncodedVideoChunk,
    VideoColorSpace,
    VideoDecoder,
    VideoEncoder,
    VideoFrame,
  });
  const input = new Input({ source: new BufferSource(data), formats: [MP4] });
  const track = await input.getPrimaryVideoTrack();
  if (!track || !suits(track)) return null;
  const mark = await markRaster(track.codedWidth, track.codedHeight);
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: 'in-memory' }), target });
  const had = (data.length * 8) / (await input.computeDuration());
  let drawn = 0;
  const conversion = await Conversion.init({
    input,
    output,
    video: {
      codec: 'avc',
      forceTranscode: true,
      bitrate: Math.round(Math.min(rate.most, Math.max(rate.least, had * rate.more))),
      process: async (sample) => {
        if (sample.timestamp >= markedFor) return sample;
        const made = await withMark(sample, mark);
        if (!made) throw new Error('pixels that cannot be drawn on');
        drawn += 1;
        return made;
      },
    },
  });
  // What cannot be copied would be left out.
  if (!conversion.isValid || conversion.discardedTracks.length > 0) return null;
  await conversion.execute();
  return target.buffer && drawn > 0 ? new Uint8Array(target.buffer) : null;
};

// The codecs' own threads keep no thread of ours alive.
const alive = setInterval(() => {}, 1_000);
parentPort?.postMessage(await marked(workerData as MarkTask).catch(() => null), []);
clearInterval(alive);
