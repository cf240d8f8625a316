import { clamp, distance, mix, smooth } from './chance.ts';
import { hex } from './colour.ts';
import { bloom, ellipse, fill, glow, type Point, ribbon } from './raster.ts';
import type { Scene } from './scene.ts';

export const paintFog = ({ canvas, look, noise, horizon }: Scene): void => {
  const { rgb, width, height, unit } = canvas;
  const drift = noise('fog');
  for (let y = 0; y < height; y += 1) {
    const band =
      Math.exp(-(((y - horizon) / (unit * 0.26)) ** 2)) * 0.62 + smooth(horizon, height, y) * 0.16;
    for (let x = 0; x < width; x += 1) {
      const share = clamp(band * (0.75 + drift.fbm((x / unit) * 1.6, (y / unit) * 4.5, 4) * 1.1));
      const at = (y * width + x) * 3;
      for (let each = 0; each < 3; each += 1)
        rgb[at + each] = mix(rgb[at + each]!, look.haze[each]!, share);
    }
  }
};

/** Flakes at several distances: the near ones large and out of focus. */
export const paintSnowfall = ({ canvas, chance, look }: Scene): void => {
  const { width, height, unit } = canvas;
  const random = chance('snowfall');
  const tone = look.ink ? hex('#ffffff') : hex('#f6f9ff');
  const area = (width * height) / (unit * unit);
  for (let flake = 0; flake < 620 * area; flake += 1) {
    const near = random.next() ** 5;
    const reach = unit * (0.0022 + near * 0.014);
    const strength = mix(0.75, 0.24, near) * random.between(0.5, 1);
    const x = random.next() * width;
    const y = random.next() * height;
    if (near > 0.35)
      fill(canvas, [ellipse(x, y, reach * 0.7, reach * 0.7)], tone, {
        alpha: strength,
        soft: reach * 0.3,
      });
    else glow(canvas, x, y, Math.max(1.1, reach), tone, strength + 0.3, 1);
  }
};

export const paintRainfall = ({ canvas, chance, look }: Scene): void => {
  const { width, height, unit } = canvas;
  const random = chance('rainfall');
  const tone = look.ink ? hex('#5d666b') : hex('#e8f0f6');
  const area = (width * height) / (unit * unit);
  const lean = random.between(0.1, 0.24) * (random.is(0.5) ? 1 : -1);
  for (let drop = 0; drop < 520 * area; drop += 1) {
    const near = random.next() ** 2;
    const long = unit * mix(0.02, 0.075, near);
    const x = random.between(-0.1, 1.1) * width;
    const y = random.between(-0.1, 1) * height;
    const line: Point[] = [
      [x, y],
      [x - long * lean, y + long],
    ];
    fill(canvas, [ribbon(line, () => unit * mix(0.0007, 0.0018, near))], tone, {
      alpha: mix(0.12, 0.3, near),
    });
  }
};

/** The red seal of a painter, in a corner. */
const paintSeal = ({ canvas, chance, focus }: Scene): void => {
  const { width, height, unit } = canvas;
  const random = chance('seal');
  const size = unit * 0.042;
  const left = focus > width / 2;
  const x = left ? unit * 0.065 : width - unit * 0.065 - size;
  const y = height - unit * 0.075 - size;
  const red = hex('#b5372a');
  const outline: Point[] = [];
  for (let at = 0; at < 40; at += 1) {
    const edge = Math.floor(at / 10);
    const along = (at % 10) / 10;
    const wave = random.bell() * size * 0.02;
    outline.push(
      (
        [
          [x + along * size, y + wave],
          [x + size + wave, y + along * size],
          [x + size - along * size, y + size + wave],
          [x + wave, y + size - along * size],
        ] as const
      )[edge]!,
    );
  }
  fill(canvas, [outline], red, { alpha: 0.88 });
  const white = hex('#f4ece0');
  const cut = (x0: number, y0: number, x1: number, y1: number) =>
    fill(
      canvas,
      [
        ribbon(
          [
            [x + x0 * size, y + y0 * size],
            [x + x1 * size, y + y1 * size],
          ],
          () => size * 0.075,
        ),
      ],
      white,
      { alpha: 0.9 },
    );
  // A bridge below a bird: the product's mark.
  cut(0.16, 0.78, 0.84, 0.78);
  cut(0.2, 0.62, 0.5, 0.48);
  cut(0.5, 0.48, 0.8, 0.62);
  cut(0.34, 0.62, 0.34, 0.78);
  cut(0.66, 0.62, 0.66, 0.78);
  cut(0.24, 0.22, 0.48, 0.34);
  cut(0.48, 0.34, 0.76, 0.18);
};

/** Light that spills over, a little contrast, darker corners. */
export const finish = (scene: Scene): void => {
  const { canvas, look, wish } = scene;
  const { rgb, width, height, unit } = canvas;
  if (look.ink) paintSeal(scene);
  if (!look.ink && !look.flat)
    bloom(
      canvas,
      look.neon ? 0.45 : 0.74,
      look.neon ? 0.85 : wish.moods.includes('soft') ? 0.6 : 0.34,
      unit * (look.neon ? 0.045 : 0.03),
    );
  const corner = look.ink ? 0.07 : look.flat ? 0.04 : 0.2;
  const cx = width / 2;
  const cy = height / 2;
  const reach = distance(cx, cy);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const off = distance(x - cx, y - cy) / reach;
      const dim = 1 - corner * smooth(0.45, 1.05, off);
      const at = (y * width + x) * 3;
      for (let each = 0; each < 3; each += 1) {
        const value = rgb[at + each]!;
        // A soft shoulder keeps what glows from turning flat.
        const held = value > 0.8 ? 0.8 + 0.2 * (1 - Math.exp(-(value - 0.8) / 0.2)) : value;
        rgb[at + each] = clamp(held * dim);
      }
    }
};
