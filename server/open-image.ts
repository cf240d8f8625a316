import type { default as sharp, Sharp } from 'sharp';
import { isCostly } from './image-cost.ts';

/** Pixels that an image of people may say it has, and that one of a service may. */
export const mostPixels = { people: 40_000_000, service: 100_000_000 };
/** A side longer than this is no image; JPEG cannot have it, either. */
const longestSide = 30_000;
/** Of work on one image; what takes longer is ended between two of its rows. */
const mostSeconds = 20;

/** An image says that it has more pixels than are looked at. */
export class TooManyPixels extends Error {}

export interface OpenedImage {
  image: Sharp;
  width: number;
  height: number;
  format: string;
  /** Beside its pixels: how it is turned, its profile, its colours. */
  about: Awaited<ReturnType<Sharp['metadata']>>;
}

let loading: Promise<typeof sharp> | undefined;

/** libvips takes 20 MB, so it is loaded with the first image. */
export const loadSharp = (): Promise<typeof sharp> => {
  loading ??= import('sharp').then(({ default: sharp }) => {
    sharp.cache(false);
    sharp.concurrency(1);
    return sharp;
  });
  return loading;
};

/** How a JPEG, a PNG, a GIF and a WebP begin, in hexadecimal digits. */
const beginnings = /^(?:ffd8ff|89504e470d0a1a0a|47494638(?:37|39)61|52494646.{8}57454250)/;

/**
 * The one way to bytes that came from outside: what the image says of its size is read before any
 * pixel of it. Drawings (SVG) are none: a few hundred bytes of one may take minutes to be drawn.
 * @throws TooManyPixels; Error for what is no image
 */
export const openImage = async (
  data: Buffer,
  {
    pixels = mostPixels.people,
    failOn = 'error',
  }: { pixels?: number; failOn?: 'error' | 'truncated' } = {},
): Promise<OpenedImage> => {
  if (!beginnings.test(data.toString('hex', 0, 12))) throw new Error('no image');
  if (isCostly(data)) throw new Error('an image of too many parts');
  const sharp = await loadSharp();
  const about = await sharp(data, { limitInputPixels: false }).metadata();
  const { width, height, format } = about;
  if (Math.max(width, height) > longestSide || width * height > pixels)
    throw new TooManyPixels(`an image of ${width} × ${height} pixels`);
  const image = sharp(data, { limitInputPixels: pixels, failOn, pages: 1 }).timeout({
    seconds: mostSeconds,
  });
  return { image, width, height, format, about };
};
