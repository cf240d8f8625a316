import { describe, expect, it } from 'vitest';
import { editFor, type Tool } from './text-edits.ts';

/** `[…]` marks the selection, before and after. */
const apply = (tool: Tool, marked: string): string => {
  const start = marked.indexOf('[');
  const end = marked.indexOf(']') - 1;
  const text = marked.replace('[', '').replace(']', '');
  const edit = editFor(tool, text, start, end);
  const changed = text.slice(0, edit.from) + edit.text + text.slice(edit.to);
  const [from, to] = edit.select;
  return `${changed.slice(0, from)}[${changed.slice(from, to)}]${changed.slice(to)}`;
};

describe('editFor', () => {
  it('marks words, and takes the marks away again', () => {
    expect(apply('bold', '很[重要]的')).toBe('很**[重要]**的');
    expect(apply('bold', '很**[重要]**的')).toBe('很[重要]的');
    expect(apply('italic', 'a[]b')).toBe('a*[斜体]*b');
  });

  it('marks whole lines', () => {
    expect(apply('list', '甲\n乙[]丙\n丁')).toBe('甲\n- 乙丙[]\n丁');
    expect(apply('list', '[- 甲\n- 乙]')).toBe('甲\n乙[]');
    expect(apply('numbers', '[甲\n乙]')).toBe('1. 甲\n2. 乙[]');
    expect(apply('quote', '[]')).toBe('> []');
  });

  it('fences lines of code and puts a few words into backticks', () => {
    expect(apply('code', '用[npm]装')).toBe('用`[npm]`装');
    expect(apply('code', '[a\nb]')).toBe('```\n[a\nb]\n```\n');
  });

  it('gives a table lines of its own', () => {
    expect(apply('table', '前[]后')).toBe(
      '前\n\n| [列一] | 列二 |\n| --- | --- |\n| 内容 | 内容 |\n后',
    );
    expect(apply('link', '看[这里]')).toContain('[这里](https://[]');
  });
});
