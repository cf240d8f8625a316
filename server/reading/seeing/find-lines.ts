import { type Grey, inked, type Part, partOf } from './grey.ts';
import type { Loaded } from './networks.ts';

/** The longer side of what the network looks at, pixels. */
const looked = 1280;
/** From which on a pixel counts as ink of a line, and the mean of a whole one. */
const least = 0.3;
const leastMean = 0.5;
/** A line's ink is found smaller than it is: by so much of its area round it. */
const larger = 1.6;
const means = [0.485, 0.456, 0.406] as const;
const spreads = [0.229, 0.224, 0.225] as const;

/** Islands of ink in a map, each with its mean. */
const islands = (map: Float32Array, width: number, height: number) => {
  const seen = new Uint8Array(width * height);
  const found: { left: number; top: number; right: number; bottom: number; mean: number }[] = [];
  const stack = new Int32Array(width * height);
  for (let start = 0; start < map.length; start += 1) {
    if (seen[start] !== 0 || map[start]! < least) continue;
    let [left, top, right, bottom] = [width, height, 0, 0];
    let [sum, count, depth] = [0, 0, 1];
    stack[0] = start;
    seen[start] = 1;
    while (depth > 0) {
      depth -= 1;
      const at = stack[depth]!;
      const x = at % width;
      const y = (at - x) / width;
      sum += map[at]!;
      count += 1;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      if (y > bottom) bottom = y;
      for (const next of [
        x > 0 ? at - 1 : -1,
        x < width - 1 ? at + 1 : -1,
        y > 0 ? at - width : -1,
        y < height - 1 ? at + width : -1,
      ])
        if (next >= 0 && seen[next] === 0 && map[next]! >= least) {
          seen[next] = 1;
          stack[depth] = next;
          depth += 1;
        }
    }
    found.push({ left, top, right, bottom, mean: sum / count });
  }
  return found;
};

/** The lines of a picture whose lines are level. */
export const findLines = async (grey: Grey, { network, runtime }: Loaded): Promise<Part[]> => {
  const scale = Math.min(1, looked / Math.max(grey.width, grey.height));
  // The margins of a page are a third of it, and of the network's time.
  const part = await inked(grey);
  const width = Math.max(32, Math.round((part.width * scale) / 32) * 32);
  const height = Math.max(32, Math.round((part.height * scale) / 32) * 32);
  const small = await partOf(grey, part, { width, height });
  const input = new Float32Array(3 * width * height);
  for (let channel = 0; channel < 3; channel += 1) {
    const [mean, spread] = [means[channel]!, spreads[channel]!];
    const from = channel * width * height;
    for (let at = 0; at < small.data.length; at += 1)
      input[from + at] = (small.data[at]! / 255 - mean) / spread;
  }
  const [name = ''] = network.inputNames;
  const made = await network.run({
    [name]: new runtime.Tensor('float32', input, [1, 3, height, width]),
  });
  const map = made[network.outputNames[0] ?? '']?.data ?? new Float32Array();
  const [byX, byY] = [part.width / width, part.height / height];
  return islands(map, width, height).flatMap(({ left, top, right, bottom, mean }) => {
    const [wide, high] = [right - left + 1, bottom - top + 1];
    if (mean < leastMean || Math.min(wide, high) < 3) return [];
    const round = (wide * high * larger) / (2 * (wide + high));
    const box = {
      left: Math.max(0, Math.round(part.left + (left - round) * byX)),
      top: Math.max(0, Math.round(part.top + (top - round) * byY)),
    };
    return [
      {
        ...box,
        width: Math.min(grey.width - box.left, Math.round((wide + 2 * round) * byX)),
        height: Math.min(grey.height - box.top, Math.round((high + 2 * round) * byY)),
      },
    ];
  });
};
