import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { carryLabel } from './carry-label.ts';

const label = '{"Label":"1","ContentProducer":"001191110108MA01ABCD0X10001","ProduceID":"abc"}';
const xmp = `<rdf:Description><TC260:AIGC>${label.replaceAll('"', '&quot;')}</TC260:AIGC><exif:GPSLatitude>31,14N</exif:GPSLatitude></rdf:Description>`;
const bytes = (text: string) => Buffer.from(text, 'latin1');
const chunk = (type: string, data: Buffer) => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, bytes(type), data, Buffer.alloc(4)]);
};
const png = (...chunks: Buffer[]) => Buffer.concat([bytes('\x89PNG\r\n\x1a\n'), ...chunks]);
const jpeg = bytes('\xff\xd8\xff\xda picture');

const carried = async (from: Buffer) => {
  const made = await carryLabel(
    new Blob([new Uint8Array(from)]),
    new Blob([new Uint8Array(jpeg)], { type: 'image/jpeg' }),
  );
  const out = Buffer.from(await made.arrayBuffer());
  const length = out.readUInt16BE(4);
  if (out.length > jpeg.length)
    expect(out.subarray(4 + length).toString('latin1')).toBe('\xff\xda picture');
  return out.toString();
};

test('what an image says of its making goes along through a canvas, and nothing else does', async () => {
  const keyword = 'XML:com.adobe.xmp';
  const packed = Buffer.concat([bytes(`${keyword}\0\0`), deflateSync(xmp)]);
  for (const source of [
    Buffer.concat([bytes('\xff\xd8\xff\xe1'), Buffer.from(xmp)]),
    png(chunk('iTXt', bytes(`${keyword}\0\0\0\0\0${xmp}`))),
    png(chunk('zTXt', packed)),
  ]) {
    const text = await carried(source);
    expect(text).toContain(label.replaceAll('"', '&quot;'));
    expect(text).not.toContain('GPS');
  }
  const drawn = png(chunk('tEXt', bytes('parameters\0a moon\nSteps: 20, Sampler: Euler a')));
  expect(await carried(drawn)).toContain('"Label":"3"');
  expect(await carried(png(chunk('IDAT', bytes('pixels'))))).toBe(jpeg.toString());
});
