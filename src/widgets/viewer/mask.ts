import type { ImageParameters } from '#contract/image.ts';
import { limits } from '#contract/limits.ts';

/** What was marked with a finger or the mouse, in pixels of the image. */
export interface Mark {
  /** How thick its line is. */
  size: number;
  points: { x: number; y: number }[];
  /** It is an outline: all within it counts, too. */
  area?: boolean;
  erase?: boolean;
}

export interface Mask {
  marks: readonly Mark[];
  inverted: boolean;
}

export const noMask: Mask = { marks: [], inverted: false };

interface Size {
  width: number;
  height: number;
}

export const pointsOf = ({ marks }: Mask): number =>
  marks.reduce((sum, { points }) => sum + points.length, 0);

/** Whether there is room for another mark. */
export const hasRoom = (mask: Mask): boolean =>
  mask.marks.length < limits.brush.strokes && pointsOf(mask) < limits.brush.points;

export const isEmpty = ({ marks, inverted }: Mask): boolean =>
  !inverted && marks.every(({ erase }) => erase === true);

/** A mark of a rectangle between two corners. */
export const rectangle = (a: { x: number; y: number }, b: { x: number; y: number }): Mark => ({
  size: 1,
  area: true,
  points: [a, { x: b.x, y: a.y }, b, { x: a.x, y: b.y }],
});

const wholeOf = ({ width, height }: Size) => ({ left: 0, top: 0, width, height });

/** The rectangle that holds all marks, within the image. */
const boundsOf = ({ marks }: Mask, size: Size) => {
  let [left, top, right, bottom] = [size.width, size.height, 0, 0];
  for (const { size: thick, points, erase, area } of marks) {
    if (erase) continue;
    const half = area ? 0 : thick / 2;
    for (const { x, y } of points) {
      left = Math.min(left, x - half);
      top = Math.min(top, y - half);
      right = Math.max(right, x + half);
      bottom = Math.max(bottom, y + half);
    }
  }
  left = Math.max(0, Math.floor(left));
  top = Math.max(0, Math.floor(top));
  return {
    left,
    top,
    width: Math.max(1, Math.min(size.width, Math.ceil(right)) - left),
    height: Math.max(1, Math.min(size.height, Math.ceil(bottom)) - top),
  };
};

const isRectangle = ({ marks, inverted }: Mask): boolean => {
  const [only] = marks;
  return (
    !inverted &&
    marks.length === 1 &&
    only?.area === true &&
    only.size === 1 &&
    only.points.length === 4
  );
};

/** What was marked as the calls take it. */
export const maskParameters = (
  mask: Mask,
  size: Size,
): Required<Pick<ImageParameters, 'mask'>> & Pick<ImageParameters, 'brush' | 'brush_inverted'> => {
  const bounds = mask.inverted ? wholeOf(size) : boundsOf(mask, size);
  if (isRectangle(mask)) return { mask: bounds };
  const marks =
    mask.marks.length > 0 ? mask.marks : [{ size: 1, points: [{ x: 0, y: 0 }], erase: true }];
  return {
    mask: bounds,
    brush: marks.map(({ size: thick, points, area, erase }) => ({
      size: Math.max(1, Math.round(thick)),
      points: points.flatMap(({ x, y }) => [Math.round(x), Math.round(y)]),
      ...(area ? { area } : {}),
      ...(erase ? { erase } : {}),
    })),
    ...(mask.inverted ? { brush_inverted: true } : {}),
  };
};

/** Draws a mask into a canvas of the image's shape, in the context's own colour. */
export const drawMask = (
  canvas: HTMLCanvasElement,
  mask: Mask,
  size: Size,
  colour: string,
): void => {
  const context = canvas.getContext('2d');
  if (!context) return;
  const scale = canvas.width / size.width;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.globalCompositeOperation = 'source-over';
  context.clearRect(0, 0, size.width, size.height);
  context.strokeStyle = colour;
  context.fillStyle = colour;
  context.lineCap = 'round';
  context.lineJoin = 'round';
  if (mask.inverted) context.fillRect(0, 0, size.width, size.height);
  for (const { size: thick, points, area, erase } of mask.marks) {
    const [first, ...rest] = points;
    if (!first) continue;
    context.globalCompositeOperation =
      (erase === true) === mask.inverted ? 'source-over' : 'destination-out';
    context.lineWidth = thick;
    context.beginPath();
    context.moveTo(first.x, first.y);
    // A touch without a movement is a dot.
    context.lineTo(first.x + 0.01, first.y);
    for (const { x, y } of rest) context.lineTo(x, y);
    if (area) {
      context.closePath();
      context.fill();
    }
    context.stroke();
  }
};
