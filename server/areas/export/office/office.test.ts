import { unzipSync, strFromU8 } from 'fflate';
import { parseDocument } from 'htmlparser2';
import { expect, test } from 'vitest';
import { contentOf } from './content.ts';
import { docxFile } from './docx-file.ts';
import { pptxFile } from './pptx-file.ts';
import { xlsxFile } from './xlsx-file.ts';

const markdown = `# 报告 <一>

开头 **粗体** 与 \`code & more\`，见 [站点](https://a.example/?a=1&b=2)。

- 一项
  - 里面一项
1. 第一

## 数字

| 名称 | 数 |
| --- | ---: |
${Array.from({ length: 90 }, (_, at) => `| 第 ${at} 行 | ${at * 1000} |`).join('\n')}

\`\`\`js
if (a < b) c();
\`\`\`
`;

/** Names of elements that are not closed in their order, and references that are none. */
const faults = (text: string): string[] => {
  const open: string[] = [];
  const wrong: string[] = [];
  for (const [, close, name = '', , self] of text.matchAll(
    /<(\/?)([\w:]+)((?:"[^"]*"|[^">])*?)(\/?)>/g,
  ))
    if (close) {
      if (open.pop() !== name) wrong.push(name);
    } else if (!self) open.push(name);
  return [...wrong, ...open, ...(text.match(/&(?!amp;|lt;|gt;|quot;)/g) ?? [])];
};

test('every part of an office file is whole XML, and all that is referred to is there', () => {
  const parts = contentOf(`${markdown}\n\u0001\uD800`);
  const sheets = [
    {
      name: 'a/b:c?',
      rows: [
        ['x', 'y'],
        ['=1+1', '1,234.5', '007'],
      ],
    },
  ];
  for (const file of [
    docxFile(parts, '由 <人工智能> 生成'),
    pptxFile(parts, '讲稿', '脚'),
    xlsxFile(sheets, '脚 & 注'),
  ]) {
    const entries = unzipSync(file);
    const names = Object.keys(entries);
    for (const name of names) {
      const text = strFromU8(entries[name]!).replace(/^<\?xml[^>]*\?>\n/, '');
      expect(faults(text), name).toEqual([]);
      expect(parseDocument(text, { xmlMode: true }).children).toHaveLength(1);
    }
    const types = strFromU8(entries['[Content_Types].xml']!);
    for (const [, part = ''] of types.matchAll(/PartName="\/([^"]+)"/g))
      expect(names).toContain(part);
    for (const name of names.filter((each) => each.endsWith('.rels'))) {
      const folder = name.replace(/_rels\/[^/]+$/, '');
      for (const [, target = ''] of strFromU8(entries[name]!).matchAll(/Target="([^"]+)"/g))
        expect(names).toContain(new URL(target, `file:///${folder}`).pathname.slice(1));
    }
  }
});

test('a table of 90 rows stays one, and cells are numbers only where they are', () => {
  const tables = contentOf(markdown).filter(({ kind }) => kind === 'table');
  expect(tables).toHaveLength(1);
  const rows = [
    ['甲', '乙'],
    ['=HYPERLINK("http://x")', '12.50'],
    ['007', '1,234'],
  ];
  const sheet = strFromU8(
    unzipSync(xlsxFile([{ name: '表', rows }], ''))['xl/worksheets/sheet1.xml']!,
  );
  expect(sheet).toContain('<v>12.5</v>');
  expect(sheet).toContain('<v>1234</v>');
  expect(sheet).not.toContain('<f>');
  expect(sheet).toContain('>007</t>');
});

test('what is to stand at the foot is seen on each sheet and slide, and in no cell of a table', () => {
  const words = '由人工智能生成';
  const rows = [
    ['甲', '乙'],
    ['1', '2'],
  ];
  const sheets = ['一', '二'].map((name) => ({ name, rows }));
  const book = unzipSync(xlsxFile(sheets, words));
  for (const at of [1, 2])
    expect(strFromU8(book[`xl/worksheets/sheet${at}.xml`]!)).toContain(
      `<row r="3"></row><row r="4"><c r="A4" t="inlineStr"><is><t xml:space="preserve">${words}<`,
    );
  const talk = unzipSync(pptxFile(contentOf('# 一\n\n甲\n\n# 二\n\n乙'), '讲稿', words));
  const slides = Object.keys(talk).filter((name) => name.startsWith('ppt/slides/slide'));
  expect(slides).toHaveLength(2);
  for (const name of slides) expect(strFromU8(talk[name]!)).toContain(`<a:t>${words}</a:t>`);
});
