import { expect, test } from 'vitest';
import { estimateTokens, estimateUpTo } from '#contract/price.ts';
import { growth, steep } from '#tests/support/growth.ts';
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

test('the estimate is no less than half of what letters cost that were chosen for it', () => {
  let seed = 7;
  const draw = (most: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * most);
  };
  const textOf = (letters: string): string => {
    const each = Array.from(letters);
    return Array.from({ length: 2000 }, () => each[draw(each.length)]).join('');
  };
  for (const letters of [
    'ᐁᐂᐃᐄᐅᐆᐇᐈ',
    'ཀཁགངཅཆཇཉཏཐདནཔཕབམ',
    'ሀሁሂሃሄህሆለሉሊላሌልሎ',
    '\u0316\u0317\u0318\u0319\u031c\u0489',
    '龘靐齉爩麤龗鱻',
    '㐀㐁㐂㐃㐄㐅',
    '𠮷𡃁𪚥',
    '뷁쒧꿿뛟쭯',
    '🦄🪐🧿🪬🫠🫨',
    'ꀀꀁꀂꀃꀄ',
    '╬╫╪╩╨⟰⟱⿰',
    '\u0001\u0002\u007f',
    '!@#$%^&*()_+-=[]{};:,./<>?',
    'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
  ]) {
    const text = textOf(letters);
    expect(estimateTokens(text), letters).toBeGreaterThan(countTokens(text) / 2);
  }
});

test('an estimate with a bound goes no further', () => {
  const text = '桥'.repeat(1000);
  const whole = estimateTokens(text);
  for (const most of [0, 1, 10, 100]) {
    expect(estimateUpTo(text, most)).toBeGreaterThan(most);
    expect(estimateUpTo(text, most)).toBeLessThanOrEqual(most + 3);
  }
  expect(estimateUpTo(text, whole)).toBe(whole);
  expect(estimateUpTo(text, -5)).toBe(0);
});
