import { describe, expect, it, test } from 'vitest';
import { pieces } from '#tests/support/growth.ts';
import { help } from '#server/areas/help/help.service.ts';
import type { ChatMessage } from '#common/chat-message.ts';
import { spokenBy, talkInstruction } from '#common/talk.ts';
import { answer } from './answer.ts';
import { chineseNumber } from '#common/chinese-numbers.ts';

/** A Saturday; 11:30 in China. */
const now = new Date('2026-11-21T03:30:00Z');
const ask = (question: string, before?: string): string => {
  const messages: ChatMessage[] = [{ role: 'user', content: question }];
  if (before !== undefined) messages.unshift({ role: 'assistant', content: before });
  return answer(messages, { help: help(), now });
};

test('a question within a talk is what was asked, whoever said it', () => {
  const messages: ChatMessage[] = [
    { role: 'system', content: talkInstruction },
    { role: 'user', content: spokenBy('周二', '怎样用 @ 请模型回答？') },
    { role: 'user', content: spokenBy('林一', '@内置助手 26.2 英里是多少公里') },
  ];
  expect(answer(messages, { help: help(), now })).toContain('42.16');
});

describe('numbers', () => {
  it.each([
    ['三百二十一', 321],
    ['十五', 15],
    ['二〇二七', 2027],
    ['一万零八', 10_008],
    ['三亿五千万', 350_000_000],
    ['二点五', 2.5],
    ['百', 100],
  ])('%s is %d', (text, value) => {
    expect(chineseNumber(text)).toBe(value);
  });
});

describe('arithmetic', () => {
  it.each([
    ['三加五等于几', '3+5 = **8**'],
    ['(3+5)×12', '= **96**'],
    ['1.5万×3', '= **45000**'],
    ['1.5万的15%是多少', '= **2250**'],
    ['15% of 200', '= **30**'],
    ['百分之十五乘以二百', '= **30**'],
    ['200+15%', '= **230**'],
    ['100 元打八折', '= **80**'],
    ['2 的 10 次方', '= **1024**'],
    ['2^100', '= **1267650600228229401496703205376**'],
    ['0.1+0.2', '= **0.3**'],
    ['10 除以 3', '≈ **3.33333333333333**'],
    ['17除以5的余数', '= **2**'],
    ['三的平方加四的平方', '= **25**'],
    ['根号16', '= **4**'],
    ['sin30度', '= **0.5**'],
    ['5的阶乘', '= **120**'],
    ['1,234+1', '= **1235**'],
    ['请帮我算一下 12*12 等于多少？', '= **144**'],
  ])('%s', (question, expected) => {
    expect(ask(question)).toContain(expected);
  });

  it('goes on from the last result', () => {
    const first = ask('三加五等于几');
    expect(ask('再加 5', first)).toContain('= **13**');
    expect(ask('除以2', first)).toContain('= **4**');
    expect(ask('×10', first)).toContain('= **80**');
    expect(ask('再加 5')).not.toContain('**5**');
  });

  it.each([
    '9^9^9^9',
    '999999!',
    '(((99!)!)!)!',
    '2^(2^(2^(2^(2^9))))',
    `${'9^'.repeat(60)}9`,
    `${'('.repeat(140)}1${')'.repeat(140)}+1`,
    `${'1+'.repeat(140)}1`,
    '1e999999999!',
    'exp(99999999)',
    'sin(10^90)',
    'import("fs")+1',
    'e^(10^9)',
    '10^99999^0.5',
    '0.0000001^99999',
  ])('is never held up by %s', (question) => {
    expect(pieces(() => expect(ask(question).length).toBeGreaterThan(3))).toBeLessThan(3);
  });

  it('says what cannot be done', () => {
    expect(ask('1/0')).toContain('除数不能是零');
    expect(ask('0/0')).toMatch(/没有意义|不能是零/);
  });
});

describe('dates', () => {
  it.each([
    ['今天星期几', '2026 年 11 月 21 日（星期六）'],
    ['后天是几号', '后天是 **2026 年 11 月 23 日'],
    ['大后天是几号', '大后天是 **2026 年 11 月 24 日'],
    ['现在几点了', '**11:30**'],
    ['距离 2027-01-01 还有几天', '**41** 天'],
    ['离春节还有多少天', '2027 年 2 月 6 日（星期六）还有 **77** 天'],
    ['今天离春节还有几天', '相差 **77** 天'],
    ['今天离春节和元宵节还有几天', '**91** 天'],
    ['除夕是几号', '2027 年 2 月 5 日'],
    ['2028年春节是哪天', '2028 年 1 月 26 日'],
    ['明年中秋节是星期几', '2027 年 9 月 15 日（星期三）'],
    ['中秋过去多少天了', '2026 年 9 月 25 日（星期五）已经过去 **57** 天'],
    ['七夕是几号', '2027 年 8 月 8 日'],
    ['十一月初一是几号', '2026 年 12 月 9 日'],
    ['闰六月初一是哪天', '2036 年 7 月 23 日'],
    ['清明节还有几天', '2027 年 4 月 5 日'],
    ['腊月初八是哪天', '2027 年 1 月 15 日'],
    ['今天农历几号', '丙午年十月十三'],
    ['2025年7月25日农历是几号', '闰六月初一'],
    ['国庆节还有几天', '2027 年 10 月 1 日'],
    ['距离2027年1月1日还有多少天？', '**41** 天'],
    ['30 天后是几号', '2026 年 12 月 21 日（星期一）'],
    ['三个月前是哪天', '2026 年 8 月 21 日'],
    ['两周后是星期几', '12 月 5 日（星期六）'],
    ['2026-01-01 到 2026-12-31 有多少天', '**364** 天'],
    ['国庆节还有几天', '**314** 天'],
    ['2028年是闰年吗', '是闰年'],
    ['2026年2月30日是星期几', '没有这一天'],
    ['2000年1月1日是星期几', '星期六'],
  ])('%s', (question, expected) => {
    expect(ask(question)).toContain(expected);
  });
});

describe('units', () => {
  it.each([
    ['5 英里是多少公里', '**8.04672** 公里'],
    ['3斤等于几公斤', '**1.5** 公斤'],
    ['一斤等于几两', '**10** 两'],
    ['100 华氏度', '**37.7778** 摄氏度'],
    ['零下40摄氏度是多少华氏度'.replace('零下', '-'), '**-40** 华氏度'],
    ['1亩等于多少平方米', '**666.667** 平方米'],
    ['2 GB 是多少 MB', '**2048** MB'],
    ['180cm是多少英寸', '**70.8661** 英寸'],
    ['一公里等于多少米', '**1000** 米'],
  ])('%s', (question, expected) => {
    expect(ask(question)).toContain(expected);
  });
});

describe('texts', () => {
  it.each([
    ['字数统计：你好 world', '| 汉字 | 2 |'],
    ['转大写：abc', 'ABC'],
    ['反转：你好👨‍👩‍👧', '👨‍👩‍👧好你'],
    ['base64编码：你好', '5L2g5aW9'],
    ['base64解码：5L2g5aW9', '你好'],
    ['给我看一个 Markdown 示例', '```mermaid'],
    ['来个表格示例', '| 桥 |'],
  ])('%s', (question, expected) => {
    expect(ask(question)).toContain(expected);
  });

  it('draws random numbers within their bounds', () => {
    for (let at = 0; at < 50; at += 1) {
      const drawn = Number(/\*\*(\d+)\*\*/.exec(ask('随机数 3 到 5'))?.[1]);
      expect(drawn).toBeGreaterThanOrEqual(3);
      expect(drawn).toBeLessThanOrEqual(5);
    }
    expect(ask('生成一个UUID')).toMatch(/^`[0-9a-f-]{36}`$/);
  });
});

describe('several questions in one message', () => {
  it.each<[string, string[]]>([
    [
      '1+2*3 等于多少？春节还有几天？这个应用怎么画图？',
      ['> 1\\+2\\*3 等于多少', '= **7**', '**77** 天', '/help?page=drawing'],
    ],
    ['明天是几号？今天星期几？', ['明天是 **2026 年 11 月 22 日', '今天是 **2026 年 11 月 21 日']],
    ['今天星期几，3斤等于几公斤', ['星期六', '**1.5** 公斤']],
    ['三加五等于几？再乘以二呢？', ['= **8**', '= **16**']],
    ['5!+3=？\n明天是几号？', ['= **123**', '11 月 22 日']],
    ['怎么连接 DeepSeek？token 怎么扣？', ['/help?page=connect', '/help?page=tokens']],
    ['春节和元宵节还有几天', ['春节：2027 年 2 月 6 日', '**77** 天', '元宵节', '**91** 天']],
  ])('%s', (question, expected) => {
    const reply = ask(question);
    for (const each of expected) expect(reply).toContain(each);
    expect(reply).not.toContain('不知道');
  });

  it('answers beside what chance decides', () => {
    const reply = ask('掷骰子。春节还有几天？');
    expect(reply).toMatch(/掷出了 \*\*[1-6]\*\* 点/);
    expect(reply).toContain('**77** 天');
  });

  it('quotes a question as it stands', () => {
    const reply = ask('1. 今天星期几？\n- 明天是几号？\n$x$ 是*什么*？');
    for (const line of ['> 1\\. 今天星期几？', '> \\- 明天是几号？', '> \\$x\\$ 是\\*什么\\*？'])
      expect(reply).toContain(line);
  });

  it('says which of them it can not answer', () => {
    const reply = ask('红烧肉怎么做？12*12 等于多少？');
    expect(reply.indexOf('红烧肉怎么做？\n\n这个我不知道')).toBeGreaterThan(0);
    expect(reply).toContain('= **144**');
    expect(reply).toContain('/help?page=connect');
  });

  it.each<[string, string]>([
    ['你好！今天星期几？', '今天是 **2026 年 11 月 21 日（星期六）**'],
    ['谢谢。3斤等于几公斤？', '3 斤 = **1.5** 公斤'],
    ['2027-01-01。还有几天？', '**41** 天'],
    ['1,234+1 等于几', '= **1235**'],
    ['我想连接 DeepSeek。怎么做？', 'OPENAI_BASE_URL'],
    ['字数统计：今天星期几？明天呢？', '| 汉字 | 8 |'],
  ])('%s is one question', (question, expected) => {
    expect(ask(question)).toContain(expected);
    expect(ask(question)).not.toMatch(/^>|不知道|您好|不客气/m);
  });

  it('is never held up by many', () => {
    const texts = [
      '今天星期几？'.repeat(100),
      '1!'.repeat(300),
      '？'.repeat(600),
      '1，'.repeat(300),
    ];
    for (const text of texts)
      expect(pieces(() => expect(ask(text).length).toBeGreaterThan(3))).toBeLessThan(3);
  });
});

describe('talk and help', () => {
  it('is honest about itself', () => {
    for (const question of ['你是谁', '你是 GPT 吗？', '你能做什么'])
      expect(ask(question)).toContain('不是神经网络模型');
    expect(ask('你好')).toContain('您好');
  });

  it('quotes the help and names the page', () => {
    const reply = ask('怎么连接 DeepSeek');
    expect(reply).toContain('OPENAI_BASE_URL');
    expect(reply).toContain('/help?page=connect');
    expect(ask('怎么扣费')).toContain('/help?page=tokens');
    // Words that stand in many pages are an answer, too.
    expect(ask('怎么画图')).toContain('### 怎么画图');
    expect(ask('如何安装')).toContain('/help?page=app');
  });

  it.each<[string, string]>([
    // What it offers itself, each line of it.
    ['怎么连接 DeepSeek？', '/help?page=connect'],
    ['token 怎么扣？', '/help?page=tokens'],
    ['(3+5)×12', '= **96**'],
    ['1.5万的15%', '= **2250**'],
    ['三加五等于几', '= **8**'],
    ['今天星期几', '星期六'],
    ['春节还有几天', '**77** 天'],
    ['农历八月十五是哪天', '2027 年 9 月 15 日'],
    ['30 天后是几号', '2026 年 12 月 21 日'],
    ['5 英里是多少公里', '**8.04672** 公里'],
    ['3 斤等于几公斤', '**1.5** 公斤'],
    ['100 华氏度', '**37.7778** 摄氏度'],
    ['字数统计：鹊桥', '| 汉字 | 2 |'],
    ['转大写：abc', 'ABC'],
    ['反转：abc', 'cba'],
    ['随机数 1 到 100', '（1 到 100）'],
    ['UUID', '-4'],
    ['给我看一个 Markdown 示例', '```mermaid'],
    // What home offers to tap.
    ['你能做什么？', '我能做这些'],
    ['(128 + 36) × 2.5 等于多少？', '= **410**'],
    ['26.2 英里是多少公里？', '**42.1648** 公里'],
    ['怎样接入别的模型？', '/help?page=connect'],
  ])('keeps what it promises: %s', (question, expected) => {
    const reply = ask(question);
    expect(reply).toContain(expected);
    expect(reply).not.toContain('不知道');
  });

  it('says when it does not know, and what it can do', () => {
    for (const question of [
      '红烧肉怎么做',
      '写一首诗',
      '法国的首都是哪里',
      'x',
      '😀',
      '啊'.repeat(60_000),
    ]) {
      const reply = ask(question);
      expect(reply).toContain('不知道');
      expect(reply).toContain('/help?page=connect');
    }
  });
});
