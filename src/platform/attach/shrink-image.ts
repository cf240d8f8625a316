import { limits } from '#contract/limits.ts';

/** The longest side that is sent, px. */
const longest = 4096;
/** Below this side nothing is made smaller any more, px. */
const smallest = 512;

type Kind = 'jpeg' | 'png' | 'gif' | 'svg' | 'heic' | 'other';

/** What a file is by its first bytes: names and types of phones often lie. */
const kindOf = (bytes: Uint8Array): Kind => {
  const word = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to));
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return 'jpeg';
  if (word(1, 4) === 'PNG') return 'png';
  if (word(0, 3) === 'GIF') return 'gif';
  if (word(4, 8) === 'ftyp' && /^(hei|hev|mif1|msf1)/.test(word(8, 12))) return 'heic';
  if (/<svg|<\?xml/i.test(word(0, 64))) return 'svg';
  return 'other';
};

type Decoded = ImageBitmap | HTMLImageElement;

const byElement = async (file: Blob): Promise<HTMLImageElement> => {
  const image = new Image();
  image.src = URL.createObjectURL(file);
  try {
    await image.decode();
    return image;
  } finally {
    URL.revokeObjectURL(image.src);
  }
};

/** Upright, as the camera meant it. */
const decode = async (file: Blob): Promise<Decoded> => {
  try {
    return await createImageBitmap(file, { imageOrientation: 'from-image' });
  } catch {
    // Some browsers read more formats in an <img> than here.
    return byElement(file);
  }
};

const draw = (from: CanvasImageSource, width: number, height: number): HTMLCanvasElement => {
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('no canvas');
  // What is see-through becomes white, not black.
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = 'high';
  context.drawImage(from, 0, 0, width, height);
  return canvas;
};

const encode = (canvas: HTMLCanvasElement, quality: number): Promise<Blob> =>
  new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error('no image'))),
      'image/jpeg',
      quality,
    );
  });

/** Halves until the last step is less than half: one big step would lose lines and shimmer. */
const scaleTo = (decoded: Decoded, width: number, height: number, side: number) => {
  const part = Math.min(1, side / Math.max(width, height));
  const goal = { width: Math.round(width * part), height: Math.round(height * part) };
  let from: CanvasImageSource = decoded;
  let now = { width, height };
  while (now.width > goal.width * 2) {
    now = { width: Math.round(now.width / 2), height: Math.round(now.height / 2) };
    from = draw(from, now.width, now.height);
  }
  return draw(from, goal.width, goal.height);
};

const megabytes = (bytes: number): string => `${(bytes / (1024 * 1024)).toFixed(1)} MB`;

export interface Prepared {
  blob: Blob;
  /** With an ending that fits. */
  name: string;
  /** What was done to it; empty: nothing. */
  notice: string;
}

/**
 * An image as the server takes it: jpg or png within 4 MB and 4096 px. Photos are made smaller
 * here, on the device; other formats become jpg where the browser can read them.
 * @throws Error with the text to show when it can not be used
 */
export const prepareImage = async (file: File): Promise<Prepared> => {
  const kind = kindOf(new Uint8Array(await file.slice(0, 64).arrayBuffer()));
  if (kind === 'gif' || kind === 'svg') throw new Error('只能选择 jpg 或 png 图片');
  let decoded: Decoded;
  try {
    decoded = await decode(file);
  } catch {
    throw new Error(
      kind === 'heic'
        ? '这个浏览器打不开 HEIC 照片，请先存成 jpg，或把相机格式改为“兼容性最佳”'
        : '图片已损坏，或不是 jpg、png 图片',
    );
  }
  const width = 'naturalWidth' in decoded ? decoded.naturalWidth : decoded.width;
  const height = 'naturalHeight' in decoded ? decoded.naturalHeight : decoded.height;
  try {
    const fits = file.size <= limits.imageBytes && Math.max(width, height) <= longest;
    const base = file.name.replace(/\.\w{1,5}$/, '') || '图片';
    if (fits && (kind === 'jpeg' || kind === 'png'))
      return { blob: file, name: `${base}.${kind === 'png' ? 'png' : 'jpg'}`, notice: '' };
    let side = Math.min(longest, Math.max(width, height));
    let quality = 0.9;
    let canvas = scaleTo(decoded, width, height, side);
    let blob = await encode(canvas, quality);
    while (blob.size > limits.imageBytes && side > smallest) {
      if (quality > 0.8) quality = 0.8;
      else {
        side = Math.round(side * 0.75);
        canvas = scaleTo(decoded, width, height, side);
      }
      blob = await encode(canvas, quality);
    }
    const { carryLabel } = await import('./carry-label.ts');
    return {
      blob: await carryLabel(file, blob),
      name: `${base}.jpg`,
      notice: fits
        ? '已转成 jpg'
        : `照片较大，已缩小到 ${canvas.width} × ${canvas.height}（${megabytes(blob.size)}）`,
    };
  } finally {
    if ('close' in decoded) decoded.close();
  }
};
