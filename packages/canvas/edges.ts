import { clamp, distance, mix, smooth } from './chance.ts';
import { blurPlane, type Canvas } from './raster.ts';
import { softened } from './photo.ts';

/** Lines and areas found in an image, as the kinds of controlnet have them. */

export const edgeKinds = ['canny', 'lineart', 'softedge', 'scribble', 'tile'] as const;
export type EdgeKind = (typeof edgeKinds)[number];

/** The kind that a module's or a type's name means; null: none that is built in. */
export const edgeKindOf = (module: string): EdgeKind | null => {
  const name = module.toLowerCase().replaceAll(/[^a-z]/g, '');
  return edgeKinds.find((kind) => name.startsWith(kind)) ?? null;
};

const brightness = ({ rgb, width, height }: Canvas): Float32Array => {
  const plane = new Float32Array(width * height);
  for (let at = 0; at < plane.length; at += 1)
    plane[at] = rgb[at * 3]! * 0.299 + rgb[at * 3 + 1]! * 0.587 + rgb[at * 3 + 2]! * 0.114;
  return plane;
};

interface Slopes {
  strength: Float32Array;
  dx: Float32Array;
  dy: Float32Array;
}

const slopesOf = (plane: Float32Array, width: number, height: number): Slopes => {
  const slopes = {
    strength: new Float32Array(plane.length),
    dx: new Float32Array(plane.length),
    dy: new Float32Array(plane.length),
  };
  for (let y = 1; y < height - 1; y += 1)
    for (let x = 1; x < width - 1; x += 1) {
      const at = y * width + x;
      const a = plane[at - width - 1]!;
      const b = plane[at - width + 1]!;
      const c = plane[at + width - 1]!;
      const d = plane[at + width + 1]!;
      const dx = b + d - a - c + 2 * (plane[at + 1]! - plane[at - 1]!);
      const dy = c + d - a - b + 2 * (plane[at + width]! - plane[at - width]!);
      slopes.dx[at] = dx;
      slopes.dy[at] = dy;
      slopes.strength[at] = distance(dx, dy);
    }
  return slopes;
};

/** Canny: thin lines where the slope is greatest, followed from strong places to weak ones. */
const canny = (plane: Float32Array, width: number, height: number, low: number, high: number) => {
  const soft = Float32Array.from(plane);
  blurPlane(soft, width, height, 1);
  const { strength, dx, dy } = slopesOf(soft, width, height);
  const thin = new Float32Array(plane.length);
  for (let y = 1; y < height - 1; y += 1)
    for (let x = 1; x < width - 1; x += 1) {
      const at = y * width + x;
      const here = strength[at]!;
      if (here < low) continue;
      const turn = Math.abs(Math.atan2(dy[at]!, dx[at]!));
      const step =
        turn < 0.393 || turn > 2.749
          ? 1
          : turn > 1.178 && turn < 1.963
            ? width
            : dx[at]! * dy[at]! > 0
              ? width + 1
              : width - 1;
      if (here >= strength[at - step]! && here > strength[at + step]!) thin[at] = here;
    }
  const lines = new Float32Array(plane.length);
  const queue: number[] = [];
  for (let at = 0; at < thin.length; at += 1)
    if (thin[at]! >= high) {
      lines[at] = 1;
      queue.push(at);
    }
  while (queue.length > 0) {
    const at = queue.pop()!;
    for (const step of [-width - 1, -width, -width + 1, -1, 1, width - 1, width, width + 1]) {
      const next = at + step;
      if (next < 0 || next >= thin.length || lines[next]! > 0 || thin[next]! < low) continue;
      lines[next] = 1;
      queue.push(next);
    }
  }
  return lines;
};

/** Where an image is darker than around it: pen lines. */
const penLines = (plane: Float32Array, width: number, height: number, reach: number) => {
  const fine = Float32Array.from(plane);
  const wide = Float32Array.from(plane);
  blurPlane(fine, width, height, reach);
  blurPlane(wide, width, height, reach * 2.6);
  return Float32Array.from(plane, (_, at) => wide[at]! - fine[at]!);
};

/** Is it a drawing already: few dark lines on light paper, or the reverse? 0: no. */
const drawnOn = (plane: Float32Array): 'light' | 'dark' | null => {
  let light = 0;
  let dark = 0;
  for (const value of plane) {
    if (value > 0.85) light += 1;
    if (value < 0.15) dark += 1;
  }
  const whole = plane.length;
  if (light + dark < whole * 0.93) return null;
  if (light > whole * 0.72) return 'light';
  return dark > whole * 0.72 ? 'dark' : null;
};

/** How strongly there is a line at each pixel, 0 to 1. `parameters`: thresholds of 0 to 255. */
export const linesOf = (
  canvas: Canvas,
  kind: Exclude<EdgeKind, 'tile'>,
  parameters: Record<string, number> = {},
): Float32Array => {
  const { width, height, unit } = canvas;
  const plane = brightness(canvas);
  const paper = drawnOn(plane);
  if (paper !== null && kind !== 'canny') {
    const lines = Float32Array.from(plane, (value) => (paper === 'light' ? 1 - value : value));
    if (kind === 'softedge') blurPlane(lines, width, height, Math.max(1, unit / 400));
    return lines;
  }
  if (kind === 'canny') {
    const threshold = (names: readonly string[], otherwise: number) => {
      const given = names.map((name) => parameters[name]).find((each) => Number.isFinite(each));
      return (clamp(given ?? otherwise, 1, 255) / 255) * 1.6;
    };
    const low = threshold(['low_threshold', 'threshold_a', 'thr_a'], 22);
    const high = threshold(['high_threshold', 'threshold_b', 'thr_b'], 52);
    return canny(plane, width, height, Math.min(low, high), Math.max(low, high));
  }
  if (kind === 'softedge') {
    const lines = new Float32Array(plane.length);
    for (const reach of [1, 2.5, 5]) {
      const soft = Float32Array.from(plane);
      blurPlane(soft, width, height, reach * Math.max(1, unit / 600));
      const { strength } = slopesOf(soft, width, height);
      for (let at = 0; at < lines.length; at += 1)
        lines[at] = Math.max(lines[at]!, strength[at]! * Math.sqrt(reach) * 1.3);
    }
    blurPlane(lines, width, height, Math.max(1, unit / 500));
    return lines.map((value) => clamp(value) ** 0.9);
  }
  const scribble = kind === 'scribble';
  const reach = Math.max(1, (unit / 512) * (scribble ? 2.2 : 1));
  const pen = penLines(plane, width, height, reach);
  const { strength } = slopesOf(plane, width, height);
  const lines = pen.map((value, at) =>
    scribble
      ? smooth(0.018, 0.04, value)
      : clamp(smooth(0.006, 0.06, value) * 0.9 + smooth(0.35, 1.4, strength[at]!) * 0.45),
  );
  if (scribble) blurPlane(lines, width, height, reach * 0.6);
  return scribble ? lines.map((value) => smooth(0.25, 0.6, value)) : lines;
};

/** How much the asked words and the control image weigh (document 2 §9). */
const weights = [0.75, 0.5, 0.95] as const;

/**
 * Lets a drawn image follow a control image of the same size: its lines are drawn into it, dark
 * by day and shining by night, with soft shade beside them; of `tile` the colours shine through.
 */
export const follow = (
  canvas: Canvas,
  control: Canvas,
  kind: EdgeKind,
  mode: 0 | 1 | 2,
  tone: { line: readonly [number, number, number]; shines: boolean },
): void => {
  const { rgb, width, height, unit } = canvas;
  const weight = weights[mode];
  if (kind === 'tile') {
    const own = softened(canvas, unit * 0.05);
    const other = softened(control, unit * 0.02);
    for (let at = 0; at < rgb.length; at += 1)
      rgb[at] = clamp(rgb[at]! + (other[at]! - own[at]!) * weight * 0.85);
    return;
  }
  const lines = linesOf(control, kind);
  if (kind === 'canny') {
    blurPlane(lines, width, height, Math.max(1, unit / 900));
    for (let at = 0; at < lines.length; at += 1) lines[at] = clamp(lines[at]! * 2.6);
  }
  const near = Float32Array.from(lines);
  blurPlane(near, width, height, unit / 60);
  const light = softened(control, unit * 0.03);
  for (let at = 0; at < lines.length; at += 1) {
    const shade = clamp(near[at]! * 2.2) * weight;
    const line = clamp(lines[at]!) * weight;
    const grey = (light[at * 3]! + light[at * 3 + 1]! + light[at * 3 + 2]!) / 3;
    for (let each = 0; each < 3; each += 1) {
      const under = rgb[at * 3 + each]!;
      // The light and shade of what is followed show through a little.
      const lit = under * mix(1, 0.72 + grey * 0.5, weight * 0.6);
      const held = tone.shines
        ? lit + tone.line[each]! * shade * 0.28 * (1 - lit)
        : lit * (1 - shade * 0.3);
      rgb[at * 3 + each] = mix(held, tone.line[each]!, line * 0.92);
    }
  }
};
