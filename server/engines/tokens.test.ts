import { expect, test } from 'vitest';
import { estimateTokens } from '../../contract/price.ts';
import { growth, steep } from '../../tests/support/growth.ts';
import { countTokens } from './tokens.ts';

test('counts as o200k_base does', () => {
  expect(countTokens('')).toBe(0);
  expect(countTokens('hello world')).toBe(2);
  expect(countTokens('你好，世界')).toBeGreaterThan(2);
  expect(countTokens('<|endoftext|>')).toBeGreaterThan(1);
});

test('is never slow, whatever the text', () => {
  countTokens('load');
  for (const letter of ['a', '啊', '!', ' ', '\n', '😀', '\u0301', '9', 'aB']) {
    expect(countTokens(letter.repeat(200_000))).toBeGreaterThan(1_000);
    const count = (length: number) => countTokens(letter.repeat(length));
    expect(growth(count, 200_000), JSON.stringify(letter)).toBeLessThan(steep);
  }
});

test('the estimate is near enough for holds', () => {
  for (const text of [
    '流式输出时应当只更新最后一个块，避免在每个分片到达时重新解析全文。'.repeat(20),
    'A bridge carries many feet and asks none of them for a name. '.repeat(20),
  ]) {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(countTokens(text));
    expect(estimateTokens(text)).toBeLessThan(countTokens(text) * 2);
  }
});
