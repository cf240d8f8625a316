import { clamp, distance } from './chance.ts';
import type { Colour } from './colour.ts';

/** An image that is being drawn: three floats a pixel, 0 to 1, and more where it glows. */
export interface Canvas {
  readonly width: number;
  readonly height: number;
  /** Pixels of the shorter side: sizes are told in shares of it. */
  readonly unit: number;
  rgb: Float32Array;
}

export const createCanvas = (width: number, height: number): Canvas => ({
  width,
  height,
  unit: Math.min(width, height),
  rgb: new Float32Array(width * height * 3),
});

export type Point = readonly [x: number, y: number];
/** A closed line in pixels. Rings that turn the same way unite. */
export type Ring = readonly Point[];

/** How much of each pixel a shape covers. */
export interface Mask {
  left: number;
  top: number;
  width: number;
  height: number;
  values: Float32Array;
}

/** Signed areas of one edge, summed up along each row afterwards. */
const addEdge = (
  sums: Float32Array,
  width: number,
  height: number,
  [ax, ay]: Point,
  [bx, by]: Point,
): void => {
  if (ay === by) return;
  const sign = ay < by ? 1 : -1;
  const x0 = sign > 0 ? ax : bx;
  const y0 = sign > 0 ? ay : by;
  const y1 = sign > 0 ? by : ay;
  const slope = ((sign > 0 ? bx : ax) - x0) / (y1 - y0);
  const stride = width + 2;
  let x = y0 < 0 ? x0 - y0 * slope : x0;
  const last = Math.min(height, Math.ceil(y1));
  for (let y = Math.max(0, Math.floor(y0)); y < last; y += 1) {
    const part = Math.min(y + 1, y1) - Math.max(y, y0);
    const next = x + slope * part;
    const area = part * sign;
    const a = clamp(Math.min(x, next), 0, width);
    const b = clamp(Math.max(x, next), 0, width);
    x = next;
    const first = Math.floor(a);
    const end = Math.ceil(b);
    const row = y * stride + first;
    if (end <= first + 1) {
      const middle = (a + b) / 2 - first;
      sums[row] = sums[row]! + area * (1 - middle);
      sums[row + 1] = sums[row + 1]! + area * middle;
      continue;
    }
    const share = 1 / (b - a);
    const into = 1 - (a - first);
    const start = 0.5 * share * into * into;
    const rest = b - end + 1;
    const stop = 0.5 * share * rest * rest;
    sums[row] = sums[row]! + area * start;
    if (end === first + 2) {
      sums[row + 1] = sums[row + 1]! + area * (1 - start - stop);
    } else {
      const second = share * (1.5 - (a - first));
      sums[row + 1] = sums[row + 1]! + area * (second - start);
      for (let at = 2; at < end - first - 1; at += 1)
        sums[row + at] = sums[row + at]! + area * share;
      const before = second + (end - first - 3) * share;
      sums[row + end - first - 1] = sums[row + end - first - 1]! + area * (1 - before - stop);
    }
    sums[row + end - first] = sums[row + end - first]! + area * stop;
  }
};

/** Two passes of a running mean in both directions: nearly a bell curve. */
export const blurPlane = (
  plane: Float32Array,
  width: number,
  height: number,
  radius: number,
): void => {
  const reach = Math.max(1, Math.round(radius));
  const line = new Float32Array(Math.max(width, height));
  const run = (start: number, step: number, count: number) => {
    for (let at = 0; at < count; at += 1) line[at] = plane[start + at * step]!;
    let sum = line[0]! * (reach + 1);
    for (let at = 1; at <= reach; at += 1) sum += line[Math.min(count - 1, at)]!;
    const share = 1 / (reach * 2 + 1);
    for (let at = 0; at < count; at += 1) {
      plane[start + at * step] = sum * share;
      sum += line[Math.min(count - 1, at + reach + 1)]! - line[Math.max(0, at - reach)]!;
    }
  };
  for (let pass = 0; pass < 2; pass += 1) {
    for (let y = 0; y < height; y += 1) run(y * width, 1, width);
    for (let x = 0; x < width; x += 1) run(x, width, height);
  }
};

/**
 * What rings cover of a canvas; `soft`: pixels by which the edge fades. Null: nothing of it is on
 * the canvas. Points that are no numbers are left out.
 */
export const maskOf = (
  rings: readonly Ring[],
  canvas: { width: number; height: number },
  soft = 0,
): Mask | null => {
  let left = Infinity;
  let top = Infinity;
  let right = -Infinity;
  let bottom = -Infinity;
  for (const ring of rings)
    for (const [x, y] of ring) {
      if (!Number.isFinite(x) || !Number.isFinite(y)) return null;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      if (y > bottom) bottom = y;
    }
  const more = Math.ceil(soft * 2.5) + 1;
  left = Math.max(-more, Math.floor(left) - more);
  top = Math.max(-more, Math.floor(top) - more);
  const width = Math.min(canvas.width + more, Math.ceil(right) + more) - left;
  const height = Math.min(canvas.height + more, Math.ceil(bottom) + more) - top;
  if (!(width > 0) || !(height > 0)) return null;
  const stride = width + 2;
  const sums = new Float32Array(stride * height);
  for (const ring of rings)
    for (let at = 0; at < ring.length; at += 1) {
      const [ax, ay] = ring[at]!;
      const [bx, by] = ring[(at + 1) % ring.length]!;
      addEdge(sums, width, height, [ax - left, ay - top], [bx - left, by - top]);
    }
  const values = new Float32Array(width * height);
  for (let y = 0; y < height; y += 1) {
    let sum = 0;
    for (let x = 0; x < width; x += 1) {
      sum += sums[y * stride + x]!;
      values[y * width + x] = Math.min(1, Math.abs(sum));
    }
  }
  if (soft >= 0.5) blurPlane(values, width, height, soft);
  return { left, top, width, height, values };
};

/** Writes the colour of a pixel into `out`. */
export type Paint = (x: number, y: number, out: Float32Array) => void;
export type Mode = 'over' | 'add' | 'screen' | 'multiply';

/** From one colour above to another below, between two heights in pixels. */
export const upright =
  (above: Colour, below: Colour, from: number, to: number): Paint =>
  (_x, y, out) => {
    const share = clamp((y - from) / (to - from || 1));
    for (let at = 0; at < 3; at += 1) out[at] = above[at]! + (below[at]! - above[at]!) * share;
  };

/** From one colour to another outwards from a place. */
export const round =
  (inner: Colour, outer: Colour, x0: number, y0: number, reach: number): Paint =>
  (x, y, out) => {
    const share = Math.min(1, distance(x - x0, y - y0) / reach);
    for (let at = 0; at < 3; at += 1) out[at] = inner[at]! + (outer[at]! - inner[at]!) * share;
  };

const ink = new Float32Array(3);

export const paintMask = (
  canvas: Canvas,
  mask: Mask | null,
  paint: Colour | Paint,
  alpha = 1,
  mode: Mode = 'over',
): void => {
  if (!mask) return;
  const { rgb, width, height } = canvas;
  const plain = typeof paint === 'function' ? null : paint;
  if (plain) ink.set(plain);
  const x0 = Math.max(0, -mask.left);
  const x1 = Math.min(mask.width, width - mask.left);
  const y0 = Math.max(0, -mask.top);
  const y1 = Math.min(mask.height, height - mask.top);
  for (let y = y0; y < y1; y += 1) {
    let from = y * mask.width + x0;
    let to = ((y + mask.top) * width + x0 + mask.left) * 3;
    for (let x = x0; x < x1; x += 1, from += 1, to += 3) {
      const cover = mask.values[from]! * alpha;
      if (cover < 0.002) continue;
      if (!plain) (paint as Paint)(x + mask.left, y + mask.top, ink);
      for (let at = 0; at < 3; at += 1) {
        const under = rgb[to + at]!;
        const over = ink[at]!;
        if (mode === 'over') rgb[to + at] = under + (over - under) * cover;
        else if (mode === 'add') rgb[to + at] = under + over * cover;
        else if (mode === 'screen') rgb[to + at] = under + over * cover * Math.max(0, 1 - under);
        else rgb[to + at] = under * (1 + (over - 1) * cover);
      }
    }
  }
};

export const fill = (
  canvas: Canvas,
  rings: readonly Ring[],
  paint: Colour | Paint,
  { alpha = 1, soft = 0, mode = 'over' }: { alpha?: number; soft?: number; mode?: Mode } = {},
): void => {
  if (rings.length > 0) paintMask(canvas, maskOf(rings, canvas, soft), paint, alpha, mode);
};

/** A soft round light: brightest in the middle, gone at `reach`. */
export const glow = (
  canvas: Canvas,
  x0: number,
  y0: number,
  reach: number,
  colour: Colour,
  strength: number,
  power = 2,
): void => {
  const { rgb, width, height } = canvas;
  const top = Math.max(0, Math.floor(y0 - reach));
  const bottom = Math.min(height, Math.ceil(y0 + reach));
  const left = Math.max(0, Math.floor(x0 - reach));
  const right = Math.min(width, Math.ceil(x0 + reach));
  for (let y = top; y < bottom; y += 1)
    for (let x = left; x < right; x += 1) {
      const far = distance(x - x0, y - y0) / reach;
      if (far >= 1) continue;
      const near = 1 - far;
      const light = (power === 2 ? near * near : near ** power) * strength;
      const at = (y * width + x) * 3;
      for (let each = 0; each < 3; each += 1) {
        const under = rgb[at + each]!;
        rgb[at + each] = under + colour[each]! * light * Math.max(0, 1 - under * 0.85);
      }
    }
};

export const ellipse = (x: number, y: number, rx: number, ry: number, turn = 0): Ring => {
  const count = clamp(Math.ceil(Math.sqrt(Math.max(rx, ry)) * 5), 10, 160);
  const cos = Math.cos(turn);
  const sin = Math.sin(turn);
  return Array.from({ length: count }, (_, at): Point => {
    const angle = (at / count) * Math.PI * 2;
    const dx = Math.cos(angle) * rx;
    const dy = Math.sin(angle) * ry;
    return [x + dx * cos - dy * sin, y + dx * sin + dy * cos];
  });
};

/** A smooth line through points (Catmull–Rom). */
export const curve = (points: readonly Point[], closed = false, steps = 8): Point[] => {
  const count = points.length;
  if (count < 3) return [...points];
  const at = (index: number): Point =>
    closed ? points[(index + count) % count]! : points[clamp(index, 0, count - 1)]!;
  const line: Point[] = [];
  for (let index = 0; index < (closed ? count : count - 1); index += 1) {
    const [p0, p1, p2, p3] = [at(index - 1), at(index), at(index + 1), at(index + 2)];
    for (let step = 0; step < steps; step += 1) {
      const t = step / steps;
      const of = (axis: 0 | 1) =>
        0.5 *
        (2 * p1[axis] +
          (p2[axis] - p0[axis]) * t +
          (2 * p0[axis] - 5 * p1[axis] + 4 * p2[axis] - p3[axis]) * t * t +
          (3 * p1[axis] - p0[axis] - 3 * p2[axis] + p3[axis]) * t * t * t);
      line.push([of(0), of(1)]);
    }
  }
  if (!closed) line.push(points[count - 1]!);
  return line;
};

/** A line with a width that may change along it, as a ring; `width` is given 0 to 1 along it. */
export const ribbon = (line: readonly Point[], width: (along: number) => number): Ring => {
  const left: Point[] = [];
  const right: Point[] = [];
  for (let at = 0; at < line.length; at += 1) {
    const [x, y] = line[at]!;
    const [ax, ay] = line[Math.max(0, at - 1)]!;
    const [bx, by] = line[Math.min(line.length - 1, at + 1)]!;
    const length = distance(bx - ax, by - ay) || 1;
    const half = width(line.length > 1 ? at / (line.length - 1) : 0) / 2;
    const nx = (-(by - ay) / length) * half;
    const ny = ((bx - ax) / length) * half;
    left.push([x + nx, y + ny]);
    right.push([x - nx, y - ny]);
  }
  return [...left, ...right.reverse()];
};

/** Moves, turns, sizes and mirrors points drawn around the origin. */
export const place =
  (x: number, y: number, size: number, turn = 0, mirror = false) =>
  ([px, py]: Point): Point => {
    const sx = (mirror ? -px : px) * size;
    const sy = py * size;
    const cos = Math.cos(turn);
    const sin = Math.sin(turn);
    return [x + sx * cos - sy * sin, y + sx * sin + sy * cos];
  };

/** Light that spills over from bright places. */
export const bloom = (canvas: Canvas, from: number, strength: number, reach: number): void => {
  const { rgb, width, height } = canvas;
  const step = 4;
  const w = Math.ceil(width / step);
  const h = Math.ceil(height / step);
  const planes = [0, 1, 2].map((channel) => {
    const plane = new Float32Array(w * h);
    for (let y = 0; y < h; y += 1)
      for (let x = 0; x < w; x += 1) {
        let sum = 0;
        let count = 0;
        for (let dy = 0; dy < step; dy += 2)
          for (let dx = 0; dx < step; dx += 2) {
            const px = x * step + dx;
            const py = y * step + dy;
            if (px >= width || py >= height) continue;
            const at = (py * width + px) * 3;
            const light = Math.max(rgb[at]!, rgb[at + 1]!, rgb[at + 2]!);
            count += 1;
            if (light > from) sum += (rgb[at + channel]! * (light - from)) / light;
          }
        plane[y * w + x] = count > 0 ? sum / count : 0;
      }
    blurPlane(plane, w, h, reach / step);
    return plane;
  });
  for (let y = 0; y < height; y += 1) {
    const py = clamp(y / step - 0.5, 0, h - 1.001);
    const y0 = Math.floor(py);
    const y1 = Math.min(h - 1, y0 + 1);
    const fy = py - y0;
    for (let x = 0; x < width; x += 1) {
      const px = clamp(x / step - 0.5, 0, w - 1.001);
      const x0 = Math.floor(px);
      const x1 = Math.min(w - 1, x0 + 1);
      const fx = px - x0;
      const at = (y * width + x) * 3;
      for (let channel = 0; channel < 3; channel += 1) {
        const plane = planes[channel]!;
        const upper = plane[y0 * w + x0]! * (1 - fx) + plane[y0 * w + x1]! * fx;
        const lower = plane[y1 * w + x0]! * (1 - fx) + plane[y1 * w + x1]! * fx;
        rgb[at + channel] = rgb[at + channel]! + (upper * (1 - fy) + lower * fy) * strength;
      }
    }
  }
};

/** As bytes, red, green and blue; a little grain hides the steps of smooth skies. */
export const toBytes = ({ rgb }: Canvas): Uint8Array => {
  const bytes = new Uint8Array(rgb.length);
  let state = 0x2545f491;
  for (let at = 0; at < rgb.length; at += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const value = rgb[at]! * 255 + (state >>> 0) / 4_294_967_296;
    bytes[at] = value <= 0 ? 0 : value >= 255 ? 255 : value;
  }
  return bytes;
};

/** A small ellipse, quickly: a leaf, a petal, a lit window. */
export const dab = (
  canvas: Canvas,
  x: number,
  y: number,
  rx: number,
  ry: number,
  turn: number,
  colour: Colour,
  alpha = 1,
): void => {
  const { rgb, width, height } = canvas;
  const reach = Math.max(rx, ry) + 1;
  const x0 = Math.max(0, Math.floor(x - reach));
  const x1 = Math.min(width - 1, Math.ceil(x + reach));
  const y0 = Math.max(0, Math.floor(y - reach));
  const y1 = Math.min(height - 1, Math.ceil(y + reach));
  const cos = Math.cos(turn);
  const sin = Math.sin(turn);
  const edge = Math.max(0.5, Math.min(rx, ry));
  // What is thinner than a pixel is drawn as faint as it is thin.
  const faint = alpha * Math.min(1, rx / 0.5) * Math.min(1, ry / 0.5);
  const wide = Math.max(rx, 0.5);
  const tall = Math.max(ry, 0.5);
  for (let py = y0; py <= y1; py += 1)
    for (let px = x0; px <= x1; px += 1) {
      const dx = px + 0.5 - x;
      const dy = py + 0.5 - y;
      const u = (dx * cos + dy * sin) / wide;
      const v = (dy * cos - dx * sin) / tall;
      const cover = clamp((1 - Math.sqrt(u * u + v * v)) * edge + 0.5) * faint;
      if (cover <= 0.004) continue;
      const at = (py * width + px) * 3;
      for (let each = 0; each < 3; each += 1)
        rgb[at + each] = rgb[at + each]! + (colour[each]! - rgb[at + each]!) * cover;
    }
};
