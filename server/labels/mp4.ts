import { type Aigc, aigcText, aigcXmp, readAigc } from './aigc.ts';

/**
 * The label in MP4: a key AIGC of the film's metadata (moov/meta with keys and ilst), which players
 * and ffprobe read, and XMP in a box of its own behind everything.
 */

const key = 'AIGC';
/** UTF-8, as a value of metadata says it. */
const utf8 = 1;
const xmpId = Buffer.from('be7acfcb97a942e89c71999491e3afac', 'hex');

const box = (type: string, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
};
const u32 = (...values: number[]): Buffer => {
  const all = Buffer.alloc(values.length * 4);
  for (const [at, value] of values.entries()) all.writeUInt32BE(value, at * 4);
  return all;
};

interface Box {
  type: string;
  from: number;
  /** Where what it holds begins, and it ends. */
  body: number;
  end: number;
}

/** Boxes one after the other. @throws Error where they do not fit into each other */
function* boxesOf(data: Buffer, from: number, to: number): Generator<Box> {
  for (let at = from; at + 8 <= to;) {
    let size = data.readUInt32BE(at);
    let head = 8;
    if (size === 1) {
      if (at + 16 > to) throw new Error('a box that is cut off');
      size = Number(data.readBigUInt64BE(at + 8));
      head = 16;
    } else if (size === 0) size = to - at;
    if (size < head || at + size > to) throw new Error('a box that is cut off');
    yield {
      type: data.toString('latin1', at + 4, at + 8),
      from: at,
      body: at + head,
      end: at + size,
    };
    at += size;
  }
}

const holders = new Set(['trak', 'mdia', 'minf', 'stbl']);

/** Moves what the tables of a film say of where its samples stand. */
const shiftOffsets = (moov: Buffer, from: number, to: number, by: number): void => {
  for (const { type, body, end } of boxesOf(moov, from, to)) {
    if (holders.has(type)) shiftOffsets(moov, body, end, by);
    if (type !== 'stco' && type !== 'co64') continue;
    const wide = type === 'co64' ? 8 : 4;
    const count = moov.readUInt32BE(body + 4);
    if (body + 8 + count * wide > end) throw new Error('a table that is cut off');
    for (let at = body + 8, left = count; left > 0; left -= 1, at += wide)
      if (wide === 8) moov.writeBigUInt64BE(moov.readBigUInt64BE(at) + BigInt(by), at);
      else moov.writeUInt32BE(moov.readUInt32BE(at) + by, at);
  }
};

const metaOf = (text: string): Buffer =>
  box(
    'meta',
    u32(0),
    box('hdlr', u32(0, 0), Buffer.from('mdta', 'latin1'), u32(0, 0, 0), Buffer.alloc(1)),
    box('keys', u32(0, 1), box('mdta', Buffer.from(key, 'latin1'))),
    box(
      'ilst',
      (() => {
        const value = box('data', u32(utf8, 0), Buffer.from(text, 'utf8'));
        return Buffer.concat([u32(value.length + 8, 1), value]);
      })(),
    ),
  );

/** A film with a label. @throws Error for what is no MP4 */
export const labelledMp4 = (data: Buffer, label: Aigc): Buffer => {
  const top = [...boxesOf(data, 0, data.length)];
  const moov = top.find(({ type }) => type === 'moov');
  if (!moov || moov.body - moov.from !== 8) throw new Error('an MP4 without its head');
  const inside = [...boxesOf(data, moov.body, moov.end)];
  const xmp = box('uuid', xmpId, Buffer.from(aigcXmp(label), 'utf8'));
  // A box that reaches to the end of the file has to say its length before anything follows it.
  const last = Buffer.from(data.subarray(top.at(-1)!.from, top.at(-1)!.from + 8));
  if (last.readUInt32BE(0) === 0) throw new Error('an MP4 whose last box is open');
  // Fragments say where they stand from the beginning of the file, each in its own way.
  const movable = !top.some(({ type }) => type === 'moof');
  if (!movable || inside.some(({ type }) => type === 'meta')) return Buffer.concat([data, xmp]);
  const meta = metaOf(aigcText(label));
  const head = Buffer.concat([data.subarray(moov.from, moov.end), meta]);
  head.writeUInt32BE(head.length);
  const shifted = top.some(({ type, from }) => type === 'mdat' && from > moov.from);
  if (shifted) shiftOffsets(head, 8, head.length - meta.length, meta.length);
  return Buffer.concat([data.subarray(0, moov.from), head, data.subarray(moov.end), xmp]);
};

/** The label under the key of a film's metadata; null: there is none. @throws Error: no MP4 */
export const readMp4Label = (data: Buffer): Aigc | null => {
  for (const { type, body, end } of boxesOf(data, 0, data.length)) {
    if (type !== 'moov') continue;
    const meta = [...boxesOf(data, body, end)].find((each) => each.type === 'meta');
    if (!meta) return null;
    // A text begins with its kind and its place; what is no JSON is another value.
    const at = data.subarray(meta.from, meta.end).indexOf('{"Label"');
    if (at < 0) return null;
    const from = meta.from + at;
    const until = data.indexOf('}', from);
    return until < 0 ? null : readAigc(data.toString('utf8', from, until + 1));
  }
  return null;
};
