import type { default as Sharp } from 'sharp';
import type { Canvas } from './raster.ts';
import { toBytes } from './raster.ts';

let loading: Promise<typeof Sharp> | undefined;

/** libvips is loaded with the first image. */
export const loadSharp = (): Promise<typeof Sharp> => {
  loading ??= import('sharp').then(({ default: sharp }) => {
    sharp.cache(false);
    sharp.concurrency(1);
    return sharp;
  });
  return loading;
};

export const encodePng = async (
  bytes: Uint8Array,
  width: number,
  height: number,
  channels: 1 | 3 | 4 = 3,
): Promise<Uint8Array> => {
  const sharp = await loadSharp();
  return sharp(bytes, { raw: { width, height, channels } }).png({ compressionLevel: 6 }).toBuffer();
};

/** Pixels of the longer side of an image so far. */
const previewSide = 384;

/** A small JPEG of what is drawn by now. */
export const previewOf = async (canvas: Canvas): Promise<Uint8Array> => {
  const { width, height, rgb } = canvas;
  const step = Math.max(1, Math.floor(Math.max(width, height) / previewSide));
  const w = Math.floor(width / step);
  const h = Math.floor(height / step);
  const small = new Float32Array(w * h * 3);
  for (let y = 0; y < h; y += 1)
    for (let x = 0; x < w; x += 1) {
      const from = (y * step * width + x * step) * 3;
      for (let each = 0; each < 3; each += 1) small[(y * w + x) * 3 + each] = rgb[from + each]!;
    }
  const sharp = await loadSharp();
  return sharp(toBytes({ width: w, height: h, unit: Math.min(w, h), rgb: small }), {
    raw: { width: w, height: h, channels: 3 },
  })
    .jpeg({ quality: 72 })
    .toBuffer();
};
