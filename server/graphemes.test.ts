import { expect, test } from 'vitest';
import { graphemesOf } from '#common/graphemes.ts';

test('letters are those of the whole text, wherever it was cut', () => {
  const mixed = '字e\u0301👩‍👩‍👧‍👦🇨🇳🇯🇵नि각\r\n';
  const text = mixed.repeat(60);
  const whole = [...new Intl.Segmenter('zh').segment(text)].map(({ segment }) => segment);
  expect([...graphemesOf(text)]).toEqual(whole);
  expect([...graphemesOf(`e${'\u0301'.repeat(1000)}字`)].join('')).toHaveLength(1002);
  expect([...graphemesOf('')]).toEqual([]);
});

test('ten times the letters take about ten times as long', () => {
  const took = (text: string): number => {
    const from = performance.now();
    let count = 0;
    for (const letter of graphemesOf(text)) count += letter.length;
    expect(count).toBe(text.length);
    return performance.now() - from;
  };
  took('字'.repeat(10_000));
  expect(took('字'.repeat(200_000))).toBeLessThan(60 * took('字'.repeat(20_000)));
});
