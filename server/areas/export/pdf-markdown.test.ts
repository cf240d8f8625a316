import { expect, test } from 'vitest';
import { blocksOf } from '#common/markdown/document.ts';
import { growth, steep } from '#tests/support/growth.ts';
import { diagramsIn } from './pdf-markdown.ts';

test.each([
  '```mermaid\ngraph TD\n  A --> B\n```\n\n后面',
  '前面\n  ~~~ Mermaid 图\n    a\n  b\n ~~~~\n```ts\nmermaid\n```',
  '````md\n```mermaid\nx\n```\n````\n\n```mermaid\r\ny\r\n```',
  '``` mermaid `\nx\n```\n没有关上的\n```mermaid\nz\n\nz',
  '    ```mermaid\n    x\n    ```',
])('diagrams are the code of the page that is one: %j', (text) => {
  const shown = blocksOf(text).flatMap((block) =>
    block.kind === 'code' && /^mermaid\b/i.test(block.language) ? [block.pieces.join('\n')] : [],
  );
  expect(diagramsIn(text)).toEqual(shown);
});

test('a text without any costs what it is long', () => {
  const read = (labels: number) => diagramsIn(`mermaid\n\n- ${'[a]'.repeat(labels)}\n\n[a]: x`);
  expect(growth(read, 60_000)).toBeLessThan(steep);
  expect(diagramsIn(`${'x\n'.repeat(200_000)}\`\`\`mermaid\nx\n\`\`\``)).toEqual([]);
});
