import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { openImage } from './open-image.ts';

const picture = () =>
  sharp({ create: { width: 64, height: 48, channels: 3, background: '#828487' } });
const little = (value: number, bytes = 4) => {
  const made = Buffer.alloc(bytes);
  made.writeUIntLE(value, 0, bytes);
  return made;
};
const segment = (marker: number, data: Buffer) =>
  Buffer.concat([Buffer.from([0xff, marker, ...little(data.length + 2, 2).reverse()]), data]);

/** A JPEG with something put before its first table. */
const jpegWith = async (more: Buffer) => {
  const jpeg = await picture().jpeg().toBuffer();
  return Buffer.concat([jpeg.subarray(0, 2), more, jpeg.subarray(2)]);
};
/** A picture that is decoded in so many ways through all its pixels. */
const jpegOfScans = async (count: number) => {
  const jpeg = await picture().jpeg({ progressive: true }).toBuffer();
  const first = jpeg.indexOf(Buffer.from([0xff, 0xda]));
  let end = first + 2;
  while (jpeg[end] !== 0xff || jpeg[end + 1] === 0) end += 1;
  // Zeros of one coefficient, bit after bit.
  const scan = jpeg.subarray(first, end);
  const scans = Array.from({ length: count - 1 }, () => scan);
  return Buffer.concat([jpeg.subarray(0, end), ...scans, Buffer.from([0xff, 0xd9])]);
};
/** What a camera writes, whose list of entries points to itself. */
const exifOf = (entries: number) => {
  const entry = Buffer.concat([little(0x8769, 2), little(4, 2), little(1), little(8)]);
  const list = [little(entries, 2), ...Array.from({ length: entries }, () => entry), little(0)];
  return Buffer.concat([Buffer.from('II*\0'), little(8), ...list]);
};
const chunk = (name: string, data: Buffer) =>
  Buffer.concat([Buffer.from(name), little(data.length), data, Buffer.alloc(data.length % 2)]);
/** A WebP of so many moving pictures, or of one and what a camera wrote. */
const webpOf = async (frames: number, exif?: Buffer) => {
  const one = (await picture().webp().toBuffer()).subarray(12);
  const sides = [little(63, 3), little(47, 3)];
  const frame = chunk('ANMF', Buffer.concat([Buffer.alloc(6), ...sides, little(10), one]));
  const moving = [chunk('ANIM', Buffer.alloc(6)), ...Array.from({ length: frames }, () => frame)];
  const parts = exif ? [one, chunk('EXIF', exif)] : moving;
  const head = chunk('VP8X', Buffer.concat([little(exif ? 8 : 2), ...sides]));
  const body = Buffer.concat([Buffer.from('WEBP'), head, ...parts]);
  return Buffer.concat([Buffer.from('RIFF'), little(body.length), body]);
};
const pngWith = async (...more: [string, Buffer][]) => {
  const png = await picture().png().toBuffer();
  const made = more.map(([name, data]) => {
    const named = Buffer.concat([Buffer.from(name), data]);
    return Buffer.concat([little(data.length).reverse(), named, little(crc32(named)).reverse()]);
  });
  return Buffer.concat([png.subarray(0, 33), ...made, png.subarray(33)]);
};
const packed = (count: number) =>
  pngWith(
    ...Array.from({ length: count }, (): [string, Buffer] => [
      'zTXt',
      Buffer.concat([Buffer.from('a\0\0'), deflateSync(Buffer.alloc(1000))]),
    ]),
  );

test('a picture of few pixels that a decoder would work on for minutes is none', async () => {
  const exif = (entries: number) => Buffer.concat([Buffer.from('Exif\0\0'), exifOf(entries)]);
  const bombs = {
    scans: await jpegOfScans(101),
    'entries of a JPEG': await jpegWith(segment(0xe1, exif(300))),
    'entries of a PNG': await pngWith(['eXIf', exifOf(300)]),
    'entries of a WebP': await webpOf(0, exifOf(300)),
    frames: await webpOf(2001),
    'packed texts': await packed(21),
  };
  for (const [name, data] of Object.entries(bombs))
    await expect(openImage(data), name).rejects.toThrow('too many parts');
});

test('what cameras, programs and moving pictures have is taken', async () => {
  const photo = picture().withExif({ IFD0: { Make: 'a' }, IFD2: { FNumber: '1/2' } });
  // A film behind the picture may hold anything.
  const behind = Buffer.concat(Array.from({ length: 300 }, () => Buffer.from([0xff, 0xda, 0, 2])));
  const good = {
    progressive: await picture().jpeg({ mozjpeg: true }).toBuffer(),
    behind: Buffer.concat([await photo.jpeg().toBuffer(), behind]),
    inside: await jpegWith(segment(0xe5, behind)),
    png: await photo.png().toBuffer(),
    webp: await photo.webp().toBuffer(),
    frames: await webpOf(500),
    'packed texts': await packed(10),
  };
  for (const [name, data] of Object.entries(good)) {
    const { image, width } = await openImage(data, { failOn: 'truncated' });
    expect(width, name).toBe(64);
    expect((await image.raw().toBuffer()).length, name).toBeGreaterThan(64 * 48 * 2);
  }
});
