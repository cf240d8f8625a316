import { clamp, mix, smooth } from './chance.ts';
import { blend, hex } from './colour.ts';
import { fill, type Point, ribbon } from './raster.ts';
import type { Scene } from './scene.ts';

/** Water from the horizon down: what stands above it is mirrored, broken by waves. */
export const paintWater = (scene: Scene): void => {
  const { canvas, look, horizon, light, noise, has } = scene;
  const { rgb, width, height, unit } = canvas;
  if (look.ink) {
    paintInkWater(scene);
    return;
  }
  const wave = noise('wave');
  const sea = has('sea', 'island', 'lighthouse');
  const storm = has('lightning') || (sea && has('rain'));
  const rough = storm ? 2.2 : sea ? 1.25 : look.flat ? 0.25 : 0.5;
  const deep = blend(look.water, look.sky[0]!, 0.35);
  const above = rgb.slice(0, horizon * width * 3);
  const foam = blend(hex('#ffffff'), look.haze, 0.3);
  for (let y = horizon; y < height; y += 1) {
    const down = (y - horizon) / unit;
    const near = 1 / (down + 0.035);
    const calm = smooth(0, 0.3, down);
    const grow = (0.006 + down * 0.06) * rough;
    for (let x = 0; x < width; x += 1) {
      const u = ((x - width / 2) / unit) * near * 0.42;
      const v = near * 1.9;
      const swell =
        wave.at(u * 1.1 + v * 0.35, v * 3.2) * 0.6 + wave.at(u * 3.1, v * 8.7 + 13) * 0.4;
      const fine = wave.at(u * 7.3 + 31, v * 19.7);
      const slope = swell + fine * 0.35 * clamp(down * 4);
      const from = horizon - 1 - (y - horizon) * mix(1, 0.86, calm) - slope * grow * unit * 1.5;
      const sx = clamp(Math.round(x + fine * grow * unit * 0.35), 0, width - 1);
      const sy = clamp(Math.round(from < 0 ? -from * 0.5 : from), 0, horizon - 1);
      const source = (sy * width + sx) * 3;
      const clear = clamp(0.2 + down * (sea ? 0.95 : 0.62) - slope * 0.16, 0, 0.86);
      let glint = 0;
      if (light.shown && !look.overcast) {
        const spread = unit * (0.02 + down * 0.17) + light.size * 0.6;
        const off = Math.abs(x - light.x) / spread;
        if (off < 3)
          glint =
            smooth(0.1, 0.62, slope + fine * 0.35) *
            Math.exp(-off * off) *
            (light.moon ? 0.8 : 0.95);
      }
      let white = 0;
      if (sea && !look.flat) {
        const crest = wave.ridged(u * 0.85 + swell * 0.25, v * 2.3, 3);
        white = smooth(storm ? 0.52 : 0.68, storm ? 0.72 : 0.84, crest);
        if (white > 0)
          white *=
            smooth(-0.2, 0.5, wave.fbm(u * 9, v * 16, 2)) * clamp(down * 3) * (storm ? 0.6 : 0.34);
      }
      const band = look.flat ? (slope > 0.28 ? 0.16 : 0) : 0;
      const at = (y * width + x) * 3;
      for (let each = 0; each < 3; each += 1) {
        const own = mix(look.water[each]!, deep[each]!, clamp(down * 1.3));
        let value = mix(above[source + each]!, own, clear);
        value *= 1 + slope * 0.1 * clamp(down * 6) * rough;
        value = mix(value, look.haze[each]!, (1 - calm) * 0.22 + band);
        value += look.light[each]! * glint * 0.75;
        rgb[at + each] = mix(value, foam[each]!, white);
      }
    }
  }
};

/** Water in ink is paper: a faint mirror and a few long strokes. */
const paintInkWater = ({ canvas, look, horizon, chance, noise }: Scene): void => {
  const { rgb, width, height, unit } = canvas;
  const wave = noise('wave');
  const above = rgb.slice(0, horizon * width * 3);
  for (let y = horizon; y < height; y += 1) {
    const down = (y - horizon) / unit;
    for (let x = 0; x < width; x += 1) {
      const sway = wave.at((x / unit) * 4, down * 40) * unit * 0.004 * (1 + down * 8);
      const sy = clamp(Math.round(horizon - 1 - (y - horizon) * 0.9 + sway), 0, horizon - 1);
      const share = smooth(0.3, 0, down) * 0.2;
      const at = (y * width + x) * 3;
      for (let each = 0; each < 3; each += 1)
        rgb[at + each] = mix(look.haze[each]!, above[(sy * width + x) * 3 + each]!, share);
    }
  }
  const random = chance('ripples');
  for (let stroke = 0; stroke < 26; stroke += 1) {
    const y = horizon + (height - horizon) * random.between(0.04, 0.98) ** 1.2;
    const x = random.next() * width;
    const half = unit * random.between(0.03, 0.13);
    const line: Point[] = [];
    for (let at = -6; at <= 6; at += 1)
      line.push([x + (at / 6) * half, y + wave.at(at * 0.5, y) * unit * 0.003]);
    fill(canvas, [ribbon(line, (at) => unit * 0.0018 * Math.sin(at * Math.PI) + 0.2)], look.front, {
      alpha: random.between(0.12, 0.3),
      soft: 0.6,
    });
  }
};

/** Sand and the edge of the surf along the bottom. */
export const paintBeach = ({ canvas, look, noise, light }: Scene): void => {
  const { rgb, width, height, unit } = canvas;
  const edge = noise('beach');
  const sand = blend(hex('#e6cfa3'), look.haze, look.hour === 'night' ? 0.75 : 0.22);
  const wet = blend(blend(sand, look.water, 0.45), look.front, 0.18);
  const foam = blend(hex('#ffffff'), look.light, 0.25);
  const side = light.x > width / 2 ? 1 : -1;
  for (let x = 0; x < width; x += 1) {
    const u = x / unit;
    const start =
      height -
      unit * 0.17 +
      side * (u - width / unit / 2) * unit * 0.09 +
      edge.fbm(u * 2.2, 1, 3) * unit * 0.05;
    for (let y = Math.max(0, Math.floor(start - unit * 0.09)); y < height; y += 1) {
      const d = (y - start) / unit;
      const froth = edge.fbm(u * 26, (y / unit) * 34, 3);
      const line = Math.exp(-((d / 0.012) ** 2)) * (0.75 + froth * 0.6);
      const veil =
        smooth(-0.085, -0.01, d) *
        smooth(0.004, -0.004, d) *
        clamp(0.32 + edge.ridged(u * 9, (y / unit) * 12, 3) * 0.5 + froth * 0.3);
      const second =
        Math.exp(-(((d + 0.052 + edge.at(u * 3, 9) * 0.02) / 0.005) ** 2)) *
        clamp(0.4 + froth * 1.3);
      const land = smooth(-0.002, 0.004, d);
      const dry = smooth(0.015, 0.06, d + edge.at(u * 4, 5) * 0.012);
      const grain =
        1 + edge.at(u * 130, (y / unit) * 130) * 0.035 + edge.fbm(u * 5, (y / unit) * 11, 3) * 0.09;
      const at = (y * width + x) * 3;
      for (let each = 0; each < 3; each += 1) {
        let value = mix(
          rgb[at + each]!,
          mix(mix(rgb[at + each]!, wet[each]!, 0.72), sand[each]! * grain, dry),
          land,
        );
        value = mix(value, foam[each]!, clamp(veil * 0.5 + second * 0.55 + line * 0.9));
        rgb[at + each] = value;
      }
    }
  }
};
