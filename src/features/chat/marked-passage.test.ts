import { expect, test } from 'vitest';
import { markedPassage } from './marked-passage.ts';

const text = '员工手册。\n入职满一年后有十二天年假。年假可以分三次休完。';
const marked = (said: string, terms: string[]) =>
  markedPassage(text, { said, terms }).flatMap((part) => (part.marked ? [part.text] : []));

test('what an answer says again is marked, else the words that were asked', () => {
  expect(marked('满一年就有十二天年假', ['年假'])).toEqual(['入职满一年后有十二天年假。']);
  expect(marked('', ['年假', '分三次'])).toEqual(['年假', '年假', '分三次']);
  expect(marked('与它无关的话', [])).toEqual([]);
  const whole = markedPassage(text, { said: '满一年就有十二天年假', terms: [] });
  expect(whole.map((part) => part.text).join('')).toBe(text);
});

test('of a table only the row is marked that an answer tells, and the whole of it', () => {
  const rows = ['城市：北京；住宿：500；餐费：120', '城市：成都；住宿：350；餐费：100'];
  const parts = markedPassage(rows.join('\n'), { said: '成都：住宿 350，餐费 100', terms: [] });
  expect(parts.filter(({ marked }) => marked)).toEqual([{ text: rows[1], marked: true }]);
});
