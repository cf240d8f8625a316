import { describe, expect, it } from 'vitest';
import { compactNumber } from './compact-number.ts';

describe('compactNumber', () => {
  it.each([
    [0, '0'],
    [950, '950'],
    [9_999, '9999'],
    [19_500, '1.95 万'],
    [249_999, '24.99 万'],
    [1_869_999, '186 万'],
    [20_020_000, '2002 万'],
    [99_999_999, '9999 万'],
    [2_000_000_000, '20 亿'],
    [-15_000, '-1.5 万'],
  ])('%i is shown as %s', (value, shown) => {
    expect(compactNumber(value).replace('\u00A0', ' ')).toBe(shown);
  });
});
