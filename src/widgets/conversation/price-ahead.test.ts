import { blank } from '#src/platform/attach/blank.ts';
import { estimateTokens } from '#contract/price.ts';
import { expect, test } from 'vitest';
import { contextTokens, draftTokens } from './price-ahead.ts';

test('an attached text is counted by the tokens that the server found in it, as far as it goes along', () => {
  const item = { ...blank, id: '1', kind: 'file', name: 'a.txt', chars: 1_000 } as const;
  const cost = (tokens: number | undefined, most: number) =>
    draftTokens(
      '问',
      {
        items: [tokens === undefined ? item : { ...item, tokens }],
        detail: 'low',
        sendWhenReady: false,
      },
      most,
    ) - draftTokens('问', { items: [], detail: 'low', sendWhenReady: false }, most);
  expect(cost(300, 5_000)).toBe(300);
  expect(cost(300, 500)).toBe(150);
  expect(cost(undefined, 5_000)).toBeGreaterThanOrEqual(estimateTokens('a'.repeat(1_000)));
});

test('a text attached to an earlier message is counted by the same tokens', () => {
  const cost = (tokens: number | undefined) =>
    contextTokens(
      [{ id: 1, human: '问', ai: '答', images: 0, files: [{ chars: 1_000, tokens }] }],
      100_000,
    ) - contextTokens([{ id: 1, human: '问', ai: '答', images: 0, files: [] }], 100_000);
  expect(cost(300)).toBe(300);
  expect(cost(undefined)).toBe(600);
});
