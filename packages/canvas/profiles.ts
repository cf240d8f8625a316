import type { StyleProfile } from './style-profile.ts';
import { mix, noiseOf } from './chance.ts';
import { fromLab, hex, type Lab, toLab } from './colour.ts';
import { softened } from './photo.ts';
import type { Canvas } from './raster.ts';

export const profiles: readonly StyleProfile[] = [
  {
    key: 'dunhuang',
    label: '敦煌壁画',
    middle: [0.62, 0.022, 0.048],
    spread: [0.15, 0.04, 0.042],
    dark: '#4a2f24',
    light: '#ecd9b4',
    grain: { strength: 0.55, width: 0.012 },
    softness: 0.002,
  },
  {
    key: 'qinglv',
    label: '青绿山水',
    middle: [0.6, -0.05, 0.012],
    spread: [0.17, 0.045, 0.05],
    dark: '#12414a',
    light: '#efe3bd',
    grain: { strength: 0.22, width: 0.004 },
    softness: 0,
  },
  {
    key: 'yingqing',
    label: '影青瓷',
    middle: [0.8, -0.026, -0.012],
    spread: [0.1, 0.014, 0.018],
    dark: '#3f6470',
    light: '#f2f7f2',
    grain: { strength: 0.06, width: 0.003 },
    softness: 0.004,
  },
  {
    key: 'film',
    label: '老胶片',
    middle: [0.56, 0.012, 0.03],
    spread: [0.17, 0.03, 0.036],
    dark: '#1f2a33',
    light: '#f4e2c0',
    grain: { strength: 0.4, width: 0.0018 },
    softness: 0.0015,
  },
  {
    key: 'candy',
    label: '粉彩',
    middle: [0.84, 0.03, 0.01],
    spread: [0.09, 0.04, 0.038],
    dark: '#8d7fb0',
    light: '#fff4f2',
    grain: { strength: 0.1, width: 0.006 },
    softness: 0.003,
  },
  {
    key: 'silver',
    label: '黑白摄影',
    middle: [0.5, 0, 0],
    spread: [0.24, 0, 0],
    dark: '#0d0d0f',
    light: '#f5f5f3',
    grain: { strength: 0.3, width: 0.0014 },
    softness: 0,
  },
];

/** Of all colours of an image: their middle and their spread, in Lab. */
const statisticsOf = ({ rgb }: Canvas): { middle: Lab; spread: Lab } => {
  const sums = [0, 0, 0];
  const squares = [0, 0, 0];
  let count = 0;
  for (let at = 0; at < rgb.length; at += 3 * 7) {
    const lab = toLab([rgb[at]!, rgb[at + 1]!, rgb[at + 2]!]);
    for (let each = 0; each < 3; each += 1) {
      sums[each] = sums[each]! + lab[each]!;
      squares[each] = squares[each]! + lab[each]! ** 2;
    }
    count += 1;
  }
  const middle = sums.map((sum) => sum / count) as [number, number, number];
  const spread = squares.map((sum, at) =>
    Math.sqrt(Math.max(1e-6, sum / count - middle[at]! ** 2)),
  ) as [number, number, number];
  return { middle, spread };
};

/** An even image is not torn apart to reach a profile's spread, nor is a wild one crushed. */
const stretch = { least: 0.25, most: 1.7 };

const lay = (canvas: Canvas, profile: StyleProfile, share: number, seed: number): void => {
  const { width, height, unit } = canvas;
  const own = statisticsOf(canvas);
  const factors = profile.spread.map((spread, at) => {
    const factor = Math.min(stretch.most, spread / own.spread[at]!);
    return spread === 0 ? 0 : Math.max(stretch.least, factor);
  });
  const dark = toLab(hex(profile.dark));
  const light = toLab(hex(profile.light));
  const soft = profile.softness > 0 ? softened(canvas, unit * profile.softness) : canvas.rgb;
  const { strength, width: wide } = profile.grain;
  const rough = noiseOf(seed ^ 0x10a);
  const { rgb } = canvas;
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 3;
      const lab = toLab([rgb[at]!, rgb[at + 1]!, rgb[at + 2]!]);
      const from = toLab([soft[at]!, soft[at + 1]!, soft[at + 2]!]);
      const grain =
        rough.fbm(x / unit / wide, y / unit / wide, 2) * strength * 0.09 +
        rough.at((x / unit) * 3, (y / unit) * 3) * strength * 0.04;
      const moved = [0, 1, 2].map(
        (axis) => profile.middle[axis]! + (from[axis]! - own.middle[axis]!) * factors[axis]!,
      );
      const l = Math.min(1, Math.max(0, moved[0]! + grain));
      // Shadows and lights lean to their own colour, what lies between to none.
      const low = Math.max(0, 1 - l / 0.45) * 0.6;
      const high = Math.max(0, (l - 0.72) / 0.28) * 0.55;
      const lean = (axis: 1 | 2) => mix(mix(moved[axis]!, dark[axis], low), light[axis], high);
      rgb.set(
        fromLab([
          mix(lab[0], mix(mix(l, Math.max(l, dark[0]), low), Math.min(l, light[0]), high), share),
          mix(lab[1], lean(1), share),
          mix(lab[2], lean(2), share),
        ]),
        at,
      );
    }
};

/** Lays the profiles that are known over an image, one after the other, each as its weight says. */
export const applyProfiles = (
  canvas: Canvas,
  wanted: readonly { key: string; weight: number }[],
  seed: number,
  trained: readonly StyleProfile[] = [],
): void => {
  for (const { key, weight } of wanted) {
    const profile = [...profiles, ...trained].find((each) => each.key === key);
    if (profile) lay(canvas, profile, Math.min(1, Math.max(0, weight / 100)), seed);
  }
};
