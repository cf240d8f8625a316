import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addGrams, goneMark, gramsOf, listMark, publicMark, sessionMark } from './search-grams.ts';

const gramsIn = (text: string) => {
  const grams = new Set<number>();
  addGrams(grams, text);
  return grams;
};
const hasAll = (text: string, word: string) => {
  const grams = gramsIn(text);
  return gramsOf(word).every((gram) => grams.has(gram));
};

const someText = fc.string({
  unit: fc.constantFrom(...Array.from('鹊桥搭一座桥 ，。！aZbc019+#_-`é😀𠜎\n')),
  maxLength: 60,
});

test('a text has the grams of whatever it holds', () => {
  fc.assert(
    fc.property(someText, someText, someText, (before, word, after) => {
      expect(hasAll(before + word + after, word)).toBe(true);
    }),
  );
});

test('large and small letters of ASCII are the same', () => {
  expect(hasAll('用 Python 写', 'PYTHON')).toBe(true);
  expect(hasAll('用 PYTHON 写', 'python')).toBe(true);
});

test.each([
  ['鹊桥是一座桥', '桥是', true],
  ['鹊桥是一座桥', '是桥', false],
  ['一只猫', '猫', true],
  ['一只狗', '猫', false],
  ['the zebra', 'bra', true],
  ['the zebra', 'brz', false],
  ['第3章', '3章', true],
  ['C++ 与 C#', 'c++', true],
  ['C 语言', 'c++', false],
  ['C++ 与 C#', 'c#', true],
])('%s has the grams of %s: %s', (text, word, expected) => {
  expect(hasAll(text, word)).toBe(expected);
});

test('marks are numbers of 32 bits that are no gram of any text', () => {
  const marks = [
    publicMark,
    goneMark,
    ...[1, 77, 2 ** 27 - 1, 2 ** 40].flatMap((id) => [listMark(id), sessionMark(id)]),
  ];
  for (const each of marks) expect(each).toBe(each | 0);
  expect(listMark(5)).not.toBe(sessionMark(5));
  const everything = gramsIn(
    Array.from({ length: 0xffff }, (_, unit) => String.fromCharCode(unit)).join(''),
  );
  for (const each of marks) expect(everything.has(each)).toBe(false);
});

test('a long text is found by its beginning', () => {
  expect(hasAll(`${'一'.repeat(49_990)}鹊桥${'二'.repeat(1000)}尾巴`, '鹊桥')).toBe(true);
  expect(gramsIn('二'.repeat(60_000)).size).toBe(2);
});
