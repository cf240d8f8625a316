import { once } from 'node:events';
import { crc32, createInflate } from 'node:zlib';

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const headLength = 13;
const indexed = 3;
/** Of the colours that a palette may have, bytes; of what says how they shine through, by colour type. */
const paletteBytes = 768;
const shineBytes: Readonly<Record<number, number>> = { 0: 2, 2: 6, [indexed]: 256 };

/** Whether packed pixels end where they say they do, with nothing behind. */
const endsWhole = async (packed: readonly Buffer[]): Promise<boolean> => {
  const inflate = createInflate();
  inflate.resume();
  const ended = once(inflate, 'end').then(
    () => true,
    () => false,
  );
  for (const part of packed) inflate.write(part);
  inflate.end();
  const all = packed.reduce((sum, { length }) => sum + length, 0);
  return (await ended) && inflate.bytesWritten === all;
};

const chunk = (type: string, body: Buffer): Buffer => {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const around = Buffer.alloc(8);
  around.writeUInt32BE(body.length, 0);
  around.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([around.subarray(0, 4), named, around.subarray(4)]);
};

/**
 * A PNG that was read whole already, without all that is not needed to see it: words, places, times,
 * and whatever stands behind its pixels. Null where it is not so plain that this is sure.
 */
export const strippedPng = async (data: Buffer): Promise<Buffer | null> => {
  if (!data.subarray(0, 8).equals(signature)) return null;
  const kept: Buffer[] = [signature];
  const pixels: Buffer[] = [];
  let colours = -1;
  for (let at = 8; at + 12 <= data.length;) {
    const length = data.readUInt32BE(at);
    const type = data.toString('latin1', at + 4, at + 8);
    const body = data.subarray(at + 8, at + 8 + length);
    if (body.length !== length) return null;
    at += 12 + length;
    if (type === 'IHDR') {
      if (colours >= 0 || length !== headLength) return null;
      colours = body[9] ?? -1;
    } else if (type === 'PLTE') {
      if (colours !== indexed) continue;
      if (length > paletteBytes) return null;
    } else if (type === 'tRNS') {
      if (length > (shineBytes[colours] ?? 0)) return null;
    } else if (type === 'IDAT') pixels.push(body);
    else if (type === 'IEND') {
      kept.push(chunk(type, Buffer.alloc(0)));
      return colours >= 0 && (await endsWhole(pixels)) ? Buffer.concat(kept) : null;
    } else continue;
    kept.push(chunk(type, body));
  }
  return null;
};
