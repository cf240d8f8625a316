import { loadSharp } from '#server/open-image.ts';
import { type Aigc, aigcXmp, readAigcXmp, saysModel } from './aigc.ts';
import { readPngText, withPngText } from './png-text.ts';

/** The label in images: XMP, which sharp writes into PNG, JPEG and WebP alike. */

const xmpKeyword = 'XML:com.adobe.xmp';

/** A PNG with a label; its pixels are not touched. @throws Error: no PNG */
export const labelledPng = (png: Buffer, label: Aigc): Buffer =>
  withPngText(png, xmpKeyword, aigcXmp(label));

/** Bytes that a segment of a JPEG holds at most, its own length among them. */
const mostSegment = 65_533;
const xmpMark = Buffer.from('http://ns.adobe.com/xap/1.0/\0', 'latin1');

/** A JPEG with a label as its first segment, in place of another; its pixels are not touched. */
const labelledJpeg = (jpeg: Buffer, label: Aigc): Buffer => {
  const body = Buffer.concat([xmpMark, Buffer.from(aigcXmp(label))]);
  if (body.length + 2 > mostSegment) throw new Error('the label is too long');
  const head = Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(body.length + 2, 4);
  const parts: Buffer[] = [head, body];
  let at = 2;
  // Segments before the picture itself: those with XMP are left out.
  while (jpeg[at] === 0xff && jpeg[at + 1] !== 0xda && at + 4 <= jpeg.length) {
    const end = at + 2 + jpeg.readUInt16BE(at + 2);
    const isXmp =
      jpeg[at + 1] === 0xe1 &&
      jpeg
        .subarray(at + 4)
        .subarray(0, xmpMark.length)
        .equals(xmpMark);
    if (!isXmp) parts.push(jpeg.subarray(at, end));
    at = end;
  }
  return Buffer.concat([...parts, jpeg.subarray(at)]);
};

/** An image as it is kept here, with a label; its pixels are not touched. @throws Error: no such image */
export const labelledImage = (data: Buffer, type: 'jpg' | 'png', label: Aigc): Buffer =>
  type === 'png' ? labelledPng(data, label) : labelledJpeg(data, label);

/** What an image says of its making. */
export interface ImageOrigin {
  label: Aigc | null;
  /** Nothing of the standard, but metadata of other kinds that say a model made it. */
  suspected: boolean;
}

/** Keys of texts in PNG files that programs which draw with models write. */
const drawingKeys = [
  'parameters',
  'prompt',
  'workflow',
  'Dream',
  'sd-metadata',
  'invokeai_metadata',
];
/** Of those that other programs write, too: what they hold has to look like it. */
const looksDrawn = /Steps: \d|"class_type"|"sampler|Sampler: |"cfg/i;
const c2paMark = Buffer.from('c2pa', 'latin1');
/** Bytes at the beginning of a file that are looked through for the marks of others. */
const lookedBytes = 256 * 1024;

/** What an image that can be read says of its making. */
export const originOf = (
  data: Buffer,
  about: { xmp?: Buffer; exif?: Buffer; comments?: { keyword: string; text: string }[] },
): ImageOrigin => {
  const xmp = about.xmp?.toString('utf8') ?? '';
  const label = readAigcXmp(xmp) ?? pngLabel(data);
  if (label) return { label, suspected: false };
  const comments = about.comments ?? [];
  const drawn = comments.some(
    ({ keyword, text }) => drawingKeys.includes(keyword) && looksDrawn.test(text.slice(0, 20_000)),
  );
  const exif = about.exif?.toString('latin1').replaceAll('\0', '') ?? '';
  const head = data.subarray(0, lookedBytes);
  return {
    label: null,
    suspected:
      drawn ||
      saysModel(xmp) ||
      /Steps: \d+, Sampler/.test(exif) ||
      (head.includes(c2paMark) && saysModel(head.toString('latin1'))),
  };
};

/** A label in a text of a PNG by its own name, as some makers write it. */
const pngLabel = (data: Buffer): Aigc | null => {
  try {
    const xmp = readPngText(data, xmpKeyword);
    return xmp === null ? null : readAigcXmp(xmp);
  } catch {
    return null;
  }
};

/** The label of an image; null: there is none, or it is no image. */
export const readImageLabel = async (data: Buffer): Promise<Aigc | null> => {
  const sharp = await loadSharp();
  try {
    return originOf(data, await sharp(data, { limitInputPixels: false }).metadata()).label;
  } catch {
    return null;
  }
};
