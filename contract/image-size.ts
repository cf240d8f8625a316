import type { ImageModel } from './image.ts';
import { limits } from './limits.ts';

// The syntax of prompts for images and what each family of models takes: one reading of it for
// the server, which decides, and for the page, which shows beforehand what will be sent. Nothing
// here throws, and every function reads its text in one pass.

// ---- sizes -----------------------------------------------------------------

/** A size of images: the code by which requests name it, and what it costs (document 2 §9). */
export interface ImageSize {
  code: number;
  width: number;
  height: number;
}

/** Codes 8 and 9 are DALL-E 3's wide ones, those above other models' own; 3 is the default. */
export const imageSizes: readonly ImageSize[] = [
  { code: 0, width: 256, height: 256 },
  { code: 1, width: 512, height: 512 },
  { code: 2, width: 768, height: 768 },
  { code: 3, width: 1024, height: 1024 },
  { code: 4, width: 1024, height: 768 },
  { code: 5, width: 768, height: 1024 },
  { code: 6, width: 1024, height: 576 },
  { code: 7, width: 576, height: 1024 },
  { code: 8, width: 1792, height: 1024 },
  { code: 9, width: 1024, height: 1792 },
  { code: 10, width: 1536, height: 1024 },
  { code: 11, width: 1024, height: 1536 },
  { code: 12, width: 1344, height: 768 },
  { code: 13, width: 768, height: 1344 },
  { code: 14, width: 1152, height: 896 },
  { code: 15, width: 896, height: 1152 },
  { code: 16, width: 1280, height: 720 },
  { code: 17, width: 720, height: 1280 },
];

const usualSize: ImageSize = { code: limits.defaultImageSize, width: 1024, height: 1024 };
/** What every model without a list of its own offers: all before DALL-E's wide ones. */
const usualCodes = { first: 0, last: 7 };

/** The sizes that a model makes, smallest code first; never empty. */
export const sizesOf = (model: Pick<ImageModel, 'family' | 'sizes'>): readonly ImageSize[] => {
  // Its images are as wide as the aspect says; the size only names the price.
  if (model.family === 'midjourney') return [usualSize];
  const named =
    model.sizes.length === 0
      ? imageSizes.filter(({ code }) => code >= usualCodes.first && code <= usualCodes.last)
      : imageSizes.filter(({ width, height }) => model.sizes.includes(`${width}x${height}`));
  return named.length === 0 ? [usualSize] : named;
};

/** The one whose aspect ratio is nearest, and among those of the same ratio the nearest in area. */
export const closestSize = <T extends { width: number; height: number }>(
  sizes: readonly T[],
  width: number,
  height: number,
): T | null => {
  const ratio = Math.log(Math.max(1, width) / Math.max(1, height));
  const area = Math.log(Math.max(1, width) * Math.max(1, height));
  let best: { size: T; shape: number; area: number } | null = null;
  for (const size of sizes) {
    // Ratios this close look alike: 1344×768 is 16:9 to everybody but a ruler.
    const shape = Math.round(Math.abs(Math.log(size.width / size.height) - ratio) * 50);
    const apart = Math.abs(Math.log(size.width * size.height) - area);
    if (!best || shape < best.shape || (shape === best.shape && apart < best.area))
      best = { size, shape, area: apart };
  }
  return best?.size ?? null;
};

/**
 * The size that a code means to a model: that very one, or the nearest that the model makes. A code
 * that does not pay for DALL-E 3's wide ones means none of them.
 */
export const sizeFor = (model: Pick<ImageModel, 'family' | 'sizes'>, code: number): ImageSize => {
  const wanted = imageSizes.find((each) => each.code === code) ?? usualSize;
  const sizes = sizesOf(model).filter(
    (each) =>
      model.family !== 'dalle' || wanted.code > usualCodes.last || each.code <= usualCodes.last,
  );
  return (
    sizes.find((each) => each.code === wanted.code) ??
    closestSize(sizes, wanted.width, wanted.height) ??
    usualSize
  );
};

/** The code that is paid for: the one that was asked for, but no dearer than the one that is made. */
export const pricedSize = (model: Pick<ImageModel, 'family' | 'sizes'>, code: number): number => {
  const made = sizeFor(model, code).code;
  return model.family === 'midjourney' ? made : Math.min(made, code);
};

/** The size that is made, as `WxH`, and in words that it is not the one that was asked for. */
export const toldSize = (
  asked: number | string | undefined,
  { width, height }: { width: number; height: number },
): { size: string; notice?: string } => {
  const size = `${width}x${height}`;
  if (asked === undefined) return { size };
  const known = imageSizes.find(({ code }) => code === asked);
  const wanted = known ? `${known.width}x${known.height}` : String(asked);
  const same = wanted.trim().replace(/[X×*]/, 'x') === size;
  return { size, ...(same ? {} : { notice: `没有 ${wanted} 这个尺寸，画的是 ${size}` }) };
};

/** How many images a model makes when n are asked for; Midjourney always makes its four. */
export const countFor = (
  model: Pick<ImageModel, 'family' | 'max_count'>,
  n: number,
  withBaseImage: boolean,
): number => {
  if (model.family === 'midjourney') return limits.imageCount.midjourney;
  if (model.family === 'sd3' && withBaseImage) return 1;
  const most = Math.min(limits.imageCount.most, Math.max(1, model.max_count));
  return Math.min(most, Math.max(1, Math.round(n) || 1));
};
