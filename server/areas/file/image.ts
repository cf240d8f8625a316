import type { default as sharp, Sharp } from 'sharp';
import pLimit from 'p-limit';
import { Refusal } from '../../http/handlers.ts';

export type ImageType = 'jpg' | 'png';

export const imageMimes = { jpg: 'image/jpeg', png: 'image/png' } as const;

export interface Image {
  data: Buffer;
  type: ImageType;
  width: number;
  height: number;
}

/** Pixels that an image may say it has, and that it keeps: beyond the latter it is scaled down. */
const pixels = { read: 40_000_000, kept: 16_777_216 };
/** A side longer than this is no image; JPEG cannot have it, either. */
const longestSide = 30_000;
const quality = 90;

/** An image takes up to 160 MB while it is worked on: two at once, the others wait. */
const limit = pLimit(2);

let loading: Promise<typeof sharp> | undefined;

/** libvips takes 20 MB, so it is loaded with the first image. */
const load = (): Promise<typeof sharp> => {
  loading ??= import('sharp').then(({ default: sharp }) => {
    sharp.cache(false);
    sharp.concurrency(1);
    return sharp;
  });
  return loading;
};

const open = async (data: Buffer): Promise<Sharp> => {
  const sharp = await load();
  return sharp(data, { limitInputPixels: pixels.read, failOn: 'error', pages: 1 });
};

/** What the bytes begin like; null for everything but JPEG and PNG. */
export const sniffImage = (data: Buffer): ImageType | null => {
  if (data.length > 3 && data.readUIntBE(0, 3) === 0xffd8ff) return 'jpg';
  if (data.length > 8 && data.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')))
    return 'png';
  return null;
};

/** Fits an image of many pixels into what is kept, at the same proportions. */
const within = (width: number, height: number): { width: number; height: number } => {
  const scale = Math.sqrt(pixels.kept / (width * height));
  return scale >= 1
    ? { width, height }
    : {
        width: Math.max(1, Math.floor(width * scale)),
        height: Math.max(1, Math.floor(height * scale)),
      };
};

/**
 * An image made anew from its pixels: upright, without what cameras and programs wrote beside
 * them, and without whatever else the file held.
 * @throws Refusal upload_type for what is neither JPEG nor PNG, upload_unreadable, too_large
 */
export const renewImage = (data: Buffer): Promise<Image> =>
  limit(async () => {
    const type = sniffImage(data);
    if (type === null) throw new Refusal('upload_type', '只支持 jpg 和 png 图片');
    try {
      const image = await open(data);
      const { width, height, format } = await image.metadata();
      if (format !== (type === 'jpg' ? 'jpeg' : 'png')) throw new Refusal('upload_unreadable');
      if (Math.max(width, height) > longestSide || width * height > pixels.read)
        throw new Refusal('too_large', '图片的像素太多，请缩小后再上传');
      const upright = image.autoOrient().toColourspace('srgb');
      const size = within(width, height);
      // Turned images have their sides changed: both boxes hold the same number of pixels.
      if (size.width < width) {
        const side = Math.max(size.width, size.height);
        upright.resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true });
      }
      const made =
        type === 'jpg'
          ? upright.jpeg({ quality, mozjpeg: false })
          : upright.png({ compressionLevel: 7 });
      const { data: bytes, info } = await made.toBuffer({ resolveWithObject: true });
      return { data: bytes, type, width: info.width, height: info.height };
    } catch (error) {
      if (error instanceof Refusal) throw error;
      throw new Refusal('upload_unreadable', '图片已损坏或无法读取');
    }
  });

/** A small WebP of an own image: at most so many pixels wide and high. */
export const thumbnailOf = (data: Buffer, width: number, height: number): Promise<Buffer> =>
  limit(async () => {
    const image = await open(data);
    return image
      .resize({ width, height, fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 80 })
      .toBuffer();
  });

/** An image of any usual kind as a WebP with sides of at most so many pixels. @throws Error: no image */
export const viewOf = (
  data: Buffer,
  side: number,
): Promise<{ data: Buffer; width: number; height: number }> =>
  limit(async () => {
    const image = await open(data);
    const { data: bytes, info } = await image
      .autoOrient()
      .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 82 })
      .toBuffer({ resolveWithObject: true });
    return { data: bytes, width: info.width, height: info.height };
  });

/** What models take without shrinking it themselves: bytes, and pixels of the longer side. */
const forModels = {
  low: { bytes: 200_000, side: 768 },
  high: { bytes: 3_000_000, side: 4096 },
} as const;

/** An own image as models are sent it: as it is where it is small enough, else a smaller JPEG. */
export const shrinkForModel = (
  data: Buffer,
  type: ImageType,
  detail: 'low' | 'high',
): Promise<{ data: Buffer; mime: string }> =>
  limit(async () => {
    const most = forModels[detail];
    const image = await open(data);
    const { width, height } = await image.metadata();
    if (data.length <= most.bytes && Math.max(width, height) <= most.side)
      return { data, mime: imageMimes[type] };
    const smaller = await image
      .resize({ width: most.side, height: most.side, fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' })
      .jpeg({ quality: 85 })
      .toBuffer();
    return { data: smaller, mime: imageMimes.jpg };
  });

const photoFormats: ReadonlySet<string> = new Set(['jpeg', 'png', 'webp', 'gif']);

/** A photo as an upright JPEG on white, its longer side at most `side` pixels. @throws Error */
export const jpegOf = (data: Buffer, side: number): Promise<Buffer> =>
  limit(async () => {
    const image = await open(data);
    if (!photoFormats.has((await image.metadata()).format)) throw new Error('no photo');
    return image
      .autoOrient()
      .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' })
      .jpeg({ quality: 82 })
      .toBuffer();
  });

/**
 * An image that a service made, as a PNG from its pixels: in whatever format it came, upright and
 * without what else was in the file. @throws Error for what is no image, or too large a one
 */
export const pngOf = (data: Buffer): Promise<Omit<Image, 'type'>> =>
  limit(async () => {
    const image = await open(data);
    const { width, height, format } = await image.metadata();
    if (!photoFormats.has(format)) throw new Error('no image');
    if (Math.max(width, height) > longestSide) throw new Error('too long');
    const made = image.autoOrient().toColourspace('srgb').png({ compressionLevel: 7 });
    const { data: bytes, info } = await made.toBuffer({ resolveWithObject: true });
    return { data: bytes, width: info.width, height: info.height };
  });
