import { describe, expect, it } from 'vitest';
import { maskAccount, maskName, toldApart } from './format.ts';

describe('maskAccount', () => {
  it.each([
    ['13812346621', '138****6621'],
    ['12345678', '123****5678'],
    ['1234567', '1234567'],
    ['123456789012', '123456789012'],
    ['magpie', 'magpie'],
    ['jiangnan@example.com', 'ji***@example.com'],
    ['ab@example.com', 'a***@example.com'],
  ])('%s is shown as %s', (account, shown) => {
    expect(maskAccount(account)).toBe(shown);
  });
});

describe('maskName', () => {
  it.each([
    ['13812346621', '138****6621'],
    ['12345678', '123****5678'],
    ['1234567', '1234567'],
    ['江南 2026', '江南 2026'],
  ])('%s is shown as %s', (name, shown) => {
    expect(maskName(name)).toBe(shown);
  });
});

describe('toldApart', () => {
  it.each([
    [
      ['Hidden Alpha 70B', 'Hidden Beta 70B'],
      ['…Alpha 70B', '…Beta 70B'],
    ],
    [
      ['GPT-4o', 'GPT-4o mini'],
      ['GPT-4o', 'GPT-4o mini'],
    ],
    [
      ['Qwen2.5 72B Instruct', 'Qwen2.5 72B Instruct Turbo'],
      ['…Instruct', '…Instruct Turbo'],
    ],
    [
      ['deepseek-chat-v3', 'deepseek-reasoner'],
      ['…chat-v3', '…reasoner'],
    ],
    [
      ['内置助手', '通义千问'],
      ['内置助手', '通义千问'],
    ],
    [
      ['Hidden Alpha 70B', 'Other Alpha 70B'],
      ['Hidden Alpha 70B', 'Other Alpha 70B'],
    ],
    [
      ['Same Long Model', 'Same Long Model'],
      ['…Model', '…Model'],
    ],
    [['Alone Long Model'], ['Alone Long Model']],
  ])('%j are shown as %j', (names, shown) => {
    expect(toldApart(names)).toEqual(shown);
  });
});
