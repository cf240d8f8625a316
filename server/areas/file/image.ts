import pLimit from 'p-limit';
import type { Sharp } from 'sharp';
import { Refusal } from '#server/http/handlers.ts';
import type { MadeBy } from '#contract/file.ts';
import { type Aigc, aigcXmp } from '#server/labels/aigc.ts';
import { labelledPng, originOf } from '#server/labels/image.ts';
import { markedImage } from '#server/labels/mark.ts';
import { type OpenedImage, openImage, TooManyPixels } from '#server/open-image.ts';
import { strippedPng } from './stripped-png.ts';

export type ImageType = 'jpg' | 'png';

export const imageMimes = { jpg: 'image/jpeg', png: 'image/png' } as const;

export interface Image {
  data: Buffer;
  type: ImageType;
  width: number;
  height: number;
}

/** What somebody brought, made anew. */
interface RenewedImage extends Image {
  /** Whether a model made it; empty: nothing says so. */
  made: MadeBy | '';
}

/** What a label says of how it is known; the standard numbers it. */
const madeByLabel = { '1': 'generated', '2': 'declared', '3': 'suspected' } as const;
/** The label of an image that came without one: what is not known of its maker stays empty. */
export const bareLabel = (Label: Aigc['Label']): Aigc => ({
  Label,
  ContentProducer: '',
  ProduceID: '',
  ReservedCode1: '',
  ContentPropagator: '',
  PropagateID: '',
  ReservedCode2: '',
});

/** The label that an image keeps, as it came with it or as is said and found of it; null: none. */
const labelToKeep = (data: Buffer, opened: OpenedImage, declared: boolean): Aigc | null => {
  const { label, suspected } = originOf(data, opened.about);
  if (label && !(declared && label.Label === '3')) return label;
  if (declared) return bareLabel('2');
  return suspected ? bareLabel('3') : null;
};

/** Pixels that an image keeps: one of more is scaled down. */
const mostKept = 16_777_216;
const quality = 90;

/** An image takes up to 160 MB while it is worked on: two at once, the others wait. */
const limit = pLimit(2);

const tooManyPixels = () => new Refusal('too_large', '图片的像素太多，请缩小后再上传');

/** The label that an image came with, which whatever is made of it keeps. */
const labelIn = (data: Buffer, { about }: Pick<OpenedImage, 'about'>): Aigc | null =>
  originOf(data, about).label;

/** What is written beside the pixels: a label, or nothing. */
const withLabel = (image: Sharp, label: Aigc | null): Sharp =>
  label ? image.withXmp(aigcXmp(label)) : image;

/** What the bytes begin like; null for everything but JPEG and PNG. */
export const sniffImage = (data: Buffer): ImageType | null => {
  if (data.length > 3 && data.readUIntBE(0, 3) === 0xffd8ff) return 'jpg';
  if (data.length > 8 && data.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')))
    return 'png';
  return null;
};

/** Fits an image of many pixels into what is kept, at the same proportions. */
const within = (width: number, height: number): { width: number; height: number } => {
  const scale = Math.sqrt(mostKept / (width * height));
  return scale >= 1
    ? { width, height }
    : {
        width: Math.max(1, Math.floor(width * scale)),
        height: Math.max(1, Math.floor(height * scale)),
      };
};

/** So much of a JPEG of the usual quality one of less takes, about. */
const lessQuality = [
  { quality: 75, share: 0.55 },
  { quality: 60, share: 0.42 },
  { quality: 45, share: 0.34 },
  { quality: 30, share: 0.26 },
] as const;
/** What takes no more of the disk than one block of it, bytes. */
const block = 4096;
/** How often an image is made smaller until it fits. */
const mostShrinks = 8;

interface Renewing {
  data: Buffer;
  type: ImageType;
  opened: OpenedImage;
  label: Aigc | null;
}

interface Encoding {
  quality?: number;
  /** Of its sides that stay. */
  scale?: number;
}

const encoded = async ({ data, type, opened, label }: Renewing, how: Encoding) => {
  const { width, height } = opened;
  const { image } = await openImage(data);
  const upright = image.autoOrient().toColourspace('srgb');
  const kept = within(width, height);
  const scale = how.scale ?? 1;
  // Turned images have their sides changed: both boxes hold the same number of pixels.
  if (kept.width < width || scale < 1) {
    const side = Math.max(1, Math.floor(Math.max(kept.width, kept.height) * scale));
    upright.resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true });
  }
  const made =
    type === 'jpg'
      ? upright.jpeg({ quality: how.quality ?? quality, mozjpeg: false })
      : upright.png({ compressionLevel: 7 });
  // In PNG sharp packs XMP into a chunk in which few programs look for it.
  const { data: bytes, info } = await (type === 'png' ? made : withLabel(made, label)).toBuffer({
    resolveWithObject: true,
  });
  const said = type === 'png' && label ? labelledPng(bytes, label) : bytes;
  return { data: said, type, width: info.width, height: info.height };
};

/** The image itself where nothing but its pixels is left of it and they need no change; else null. */
const asItCame = async ({ data, type, opened, label }: Renewing): Promise<Image | null> => {
  const { width, height, about } = opened;
  const asItIs = (about.orientation ?? 1) === 1 && about.icc === undefined;
  if (type !== 'png' || !asItIs || within(width, height).width < width) return null;
  const bare = await strippedPng(data);
  const bytes = bare && label ? labelledPng(bare, label) : bare;
  return bytes && { data: bytes, type, width, height };
};

/** Made anew, and no larger than it came: nobody fills the disk with less than they send. */
const renewed = async (of: Renewing): Promise<Image> => {
  const most = Math.max(of.data.length, block);
  let made: Image = await encoded(of, {});
  if (made.data.length <= most) return made;
  const same = await asItCame(of);
  if (same && same.data.length <= most) return same;
  const usual = made.data.length;
  if (of.type === 'jpg')
    for (const { quality, share } of lessQuality) {
      if (usual * share > most && quality > lessQuality.at(-1)!.quality) continue;
      made = await encoded(of, { quality });
      if (made.data.length <= most) return made;
    }
  let scale = 1;
  for (let tries = 0; made.data.length > most && tries < mostShrinks; tries += 1) {
    scale *= Math.min(0.9, Math.sqrt(most / made.data.length) * 0.95);
    made = await encoded(of, { scale, quality: lessQuality[1].quality });
  }
  if (made.data.length > most) throw new Refusal('upload_unreadable');
  return made;
};

/**
 * An image made anew from its pixels: upright, without what cameras and programs wrote beside
 * them, and without whatever else the file held but the label that a model made it: its own, or what
 * its bringer declares, or what traces of other makers make one suspect.
 * @throws Refusal upload_type for what is neither JPEG nor PNG, upload_unreadable, too_large
 */
export const renewImage = (data: Buffer, declared = false): Promise<RenewedImage> =>
  limit(async () => {
    const type = sniffImage(data);
    if (type === null) throw new Refusal('upload_type', '只支持 jpg 和 png 图片');
    try {
      const opened = await openImage(data);
      if (opened.format !== (type === 'jpg' ? 'jpeg' : 'png'))
        throw new Refusal('upload_unreadable');
      const label = labelToKeep(data, opened, declared);
      const made = label ? madeByLabel[label.Label] : '';
      return { ...(await renewed({ data, type, opened, label })), made };
    } catch (error) {
      if (error instanceof Refusal) throw error;
      if (error instanceof TooManyPixels) throw tooManyPixels();
      throw new Refusal('upload_unreadable', '图片已损坏或无法读取');
    }
  });

/**
 * A small WebP of an own image: at most so many pixels wide and high.
 * @param label where the image has none of its own
 */
export const thumbnailOf = (
  data: Buffer,
  width: number,
  height: number,
  label: Aigc | null = null,
): Promise<Buffer> =>
  limit(async () => {
    const opened = await openImage(data);
    const small = opened.image
      .resize({ width, height, fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 80 });
    return withLabel(small, labelIn(data, opened) ?? label).toBuffer();
  });

/** An own image with the words of its making on it; null: a person made it. @throws Error: no image */
export const markedOf = (data: Buffer): Promise<Buffer | null> => limit(() => markedImage(data));

/** An image of any usual kind as a WebP with sides of at most so many pixels. @throws Error: no image */
export const viewOf = (
  data: Buffer,
  side: number,
): Promise<{ data: Buffer; width: number; height: number }> =>
  limit(async () => {
    const { image } = await openImage(data);
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

/** An image as it is where a model takes it so, else a smaller JPEG. */
const forModel = async (
  { image, width, height }: OpenedImage,
  sent: { data: Buffer; mime: string },
  detail: 'low' | 'high',
): Promise<{ data: Buffer; mime: string }> => {
  const most = forModels[detail];
  if (sent.data.length <= most.bytes && Math.max(width, height) <= most.side) return sent;
  const smaller = await image
    .resize({ width: most.side, height: most.side, fit: 'inside', withoutEnlargement: true })
    .flatten({ background: '#ffffff' })
    .jpeg({ quality: 85 })
    .toBuffer();
  return { data: smaller, mime: imageMimes.jpg };
};

/** An own image as models are sent it. */
export const shrinkForModel = (
  data: Buffer,
  type: ImageType,
  detail: 'low' | 'high',
): Promise<{ data: Buffer; mime: string }> =>
  limit(async () => forModel(await openImage(data), { data, mime: imageMimes[type] }, detail));

const photoFormats: ReadonlySet<string> = new Set(['jpeg', 'png', 'webp', 'gif']);

/** The same of an image that a program sent, of any usual kind. @throws Error for what is no image */
export const sentForModel = (
  data: Buffer,
  detail: 'low' | 'high',
): Promise<{ data: Buffer; mime: string }> =>
  limit(async () => {
    const opened = await openImage(data);
    const { format } = opened;
    if (!photoFormats.has(format)) throw new Error('no image');
    return forModel(opened, { data, mime: `image/${format}` }, detail);
  });

/** A photo as an upright JPEG on white, its longer side at most `side` pixels. @throws Error */
export const jpegOf = (data: Buffer, side: number): Promise<Buffer> =>
  limit(async () => {
    const { image, format } = await openImage(data);
    if (!photoFormats.has(format)) throw new Error('no photo');
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
    const { image, format } = await openImage(data);
    if (!photoFormats.has(format)) throw new Error('no image');
    const made = image.autoOrient().toColourspace('srgb').png({ compressionLevel: 7 });
    const { data: bytes, info } = await made.toBuffer({ resolveWithObject: true });
    return { data: bytes, width: info.width, height: info.height };
  });

/**
 * Where what a mask leaves open lies: the box around its transparent pixels; null: there are none.
 * @throws Refusal too_large; Error for what is no image
 */
export const openBox = (mask: Buffer) =>
  limit(async () => {
    const { image } = await openImage(mask).catch((error: unknown) => {
      throw error instanceof TooManyPixels ? tooManyPixels() : error;
    });
    const { data, info } = await image
      .ensureAlpha()
      .extractChannel(3)
      .threshold(128)
      .raw()
      .toBuffer({ resolveWithObject: true });
    let [left, top, right, bottom] = [info.width, info.height, -1, -1];
    for (let y = 0; y < info.height; y += 1) {
      const row = data.subarray(y * info.width, (y + 1) * info.width);
      const first = row.indexOf(0);
      if (first < 0) continue;
      left = Math.min(left, first);
      right = Math.max(right, row.lastIndexOf(0));
      top = Math.min(top, y);
      bottom = y;
    }
    return right < 0 ? null : { left, top, width: right - left + 1, height: bottom - top + 1 };
  });
