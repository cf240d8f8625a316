import { describe, expect, it } from 'vitest';
import { fillIn, varsOf } from './template-vars.ts';

describe('a template', () => {
  it('names what is to be filled in once, in its order', () => {
    expect(varsOf('把 {{文字}} 译成 {{ 语言 }}，再看 {{文字}}：{{input}}')).toEqual([
      '文字',
      '语言',
      'input',
    ]);
    expect(varsOf('没有变量 {{}} {x}')).toEqual([]);
  });

  it('takes values as plain text and keeps what has none', () => {
    expect(fillIn('{{甲}} 与 {{ 乙 }} 与 {{丙}}', { 甲: '$& {{乙}}', 乙: '二', 丙: ' ' })).toBe(
      '$& {{乙}} 与 二 与 {{丙}}',
    );
  });
});
