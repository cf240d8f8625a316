import { expect, test } from 'vitest';
import { calibrate, languageOf, likenessOf, pairs } from './calibration.ts';

const signal = new AbortController().signal;
const engineOf = (vectorOf: (text: string) => number[]) => ({
  embed: async (texts: readonly string[]) => ({
    vectors: texts.map((text) => Buffer.from(new Float32Array(vectorOf(text)).buffer)),
    tokens: 0,
  }),
});
/** Which pair of its language a text is of. */
const pairOf = (text: string): number =>
  pairs[languageOf(text)].findIndex((pair) => pair.includes(text));

test('a model is measured by language: what it does not know says nothing, whatever its cosines', async () => {
  // Of English it knows the meaning; of Chinese it sees no more than how long a text is.
  const english = await calibrate(
    engineOf((text) => [
      3,
      ...pairs.other.map((_, at) => (languageOf(text) === 'other' && at === pairOf(text) ? 1 : 0)),
      text.length / 40,
    ]),
    signal,
  );
  expect(english.other.other.knows).toBe(true);
  expect(english.chinese.chinese.knows).toBe(false);
  expect(english.other.chinese.knows).toBe(false);
  // Nothing is below .8 there, and still it is told apart.
  const { unlike, alike } = english.other.other;
  expect(unlike).toBeGreaterThan(0.8);
  expect(likenessOf(english.other.other, unlike)).toBe(0);
  expect(likenessOf(english.other.other, alike)).toBeCloseTo(1);
});

test('a model of both languages finds across them', async () => {
  const both = await calibrate(
    engineOf((text) => pairs.other.map((_, at) => (at === pairOf(text) ? 1 : 0.1))),
    signal,
  );
  for (const row of Object.values(both))
    for (const { knows } of Object.values(row)) expect(knows).toBe(true);
});

test.each([
  ['怎样在 Windows 上安装 Python', 'chinese'],
  ['how do I install 鹊桥 on Windows', 'other'],
  ['', 'other'],
] as const)('%s is %s', (text, language) => {
  expect(languageOf(text)).toBe(language);
});
