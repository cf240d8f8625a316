import { expect, test } from 'vitest';
import { imageOfferOf } from './image-models.ts';

test.each([
  ['dall-e-3', 'dalle'],
  ['openai/dall-e-2', 'dalle'],
  ['gpt-image-1', 'openai'],
  ['gpt-image-1-mini', 'openai'],
  ['stable-diffusion-3.5-large', 'sd3'],
  ['sd3-medium', 'sd3'],
  ['stabilityai/stable-diffusion-3', 'sd3'],
  ['stabilityai/stable-diffusion-xl-base-1.0', 'openai'],
  ['wanx2.1-t2i-turbo', 'cloud'],
  ['qwen-image-plus', 'cloud'],
  ['cogview-4-250304', 'cloud'],
  ['doubao-seedream-4-0', 'cloud'],
  ['Kwai-Kolors/Kolors', 'cloud'],
  ['black-forest-labs/FLUX.1-schnell', 'openai'],
  ['imagen-4.0-generate', 'openai'],
])('%s makes images, of the family %s', (name, family) => {
  expect(imageOfferOf(name)?.image.family).toBe(family);
});

test.each([
  'gpt-4o-mini',
  'deepseek-chat',
  'qwen-vl-max',
  'swan-7b',
  'qwen-image-edit',
  'wan2.1-i2v-plus',
  'wan2.2-t2v',
  'sora-2',
  'text-embedding-3-small',
  'sdk-helper',
])('%s makes none from words', (name) => {
  expect(imageOfferOf(name)).toBeNull();
});

test('DALL-E and Stable Diffusion 3 are not among what a VIP has for nothing', () => {
  const excluded = (name: string) => imageOfferOf(name)?.vipExcluded;
  expect(['dall-e-3', 'dall-e-2', 'sd3.5-large'].map(excluded)).toEqual([true, true, true]);
  expect(['gpt-image-1', 'qwen-image', 'flux-dev'].map(excluded)).toEqual([false, false, false]);
});
