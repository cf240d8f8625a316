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
  WEBM,
  WebMOutputFormat,
} from 'mediabunny';
import { markRaster } from '#server/labels/mark.ts';
import { loadOptional } from '#server/optional-packages.ts';
import { drawMark, markedFor } from './film-mark.ts';
import type { MarkTask } from './marked-film.ts';
import { markedStart } from './marked-start.ts';

/** Draws the words over the first two seconds of a service's film. */

/** Bits a second of what is encoded anew: what it had and a little more, so that nobody sees that it was done again. */
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

const mp4 = () => new Mp4OutputFormat({ fastStart: 'in-memory' });

const suits = ({ codedWidth, codedHeight, rotation }: InputVideoTrack): boolean =>
  codedWidth % 2 === 0 && codedHeight % 2 === 0 && rotation === 0;

/** H.264 and what else native code decodes: all of it is encoded anew, as two ways in one track confuse players. */
const allAnew = async (
  input: Input,
  track: InputVideoTrack,
  bitrate: number,
): Promise<Uint8Array | null> => {
  const { EncodedVideoChunk, VideoColorSpace, VideoDecoder, VideoEncoder, VideoFrame } =
    await loadOptional('@napi-rs/webcodecs');
  Object.assign(globalThis, {
    EncodedVideoChunk,
    VideoColorSpace,
    VideoDecoder,
    VideoEncoder,
    VideoFrame,
  });
  const mark = await markRaster(track.codedWidth, track.codedHeight);
  const target = new BufferTarget();
  const output = new Output({ format: mp4(), target });
  let drawn = 0;
  const conversion = await Conversion.init({
    input,
    output,
    video: {
      codec: 'avc',
      forceTranscode: true,
      bitrate,
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

const marked = async ({ data }: MarkTask): Promise<Uint8Array | null> => {
  const input = new Input({ source: new BufferSource(data), formats: [MP4, WEBM] });
  const track = await input.getPrimaryVideoTrack();
  const tracks = await input.getTracks();
  const others = tracks.filter((each) => each !== track && !each.isAudioTrack());
  // What cannot be copied would be left out.
  if (!track || !suits(track) || others.length > 0) return null;
  const had = (data.length * 8) / (await input.computeDuration());
  const bitrate = Math.round(Math.min(rate.most, Math.max(rate.least, had * rate.more)));
  const isWebm = (await input.getFormat()) === WEBM;
  const { codec } = track;
  // Native code ends its process over these.
  if (codec === 'vp8' || codec === 'vp9') {
    const format = isWebm ? new WebMOutputFormat() : mp4();
    return markedStart(input, track, { codec, format, bitrate });
  }
  return isWebm ? null : allAnew(input, track, bitrate);
};

// The codecs' own threads keep no thread of ours alive.
const alive = setInterval(() => {}, 1_000);
parentPort?.postMessage(await marked(workerData as MarkTask).catch(() => null), []);
clearInterval(alive);
