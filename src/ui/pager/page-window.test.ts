import { expect, it } from 'vitest';
import { pageWindow } from './page-window.ts';

it.each([
  [1, 1, [1]],
  [1, 3, [1, 2, 3]],
  [1, 10, [1, 2, 3, 0, 10]],
  [5, 10, [1, 0, 3, 4, 5, 6, 7, 0, 10]],
  [4, 10, [1, 2, 3, 4, 5, 6, 0, 10]],
  [10, 10, [1, 0, 8, 9, 10]],
])('page %i of %i offers %j', (page, count, pages) => {
  expect(pageWindow(page, count)).toEqual(pages);
});
