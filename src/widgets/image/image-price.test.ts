import { expect, test } from 'vitest';
import type { ImageRequest } from '#contract/chat.ts';
import type { Model } from '#contract/model.ts';
import { translationDeduction } from '#contract/price.ts';
import { imagePrice } from './image-price.ts';

const model = {
  factor: 2000,
  built_in: false,
  vip_excluded: false,
  size_rate: [],
  image: undefined,
} as unknown;
const request = { n: 4, size: 3, parameters: {} } as unknown as ImageRequest;

test('what a button costs includes the translation of its words, about', () => {
  const price = (user: { vip: number }, translation?: number) =>
    imagePrice(request, model as Model, user, translation);
  expect(price({ vip: 0 })).toMatchObject({ tokens: 8000, words: '8000 tokens' });
  expect(price({ vip: 0 }, 260)).toMatchObject({
    tokens: 8260,
    words: '约 8260 tokens，含翻译 260',
  });
  expect(price({ vip: 1 }, 260)).toMatchObject({
    tokens: 260,
    words: 'VIP 免费，翻译约 260 tokens',
  });
});

test('a translation costs by its model', () => {
  const cost = (factor: number) =>
    translationDeduction({ factor, promptFactor: null }, '雪山上的月亮');
  expect(cost(0)).toBe(0);
  expect(cost(30)).toBe(cost(1) * 30);
});

test('sizes cost by their codes, as the model’s row says', () => {
  const price = (size: number, size_rate: number[]) =>
    imagePrice({ ...request, n: 1, size }, { ...(model as Model), size_rate }, null).tokens;
  expect([0, 1, 2, 3, 7].map((size) => price(size, [0.7, 0.8, 0.9, 1]))).toEqual([
    1400, 1600, 1800, 2000, 2000,
  ]);
  expect([0, 1, 5].map((size) => price(size, [0.5, 2]))).toEqual([1000, 4000, 4000]);
});
