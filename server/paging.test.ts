import { expect, test } from 'vitest';
import { heavyPage } from './paging.ts';

/** The pages that somebody reads who goes on as long as a page says that more follow. */
const read = (weights: number[], size: number, reach = Infinity) => {
  const pages: number[][] = [];
  for (let page = 1, last = 1; page <= last; page += 1) {
    const seen = weights.slice(0, Math.max(reach, page * size));
    const found = heavyPage(seen, weights.length, { page, size, most: 10 });
    last = found.pages;
    const { offset, limit } = found.window;
    if (limit > 0) pages.push(weights.slice(offset, offset + limit));
  }
  return pages;
};

test('pages end once they are heavy, and together hold every row once', () => {
  expect(read([1, 1, 1, 1, 1], 2)).toEqual([[1, 1], [1, 1], [1]]);
  expect(read([1, 99, 1, 9, 3, 99, 99, 1], 3)).toEqual([[1, 99], [1, 9], [3, 99], [99], [1]]);
  expect(read([], 3)).toEqual([]);
  const many = Array.from({ length: 200 }, (_, at) => (at % 7) * 2);
  for (const reach of [0, 50, Infinity]) expect(read(many, 5, reach).flat()).toEqual(many);
  const exact = heavyPage(many, 200, { page: 1, size: 5, most: 10 }).pages;
  expect(exact).toBe(read(many, 5).length);
  expect(heavyPage([1, 1], 2, { page: 9, size: 2, most: 10 }).window.limit).toBe(0);
});
