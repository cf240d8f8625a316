import { expect, test } from 'vitest';
import { readFile } from '#server/reading/read.ts';
import { textOf } from '#server/reading/text-of.ts';
import type { ReadKind } from '#server/reading/kinds.ts';
import { growth, pieces, steep } from '#tests/support/growth.ts';
import { docxOf, pdfOf, pptxOf, wordTable, wordXml, xlsxOf } from '#tests/support/sample-files.ts';
import { quotesInFiles, type ReadFile } from './quotes-in-files.ts';

/** A file as it is kept after somebody attached it. */
const kept = async (name: string, kind: ReadKind, data: Buffer): Promise<ReadFile> => ({
  name,
  text: textOf((await readFile(kind, data, 200_000)).blocks),
});
const contract = wordXml([
  '第一条 甲方向乙方出租位于兰州的仓库，租期三年。',
  '第二条 租金每月一万二千元，每季度第一个月五日前支付。押金为两个月租金。',
  '第三条 乙方提前退租的，应当提前六十天书面通知甲方。',
]).replace(
  '</w:body>',
  `${wordTable([
    ['设备', '数量', '保修'],
    ['叉车', '3', '24 个月'],
    ['货架', '40', '五年'],
  ])}</w:body>`,
);

const files = async (): Promise<ReadFile[]> => [
  await kept('合同.docx', 'docx', docxOf(contract)),
  await kept(
    '价目.xlsx',
    'xlsx',
    xlsxOf('茶叶', [
      ['茶', '每斤', '产地'],
      ['龙井', 800, '杭州'],
      ['毛峰', 450, '黄山'],
      ['瓜片', 380, '六安'],
    ]),
  ),
  await kept('食堂.pdf', 'pdf', await pdfOf(['食堂早上七点开门。', '食堂中午供应三菜一汤。'])),
  await kept(
    '汇报.pptx',
    'pptx',
    pptxOf([
      { title: '目标', text: '今年营收增长三成。' },
      { title: '门店', text: '六月在天水开设第九家门店。' },
    ]),
  ),
  { name: '班次.csv', text: '班次,到岗,离岗\n早班,06:30,14:30\n夜班,22:30,06:30\n' },
  { name: '说明.md', text: '# 打印机\n\n## 卡纸\n\n先关电源，再从后盖取出纸张。\n' },
  { name: '日记.txt', text: '周一下雨。\n\n周二去看了牙医，约好十二月九日再去。\n周三没有事。' },
];

test.each([
  ['押金是多少', '押金为两个月租金', /^《合同\.docx》/],
  ['提前退租要提前多少天通知', '六十天', /^《合同\.docx》/],
  ['货架保修多久', '设备：货架；数量：40；保修：五年', /^《合同\.docx》 · 第 3 行$/],
  ['毛峰每斤多少钱', '茶：毛峰；每斤：450', /^《价目\.xlsx》 · 表“茶叶” · 第 3 行$/],
  ['食堂中午供应什么', '三菜一汤', /^《食堂\.pdf》 · 第 2 页/],
  ['第九家门店开在哪里', '天水', /^《汇报\.pptx》 · 第 2 张幻灯片/],
  ['夜班几点到岗', '到岗：22:30', /^《班次\.csv》 · 第 3 行$/],
  ['打印机卡纸怎么办', '先关电源', /^《说明\.md》 · 打印机 › 卡纸$/],
  ['牙医约在哪天', '十二月九日', /^《日记\.txt》 · 第 3 行$/],
])(
  'of several files the sentence that answers, and where it stands: %s',
  async (asked, says, where) => {
    const [first] = quotesInFiles(asked, await files());
    expect(first?.text).toContain(says);
    expect(first?.title).toMatch(where);
  },
);

test('nothing is quoted that is about something else', async () => {
  const all = await files();
  for (const asked of ['红烧肉要炖多长时间', '珠穆朗玛峰有多高', '怎么给摩托车换轮胎'])
    expect([asked, quotesInFiles(asked, all)]).toEqual([asked, []]);
  // Single letters in common are no answer.
  const leave = {
    name: '休假.txt',
    text: '员工每年享有十二天带薪年假。\n病假超过三天的，须提交证明。',
  };
  expect(quotesInFiles('丧假有几天', [leave])).toEqual([]);
  expect(quotesInFiles('年假有几天', [leave])[0]?.text).toContain('十二天');
  expect(quotesInFiles('押金是多少', [{ name: '空.txt', text: '' }])).toEqual([]);
  expect(quotesInFiles('？？？', all)).toEqual([]);
});

const repeated = (piece: string, size: number): string =>
  piece.repeat(Math.ceil(size / piece.length)).slice(0, size);

test.each([
  ['长.txt', '仓库的租金每月一万二千元，每季度支付。\n'],
  ['行.txt', '租\n'],
  ['空.md', '|\n'.padEnd(4000, ' ') + 'x'],
  ['题.md', '# 租'.padEnd(4000, ' ') + 'x'],
  ['一行.txt', '租金'],
  ['表.csv', '租金,'],
  ['宽.csv', `${'租金,'.repeat(400)}\n`],
  ['页.pdf', '【第 1 页】\n第 1 行　租金；'],
  ['签.html', '<tr><td colspan=500 rowspan=500>租'],
  ['深.html', '<b>'],
])(
  'what %s takes grows with its length and ends',
  (name, piece) => {
    const look = (size: number) =>
      quotesInFiles('租金每月是多少', [{ name, text: repeated(piece, size) }]);
    expect(growth(look, 200_000)).toBeLessThan(steep);
    expect(pieces(() => look(200_000))).toBeLessThan(40);
  },
  60_000,
);
