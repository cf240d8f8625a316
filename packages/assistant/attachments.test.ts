import { expect, it } from 'vitest';
import { help } from '#server/areas/help/help.service.ts';
import type { ChatMessage, ContentPart, Quote } from '#common/chat-message.ts';
import { answer, askedOfFiles } from './answer.ts';

const now = new Date('2026-11-21T03:30:00Z');
const file = (name: string, text: string, cut = false): ContentPart => ({
  type: 'file',
  name,
  text,
  cut,
});
const image: ContentPart = {
  type: 'image_url',
  image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' },
};
const ask = (question: string, parts: ContentPart[], before: ChatMessage[] = []): string =>
  answer([...before, { role: 'user', content: [{ type: 'text', text: question }, ...parts] }], {
    help: help(),
    now,
  });

const poem = file('静夜思.txt', '床前明月光，\n疑是地上霜。\n举头望明月，\n低头思故乡。');

it('says that it cannot see images, however it is asked', () => {
  for (const question of ['这是什么？', '三加五等于几', '']) {
    const said = ask(question, [image, image]);
    expect(said).toContain('2 张图片');
    expect(said).toContain('看不见它们');
  }
});

it('says what is in a file', () => {
  const said = ask('看看这个', [poem]);
  expect(said).toContain('《静夜思.txt》有 4 行');
  expect(said).toContain('床前明月光');
  expect(said).toContain('不是神经网络模型');
});

it('counts, finds and takes out lines', () => {
  expect(ask('一共有多少字？', [poem])).toMatch(/\| 汉字 \| 20 \|/);
  expect(ask('查找“明月”', [poem])).toMatch(/有 2 行提到“明月”[^]*1: 床前明月光[^]*3: 举头望明月/);
  expect(ask('查找“太阳”', [poem])).toContain('没有“太阳”');
  const lines = ask('第 2 到 3 行写了什么', [poem]);
  expect(lines).toContain('疑是地上霜。\n举头望明月，');
  expect(lines).not.toContain('床前');
  expect(ask('第 9 行', [poem])).toContain('只有 4 行');
});

it('answers about a file that came with an earlier question', () => {
  const before: ChatMessage[] = [
    { role: 'user', content: [poem] },
    { role: 'assistant', content: '好的' },
  ];
  expect(
    answer([...before, { role: 'user', content: '这个文件有多少行？' }], { help: help(), now }),
  ).toContain('| 行 | 4 |');
  const both = answer([...before, { role: 'user', content: '文件有多少行？一共多少字？' }], {
    help: help(),
    now,
  });
  expect(both).toContain('| 行 | 4 |');
  expect(both).toContain('| 汉字 | 20 |');
});

it('says that a longer file was cut, and nothing in a name or text becomes Markdown', () => {
  const said = ask('看看', [file('![x](http://a)`<b>.txt', '```\n# 标题\n```', true)]);
  expect(said).toContain('只读到了前面的部分');
  expect(said).toContain('《!\\[x\\](http://a)\\`\\<b\\>.txt》'.replace('!', '\\!'));
  expect(said).toContain('````text\n```\n# 标题\n```\n````');
});

it('speaks of images and files that came together', () => {
  const said = ask('有多少字', [image, poem]);
  expect(said).toContain('1 张图片');
  expect(said).toContain('| 汉字 | 20 |');
});

const rent: Quote = { n: 0, title: '《合同.docx》 · 第 3 页', text: '押金为两个月租金。' };
const contract = file('合同.docx', '押金为两个月租金。');
const asked = (question: string, parts: ContentPart[] = [contract]) =>
  askedOfFiles([{ role: 'user', content: [{ type: 'text', text: question }, ...parts] }], now)
    ?.question ?? null;
const later = (question: string, quotes: readonly Quote[] | null = null) => {
  const messages: ChatMessage[] = [
    { role: 'user', content: [{ type: 'text', text: '押金是多少' }, contract] },
    { role: 'assistant', content: '> 押金为两个月租金。' },
    { role: 'user', content: question },
  ];
  return {
    sought: askedOfFiles(messages, now)?.files.map(({ name }) => name) ?? [],
    said: answer(messages, { help: help(), now, quotes }),
  };
};

it('looks for what answers a question, not for what counts, finds, takes out or tells of all of it', () => {
  for (const question of [
    '押金是多少',
    '租期多久',
    '保修多长时间',
    '包含哪些费用',
    '主要付款方式是什么',
    '翻译费是多少',
    '有多少银行',
    '谁是甲方',
    '合同里写的违约金怎么算？',
    'When is the deadline?',
  ])
    expect(asked(question), question).toBe(question);
  for (const question of [
    '',
    '看看这个',
    '你好',
    '这个文件讲了什么？',
    '总结一下',
    '用三句话概括这份文件的主要内容',
    '把它翻译成英文',
    '一共有多少字？',
    '有几行',
    '查找“押金”',
    '有没有提到押金',
    '第 2 到 3 行写了什么',
    'Summarize this document please',
  ])
    expect(asked(question), question).toBeNull();
  expect(asked('押金是多少', [])).toBeNull();
});

it('quotes what answers with its place, or says that nothing does', () => {
  const ask = (quotes: Quote[], cut = false) =>
    answer(
      [
        {
          role: 'user',
          content: [{ type: 'text', text: '押金是多少' }, { ...contract, cut } as ContentPart],
        },
      ],
      { help: help(), now, quotes },
    );
  expect(ask([rent])).toMatch(
    /^> 押金为两个月租金。\n>\n> —— 《合同\.docx》 · 第 3 页\n\n以上是附件的原文/,
  );
  expect(ask([])).toMatch(/^附件里没有能回答这个问题的内容。/);
  expect(ask([])).toContain('《合同.docx》');
  expect(ask([rent], true)).toContain('只读到了前面的部分');
  const sum: ChatMessage = {
    role: 'user',
    content: [{ type: 'text', text: '3+5等于几' }, contract],
  };
  expect(answer([sum], { help: help(), now, quotes: [] })).toContain('**8**');
});

it('answers from a base and from a file in one conversation', () => {
  const base = (quotes: Quote[]): ChatMessage => ({
    role: 'system',
    content: [{ type: 'knowledge', text: '', bases: ['手册'], quotes }],
  });
  const question = { role: 'user' as const, content: '押金是多少' };
  const earlier: ChatMessage[] = [
    { role: 'user', content: [contract] },
    { role: 'assistant', content: '好的' },
  ];
  const holidays: Quote = { n: 1, title: '', text: '年假十二天。' };
  const said = (system: ChatMessage, quotes: Quote[]) =>
    answer([system, ...earlier, question], { help: help(), now, quotes });
  expect(askedOfFiles([base([]), ...earlier, question], now)?.question).toBe('押金是多少');
  expect(askedOfFiles([base([holidays]), ...earlier, question], now)).toBeNull();
  expect(said(base([]), [rent])).toContain('押金为两个月租金');
  expect(said(base([]), [])).toMatch(/^资料里没有/);
  const own: ChatMessage = {
    role: 'user',
    content: [{ type: 'text', text: '年假几天' }, contract],
  };
  expect(answer([base([holidays]), own], { help: help(), now, quotes: [] })).toContain(
    '年假十二天',
  );
});

it('goes on about a file that was attached before, but answers by its rules and the help first', () => {
  expect(later('提前退租要赔多少钱？', [rent])).toMatchObject({
    sought: ['合同.docx'],
    said: expect.stringContaining('> 押金为两个月租金。'),
  });
  expect(later('提前退租要赔多少钱？', []).said).toContain('附件里没有能回答');
  for (const question of ['谢谢', '3+5等于几', '今天星期几？', '你是谁', '这个文件有多少字'])
    expect(later(question).sought, question).toEqual([]);
  expect(later('3+5等于几').said).toContain('**8**');
  expect(later('总结一下').said).toContain('开头是');
  expect(later('怎么连接 DeepSeek？', []).said).toContain('摘自帮助页');
});
