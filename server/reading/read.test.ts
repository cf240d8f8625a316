import PDFDocument from 'pdfkit';
import sharp from 'sharp';
import { pdfPages } from './pdf.ts';
import { zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import {
  docOf,
  docxOf,
  epubOf,
  pdfOf,
  pdfTableOf,
  pptxOf,
  wordBody,
  wordTable,
  xlsxOf,
} from '#tests/support/sample-files.ts';
import { chunksOf } from '../areas/embedding/chunk.ts';
import { Unwanted } from './block.ts';
import { type ReadKind, readKindOf } from './kinds.ts';
import { readFile } from './read.ts';
import { textOf } from './text-of.ts';

const most = 100_000;
const read = (kind: ReadKind, data: Uint8Array) => readFile(kind, new Uint8Array(data), most);
const rowsOf = async (kind: ReadKind, data: Uint8Array) =>
  (await read(kind, data)).blocks
    .filter((block) => block.kind === 'row')
    .map(({ text, place }) => ({ text, place }));

const table = [
  ['级别', '住宿', '餐补'],
  ['经理', '500 元', '120 元'],
  ['员工', '300 元', '80 元'],
];
const manager = '级别：经理；住宿：500 元；餐补：120 元';

describe('a table stays one, whatever file it stands in', () => {
  test.each<[ReadKind, () => Buffer | Promise<Buffer>, object]>([
    ['docx', () => wordBody(wordTable(table)), { row: 2 }],
    ['xlsx', () => xlsxOf('补贴', table), { sheet: '补贴', row: 2 }],
    ['csv', () => Buffer.from(table.map((row) => row.join(',')).join('\n')), { row: 2 }],
    [
      'markdown',
      () => Buffer.from(table.map((row) => `| ${row.join(' | ')} |`).join('\n|--|--|--|\n')),
      { row: 2 },
    ],
    [
      'html',
      () =>
        Buffer.from(
          `<table>${table.map((row) => `<tr><td>${row.join('</td><td>')}</td></tr>`).join('')}</table>`,
        ),
      { row: 2 },
    ],
    ['pdf', () => pdfTableOf(table), { page: 1, row: 2 }],
  ])('%s', async (kind, make, place) => {
    const [first] = await rowsOf(kind, await make());
    expect(first?.text.replaceAll(/(\d) 元/g, '$1 元')).toBe(manager);
    expect(first?.place).toEqual(place);
  });

  test('cells that were merged count for each row and column they take', async () => {
    const rows = [
      ['秋季价目', '', '', ''],
      ['部门', '姓名', '成绩', ''],
      ['', '', '笔试', '面试'],
      ['研发', '张三', 90, 80],
      ['', '李四', 70, 60],
    ];
    const merges = ['A1:D1', 'A2:A3', 'B2:B3', 'C2:D2', 'A4:A5'];
    const found = await rowsOf('xlsx', xlsxOf('表', rows, { merges }));
    expect(found.map(({ text }) => text)).toEqual([
      '部门：研发；姓名：张三；成绩 笔试：90；成绩 面试：80',
      '部门：研发；姓名：李四；成绩 笔试：70；成绩 面试：60',
    ]);
    expect(found[1]?.place).toEqual({ sheet: '表', row: 5, heading: ['秋季价目'] });
  });

  test('a form of two columns names its rows', async () => {
    const form = wordTable([
      ['负责人', '赵六'],
      ['电话', '8001'],
    ]);
    const found = await rowsOf('docx', wordBody(form));
    expect(found.map(({ text }) => text)).toEqual(['负责人：赵六', '电话：8001']);
  });
});

test('what stands at the head and the foot of each page goes, numbers in a long table and lone lines stay', async () => {
  const rows = Array.from({ length: 100 }, (_, at) => [`货品${at}`, `${at * 7 + 3}元`, '3年']);
  const lines = (await rowsOf('pdf', await pdfTableOf([['名称', '价格', '保修'], ...rows]))).map(
    ({ text }) => text,
  );
  expect(lines).toEqual(
    rows.map(([name, price, years]) => `名称：${name}；价格：${price}；保修：${years}`),
  );
  const pages = ['山', '水', '云'].map(
    (word, at) => `内部资料\n${word}在一处。\n${word}不动。\n${word}很大。\n${at + 1} / 3`,
  );
  const words = textOf((await read('pdf', await pdfOf(pages))).blocks);
  expect(words).toContain('云不动');
  expect(words).not.toMatch(/内部|\/ 3/);
  const lone = await pdfOf([1, 2, 3, 4].map((page) => `第 ${page} 号证书`));
  expect(textOf((await read('pdf', lone)).blocks)).toContain('4 号证书');
});

test('slides are known by their number, with what is noted below them', async () => {
  const { blocks } = await read('pptx', pptxOf([{ title: '总结', text: '增长', note: '举例' }]));
  expect(blocks).toEqual([
    { kind: 'heading', level: 1, text: '总结', place: { slide: 1 } },
    { kind: 'text', text: '增长', place: { slide: 1 } },
    { kind: 'note', text: '举例', place: { slide: 1 } },
  ]);
  expect(textOf(blocks)).toContain('备注：举例');
});

test('the chapters of an e-book stand under their headings', async () => {
  const { blocks } = await read(
    'epub',
    epubOf(['<h1>甲</h1><p>一 &amp; 二</p>', '<h2>乙</h2><p>三</p><script>不读</script>']),
  );
  const chunks = chunksOf(blocks, { separator: '', size: 500 });
  expect(chunks.map(({ content, place }) => [content, place.heading])).toEqual([
    ['一 & 二', ['甲']],
    ['三', ['甲', '乙']],
  ]);
});

test('a row is never cut, and rows of one table stand together', async () => {
  const rows = [
    ['编号', '说明'],
    ...Array.from({ length: 30 }, (_, at) => [at + 1, '长'.repeat(60)]),
  ];
  const { blocks } = await read('xlsx', xlsxOf('长', rows));
  const chunks = chunksOf(blocks, { separator: '', size: 200 });
  for (const { content } of chunks)
    for (const line of content.split('\n')) expect(line).toMatch(/长{60}$/);
  expect(chunks.length).toBeGreaterThan(10);
  expect(chunks[0]?.place).toMatchObject({ sheet: '长', row: 2, toRow: 3 });
});

describe('files that would take too much, or cannot be read', () => {
  const zeros = new Uint8Array(33 * 1024 * 1024);
  test.each<[string, ReadKind, () => Uint8Array, RegExp]>([
    [
      'a sheet that swells',
      'xlsx',
      () =>
        zipSync(
          { 'xl/workbook.xml': new Uint8Array(1), 'xl/worksheets/a.xml': zeros },
          { level: 0 },
        ),
      /展开后太大/,
    ],
    ['nesting without end', 'html', () => Buffer.from('<div>'.repeat(5000)), /太复杂/],
    [
      'a password',
      'docx',
      () =>
        Buffer.concat([
          Buffer.from('d0cf11e0a1b11ae1', 'hex'),
          Buffer.from('EncryptedPackage', 'utf16le'),
        ]),
      /密码/,
    ],
    ['a password of old Word', 'doc', () => docOf('秘密', { locked: true }), /密码/],
  ])('%s', async (_, kind, make, why) => {
    const reading = read(kind, make());
    await expect(reading).rejects.toThrow(why);
    await expect(reading).rejects.toBeInstanceOf(Unwanted);
  });

  test('a PDF that only its password opens says so, and one that may not be printed is read', async () => {
    const locked = await pdfOf(['秘密'], { userPassword: 'only-for-us', pdfVersion: '1.7ext3' });
    await expect(read('pdf', locked)).rejects.toThrow(/密码/);
    const unprinted = await pdfOf(['公开的条款'], { ownerPassword: 'only-for-us' });
    expect(textOf((await read('pdf', unprinted)).blocks)).toContain('公开的条款');
  });

  test('entities stay what they are', async () => {
    const bomb = docxOf(
      '<!DOCTYPE d [<!ENTITY a "哈哈"><!ENTITY b "&a;&a;&a;">]><w:document><w:body><w:p><w:r><w:t>&b;字</w:t></w:r></w:p></w:body></w:document>',
    );
    const { blocks } = await read('docx', bomb);
    expect(textOf(blocks)).not.toContain('哈');
  });

  test.each(['docx', 'xlsx', 'pptx', 'epub', 'pdf'] as const)('a broken %s', async (kind) => {
    await expect(read(kind, Buffer.from('PK\x03\x04 nothing'))).rejects.toThrow(/./);
  });
});

test('a file is what its bytes say', () => {
  expect(readKindOf('a.xlsx', xlsxOf('a', []))).toBe('xlsx');
  expect(readKindOf('a.pdf', xlsxOf('a', []))).toBe(null);
  expect(readKindOf('a.png', Buffer.from('89504e470d0a1a0a', 'hex'))).toBe('image');
  expect(readKindOf('a.txt', Buffer.from('ffd8ffe0', 'hex'))).toBe(null);
});

test('a page of a PDF that is a scan of whatever size is a picture; an empty one is none', async () => {
  const pdf = await new Promise<Buffer>((resolve) => {
    const document = new PDFDocument({ size: 'A4', margin: 0 });
    const parts: Buffer[] = [];
    document.on('data', (part: Buffer) => parts.push(part));
    document.on('end', () => resolve(Buffer.concat(parts)));
    void (async () => {
      for (const [width, height] of [
        [900, 1_100],
        [1_654, 2_339],
      ] as const) {
        const page = sharp({ create: { width, height, channels: 3, background: '#eee' } });
        document.image(await page.jpeg().toBuffer(), 0, 0, { width: 595 });
        document.addPage();
      }
      document.text('第三页写着一行字，不是图片', 60, 60);
      document.addPage();
      document.end();
    })();
  });
  expect((await pdfPages(pdf, 1_000)).pictures).toEqual([1, 2]);
});

test('what stands above a passage takes no more room than a line', () => {
  const place = {};
  const headings = [1, 2, 3, 4, 5, 6].map((level) => ({
    kind: 'heading' as const,
    level,
    text: `${level}`.repeat(80),
    place,
  }));
  const text = { kind: 'text' as const, text: '字a'.repeat(300), place };
  const chunks = chunksOf([...headings, text], { separator: 'a', size: 100 });
  expect(chunks).toHaveLength(300);
  for (const chunk of chunks) expect(JSON.stringify(chunk.place.heading).length).toBeLessThan(220);
  expect(chunks[0]?.place.heading).toEqual(['1'.repeat(80), '2'.repeat(80), '3'.repeat(40)]);
});
