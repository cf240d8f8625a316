import { type LibAv, type LibAvPacket, loadOptional } from '#server/optional-packages.ts';

/**
 * VP8 and VP9 by WebAssembly that holds no GPL code: some ten times slower than native code, but
 * nothing that a film holds can end its process.
 */

const names = { vp8: 'libvpx', vp9: 'libvpx-vp9' } as const;
export type VpxCodec = keyof typeof names;

/** AV_PKT_FLAG_KEY of libav. */
const keyFlag = 1;
/** AV_PICTURE_TYPE_I of libav; 0 leaves the choice to the encoder. */
const keyPicture = 1;

export interface VpxPacket {
  data: Uint8Array;
  type: 'key' | 'delta';
  /** The number that its frame was given. */
  at: number;
}

export interface VpxEncoder {
  /** A frame as I420; each number is higher than the one before. */
  encode: (data: Uint8Array, at: number, key: boolean) => Promise<VpxPacket[]>;
  end: () => Promise<VpxPacket[]>;
  close: () => Promise<void>;
}

/** Made ready once for all films of a process. */
let ready: Promise<LibAv> | undefined;
const load = (): Promise<LibAv> => {
  ready ??= loadOptional('@libav.js/variant-webm-vp9').then(({ LibAV }) =>
    LibAV({ noworker: true, nothreads: true }),
  );
  return ready;
};

/** @throws PackageMissing */
export const openVpxEncoder = async (
  codec: VpxCodec,
  shape: {
    /** Pixels, even. */
    width: number;
    height: number;
    framesASecond: number;
    keyEvery: number;
    bitrate: number;
  },
): Promise<VpxEncoder> => {
  const { width, height, framesASecond, keyEvery, bitrate } = shape;
  const libav = await load();
  const format = libav.AV_PIX_FMT_YUV420P;
  const [, context, frame, packet] = await libav.ff_init_encoder(names[codec], {
    ctx: { bit_rate: bitrate, pix_fmt: format, width, height, gop_size: keyEvery },
    time_base: [1, framesASecond],
    options: { deadline: 'realtime', 'cpu-used': '8', 'lag-in-frames': '0' },
  });
  const layout = [
    { offset: 0, stride: width },
    { offset: width * height, stride: width / 2 },
    { offset: (width * height * 5) / 4, stride: width / 2 },
  ];
  const encode = async (frames: object[], last: boolean): Promise<VpxPacket[]> =>
    (await libav.ff_encode_multi(context, frame, packet, frames, last)).map(
      ({ data, flags = 0, pts = 0 }) => ({
        data,
        type: (flags & keyFlag) === 0 ? 'delta' : 'key',
        at: pts,
      }),
    );
  return {
    encode: (data, at, key) => {
      const picture = { format, width, height, layout, pts: at, ptshi: 0 };
      const kind = { key_frame: key ? 1 : 0, pict_type: key ? keyPicture : 0 };
      return encode([{ ...picture, ...kind, data }], false);
    },
    end: () => encode([], true),
    close: () => libav.ff_free_encoder(context, frame, packet),
  };
};

/**
 * Frames of packets, in their order, each with the number that its packet was given.
 * @throws Error for packets that cannot be read, and for pixels that are no I420 of even sides
 */
export const decodeVpx = async (
  codec: VpxCodec,
  packets: readonly Uint8Array[],
  take: (frame: Uint8Array, at: number, size: { width: number; height: number }) => Promise<void>,
): Promise<void> => {
  const libav = await load();
  const [, context, packet, frame] = await libav.ff_init_decoder(names[codec]);
  const decode = async (given: LibAvPacket[], last: boolean) => {
    const how = { fin: last, copyoutFrame: 'video_packed' } as const;
    for (const made of await libav.ff_decode_multi(context, packet, frame, given, how)) {
      const { data, format, width = 0, height = 0, pts = 0 } = made;
      const planar = format === libav.AV_PIX_FMT_YUV420P && width % 2 === 0 && height % 2 === 0;
      if (!planar || data.length !== (width * height * 3) / 2)
        throw new Error('pixels that lie in another way');
      await take(data, pts, { width, height });
    }
  };
  for (const [at, data] of packets.entries()) await decode([{ data, pts: at, ptshi: 0 }], false);
  await decode([], true);
  await libav.ff_free_decoder(context, packet, frame);
};
