import { expect, test } from 'vitest';
import { plainLine } from './plain-line.ts';

test.each([
  ['第一行\r\n第二行\t\u0000\u001B[31m红', '第一行 第二行 [31m红'],
  ['付款\u202E功成\u202C 100\u2066元\u2069', '付款功成 100元'],
  ['看\u200B不\u{E0041}见\u2028的', '看不见 的'],
  ['家 👨‍👩‍👧 到齐', '家 👨‍👩‍👧 到齐'],
  [`Z${'\u0300'.repeat(300)}o`, `Z${'\u0300'.repeat(4)}o`],
  ['半个\uD83D字', '半个\uFFFD字'],
  ['<b onclick=alert(1)>粗</b> **星**', '<b onclick=alert(1)>粗</b> **星**'],
  [' \n ', ''],
])('%j is told as %j', (given, told) => {
  expect(plainLine(given, 100)).toBe(told);
});

test('a long text ends in a whole letter', () => {
  expect(plainLine('𠮷'.repeat(50), 10)).toBe(`${'𠮷'.repeat(9)}…`);
  expect(plainLine('长'.repeat(10), 10)).toBe('长'.repeat(10));
  expect(plainLine('\u0300'.repeat(5_000_000), 60)).toHaveLength(4);
});
