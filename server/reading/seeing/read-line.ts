import type { LineBox } from './find-lines.ts';
import { type Grey, partOf } from './grey.ts';
import type { Networks } from './networks.ts';

/** The height that the network reads, pixels, and the widest that it is given at once. */
const lineHeight = 48;
const widest = 2400;
/** Letters are read as well when they are drawn narrower, and sooner. */
const narrower = 0.75;
/** Less sure than that on the whole, it is no text. */
const leastSure = 0.5;

/** What stands in a line of a picture; empty: nothing that is text. */
export const readLine = async (
  grey: Grey,
  box: LineBox,
  { reader, runtime, letters }: Networks,
): Promise<string> => {
  const scaled = Math.ceil((box.width * narrower * lineHeight) / box.height / 8) * 8;
  const width = Math.min(widest, Math.max(48, scaled));
  const part = await partOf(grey, box, { width, height: lineHeight });
  const area = width * lineHeight;
  const input = new Float32Array(3 * area);
  for (let at = 0; at < area; at += 1) input[at] = part.data[at]! / 127.5 - 1;
  input.copyWithin(area, 0, area);
  input.copyWithin(2 * area, 0, area);
  const [name = ''] = reader.inputNames;
  const made = await reader.run({
    [name]: new runtime.Tensor('float32', input, [1, 3, lineHeight, width]),
  });
  const { data, dims } = made[reader.outputNames[0] ?? ''] ?? { data: [], dims: [] };
  const [, steps = 0, count = 0] = dims;
  let text = '';
  let sure = 0;
  let read = 0;
  let last = 0;
  for (let step = 0; step < steps; step += 1) {
    const from = step * count;
    let best = 0;
    for (let at = 1; at < count; at += 1) if (data[from + at]! > data[from + best]!) best = at;
    if (best !== 0 && best !== last) {
      text += letters[best] ?? '';
      sure += data[from + best]!;
      read += 1;
    }
    last = best;
  }
  return read > 0 && sure / read >= leastSure ? text : '';
};
