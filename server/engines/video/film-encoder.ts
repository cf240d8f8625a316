import { setTimeout as sleep } from 'node:timers/promises';
import { isInstalled, loadOptional } from '#server/optional-packages.ts';
import { openVpxEncoder, type VpxPacket } from './vpx.ts';

/** VP9 of level 3.1 and 8 bits, as a container names it. */
const codec = 'vp09.00.31.08';
const bitrate = 2_500_000;
const colorSpace = {
  primaries: 'bt709',
  transfer: 'bt709',
  matrix: 'bt709',
  fullRange: false,
} as const;

export interface FilmShape {
  /** Pixels, even. */
  width: number;
  height: number;
  framesASecond: number;
  /** A frame that stands by itself each so many: from there a player goes on. */
  keyEvery: number;
}

/** An encoded frame; times in seconds. */
export interface FilmPacket {
  data: Uint8Array;
  type: 'key' | 'delta';
  timestamp: number;
  duration: number;
  facts: EncodedVideoChunkMetadata;
}

export interface FilmEncoder {
  /** A frame as I420 (BT.709, limited range), the first being the number 0. */
  add: (frame: Uint8Array, at: number) => Promise<void>;
  /** Waits for all that is not written yet. */
  end: () => Promise<void>;
  close: () => Promise<void>;
}

type Write = (packet: FilmPacket) => Promise<unknown>;

/** Frames that wait to be encoded. */
const mostWaiting = 6;

/** By threads of native code. */
const nativeEncoder = async (shape: FilmShape, write: Write): Promise<FilmEncoder> => {
  const { VideoEncoder, VideoFrame } = await loadOptional('@napi-rs/webcodecs');
  const { width, height, framesASecond, keyEvery } = shape;
  let written: Promise<unknown> = Promise.resolve();
  let failure: unknown = null;
  const encoder = new VideoEncoder({
    output: (chunk, facts) => {
      const data = new Uint8Array(chunk.byteLength);
      chunk.copyTo(data);
      const { type, timestamp, duration } = chunk;
      const packet = { data, type, timestamp: timestamp / 1e6, duration: (duration ?? 0) / 1e6 };
      written = written.then(() => write({ ...packet, facts: facts ?? {} }));
    },
    error: (error) => {
      failure = error;
    },
  });
  encoder.configure({
    codec,
    width,
    height,
    bitrate,
    framerate: framesASecond,
    latencyMode: 'realtime',
  });
  return {
    add: async (data, at) => {
      const frame = new VideoFrame(data, {
        format: 'I420',
        codedWidth: width,
        codedHeight: height,
        timestamp: Math.round((at * 1e6) / framesASecond),
        duration: Math.round(1e6 / framesASecond),
        colorSpace,
      });
      encoder.encode(frame, { keyFrame: at % keyEvery === 0 });
      frame.close();
      while (encoder.encodeQueueSize > mostWaiting) await sleep(2);
      if (failure !== null) throw failure;
    },
    end: async () => {
      await encoder.flush();
      await written;
      if (failure !== null) throw failure;
    },
    close: async () => {
      if (encoder.state !== 'closed') encoder.close();
    },
  };
};

/** By WebAssembly, without native code. */
const wasmEncoder = async (shape: FilmShape, write: Write): Promise<FilmEncoder> => {
  const { width, height, framesASecond, keyEvery } = shape;
  const encoder = await openVpxEncoder('vp9', { ...shape, bitrate });
  const facts = { decoderConfig: { codec, codedWidth: width, codedHeight: height, colorSpace } };
  const written = async (packets: VpxPacket[]) => {
    for (const { at, ...packet } of packets)
      await write({
        ...packet,
        timestamp: at / framesASecond,
        duration: 1 / framesASecond,
        facts,
      });
  };
  return {
    add: async (data, at) => written(await encoder.encode(data, at, at % keyEvery === 0)),
    end: async () => written(await encoder.end()),
    close: encoder.close,
  };
};

/** Whether there is anything to encode a video with. */
export const canEncodeFilms = (): boolean =>
  isInstalled('@napi-rs/webcodecs') || isInstalled('@libav.js/variant-webm-vp9');

/** What encodes to VP9 here. @throws PackageMissing */
export const openFilmEncoder = (shape: FilmShape, write: Write): Promise<FilmEncoder> =>
  (isInstalled('@napi-rs/webcodecs') ? nativeEncoder : wasmEncoder)(shape, write);
