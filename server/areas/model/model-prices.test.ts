import { expect, test } from 'vitest';
import { priceOfName } from './chat-price-by-name.ts';

test.each([
  ['gpt-4', 30, true],
  ['gpt-4-0613', 30, true],
  ['gpt-4-turbo', 30, true],
  ['openai/gpt-4-32k', 30, true],
  ['gpt-4o', 5, true],
  ['gpt-4o-mini', 1, false],
  ['gpt-4.1-nano', 1, false],
  ['gpt-3.5-turbo', 1, false],
  ['claude-3-opus', 30, true],
  ['claude-3-5-sonnet-20241022', 5, false],
  ['claude-3-haiku', 1, false],
  ['deepseek-chat', 1, false],
  ['qwen2.5:7b', 1, false],
  ['text-embedding-3-small', 0.05, false],
  ['mock-chat', 1, false],
])('%s costs %d', (name, factor, vipExcluded) => {
  expect(priceOfName(name)).toEqual({ factor, vipExcluded, paidOnly: factor === 30 });
});
