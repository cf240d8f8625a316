import { chanceOf, clamp, distance, mix, noiseOf, smooth } from './chance.ts';
import { type Colour, fromLab, hex, type Lab, toLab } from './colour.ts';
import { linesOf } from './edges.ts';
import { softened } from './photo.ts';
import { blurPlane, type Canvas } from './raster.ts';
import type { Style } from './words.ts';

/** Ways of painting that are laid over a finished image. */

const lightOf = (rgb: Float32Array, at: number): number =>
  rgb[at * 3]! * 0.299 + rgb[at * 3 + 1]! * 0.587 + rgb[at * 3 + 2]! * 0.114;

/** Brush strokes, the broad ones first, that follow the forms; thick paint catches the light. */
const oil = (canvas: Canvas, seed: number): void => {
  const { width, height, unit } = canvas;
  const random = chanceOf(seed);
  const flow = noiseOf(seed);
  const source = canvas.rgb;
  const out = softened(canvas, unit * 0.03);
  const relief = new Float32Array(width * height);
  const bristles = Float32Array.from({ length: 512 }, () => random.bell());
  for (const [pass, share] of [0.036, 0.019, 0.0095].entries()) {
    const brush = Math.max(2, unit * share);
    const tones = softened(canvas, brush * 0.7);
    const gap = brush * 0.86;
    const columns = Math.ceil(width / gap);
    const rows = Math.ceil(height / gap);
    for (let stroke = 0; stroke < columns * rows; stroke += 1) {
      const cx = Math.round(random.next() * columns * gap);
      const cy = Math.round(random.next() * rows * gap);
      if (cx >= width || cy >= height) continue;
      const middle = cy * width + cx;
      if (pass > 0) {
        let off = 0;
        for (let each = 0; each < 3; each += 1)
          off += Math.abs(out[middle * 3 + each]! - source[middle * 3 + each]!);
        if (off < (pass === 1 ? 0.075 : 0.12)) continue;
      }
      const step = Math.max(1, Math.round(brush * 0.5));
      const gx =
        lightOf(tones, cy * width + Math.min(width - 1, cx + step)) -
        lightOf(tones, cy * width + Math.max(0, cx - step));
      const gy =
        lightOf(tones, Math.min(height - 1, cy + step) * width + cx) -
        lightOf(tones, Math.max(0, cy - step) * width + cx);
      const strong = distance(gx, gy);
      const turn =
        strong > 0.035
          ? Math.atan2(gy, gx) + Math.PI / 2
          : flow.fbm((cx / unit) * 1.5, (cy / unit) * 1.5, 2) * 3.4;
      const half = brush * 0.5;
      const long = brush * random.between(1.1, 2.3);
      const cos = Math.cos(turn);
      const sin = Math.sin(turn);
      const reach = Math.ceil(long + half);
      const tint = random.bell() * 0.03;
      const r = tones[middle * 3]! + tint + random.bell() * 0.012;
      const g = tones[middle * 3 + 1]! + tint;
      const b = tones[middle * 3 + 2]! + tint + random.bell() * 0.012;
      const first = random.whole(0, 400);
      for (let y = Math.max(0, cy - reach); y <= Math.min(height - 1, cy + reach); y += 1)
        for (let x = Math.max(0, cx - reach); x <= Math.min(width - 1, cx + reach); x += 1) {
          const dx = x - cx;
          const dy = y - cy;
          const u = (dx * cos + dy * sin) / long;
          const v = (dy * cos - dx * sin) / half;
          if (u > 1 || u < -1 || v > 1 || v < -1) continue;
          const hair = bristles[first + Math.floor((v + 1) * 9)]!;
          const end = 1 - Math.abs(u) + hair * 0.16;
          const alpha = clamp(end * 5) * clamp((1 - Math.abs(v)) * 4) * 0.9;
          if (alpha <= 0.01) continue;
          const at = y * width + x;
          const lit = 1 + hair * 0.055;
          out[at * 3] = mix(out[at * 3]!, r * lit, alpha);
          out[at * 3 + 1] = mix(out[at * 3 + 1]!, g * lit, alpha);
          out[at * 3 + 2] = mix(out[at * 3 + 2]!, b * lit, alpha);
          relief[at] = mix(relief[at]!, hair * 0.6 + (1 - v * v) * 0.7, alpha);
        }
    }
  }
  for (let y = 1; y < height - 1; y += 1)
    for (let x = 1; x < width - 1; x += 1) {
      const at = y * width + x;
      const slope = relief[at]! - relief[at + width + 1]!;
      for (let each = 0; each < 3; each += 1)
        source[at * 3 + each] = clamp(
          out[at * 3 + each]! * (1 + slope * 0.1) + Math.max(0, slope) * 0.012,
        );
    }
};

/** Evens out areas and keeps their edges: of four squares around a pixel the calmest counts. */
const calm = (canvas: Canvas, radius: number): void => {
  const { width, height } = canvas;
  const reach = Math.max(1, Math.round(radius));
  const w = width + 1;
  const sums = [0, 1, 2, 3].map(() => new Float64Array(w * (height + 1)));
  for (let y = 0; y < height; y += 1) {
    const rows = [0, 0, 0, 0];
    for (let x = 0; x < width; x += 1) {
      const at = y * width + x;
      const light = lightOf(canvas.rgb, at);
      for (let each = 0; each < 4; each += 1) {
        rows[each] = rows[each]! + (each < 3 ? canvas.rgb[at * 3 + each]! : light * light);
        sums[each]![(y + 1) * w + x + 1] = sums[each]![y * w + x + 1]! + rows[each]!;
      }
    }
  }
  const [reds, greens, blues, squares] = sums as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const out = canvas.rgb;
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      let least = Infinity;
      const at = (y * width + x) * 3;
      for (let square = 0; square < 4; square += 1) {
        const x0 = square % 2 === 0 ? Math.max(0, x - reach) : x;
        const x1 = square % 2 === 0 ? x + 1 : Math.min(width, x + reach + 1);
        const y0 = square < 2 ? Math.max(0, y - reach) : y;
        const y1 = square < 2 ? y + 1 : Math.min(height, y + reach + 1);
        const share = 1 / ((x1 - x0) * (y1 - y0));
        const a = y0 * w + x0;
        const b = y0 * w + x1;
        const c = y1 * w + x0;
        const d = y1 * w + x1;
        const red = (reds[d]! - reds[b]! - reds[c]! + reds[a]!) * share;
        const green = (greens[d]! - greens[b]! - greens[c]! + greens[a]!) * share;
        const blue = (blues[d]! - blues[b]! - blues[c]! + blues[a]!) * share;
        const light = red * 0.299 + green * 0.587 + blue * 0.114;
        const vary =
          (squares[d]! - squares[b]! - squares[c]! + squares[a]!) * share - light * light;
        if (vary < least) {
          least = vary;
          out[at] = red;
          out[at + 1] = green;
          out[at + 2] = blue;
        }
      }
    }
};

/** Thin colour on rough paper: pools, dark rims, a white margin. */
const watercolour = (canvas: Canvas, seed: number): void => {
  const { rgb, width, height, unit } = canvas;
  const water = noiseOf(seed);
  // The edges run a little.
  const source = rgb.slice();
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const u = x / unit;
      const v = y / unit;
      const dx = water.fbm(u * 7, v * 7, 3) * unit * 0.012;
      const dy = water.fbm(u * 7 + 30, v * 7, 3) * unit * 0.012;
      const from =
        (clamp(Math.round(y + dy), 0, height - 1) * width +
          clamp(Math.round(x + dx), 0, width - 1)) *
        3;
      for (let each = 0; each < 3; each += 1)
        rgb[(y * width + x) * 3 + each] = source[from + each]!;
    }
  calm(canvas, unit / 130);
  const light = new Float32Array(width * height);
  for (let at = 0; at < light.length; at += 1) light[at] = lightOf(rgb, at);
  const wide = Float32Array.from(light);
  blurPlane(wide, width, height, unit / 220);
  const paper: Colour = hex('#fbf8f1');
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const at = y * width + x;
      const u = x / unit;
      const v = y / unit;
      const rim = clamp(Math.abs(light[at]! - wide[at]!) * 5) * (light[at]! < wide[at]! ? 1 : 0.35);
      const grain = water.fbm(u * 130, v * 130, 2) * 0.17;
      const pool = water.fbm(u * 3.2, v * 3.2 + 50, 4) * 0.3;
      const bloomed = smooth(0.3, 0.62, water.ridged(u * 2.2 + 9, v * 2.2, 3)) * 0.12;
      const margin =
        Math.min(x, y, width - 1 - x, height - 1 - y) / unit +
        water.fbm(u * 5 + 80, v * 5, 4) * 0.04;
      const covered =
        smooth(0.018, 0.034, margin) * (1 + 0.3 * Math.exp(-(((margin - 0.037) / 0.006) ** 2)));
      for (let each = 0; each < 3; each += 1) {
        const density = (1 - rgb[at * 3 + each]!) * 0.84;
        const laid =
          clamp(density * (1 + grain + pool - bloomed) + rim * 0.2 * (density + 0.12)) * covered;
        rgb[at * 3 + each] = paper[each]! * (1 - clamp(laid));
      }
    }
};

/** Pencil on paper: contours and hatching by tone. */
const sketch = (canvas: Canvas, seed: number): void => {
  const { rgb, width, height, unit } = canvas;
  const grainOf = noiseOf(seed);
  const soft: Canvas = { ...canvas, rgb: softened(canvas, unit / 340) };
  const lines = linesOf(soft, 'lineart');
  const bold = linesOf(soft, 'softedge');
  // The tones are spread so that there is always some white and some dark.
  const tones = Float32Array.from({ length: width * height }, (_, at) => lightOf(soft.rgb, at));
  const sorted = Float32Array.from(tones.filter((_, at) => at % 37 === 0)).sort();
  const low = sorted[Math.floor(sorted.length * 0.03)]!;
  const high = sorted[Math.floor(sorted.length * 0.93)]!;
  const paper: Colour = hex('#f5f1e8');
  const lead: Colour = hex('#33343a');
  const pitch = Math.max(2.6, unit / 210);
  const hatch = (x: number, y: number, turn: number, dark: number): number => {
    const wave = grainOf.at((x / unit) * 3, (y / unit) * 3 + turn * 10) * 0.14;
    const across =
      (x * Math.cos(turn + wave) + y * Math.sin(turn + wave)) / pitch +
      grainOf.at((x / unit) * 14, (y / unit) * 14) * 0.5;
    const line = Math.abs((((across % 1) + 1) % 1) - 0.5) * 2;
    return smooth(1 - clamp(dark) * 0.85, 1, line) * clamp(dark * 1.6);
  };
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const at = y * width + x;
      const tone = clamp((tones[at]! - low) / Math.max(0.05, high - low)) ** 0.85;
      const grain = 0.72 + grainOf.fbm((x / unit) * 170, (y / unit) * 170, 2) * 0.55;
      let dark = hatch(x, y, 0.8, (0.82 - tone) * 1.1) * 0.5;
      dark += hatch(x, y, 2.25, (0.56 - tone) * 1.3) * 0.5;
      dark += hatch(x, y, 1.5, (0.3 - tone) * 1.8) * 0.5;
      dark += (1 - tone) * 0.2;
      dark = clamp(
        dark * grain + lines[at]! * 0.85 * grain + smooth(0.2, 0.85, bold[at]!) * 0.5 * grain,
      );
      const edge = smooth(
        0,
        unit * 0.06,
        Math.min(x, y, width - 1 - x, height - 1 - y) +
          grainOf.fbm((x / unit) * 9, (y / unit) * 9, 2) * unit * 0.03,
      );
      const fibre = 1 + grainOf.at((x / unit) * 220, (y / unit) * 220) * 0.014;
      for (let each = 0; each < 3; each += 1)
        rgb[at * 3 + each] = mix(paper[each]! * fibre, lead[each]!, dark * edge * 0.92);
    }
};

const order4 = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5];

/** Few large squares of few colours. */
const pixel = (canvas: Canvas): void => {
  const { rgb, width, height, unit } = canvas;
  const size = Math.max(2, Math.round(unit / 128));
  const w = Math.ceil(width / size);
  const h = Math.ceil(height / size);
  const labs: Lab[] = [];
  for (let y = 0; y < h; y += 1)
    for (let x = 0; x < w; x += 1) {
      const sum = [0, 0, 0];
      let count = 0;
      for (let py = y * size; py < Math.min(height, (y + 1) * size); py += 1)
        for (let px = x * size; px < Math.min(width, (x + 1) * size); px += 1) {
          for (let each = 0; each < 3; each += 1)
            sum[each] = sum[each]! + rgb[(py * width + px) * 3 + each]!;
          count += 1;
        }
      const [l, a, b] = toLab([sum[0]! / count, sum[1]! / count, sum[2]! / count]);
      labs.push([l, a * 1.18, b * 1.18]);
    }
  const palette = paletteOf(labs, 32);
  for (let y = 0; y < h; y += 1)
    for (let x = 0; x < w; x += 1) {
      const [l, a, b] = labs[y * w + x]!;
      const push = (order4[(y % 4) * 4 + (x % 4)]! / 15 - 0.5) * 0.035;
      let best = palette[0]!;
      let least = Infinity;
      for (const each of palette) {
        const far = (each[0] - l - push) ** 2 + (each[1] - a) ** 2 + (each[2] - b) ** 2;
        if (far < least) {
          least = far;
          best = each;
        }
      }
      const colour = fromLab(best);
      for (let py = y * size; py < Math.min(height, (y + 1) * size); py += 1)
        for (let px = x * size; px < Math.min(width, (x + 1) * size); px += 1)
          rgb.set(colour, (py * width + px) * 3);
    }
};

/** Splits colours again and again where they differ most. */
const paletteOf = (labs: readonly Lab[], count: number): Lab[] => {
  const spread = (box: readonly Lab[]): { axis: 0 | 1 | 2; reach: number } => {
    let found: { axis: 0 | 1 | 2; reach: number } = { axis: 0, reach: 0 };
    for (const axis of [0, 1, 2] as const) {
      let low = Infinity;
      let high = -Infinity;
      for (const lab of box) {
        if (lab[axis] < low) low = lab[axis];
        if (lab[axis] > high) high = lab[axis];
      }
      if (high - low > found.reach) found = { axis, reach: high - low };
    }
    return found;
  };
  let boxes: Lab[][] = [[...labs]];
  while (boxes.length < count) {
    const scored = boxes.map((box) => spread(box).reach * Math.sqrt(box.length));
    const at = scored.indexOf(Math.max(...scored));
    const box = boxes[at]!;
    if (box.length < 2 || scored[at] === 0) break;
    const { axis } = spread(box);
    const sorted = box.sort((a, b) => a[axis] - b[axis]);
    boxes = [
      ...boxes.filter((_, each) => each !== at),
      sorted.slice(0, sorted.length / 2),
      sorted.slice(sorted.length / 2),
    ];
  }
  return boxes.map((box) => {
    const sum = box.reduce<[number, number, number]>(
      (all, lab) => [all[0] + lab[0], all[1] + lab[1], all[2] + lab[2]],
      [0, 0, 0],
    );
    return [sum[0] / box.length, sum[1] / box.length, sum[2] / box.length];
  });
};

/** A print from wood: few tones, dark contours, paper that shows. */
const print = (canvas: Canvas, seed: number): void => {
  const { rgb, width, height, unit } = canvas;
  const paper = noiseOf(seed);
  calm(canvas, unit / 150);
  const lines = linesOf({ ...canvas, rgb: softened(canvas, unit / 420) }, 'lineart');
  const ink: Colour = hex('#22303f');
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const at = y * width + x;
      const [l, a, b] = toLab([rgb[at * 3]!, rgb[at * 3 + 1]!, rgb[at * 3 + 2]!]);
      const grain =
        paper.fbm((x / unit) * 4, (y / unit) * 60, 3) * 0.035 +
        paper.at((x / unit) * 190, (y / unit) * 190) * 0.018;
      const steps = 8;
      const place = l * steps;
      const level = (Math.floor(place) + smooth(0.42, 0.58, place % 1)) / steps;
      const colour = fromLab([clamp(level * 0.96 + grain + 0.02), a * 1.05, b * 1.05 + 0.012]);
      const line = smooth(0.3, 0.75, lines[at]!) * 0.75;
      for (let each = 0; each < 3; each += 1)
        rgb[at * 3 + each] = mix(colour[each]!, ink[each]!, line);
    }
};

/** Lays a style over an image; those that a scene is painted in from the start change nothing. */
export const applyStyle = (canvas: Canvas, style: Style | null, seed: number): void => {
  if (style === 'oil') oil(canvas, seed);
  else if (style === 'watercolour') watercolour(canvas, seed);
  else if (style === 'sketch') sketch(canvas, seed);
  else if (style === 'pixel') pixel(canvas);
  else if (style === 'print') print(canvas, seed);
};
