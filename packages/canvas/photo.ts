import type { ImageParameters } from '#contract/image.ts';
import { brushSvg } from './brush.ts';
import { CanvasRefusal } from './task.ts';
import { clamp, mix, smooth } from './chance.ts';
import { type Colour, fromLab, type Lab, toLab } from './colour.ts';
import { loadSharp } from './encode.ts';
import { blurPlane, type Canvas, createCanvas } from './raster.ts';

/** Classical processing of images that are there. */

/** Pixels that a given image may have, and that an enlarged one may get. */
export const mostPixels = { read: 40_000_000, made: 16_777_216 };

export interface Photo {
  width: number;
  height: number;
  /** Red, green, blue, opacity: bytes. */
  data: Uint8Array;
}

/** @throws CanvasRefusal upload_unreadable */
export const readPhoto = async (bytes: Uint8Array, longest = Infinity): Promise<Photo> => {
  const sharp = await loadSharp();
  try {
    const image = sharp(bytes, { limitInputPixels: mostPixels.read, failOn: 'error' })
      .autoOrient()
      .toColourspace('srgb')
      .ensureAlpha();
    if (Number.isFinite(longest))
      image.resize({ width: longest, height: longest, fit: 'inside', withoutEnlargement: true });
    const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
    return { width: info.width, height: info.height, data };
  } catch (error) {
    if (error instanceof CanvasRefusal) throw error;
    throw new CanvasRefusal('upload_unreadable', '图片已损坏或无法读取');
  }
};

export const toCanvas = ({ width, height, data }: Photo): Canvas => {
  const canvas = createCanvas(width, height);
  for (let at = 0; at < width * height; at += 1)
    for (let each = 0; each < 3; each += 1) canvas.rgb[at * 3 + each] = data[at * 4 + each]! / 255;
  return canvas;
};

/** How an image is brought to a size: stretched, cropped, filled up at its sides, enlarged. */
export const fitPhoto = async (
  bytes: Uint8Array,
  width: number,
  height: number,
  mode: number,
): Promise<Canvas> => {
  const sharp = await loadSharp();
  const { data, ...size } = await readPhoto(bytes);
  const open = () =>
    sharp(data, { raw: { ...size, channels: 4 } }).flatten({ background: '#ffffff' });
  const raw = async (image: ReturnType<typeof open>): Promise<Photo> => ({
    width,
    height,
    data: await image.ensureAlpha().raw().toBuffer(),
  });
  if (mode === 1) return toCanvas(await raw(open().resize({ width, height, fit: 'cover' })));
  if (mode !== 2) {
    const grown = open().resize({ width, height, fit: 'fill', kernel: 'lanczos3' });
    return toCanvas(await raw(mode === 3 ? grown.sharpen({ sigma: 0.8 }) : grown));
  }
  // The sides are filled with the image itself, out of focus.
  const behind = await open()
    .resize({ width, height, fit: 'cover' })
    .blur(Math.max(4, Math.min(width, height) / 24))
    .png()
    .toBuffer();
  const inside = await open().resize({ width, height, fit: 'inside' }).png().toBuffer();
  return toCanvas(await raw(sharp(behind).composite([{ input: inside, gravity: 'centre' }])));
};

/** The image without its details: what is smaller than `reach` pixels is smoothed away. */
export const softened = ({ rgb, width, height }: Canvas, reach: number): Float32Array => {
  const step = Math.max(1, Math.floor(reach / 3));
  const w = Math.ceil(width / step);
  const h = Math.ceil(height / step);
  const soft = new Float32Array(rgb.length);
  for (let channel = 0; channel < 3; channel += 1) {
    const plane = new Float32Array(w * h);
    for (let y = 0; y < h; y += 1)
      for (let x = 0; x < w; x += 1) {
        let sum = 0;
        let count = 0;
        for (let py = y * step; py < Math.min(height, (y + 1) * step); py += 1)
          for (let px = x * step; px < Math.min(width, (x + 1) * step); px += 1) {
            sum += rgb[(py * width + px) * 3 + channel]!;
            count += 1;
          }
        plane[y * w + x] = sum / count;
      }
    blurPlane(plane, w, h, Math.max(1, reach / step / 2));
    for (let y = 0; y < height; y += 1) {
      const fy = clamp((y + 0.5) / step - 0.5, 0, h - 1);
      const y0 = Math.floor(fy);
      const y1 = Math.min(h - 1, y0 + 1);
      for (let x = 0; x < width; x += 1) {
        const fx = clamp((x + 0.5) / step - 0.5, 0, w - 1);
        const x0 = Math.floor(fx);
        const x1 = Math.min(w - 1, x0 + 1);
        soft[(y * width + x) * 3 + channel] = mix(
          mix(plane[y0 * w + x0]!, plane[y0 * w + x1]!, fx - x0),
          mix(plane[y1 * w + x0]!, plane[y1 * w + x1]!, fx - x0),
          fy - y0,
        );
      }
    }
  }
  return soft;
};

/**
 * A base image remade after a drawn one: first it takes on the drawing's light and colours while
 * its own forms stay, then the drawing's forms, too. `strength` 0 to 1.
 */
export const remake = (base: Canvas, drawn: Canvas, strength: number): void => {
  const reach = base.unit * 0.06;
  const baseLow = softened(base, reach);
  const drawnLow = softened(drawn, reach);
  const colours = strength ** 1.05;
  const forms = smooth(0.6, 1, strength);
  for (let at = 0; at < base.rgb.length; at += 1) {
    const own = base.rgb[at]! - baseLow[at]!;
    const other = drawn.rgb[at]! - drawnLow[at]!;
    base.rgb[at] = clamp(mix(baseLow[at]!, drawnLow[at]!, colours) + mix(own, other, forms));
  }
};

export interface Region {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** The part of a region that lies in an image. @throws CanvasRefusal bad_input: nothing of it does */
export const regionIn = (region: Region, { width, height }: Photo): Region => {
  const left = Math.min(region.left, width);
  const top = Math.min(region.top, height);
  const inside = {
    left,
    top,
    width: Math.min(region.width, width - left),
    height: Math.min(region.height, height - top),
  };
  if (inside.width < 8 || inside.height < 8)
    throw new CanvasRefusal('job_unsuitable', '要修改的区域太小，或不在图片里');
  return inside;
};

/** How much of each pixel of a region is drawn anew, 0 to 1, row by row. */
type Cover = Float32Array;

/** How far a whole region fades in, px. */
const fadeOf = ({ width, height }: Region): number => Math.max(2, Math.min(width, height) * 0.14);

/** The whole of it, fading in within its edges. */
export const framed = (region: Region): Cover => {
  const { width, height } = region;
  const cover = new Float32Array(width * height);
  const edge = fadeOf(region);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      cover[y * width + x] = smooth(0, edge, Math.min(x, y, width - 1 - x, height - 1 - y));
  return cover;
};

/** What of it was painted over, fading in within its lines. */
export const paintedOver = async (
  photo: Photo,
  { left, top, width, height }: Region,
  brush: NonNullable<ImageParameters['brush']>,
  inverted: boolean,
): Promise<Cover> => {
  const sharp = await loadSharp();
  const bytes = await sharp(brushSvg(photo, brush, inverted), { limitInputPixels: mostPixels.read })
    .extract({ left, top, width, height })
    .extractChannel('alpha')
    .raw()
    .toBuffer();
  const sharply = Float32Array.from(bytes, (value) => value / 255);
  const thinnest = Math.min(...brush.map(({ size }) => size));
  const softly = Float32Array.from(sharply);
  blurPlane(softly, width, height, Math.max(1, thinnest * 0.12));
  return sharply.map((value, at) => value * smooth(0.5, 1, softly[at]!));
};

/**
 * Lays a drawn image into a region of a photo, a little in the light of what is around; what is
 * not covered stays as it is.
 */
export const layInto = (
  photo: Photo,
  region: Region,
  drawn: Canvas,
  cover: Cover,
  share: number,
): Photo => {
  const data = Uint8Array.from(photo.data);
  const edge = fadeOf(region);
  const around: [number, number, number, number] = [0, 0, 0, 0];
  const own: [number, number, number] = [0, 0, 0];
  for (let y = 0; y < region.height; y += 1)
    for (let x = 0; x < region.width; x += 1) {
      const border = Math.min(x, y, region.width - 1 - x, region.height - 1 - y);
      if (border >= edge / 3) continue;
      const at = ((y + region.top) * photo.width + x + region.left) * 4;
      const from = (y * region.width + x) * 3;
      for (let each = 0; each < 3; each += 1) {
        around[each] = around[each]! + photo.data[at + each]! / 255;
        own[each] = own[each]! + drawn.rgb[from + each]!;
      }
      around[3] += 1;
    }
  const shift = own.map((sum, at) => ((around[at]! - sum) / Math.max(1, around[3])) * 0.4);
  for (let y = 0; y < region.height; y += 1)
    for (let x = 0; x < region.width; x += 1) {
      const alpha = cover[y * region.width + x]! * share;
      const at = ((y + region.top) * photo.width + x + region.left) * 4;
      for (let each = 0; each < 3; each += 1) {
        const value = clamp(drawn.rgb[(y * region.width + x) * 3 + each]! + shift[each]!) * 255;
        data[at + each] = Math.round(mix(photo.data[at + each]!, value, alpha));
      }
      data[at + 3] = Math.round(mix(photo.data[at + 3]!, 255, alpha));
    }
  return { ...photo, data };
};

/** A colour that changes evenly across the image, as a backdrop does: a + b·x + c·y for each axis. */
type Backdrop = readonly (readonly [number, number, number])[];

const fitBackdrop = (points: readonly { x: number; y: number; lab: Lab }[]): Backdrop =>
  [0, 1, 2].map((axis): [number, number, number] => {
    const sums = { one: 0, x: 0, y: 0, xx: 0, xy: 0, yy: 0, v: 0, xv: 0, yv: 0 };
    for (const { x, y, lab } of points) {
      const v = lab[axis]!;
      sums.one += 1;
      sums.x += x;
      sums.y += y;
      sums.xx += x * x;
      sums.xy += x * y;
      sums.yy += y * y;
      sums.v += v;
      sums.xv += x * v;
      sums.yv += y * v;
    }
    const n = Math.max(1, sums.one);
    const mx = sums.x / n;
    const my = sums.y / n;
    const mv = sums.v / n;
    const sxx = sums.xx / n - mx * mx + 1e-6;
    const syy = sums.yy / n - my * my + 1e-6;
    const sxy = sums.xy / n - mx * my;
    const sxv = sums.xv / n - mx * mv;
    const syv = sums.yv / n - my * mv;
    const whole = sxx * syy - sxy * sxy || 1e-9;
    const b = (sxv * syy - syv * sxy) / whole;
    const c = (syv * sxx - sxv * sxy) / whole;
    return [mv - b * mx - c * my, b, c];
  });

const backdropAt = (backdrop: Backdrop, x: number, y: number): Lab => {
  const of = (axis: number) => backdrop[axis]![0] + backdrop[axis]![1] * x + backdrop[axis]![2] * y;
  return [of(0), of(1), of(2)];
};

const apart = (a: Lab, b: Lab): number => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

/**
 * Makes the even background of an image transparent: what is like the image's border and joined
 * to it. @throws CanvasRefusal job_unsuitable: the border is not even
 */
export const withoutBackground = (photo: Photo): Photo => {
  const { width, height, data } = photo;
  const labOf = (at: number): Lab =>
    toLab([data[at * 4]! / 255, data[at * 4 + 1]! / 255, data[at * 4 + 2]! / 255]);
  const clear = (at: number) => data[at * 4 + 3]! < 128;
  const count = width * height;
  let transparent = 0;
  for (let at = 0; at < count; at += 1) if (clear(at)) transparent += 1;
  // It was taken away before.
  if (transparent > count * 0.02) return photo;
  const border: { x: number; y: number; lab: Lab }[] = [];
  const step = Math.max(1, Math.floor((width + height) / 700));
  const take = (x: number, y: number) => border.push({ x, y, lab: labOf(y * width + x) });
  for (let x = 0; x < width; x += step) {
    take(x, 0);
    take(x, height - 1);
  }
  for (let y = 0; y < height; y += step) {
    take(0, y);
    take(width - 1, y);
  }
  // What of the border is the subject's is left out step by step.
  let backdrop = fitBackdrop(border);
  let kept = border;
  for (let round = 0; round < 4; round += 1) {
    const far = (each: (typeof border)[number]) =>
      apart(each.lab, backdropAt(backdrop, each.x, each.y));
    const middle = border.map(far).sort((a, b) => a - b)[Math.floor(border.length / 2)]!;
    kept = border.filter((each) => far(each) <= Math.max(0.02, Math.min(0.06, middle * 2.5)));
    backdrop = fitBackdrop(kept);
  }
  const rest = kept.reduce((sum, { x, y, lab }) => sum + apart(lab, backdropAt(backdrop, x, y)), 0);
  const uneven = rest / Math.max(1, kept.length);
  if (uneven > 0.03 || kept.length < border.length * 0.6)
    throw new CanvasRefusal(
      'job_unsuitable',
      '这张图的背景不够均匀，内置画板分不出主体：请换一张背景接近纯色的图片',
    );
  const near = Math.max(0.045, uneven * 3.2);
  const distance = new Float32Array(count);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      distance[y * width + x] = apart(labOf(y * width + x), backdropAt(backdrop, x, y));
  const outside = new Uint8Array(count);
  const queue = new Int32Array(count);
  let head = 0;
  let tail = 0;
  const visit = (at: number) => {
    if (outside[at] || distance[at]! > near) return;
    outside[at] = 1;
    queue[tail] = at;
    tail += 1;
  };
  for (let x = 0; x < width; x += 1) {
    visit(x);
    visit((height - 1) * width + x);
  }
  for (let y = 0; y < height; y += 1) {
    visit(y * width);
    visit(y * width + width - 1);
  }
  while (head < tail) {
    const at = queue[head]!;
    head += 1;
    const x = at % width;
    if (x > 0) visit(at - 1);
    if (x < width - 1) visit(at + 1);
    if (at >= width) visit(at - width);
    if (at < count - width) visit(at + width);
  }
  const alpha = Float32Array.from(outside, (each) => 1 - each);
  const made = Uint8Array.from(data);
  const fade = Math.max(1, Math.round(Math.min(width, height) / 700));
  const soft = Float32Array.from(alpha);
  blurPlane(soft, width, height, fade);
  for (let at = 0; at < count; at += 1) {
    if (alpha[at] === 1 && soft[at]! > 0.999) continue;
    // The edge is drawn in, so that no rim of the background is left.
    const share = clamp((soft[at]! - 0.42) / 0.5);
    made[at * 4 + 3] = Math.round(share * data[at * 4 + 3]!);
    if (share > 0 && share < 1) {
      const behind = fromLab(backdropAt(backdrop, at % width, Math.floor(at / width)));
      for (let each = 0; each < 3; each += 1) {
        const value = (data[at * 4 + each]! / 255 - behind[each]! * (1 - share)) / share;
        made[at * 4 + each] = Math.round(clamp(value) * 255);
      }
    }
  }
  return { width, height, data: made };
};

/** A subject on another ground. */
export const onto = (subject: Photo, ground: (x: number, y: number) => Colour): Photo => {
  const data = Uint8Array.from(subject.data);
  for (let y = 0; y < subject.height; y += 1)
    for (let x = 0; x < subject.width; x += 1) {
      const at = (y * subject.width + x) * 4;
      const share = subject.data[at + 3]! / 255;
      if (share === 1) continue;
      const behind = ground(x, y);
      for (let each = 0; each < 3; each += 1)
        data[at + each] = Math.round(mix(behind[each]! * 255, subject.data[at + each]!, share));
      data[at + 3] = 255;
    }
  return { ...subject, data };
};

/** Twice or four times as large (Lanczos). @throws CanvasRefusal job_unsuitable: too many pixels */
export const enlarge = async (bytes: Uint8Array, times: 2 | 4): Promise<Uint8Array> => {
  const sharp = await loadSharp();
  const { width, height, data } = await readPhoto(bytes);
  if (width * height * times * times > mostPixels.made)
    throw new CanvasRefusal(
      'job_unsuitable',
      `放大 ${times} 倍后像素太多（最多约 1677 万）${times === 4 ? '，请改选 2 倍' : ''}`,
    );
  let opaque = true;
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 255) opaque = false;
  const image = sharp(data, { raw: { width, height, channels: 4 } })
    .resize({ width: width * times, height: height * times, kernel: 'lanczos3', fit: 'fill' })
    .sharpen({ sigma: times === 4 ? 1.2 : 0.8, m1: 0.4, m2: 1.4 });
  return (opaque ? image.removeAlpha() : image).png({ compressionLevel: 6 }).toBuffer();
};
