import { expect, test } from 'vitest';
import type { ImageRequest } from '@contract/chat.ts';
import type { Model } from '@contract/model.ts';
import { cheapestWriter, translationDeduction } from '@contract/price.ts';
import { imagePrice } from './image-price.ts';

const model = { factor: 2000, built_in: false, vip_excluded: false, image: undefined } as unknown;
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

test('the cheapest chat model that a person may use translates', () => {
  const chat = (factor: number, built_in = false) => ({ type: 0, factor, built_in });
  const models = [chat(30), chat(1), chat(0, true), { type: 1, factor: 0, built_in: false }];
  expect(cheapestWriter(models, false)).toBe(models[1]);
  expect(cheapestWriter(models, true)).toBeUndefined();
  const cost = (factor: number) =>
    translationDeduction({ factor, promptFactor: null }, '雪山上的月亮');
  expect(cost(0)).toBe(0);
  expect(cost(30)).toBe(cost(1) * 30);
});
