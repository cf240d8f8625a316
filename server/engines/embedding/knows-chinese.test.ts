import { expect, test } from 'vitest';
import { knowsChinese } from './knows-chinese.ts';

const signal = new AbortController().signal;
const engineOf = (vectorOf: (text: string, at: number) => number[]) => ({
  embed: async (texts: readonly string[]) => ({
    vectors: texts.map((text, at) => Buffer.from(new Float32Array(vectorOf(text, at)).buffer)),
    tokens: 0,
  }),
});

test('a model that lays the same meaning side by side knows Chinese', async () => {
  const byMeaning = engineOf((_, at) =>
    Array.from({ length: 5 }, (_, axis) => (axis === at % 5 ? 1 : 0.1)),
  );
  expect(await knowsChinese(byMeaning, signal)).toBe(true);
});

test('one that sees unknown signs or lengths alone does not', async () => {
  expect(
    await knowsChinese(
      engineOf(() => [1, 1]),
      signal,
    ),
  ).toBe(false);
  expect(
    await knowsChinese(
      engineOf(({ length }) => [length, 10]),
      signal,
    ),
  ).toBe(false);
});
