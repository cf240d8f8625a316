import { type Grey, type Part, partOf } from './grey.ts';
import type { LineNetwork } from './networks.ts';

/** The height that the network reads, pixels, and the widest that it is given at once. */
const lineHeight = 48;
const widest = 2400;
/** Letters are read nearly as well when they are drawn narrower, and sooner (tests/load/seeing.ts). */
const narrower = 0.65;
/** Less sure than that on the whole, it is no text. */
const leastSure = 0.5;

/** What was read in a line, and how sure the network is of it: on the whole, and of the worst letter. */
export interface ReadLine {
  text: string;
  sure: number;
  least: number;
}

/** A line of a picture in the size that it is read in. */
export const linePart = (grey: Grey, box: Part, wide = narrower): Promise<Grey> => {
  const scaled = Math.ceil((box.width * wide * lineHeight) / box.height / 8) * 8;
  const width = Math.min(widest, Math.max(48, scaled));
  return partOf(grey, box, { width, height: lineHeight });
};

/** What stands in a line; empty: nothing that is text. */
export const readLine = async (
  { data: pixels, width, height }: Grey,
  { network, runtime, letters }: LineNetwork,
): Promise<ReadLine> => {
  const area = width * height;
  const input = new Float32Array(3 * area);
  for (let at = 0; at < area; at += 1) input[at] = pixels[at]! / 127.5 - 1;
  input.copyWithin(area, 0, area);
  input.copyWithin(2 * area, 0, area);
  const [name = ''] = network.inputNames;
  const made = await network.run({
    [name]: new runtime.Tensor('float32', input, [1, 3, height, width]),
  });
  const { data, dims } = made[network.outputNames[0] ?? ''] ?? { data: [], dims: [] };
  const [, steps = 0, count = 0] = dims;
  let text = '';
  let sure = 0;
  let read = 0;
  let least = 1;
  let last = 0;
  for (let step = 0; step < steps; step += 1) {
    const from = step * count;
    let best = 0;
    for (let at = 1; at < count; at += 1) if (data[from + at]! > data[from + best]!) best = at;
    if (best !== 0 && best !== last) {
      text += letters[best] ?? '';
      sure += data[from + best]!;
      least = Math.min(least, data[from + best]!);
      read += 1;
    }
    last = best;
  }
  const whole = read > 0 ? sure / read : 0;
  return { text: whole >= leastSure ? text : '', sure: whole, least };
};
