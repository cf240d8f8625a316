import { expect, test } from 'vitest';
import { firstSentences, piecesOf } from './spoken-pieces.ts';

test('the first sentence stands alone, long enough to sound until the next is made', () => {
  const text =
    '好。鹊桥通向许多模型，打开就能问。今天天气很好，我们去公园里散步吧，走在湖边看人放风筝。明天再来。';
  expect(firstSentences(text)).toEqual({
    heads: [
      '好。鹊桥通向许多模型，打开就能问。',
      '今天天气很好，我们去公园里散步吧，走在湖边看人放风筝。',
    ],
    rest: '明天再来。',
  });
});

test.each([
  ['nothing is cut where one piece is all there is', '今天天气很好，我们去公园。', []],
  [
    'a number is not cut',
    '圆周率约是3.14159，e约是2.71828。然后呢',
    ['圆周率约是3.14159，e约是2.71828。'],
  ],
  ['thousands are not cut', '它一共卖出了1,234,567件，大家都很高兴', ['它一共卖出了1,234,567件，']],
  [
    'words of other letters stay whole',
    'It is 3.5 metres long. And then some',
    ['It is 3.5 metres long.'],
  ],
  ['a long sentence is cut where it pauses', `在那山的那边，${'海'.repeat(60)}。完了`, []],
])('%s', (_, text, heads) => {
  const cut = firstSentences(text);
  expect(cut.heads).toEqual(heads);
  expect([...cut.heads, cut.rest].join('')).toBe(text);
});

test('nothing of a text is lost in its pieces', () => {
  const text = '春天来了，大家都很高兴。\n'.repeat(60);
  const { heads, rest } = firstSentences(text);
  expect([...heads, ...piecesOf(rest, 300)].join('').trim()).toBe(text.trim());
});
