import { expect, test } from 'vitest';
import { Citations } from './citations.ts';

const read = (text: string, sources: number, size: number): string => {
  const citations = new Citations(sources);
  let shown = '';
  for (let at = 0; at < text.length; at += size) shown += citations.take(text.slice(at, at + size));
  return shown + citations.end();
};

test.each([
  ['十天年假[1]，另有病假[3]。', '十天年假[1]，另有病假。'],
  ['见【资料 2】与[1、2][9]。', '见[2]与[1][2]。'],
  [
    '数组 `a[7]` 与\n```js\nb[8] = [9]\n```\n仍是代码[7]',
    '数组 `a[7]` 与\n```js\nb[8] = [9]\n```\n仍是代码',
  ],
  ['链接 [9](/help)，年份 [2024]，[注]', '链接 [9](/help)，年份 [2024]，[注]'],
  ['一个 ` 没有关\n\n后面[5]', '一个 ` 没有关\n\n后面'],
  ['末尾[1', '末尾[1'],
])('%s', (text, clean) => {
  for (const size of [1, 2, 3, 7, 100]) expect(read(text, 2, size)).toBe(clean);
});

test('of several statements in a sentence each number is of its own', () => {
  const asked: string[] = [];
  const citations = new Citations(3, (n, sentence) => {
    asked.push(`${n} ${sentence}`);
    return n !== 2;
  });
  const text = '甲桥全长 64 米[1]，乙桥全长 834 米[2]，丙桥全长 518 米[3][1]。';
  const shown =
    Array.from(text)
      .map((letter) => citations.take(letter))
      .join('') + citations.end();
  expect(shown).toBe('甲桥全长 64 米[1]，乙桥全长 834 米，丙桥全长 518 米[3][1]。');
  expect(asked).toEqual([
    '1 甲桥全长 64 米',
    '2 ，乙桥全长 834 米',
    '3 ，丙桥全长 518 米',
    '1 ，丙桥全长 518 米',
  ]);
});
