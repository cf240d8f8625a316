import type { Sharp } from 'sharp';
import { loadSharp, type OpenedImage, openImage } from '#server/open-image.ts';
import { aigcXmp } from './aigc.ts';
import { labelledPng, originOf } from './image.ts';
import { markOutline } from './mark-outline.ts';

/** Of the shorter side: the standard asks for 5 %, and the letters do not fill their square. */
const share = 0.06;
/** Pixels; smaller words are not to be read. */
const leastHeight = 12;
const margin = 0.5;

/** The words on a plate, so that they are read on light and dark, as high as asked. */
const plate = (high: number): { svg: Buffer; width: number; height: number } => {
  const { path, width: units } = markOutline;
  const wide = Math.round((units / 1000) * high);
  const pad = Math.round(high * 0.3);
  const [width, height] = [wide + pad * 2, high + pad * 2];
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="${width}" height="${height}" rx="${pad}" fill="#000" fill-opacity=".55"/><g transform="translate(${pad} ${pad}) scale(${high / 1000})"><path d="${path}" fill="#fff"/></g></svg>`;
  return { svg: Buffer.from(svg), width, height };
};

/** The words as they stand on something of this size: grey as red, green and blue, alpha, and where. */
export const markRaster = async (width: number, height: number) => {
  const mark = plate(Math.max(leastHeight, Math.ceil(Math.min(width, height) * share)));
  const [wide, high] = [Math.min(mark.width, width), Math.min(mark.height, height)];
  const sharp = await loadSharp();
  const { data, info } = await sharp(mark.svg)
    .resize(wide, high, { fit: 'inside' })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const gap = Math.round(mark.height * margin * 0.5);
  return {
    data,
    channels: info.channels,
    width: info.width,
    height: info.height,
    left: Math.max(0, width - info.width - gap),
    top: Math.max(0, height - info.height - gap),
  };
};

/** The image with the words in its lower right corner. */
const withWords = async ({ image, width, height }: OpenedImage): Promise<Sharp> => {
  const short = Math.min(width, height);
  const mark = plate(Math.max(leastHeight, Math.ceil(short * share)));
  // What is smaller than the words keeps as much of them as it has room for.
  const [wide, high] = [Math.min(mark.width, width), Math.min(mark.height, height)];
  const sharp = await loadSharp();
  const words = await sharp(mark.svg).resize(wide, high, { fit: 'inside' }).png().toBuffer();
  const gap = Math.round(mark.height * margin * 0.5);
  const left = Math.max(0, width - wide - gap);
  const top = Math.max(0, height - high - gap);
  return image.composite([{ input: words, left, top }]);
};

/** The first image of a film with the words on it, as PNG. @throws Error for what is no image */
export const wordsOn = async (data: Buffer): Promise<Buffer> =>
  (await withWords(await openImage(data))).png({ compressionLevel: 3 }).toBuffer();

/**
 * An image that a model made with the words that say so in its lower right corner, in its own format
 * and with its label. Null: it has no label, so a person made it. @throws Error for what is no image
 */
export const markedImage = async (data: Buffer): Promise<Buffer | null> => {
  const opened = await openImage(data);
  const { label } = originOf(data, opened.about);
  if (label?.Label !== '1') return null;
  const made = await withWords(opened);
  if (opened.format === 'jpeg')
    return made.jpeg({ quality: 92 }).withXmp(aigcXmp(label)).toBuffer();
  return labelledPng(await made.png({ compressionLevel: 7 }).toBuffer(), label);
};
