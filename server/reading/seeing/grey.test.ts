import { expect, test } from 'vitest';
import { inked } from './grey.ts';

test.each([
  [14, 10_000],
  [10_000, 14],
  [3, 9_000],
  [1_400, 2_000],
])('what is written low on a picture of %i × %i is within it', async (width, height) => {
  const data = Buffer.alloc(width * height, 255);
  const from = Math.floor(height * 0.9);
  const to = Math.floor(height * 0.95) + 1;
  for (let y = from; y < to; y += 1)
    for (let x = 0; x < width; x += 1) if ((x >> 1) % 2 === 1) data[y * width + x] = 0;
  const part = await inked({ data, width, height });
  expect(part.left).toBeGreaterThanOrEqual(0);
  expect(part.top).toBeGreaterThanOrEqual(0);
  expect(part.left + part.width).toBeLessThanOrEqual(width);
  expect(part.top).toBeLessThanOrEqual(from);
  expect(part.top + part.height).toBeGreaterThanOrEqual(to);
  expect(part.top + part.height).toBeLessThanOrEqual(height);
});
