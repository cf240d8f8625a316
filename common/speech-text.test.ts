import { expect, test } from 'vitest';
import { speechText, spokenLength } from './speech-text.ts';

test('code, addresses and signs are not read aloud', () => {
  const said = speechText(
    '# 标题\n\n**你好**，看 [这里](https://example.com/a?b=1)。\n\n```js\nlet a = 1;\n```\n\n- 一\n- 二\n\n| 甲 | 乙 |\n| --- | --- |\n| 1 | 2 |',
  );
  expect(said).toContain('标题');
  expect(said).toContain('你好，看 这里。');
  expect(said).toContain('（代码略）');
  expect(said).not.toMatch(/let a|https|[*#`|]/);
});

test('of links their words are read, whatever their addresses hold, and of images nothing', () => {
  expect(speechText('看[鹊桥](https://zh.example/wiki/鹊桥_(神话))一文')).toBe('看鹊桥一文');
  expect(speechText('图：![一只鸟](/files/a.png)，完')).toBe('图：，完');
  expect(speechText('[![徽标](a.svg)](https://example.com)完')).toBe('完');
});

test('a block of code that never ends is left out to the end', () => {
  expect(speechText('前面\n```\nrm -rf /\n更多')).toBe('前面\n（代码略）');
});

test('characters are counted as people count them', () => {
  expect(spokenLength('𠮷野家')).toBe(3);
});
