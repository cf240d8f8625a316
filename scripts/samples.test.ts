import path from 'node:path';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { ideaShapes, imageIdeas } from '#contract/image-ideas.ts';

const samples = path.resolve(import.meta.dirname, '../public/samples');

it.each(imageIdeas)('the sample of $name has its shape', async ({ name, shape }) => {
  const { width, height } = await sharp(path.join(samples, `idea-${name}.webp`)).metadata();
  const [wide, high] = ideaShapes[shape];
  expect(width / height).toBeCloseTo(wide / high, 2);
});
