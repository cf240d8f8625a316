import { type Chance, chanceOf, hashText, type Noise, noiseOf } from './chance.ts';
import { type Look, lookOf } from './look.ts';
import { type Canvas, createCanvas } from './raster.ts';
import type { Subject, Wish } from './words.ts';

/** One image: what is in it, where, and in which light. */
export interface Scene {
  canvas: Canvas;
  wish: Wish;
  look: Look;
  has: (...subjects: Subject[]) => boolean;
  /** Chance and noise of their own for each part, so that one part more changes no other. */
  chance: (part: string) => Chance;
  noise: (part: string) => Noise;
  /** Where the sky ends, pixels from above. */
  horizon: number;
  /** Where near land begins at the bottom; the canvas' height: nowhere. */
  shore: number;
  water: boolean;
  /** The sun or the moon, pixels. */
  light: { x: number; y: number; size: number; shown: boolean; moon: boolean };
  /** Where the eye is led to: a third of the width, or the middle. */
  focus: number;
}

const waterSubjects: readonly Subject[] = [
  'sea',
  'lake',
  'river',
  'beach',
  'island',
  'boat',
  'bridge',
  'lotus',
  'lighthouse',
];

export const sceneOf = (wish: Wish, seed: number, width: number, height: number): Scene => {
  const mixed = (seed ^ Math.imul(wish.hash, 0x9e3779b1)) >>> 0;
  const canvas = createCanvas(width, height);
  const look = lookOf(wish, mixed);
  const noises = new Map<string, Noise>();
  const chance = (part: string) => chanceOf(hashText(`${part} ${mixed}`));
  const has = (...subjects: Subject[]) => subjects.some((each) => wish.subjects.includes(each));
  const layout = chance('layout');
  const leftThird = layout.is(0.5);
  const middle = wish.layout === 'centre' || wish.layout === 'symmetric';
  const focus = width * (middle ? 0.5 : leftThird ? 0.36 : 0.64);
  // A city stands at a river unless its ground is asked for.
  const river = has('city') && !has('street', 'grass', 'flower', 'forest', 'desert', 'mountain');
  const water = river || has(...waterSubjects);
  const skyward = has('aurora', 'stars', 'fireworks', 'rainbow', 'balloon', 'magpie-bridge');
  const share = skyward
    ? layout.between(0.7, 0.76)
    : water
      ? layout.between(0.5, 0.6)
      : has('grass', 'flower', 'lavender', 'sunflower', 'desert')
        ? layout.between(0.48, 0.58)
        : layout.between(0.58, 0.66);
  const horizon = Math.round(height * (wish.layout === 'wide' ? share + 0.04 : share));
  const moon = has('moon') || look.hour === 'night';
  const low = look.hour === 'dawn' || look.hour === 'dusk';
  // Who stands alone is seen against a great moon or sun.
  const behind = has('cat', 'dog', 'horse', 'deer', 'people') && has('moon', 'sun') && !has('city');
  const unit = canvas.unit;
  const asked = has('moon', 'sun');
  // The light stands across from what the eye is led to, and near the horizon when it is low.
  const x = middle ? width * 0.5 : width - focus + layout.between(-0.05, 0.05) * width;
  const y =
    low && !look.ink
      ? horizon - unit * layout.between(0.05, 0.13)
      : horizon * layout.between(0.22, 0.4);
  const size = moon ? (asked ? layout.between(0.055, 0.085) : 0.035) : low ? 0.052 : 0.04;
  return {
    canvas,
    wish,
    look,
    has,
    chance,
    noise: (part) => {
      let noise = noises.get(part);
      if (!noise) {
        noise = noiseOf(hashText(`noise ${part} ${mixed}`));
        noises.set(part, noise);
      }
      return noise;
    },
    horizon,
    shore: height,
    water,
    light: {
      x: behind ? focus + unit * layout.bell() * 0.04 : x,
      y: behind ? height * 0.6 : y,
      size: unit * (behind ? layout.between(0.2, 0.26) : size),
      shown:
        asked ||
        (look.ink
          ? !look.overcast && layout.is(0.4)
          : !look.overcast && (low || (moon && !has('aurora', 'planet')))),
      moon,
    },
    focus,
  };
};
