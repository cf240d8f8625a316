import type { markRaster } from '#server/labels/mark.ts';

/** How long films show that a model made them, s. */
export const markedFor = 2;

/** Draws grey words over a frame as I420 whose sides are even. */
export const drawMark = (
  frame: Uint8Array,
  width: number,
  height: number,
  mark: Awaited<ReturnType<typeof markRaster>>,
): void => {
  const half = width / 2;
  const blueFrom = width * height;
  const redFrom = blueFrom + blueFrom / 4;
  for (let y = 0; y < mark.height; y += 1)
    for (let x = 0; x < mark.width; x += 1) {
      const from = (y * mark.width + x) * mark.channels;
      const part = mark.data[from + mark.channels - 1]! / 255;
      const [left, top] = [mark.left + x, mark.top + y];
      const at = top * width + left;
      frame[at] = frame[at]! * (1 - part) + (16 + (mark.data[from]! * 219) / 255) * part;
      if (left % 2 !== 0 || top % 2 !== 0) continue;
      const colour = (top / 2) * half + left / 2;
      for (const plane of [blueFrom, redFrom])
        frame[plane + colour] = frame[plane + colour]! * (1 - part) + 128 * part;
    }
};
