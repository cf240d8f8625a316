import type { Tokens } from 'marked';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { growth, pieces, steep } from '#tests/support/growth.ts';
import { blocksOf, MarkdownDocument, type Block } from './document.ts';
import { tokensOf } from './lex.ts';

const inPieces = (text: string, cuts: readonly number[]): MarkdownDocument => {
  const document = new MarkdownDocument();
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    const to = Math.min(text.length, cut);
    if (to <= from) continue;
    document.append(text.slice(from, to));
    // Looking at the open block must not change what comes of it.
    void document.open;
    from = to;
  }
  document.append(text.slice(from));
  document.end();
  return document;
};

const line = fc.oneof(
  fc.constantFrom(
    '',
    '',
    '# 标题',
    '## heading',
    '- 项目一',
    '- [x] done',
    '* star',
    '1. first',
    '2. second',
    '3) third',
    '  - nested',
    '    four',
    '   1. deep',
    '> quote',
    '>> deeper',
    '> - list in quote',
    '```ts',
    '```',
    '~~~~',
    '~~~',
    '  ```js',
    '  ```',
    '| a | b |',
    '| --- | ---: |',
    '| 1 | 2 |',
    '---',
    '===',
    '***',
    '* * *',
    '$$',
    '$$ x^2 $$',
    '\\[',
    '\\]',
    '\\[ a \\] b',
    '[ref]: https://example.com "t"',
    'see [ref] and [ref][ref]',
    '<div>html</div>',
    'price $5 and $10',
    '**粗体：**后面',
    'text `code` text',
    '\ttab',
    '\r',
  ),
  fc.string({ maxLength: 30 }),
  fc
    .tuple(
      fc.constantFrom('词句。', 'word. ', 'a', '**b** ', '`', '['),
      fc.integer({ min: 1, max: 900 }),
    )
    .map(([part, times]) => part.repeat(times)),
);
const text = fc.array(line, { maxLength: 40 }).map((lines) => lines.join('\n'));

const shown = (blocks: readonly Block[]): string =>
  blocks.map((block) => (block.kind === 'code' ? block.pieces.join('\n') : block.text)).join('\n');

describe('MarkdownDocument', () => {
  it('gives the same blocks whatever pieces the text arrives in', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 6_000 }), { maxLength: 40 }), (source, cuts) => {
        expect(inPieces(source, cuts).blocks).toEqual(blocksOf(source));
      }),
      { numRuns: 150 },
    );
  });

  it('gives the same blocks character by character', () => {
    fc.assert(
      fc.property(text, (source) => {
        const cuts = Array.from({ length: Math.min(source.length, 3_000) }, (_, at) => at);
        expect(inPieces(source, cuts).blocks).toEqual(blocksOf(source));
      }),
      { numRuns: 20 },
    );
  });

  it('loses no word', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z\u4e00-\u4e20 #>*.|-]{0,40}$/), { maxLength: 30 }),
        (lines) => {
          const source = lines.join('\n');
          const words = (value: string) => value.match(/[a-z\u4e00-\u4e20]+/g) ?? [];
          expect(words(shown(blocksOf(source))).join('')).toBe(words(source).join(''));
        },
      ),
      { numRuns: 80 },
    );
  });

  it('keeps a finished block the same object', () => {
    const document = new MarkdownDocument('一段\n\n二段\n\n三');
    const before = [...document.blocks];
    document.append('段\n\n四段');
    expect(document.blocks.slice(0, before.length)).toEqual(before);
    for (const [at, block] of before.entries()) expect(document.blocks[at]).toBe(block);
  });

  it('keeps code with empty lines and fences inside whole', () => {
    const [block, after] = blocksOf('````md\na\n\n```js\nb\n```\n\nc\n````\nend');
    expect(block).toMatchObject({
      kind: 'code',
      language: 'md',
      pieces: ['a\n\n```js\nb\n```\n\nc'],
    });
    expect(after).toMatchObject({ kind: 'text', text: 'end' });
  });

  it('closes code that the text leaves open', () => {
    expect(blocksOf('```py\nprint(1)\n```')).toEqual([
      { kind: 'code', language: 'py', pieces: ['print(1)'], open: false },
    ]);
    expect(blocksOf('```py\nprint(1)')).toMatchObject([{ kind: 'code', pieces: ['print(1)'] }]);
  });

  it('goes on counting in a list that was cut', () => {
    const items = Array.from(
      { length: 120 },
      (_, at) => `${at + 1}. 第 ${at + 1} 项，说明文字写得长一些`,
    );
    const blocks = blocksOf(items.join('\n'));
    expect(blocks.length).toBeGreaterThan(1);
    for (const block of blocks.slice(1)) {
      expect(block).toMatchObject({ kind: 'text', continues: true });
      if (block.kind !== 'text') continue;
      expect(block.text.startsWith(`${String(block.start)}. `)).toBe(true);
    }
  });

  it('repeats the head of a table that was cut', () => {
    const rows = Array.from({ length: 100 }, (_, at) => `| ${at} | x |`);
    const blocks = blocksOf(['| a | b |', '|---|---|', ...rows].join('\n'));
    expect(blocks).toHaveLength(3);
    for (const block of blocks)
      expect(block.kind === 'text' && tokensOf(block)[0]?.type).toBe('table');
  });

  const whole = { kind: 'text', inline: false, continues: false, open: false } as const;

  it('makes no more cells and looks at no more lines than a text has', () => {
    const tokens = (source: string) =>
      blocksOf(source).flatMap((block) => (block.kind === 'text' ? tokensOf(block) : []));
    const wide = `|${'a|'.repeat(700)}\n|${'-|'.repeat(700)}\n${'|\n'.repeat(20_000)}`;
    const cells = tokens(wide).map((token) =>
      token.type === 'table' ? (token as Tokens.Table).rows.flat().length : 0,
    );
    expect(cells.reduce((sum, each) => sum + each, 0)).toBeLessThan(wide.length);
    const quoted = `>|${'a|'.repeat(700)}\n>|${'-|'.repeat(700)}\n${'>|\n'.repeat(400)}`;
    const list = `- |${'a|'.repeat(700)}\n  |${'-|'.repeat(700)}\n${'  |\n'.repeat(400)}`;
    for (const block of [quoted, list].map((text) => ({ ...whole, text })))
      expect(tokensOf(block)[0]?.type).toBe('paragraph');
    const small = '> | a | b | c |\n> |---|---|---|\n> | 1 |\n> | 2 |';
    expect(tokensOf({ ...whole, text: small })[0]).toMatchObject({ tokens: [{ type: 'table' }] });
    expect(tokens('| a | b | c |\n|---|---|---|\n| 1 |\n| 2 |')[0]?.type).toBe('table');
    // One item of a list that never ends is its source.
    expect(tokens(`- ${'x\n'.repeat(30_000)}`)[0]?.type).toBe('paragraph');
    expect(tokens(`- ${'x\n'.repeat(1_000)}`)[0]?.type).toBe('list');
  });

  it('gives a reference its definition though it comes later', () => {
    const document = inPieces('见 [手册][m]。\n\n别的\n\n[M]: https://example.com/m\n', [3, 9, 20]);
    expect(document.revision).toBeGreaterThan(0);
    expect(document.blocks[0]).toMatchObject({ links: { m: { href: 'https://example.com/m' } } });
  });

  it('cuts a paragraph in which much is open with little effort', () => {
    const read = (letters: number) => blocksOf('(。'.repeat(letters / 2));
    expect(growth(read, 24_000)).toBeLessThan(steep);
    expect(pieces(() => read(40_000))).toBeLessThan(2);
  });

  it('finds the users of a definition in time that grows with the text', () => {
    const oneBlock = (labels: number) => blocksOf(`- ${'[a]'.repeat(labels)}\n\n[a]: x`);
    expect(growth(oneBlock, 60_000)).toBeLessThan(steep);
    const many = (blocks: number) => {
      const labels = Array.from({ length: 300 }, (_, at) => `[${at}]`);
      const definitions = labels.map((label) => `${label}: x\n\n`).join('');
      return blocksOf(`${labels.join('')}\n\n`.repeat(blocks) + definitions);
    };
    expect(growth(many, 2_000)).toBeLessThan(steep);
    const blocks = many(4);
    expect(blocks[3]).toMatchObject({ links: { 299: { href: 'x' } } });
  });

  it('bounds the open block, whatever is written', () => {
    const endless = {
      words: 'word '.repeat(14_000),
      chinese: '很长的一段没有换行的话，一直写下去。'.repeat(4_000),
      letters: 'a'.repeat(70_000),
      bold: '**粗**体 '.repeat(10_000),
      list: '- 一项内容\n'.repeat(9_000),
      quote: '> 引用\n'.repeat(9_000),
      lines: '一行\n'.repeat(9_000),
      table: '| a | b |\n|---|---|\n' + '| 1 | 2 |\n'.repeat(5_000),
    };
    for (const source of Object.values(endless)) {
      const document = new MarkdownDocument();
      let most = 0;
      for (let at = 0; at < source.length; at += 997) {
        document.append(source.slice(at, at + 997));
        const { open } = document;
        if (open && open.kind !== 'code') most = Math.max(most, open.text.length);
      }
      expect(most).toBeLessThan(5_300);
    }
  });

  it('reads code of any length in time that grows with the code', () => {
    const read = (lines: number) => {
      const document = new MarkdownDocument('```ts\n');
      for (let at = 0; at < lines; at++) {
        document.append(`const x${at} = ${at};\n`);
        void document.open;
      }
    };
    expect(growth(read, 16_000)).toBeLessThan(steep);
  });
});
