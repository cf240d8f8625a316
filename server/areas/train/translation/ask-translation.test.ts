import { expect, test } from 'vitest';
import { readAnswer } from './ask-translation.ts';

test('sentences are read by their numbers, and blank lines cost no more than their letters', () => {
  expect(readAnswer('[1] 一\n 二\n\n 【2】 三', 2)).toEqual(
    new Map([
      [0, '一 二'],
      [1, '三'],
    ]),
  );
  expect(readAnswer('没有编号\n的一句', 1)).toEqual(new Map([[0, '没有编号 的一句']]));
  const blank = `${'\n'.repeat(400_000)}${' '.repeat(400_000)}`;
  expect(readAnswer(`[1] 一${blank}[x`, 1)).toEqual(new Map([[0, '一 [x']]));
  expect(readAnswer(`${blank}一`, 1)).toEqual(new Map([[0, '一']]));
});
