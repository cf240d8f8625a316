/** How near each part of an image is, told from how images usually are: by place, detail and light. */

/** A map of numbers over an image. */
export interface Field {
  width: number;
  height: number;
  values: Float32Array;
}

const clamp = (value: number): number => Math.min(1, Math.max(0, value));

/** One pass of a box blur along rows or columns, with the edge going on. */
const blurOnce = ({ width, height, values }: Field, radius: number, down: boolean): Field => {
  const blurred = new Float32Array(values.length);
  const [lines, length, step, jump] = down ? [width, height, width, 1] : [height, width, 1, width];
  for (let line = 0; line < lines; line += 1) {
    const from = line * jump;
    const value = (at: number) => values[from + Math.min(length - 1, Math.max(0, at)) * step] ?? 0;
    let sum = 0;
    for (let at = -radius; at <= radius; at += 1) sum += value(at);
    for (let at = 0; at < length; at += 1) {
      blurred[from + at * step] = sum / (radius * 2 + 1);
      sum += value(at + radius + 1) - value(at - radius);
    }
  }
  return { width, height, values: blurred };
};

/** Two passes each way: soft enough that nothing tears where near and far meet. */
export const blur = (field: Field, radius: number): Field => {
  let soft = field;
  for (let pass = 0; pass < 2; pass += 1)
    soft = blurOnce(blurOnce(soft, radius, false), radius, true);
  return soft;
};

/**
 * 0 far to 1 near. What stands low, in the middle, is rich in detail or colour counts as near; what
 * is high, even and light, as the sky is, as far.
 * @param rgb three bytes a pixel
 */
export const nearness = (rgb: Uint8Array, width: number, height: number): Field => {
  const light = new Float32Array(width * height);
  const colour = new Float32Array(width * height);
  for (let at = 0; at < width * height; at += 1) {
    const red = rgb[at * 3] ?? 0;
    const green = rgb[at * 3 + 1] ?? 0;
    const blue = rgb[at * 3 + 2] ?? 0;
    light[at] = (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
    colour[at] = (Math.max(red, green, blue) - Math.min(red, green, blue)) / 255;
  }
  const detail = new Float32Array(width * height);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const at = y * width + x;
      const here = light[at] ?? 0;
      const right = light[x + 1 < width ? at + 1 : at] ?? 0;
      const below = light[y + 1 < height ? at + width : at] ?? 0;
      detail[at] = Math.min(1, (Math.abs(right - here) + Math.abs(below - here)) * 6);
    }
  const rich = blur({ width, height, values: detail }, Math.max(2, Math.round(width / 24)));
  const near = new Float32Array(width * height);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const at = y * width + x;
      const low = y / Math.max(1, height - 1);
      const middle = 1 - Math.min(1, Math.abs(x / Math.max(1, width - 1) - 0.5) * 2) ** 2;
      const detailed = clamp((rich.values[at] ?? 0) * 2.4);
      const sky = (1 - low) * (1 - detailed) * (light[at] ?? 0);
      near[at] = clamp(
        0.5 * low + 0.28 * detailed + 0.12 * middle + 0.16 * (colour[at] ?? 0) - 0.3 * sky,
      );
    }
  return blur({ width, height, values: near }, Math.max(2, Math.round(width / 28)));
};

/** The same map with other sides, evenly between its points. */
export const stretched = (field: Field, width: number, height: number): Float32Array => {
  const grown = new Float32Array(width * height);
  for (let y = 0; y < height; y += 1) {
    const v = ((y + 0.5) / height) * field.height - 0.5;
    const top = Math.min(field.height - 1, Math.max(0, Math.floor(v)));
    const bottom = Math.min(field.height - 1, top + 1);
    const part = clamp(v - top);
    for (let x = 0; x < width; x += 1) {
      const u = ((x + 0.5) / width) * field.width - 0.5;
      const left = Math.min(field.width - 1, Math.max(0, Math.floor(u)));
      const right = Math.min(field.width - 1, left + 1);
      const across = clamp(u - left);
      const at = (row: number, column: number) => field.values[row * field.width + column] ?? 0;
      const upper = at(top, left) * (1 - across) + at(top, right) * across;
      const lower = at(bottom, left) * (1 - across) + at(bottom, right) * across;
      grown[y * width + x] = upper * (1 - part) + lower * part;
    }
  }
  return grown;
};
