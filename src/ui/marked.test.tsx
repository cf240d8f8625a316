import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { Marked } from './marked.tsx';

it.each([
  ['青瓷冰裂纹', '冰裂', '青瓷<mark>冰裂</mark>纹'],
  ['Markdown 与 markdown', 'MARK', '<mark>Mark</mark>down 与 <mark>mark</mark>down'],
  ['1 + 1 (2)', '+ (2)', '1 <mark>+</mark> 1 <mark>(2)</mark>'],
  ['<b>x</b>', 'b', '&lt;<mark>b</mark>&gt;x&lt;/<mark>b</mark>&gt;'],
  ['没有词', '  ', '没有词'],
])('%s with %s marked', (text, words, html) => {
  expect(renderToStaticMarkup(<Marked text={text} words={words} />)).toBe(html);
});
