import type { CanvasIo } from './task.ts';
import { chanceOf, clamp } from './chance.ts';
import { fromLab, type Lab, toLab } from './colour.ts';
import { previewOf } from './encode.ts';
import { type Photo, readPhoto } from './photo.ts';
import { imageOf } from './image.ts';
import type { StyleProfile } from './style-profile.ts';
import { applyProfiles } from './profiles.ts';
import { readWish } from './words.ts';

/** Pixels of the longer side of an image that is measured, and of a part of it. */
const measureSide = 384;
const partSide = 160;
/** The image that shows how the style looks so far. */
const sample = { words: '山 湖 夕阳 树', seed: 20_260, side: 256 };

/** What has been seen so far, over all parts of all images. */
interface Seen {
  count: number;
  sums: [number, number, number];
  squares: [number, number, number];
  /** Sums of the darkest and the lightest places. */
  dark: [number, number, number, number];
  light: [number, number, number, number];
  /** Roughness at one and at three pixels, and how many were looked at. */
  fine: number;
  wide: number;
  rough: number;
}

const partOf = (photo: Photo, chance: () => number): { labs: Lab[]; width: number } => {
  const side = Math.min(partSide, photo.width, photo.height);
  const left = Math.floor(chance() * (photo.width - side + 1));
  const top = Math.floor(chance() * (photo.height - side + 1));
  const labs: Lab[] = [];
  for (let y = top; y < top + side; y += 1)
    for (let x = left; x < left + side; x += 1) {
      const at = (y * photo.width + x) * 4;
      labs.push(
        toLab([photo.data[at]! / 255, photo.data[at + 1]! / 255, photo.data[at + 2]! / 255]),
      );
    }
  return { labs, width: side };
};

const look = (seen: Seen, labs: readonly Lab[], width: number): void => {
  const byLight = labs.map(([l]) => l).sort((one, other) => one - other);
  const low = byLight[Math.floor(byLight.length * 0.08)] ?? 0;
  const high = byLight[Math.floor(byLight.length * 0.92)] ?? 1;
  for (const lab of labs) {
    seen.count += 1;
    for (const axis of [0, 1, 2] as const) {
      seen.sums[axis] += lab[axis];
      seen.squares[axis] += lab[axis] ** 2;
    }
    for (const [end, within] of [
      [seen.dark, lab[0] <= low],
      [seen.light, lab[0] >= high],
    ] as const)
      if (within) {
        for (const axis of [0, 1, 2] as const) end[axis] += lab[axis];
        end[3] += 1;
      }
  }
  const height = Math.floor(labs.length / width);
  for (let y = 3; y < height - 3; y += 2)
    for (let x = 3; x < width - 3; x += 2) {
      const at = y * width + x;
      const here = labs[at]![0];
      const off = (reach: number) =>
        Math.abs(
          here -
            (labs[at - reach]![0] +
              labs[at + reach]![0] +
              labs[at - reach * width]![0] +
              labs[at + reach * width]![0]) /
              4,
        );
      // The edges of things are no grain.
      const wide = off(3);
      if (wide > 0.12) continue;
      seen.fine += off(1);
      seen.wide += wide;
      seen.rough += 1;
    }
};

const colourOf = ([l, a, b, n]: Seen['dark']): string => {
  const colour = fromLab(n === 0 ? [0, 0, 0] : [l / n, a / n, b / n]);
  return `#${colour
    .map((value) =>
      Math.round(clamp(value) * 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;
};

const rounded = (value: number): number => Math.round(value * 1e4) / 1e4;

const profileOf = (seen: Seen): Omit<StyleProfile, 'key' | 'label'> => {
  const mean = (axis: 0 | 1 | 2) => seen.sums[axis] / seen.count;
  const spread = (axis: 0 | 1 | 2) =>
    Math.sqrt(Math.max(0, seen.squares[axis] / seen.count - mean(axis) ** 2));
  const fine = seen.rough === 0 ? 0 : seen.fine / seen.rough;
  const wide = seen.rough === 0 ? 0 : seen.wide / seen.rough;
  return {
    middle: [rounded(mean(0)), rounded(mean(1)), rounded(mean(2))],
    spread: [rounded(spread(0)), rounded(spread(1)), rounded(spread(2))],
    dark: colourOf(seen.dark),
    light: colourOf(seen.light),
    grain: {
      strength: rounded(clamp(fine / 0.045, 0, 0.6)),
      width: rounded(clamp(0.0015 + (wide / Math.max(fine, 1e-4) - 1) * 0.0025, 0.0014, 0.014)),
    },
    softness: rounded(fine < 0.006 ? clamp((0.006 - fine) * 0.7, 0, 0.004) : 0),
  };
};

/**
 * Measures what images of one hand have in common: each round looks at a part of every image, so
 * many at a time. Shows after every step how a sample looks by what is known until then.
 */
export const measureStyle = async (
  task: { images: readonly Uint8Array[]; batch: number; epochs: number },
  io: CanvasIo,
): Promise<Omit<StyleProfile, 'key' | 'label'>> => {
  const { images, batch, epochs } = task;
  const random = chanceOf(images.length);
  const chance = () => random.between(0, 1);
  const { scene, layers } = imageOf(
    readWish(sample.words, ''),
    sample.seed,
    sample.side,
    sample.side,
  );
  for (const layer of layers) layer.paint();
  const plain = scene.canvas.rgb.slice();
  const photos: Photo[] = [];
  for (const image of images) {
    photos.push(await readPhoto(image, measureSide));
    await io.progress((photos.length / images.length) * 0.2);
  }
  const seen: Seen = {
    count: 0,
    sums: [0, 0, 0],
    squares: [0, 0, 0],
    dark: [0, 0, 0, 0],
    light: [0, 0, 0, 0],
    fine: 0,
    wide: 0,
    rough: 0,
  };
  const steps = epochs * Math.ceil(photos.length / batch);
  let step = 0;
  for (let epoch = 0; epoch < epochs; epoch += 1)
    for (let at = 0; at < photos.length; at += batch) {
      for (const photo of photos.slice(at, at + batch)) {
        const { labs, width } = partOf(photo, chance);
        look(seen, labs, width);
      }
      step += 1;
      await io.progress(0.2 + 0.8 * (step / steps), () => {
        scene.canvas.rgb.set(plain);
        const known = { ...profileOf(seen), key: 'new', label: '' };
        applyProfiles(scene.canvas, [{ key: 'new', weight: 100 }], sample.seed, [known]);
        return previewOf(scene.canvas);
      });
    }
  return profileOf(seen);
};
