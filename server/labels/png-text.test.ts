import sharp from 'sharp';
import { expect, test } from 'vitest';
import { parametersKeyword, readPngText, withPngText } from './png-text.ts';

const plain = () =>
  sharp({ create: { width: 5, height: 4, channels: 3, background: '#336699' } })
    .png()
    .toBuffer();

test('a text goes into a PNG and comes out again; the pixels stay', async () => {
  const png = await plain();
  const text = '水墨山水，一叶扁舟 🛶\nSteps: 20, Seed: 42';
  const marked = withPngText(png, parametersKeyword, text);
  expect(readPngText(marked, parametersKeyword)).toBe(text);
  expect(readPngText(png, parametersKeyword)).toBeNull();
  expect(readPngText(marked, 'Comment')).toBeNull();
  const pixels = (data: Buffer) => sharp(data, { failOn: 'warning' }).raw().toBuffer();
  expect((await pixels(marked)).equals(await pixels(png))).toBe(true);
  // libvips reads it as other programs do.
  const { comments } = await sharp(marked).metadata();
  expect(comments?.some((each) => each.text === text)).toBe(true);
});

test('what is no PNG, and a keyword that none may be, are refused', async () => {
  const png = await plain();
  expect(() => withPngText(Buffer.from('GIF89a'), 'parameters', 'a')).toThrow('not a PNG');
  expect(() => readPngText(png.subarray(0, 40), 'parameters')).toThrow('cut off');
  expect(() => withPngText(png, '', 'a')).toThrow('keyword');
  expect(() => withPngText(png, '键', 'a')).toThrow('keyword');
});
