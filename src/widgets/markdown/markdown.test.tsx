import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it, vi } from 'vitest';
import { growth, steep } from '#tests/support/growth.ts';
import { xssPayloads } from '#tests/support/xss-payloads.ts';
import { blocksOf } from '#common/markdown/document.ts';
import { readHighlighted } from './highlight.ts';
import { Markdown } from './markdown.tsx';
import { tokensOf } from '#common/markdown/lex.ts';

// Its code comes late, in a browser.
vi.mock('#src/widgets/image/with-made-mark.tsx', () => ({
  WithMadeMark: ({ url }: { url: string }) => <i title={`made ${url}`} />,
}));

const html = (text: string): string => renderToStaticMarkup(<Markdown text={text} />);

/** Tags and attributes as a browser would see them: text between tags is left out. */
const tagsOf = (markup: string): string[] => markup.match(/<[^>]*>/g) ?? [];

describe('Markdown', () => {
  it('makes an element of none of the payloads', { timeout: 60_000 }, () => {
    expect(xssPayloads.length).toBeGreaterThan(500);
    for (const payload of xssPayloads) {
      for (const tag of tagsOf(html(payload))) {
        if (tag.startsWith('<svg class="icon"')) continue;
        expect(tag, payload).not.toMatch(
          /^<(?:script|iframe|object|embed|style|link|meta|base|form|svg|math|video|audio|body|details|template)\b/i,
        );
        // React writes attribute values in double quotes and escapes what is in them.
        const names = tag.replace(/"[^"]*"/g, '""');
        expect(names, payload).not.toMatch(/\son\w+=/i);
        for (const [, url] of tag.matchAll(/\s(?:href|src)="([^"]*)"/g))
          expect(url, payload).toMatch(
            /^(?:https?:\/\/|mailto:|\/help|\/(?![/\\])|data:image\/(?:png|jpeg|gif|webp);)/,
          );
      }
    }
  });

  it('says at an image of this server how it was made, and asks nothing of others', () => {
    const own = '/files/0123456789012345678901234567890123456789.png';
    expect(html(`![图](${own})`)).toContain(`<i title="made ${own}">`);
    expect(html('![图](https://example.com/a.png)')).not.toContain('made');
  });

  it('leads nowhere that acts by itself', () => {
    expect(html('[去](/chat?uuid=a&prompt=b&send=1)')).not.toContain('href');
    expect(html('[去](/help/../chat?uuid=a&prompt=b&send=1)')).not.toContain('href');
    expect(html('[去](/help/%2e%2e/chat?uuid=a&send=1)')).not.toContain('href');
    expect(html('![图](/x/../api/logout)')).not.toContain('src');
    expect(html('[帮助](/help?page=start)')).toContain('href="/help?page=start"');
  });

  it('guards links that leave', () => {
    expect(html('[x](https://example.com)')).toContain(
      'target="_blank" rel="noopener noreferrer nofollow"',
    );
  });

  it('keeps Chinese bold, addresses and prices apart', () => {
    expect(html('**重点：**后面')).toContain('<strong>重点：</strong>后面');
    expect(html('见 https://example.com/a，后面')).toContain('href="https://example.com/a"');
    expect(html('价格 $5 和 $10，共 $15')).not.toContain('formula');
    expect(html('$5美元，$6美元')).not.toContain('formula');
    expect(html('能量 $E=mc^2$ 守恒')).toContain('formula');
    expect(html('\\(a+b\\) 与 \\[c\\]')).toContain('data-display');
  });

  it('shows HTML as text, but for line breaks', () => {
    expect(html('<b>粗</b>')).toContain('&lt;b&gt;粗&lt;/b&gt;');
    expect(html('一<br>二')).toContain('一<br/>二');
    expect(html('a &amp; b &copy; &#20013; &lt;')).toContain('a &amp; b © 中 &lt;');
  });

  it('renders lists, tasks, tables and code', () => {
    expect(html('3. 三\n4. 四')).toContain('<ol start="3">');
    expect(html('- [x] 完\n- [ ] 未')).toContain('type="checkbox"');
    expect(html('| a |\n|--:|\n| 1 |')).toContain('data-align="right"');
    expect(html('```js\nlet a\n```')).toContain('<code>let a</code>');
    expect(html('[文][r]\n\n[r]: https://example.com "题"')).toContain('title="题"');
  });

  it('reads the highlighter’s own output, and nothing else of it', () => {
    expect(readHighlighted('<span class="hljs-string">&quot;a&lt;b\nc&quot;</span>&amp;')).toEqual([
      [{ scope: 'hljs-string', text: '"a<b' }],
      [
        { scope: 'hljs-string', text: 'c"' },
        { scope: '', text: '&' },
      ],
    ]);
  });

  it('stands what would overflow or hang a lexer', { timeout: 60_000 }, () => {
    const hostile = (n: number) => [
      '>'.repeat(n),
      '> '.repeat(n),
      '['.repeat(n),
      '!['.repeat(n),
      '[a]('.repeat(n),
      '**a '.repeat(n),
      '*a _b '.repeat(n),
      '`a '.repeat(n),
      '<a '.repeat(n),
      '- '.repeat(n),
      '1. '.repeat(n),
      '~~a '.repeat(n),
      '$a '.repeat(n),
      '\\('.repeat(n),
      '|'.repeat(n),
      `${'| a '.repeat(n / 5)}|\n${'|---'.repeat(n / 5)}|\n`,
      '&'.repeat(n),
      'a@'.repeat(n),
      'http://'.repeat(n),
      '(('.repeat(n),
      `[a](${'<'.repeat(n)}`,
      `[a]: ${'('.repeat(n)}`,
      Array.from({ length: 5 * Math.sqrt(n) }, (_, depth) => `${'  '.repeat(depth)}- a`).join('\n'),
      Array.from({ length: 5 * Math.sqrt(n) }, (_, depth) => `${'>'.repeat(depth)} a`).join('\n'),
    ];
    for (const [at, text] of hostile(40).entries()) {
      const draw = (n: number) => expect(html(hostile(n)[at] ?? '').length).toBeGreaterThan(0);
      expect(growth(draw, 10_000), text.slice(0, 20)).toBeLessThan(steep);
    }
  });

  it('lexes a block once', () => {
    const [block] = blocksOf('**a**');
    expect(block?.kind === 'text' && tokensOf(block) === tokensOf(block)).toBe(true);
  });
});
