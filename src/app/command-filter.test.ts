import { describe, expect, it } from 'vitest';
import { findEntries, markAfter } from './command-filter.ts';
import { commandOf } from './use-command-keys.ts';

const entries = [
  { label: '我的图片' },
  { label: '画图', hint: '页面' },
  { label: 'Qwen Max', hint: '×4' },
  { label: '图片与声音' },
];
const found = (typed: string) => findEntries(entries, typed).map(({ label }) => label);

describe('the command palette', () => {
  it('finds by label and hint, in any order of words, whatever the case', () => {
    expect(found('')).toHaveLength(entries.length);
    expect(found('max QWEN')).toEqual(['Qwen Max']);
    expect(found('×4')).toEqual(['Qwen Max']);
    expect(found('页面 画')).toEqual(['画图']);
    expect(found('没有')).toEqual([]);
  });

  it('puts first what begins with the words', () => {
    expect(found('图')).toEqual(['图片与声音', '我的图片', '画图']);
  });

  it('walks round with the arrows, and nowhere in an empty list', () => {
    expect(markAfter('ArrowDown', 2, 3)).toBe(0);
    expect(markAfter('ArrowUp', 0, 3)).toBe(2);
    expect(markAfter('ArrowDown', 0, 0)).toBeUndefined();
    expect(markAfter('Enter', 0, 3)).toBeUndefined();
  });

  it.each([
    ['k', false, 'palette'],
    ['K', true, null],
    ['O', true, 'new'],
    ['o', false, null],
    ['/', false, 'keys'],
    ['?', true, null],
  ] as const)('%s with shift %s is %s', (key, shiftKey, command) => {
    expect(commandOf({ key, shiftKey })).toBe(command);
  });
});
