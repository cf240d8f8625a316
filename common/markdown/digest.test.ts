import { expect, test } from 'vitest';
import { excerptOf, summaryOf, titleOf } from './digest.ts';

test('a title is one line of at most 100 characters', () => {
  expect(titleOf('  你好\n\n世界  ')).toBe('你好 世界');
  expect(Array.from(titleOf('😀'.repeat(300)))).toHaveLength(100);
});

test('a summary is the reply without its Markdown', () => {
  expect(
    summaryOf('## 标题\n\n- **第一** `条`\n- [链接](https://a.b)\n\n```js\nlet a = 1;\n```'),
  ).toBe('标题 第一 条 链接 let a = 1;');
  expect(summaryOf('| 甲 | 乙 |\n| --- | --- |\n| 1 | 2 |')).toBe('甲 乙 1 2');
  expect(summaryOf('这是**内容**，用 `a*b` 和~~没用的~~***词***，2 * 3 * 4，snake_case')).toBe(
    '这是内容，用 a b 和没用的词，2 3 4，snake case',
  );
});

test('a letter behind a backslash stands without it, and is no mark', () => {
  expect(summaryOf('> 保修 24\\-36 个月 \\#1 a\\*b\\*c 第 1\\. 条 \\[1\\] C:\\路径')).toBe(
    '保修 24-36 个月 #1 a*b*c 第 1. 条 [1] C:\\路径',
  );
});

test('an excerpt never cuts a character', () => {
  expect(excerptOf('短')).toBe('短');
  expect(Array.from(excerptOf('a' + '😀'.repeat(300)))).toHaveLength(200);
});
