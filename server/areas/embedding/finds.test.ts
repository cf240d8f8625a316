import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createOriginals } from './originals.ts';
import { PassageIndex } from './passage-index.ts';
import { usualForms } from '#server/search/forms.ts';
import { searchedLetters } from '#server/search/letters.ts';
import { readingsOf } from '#server/search/question.ts';
import { relevanceOf, searchedText } from '#server/search/relevance.ts';
import { withoutShell } from '#server/search/shells.ts';

const passages = [
  '数据对象的地址在右侧面板里查看。',
  '运行程序之前，先把文件保存到硬盘。',
  '在单元格中插入公式，结果会自动计算。',
  '打开鼠标设置，调整指针的速度。',
  '本单位的差旅费每天不超过三百元。',
  '目的地天气不好时，可以改签机票。',
  '第十二条 会议室由张晓伟负责登记。',
  '第13条 二〇二五年的奖金在次年一月发放。',
  '胸牌遗失须当日告知前台。',
  '迟到十五分钟以内不扣薪水。',
  '選擇「取代」之前，先確認預設值。',
];

const firstFor = (question: string): string | undefined => {
  const index = new PassageIndex();
  index.add({
    mark: 1,
    ids: passages.map((_, at) => at),
    headings: passages.map(() => ''),
    texts: passages,
    vectors: new Uint8Array(0),
    model: '',
  });
  const readings = readingsOf(question, index.holds);
  const { candidates } = index.search(readings, null);
  const best = candidates.sort((one, other) => one.wordsRank - other.wordsRank)[0];
  return best && passages[best.id];
};

describe('what is asked finds its passage', () => {
  test.each([
    ['对象的地址是什么', 0],
    ['请问怎样查看对象的地址？', 0],
    ['目的地下雨怎么办', 5],
    // As Taiwan says it, and in its letters.
    ['执行程式前要储存档案吗', 1],
    ['滑鼠指標的速度', 3],
    ['储存格', 2],
    ['默认值', 10],
    ['差旅費', 4],
    ['How do I insert a formula into a cell?', 2],
    ['change the speed of the mouse pointer', 3],
    ['⼿动插⼊公式', 2],
    // Names in pinyin, numbers in the other script.
    ['zhang xiaowei 负责什么', 6],
    ['Who is Zhang Xiaowei?', 6],
    ['第12条', 6],
    ['第十三条', 7],
    // In other words for the same.
    ['工牌丢了怎么办', 8],
    ['几点打卡才算晚到', 9],
    ['2025年', 7],
  ])('%s', (question, at) => expect(firstFor(question)).toBe(passages[at]));

  test('nothing is found by words of form alone', () =>
    expect(firstFor('what is it and why')).toBeUndefined());
});

test('phrases of asking go, single characters stay', () => {
  expect(withoutShell('请问怎样设置目的地？')).toBe('设置目的地？');
  expect(withoutShell('为什么要有索引呢')).toBe('索引');
  expect(withoutShell('怎么办')).toBe('怎么办');
  for (const word of ['目的', '地得着', '要点', '存在', '和对'])
    expect(withoutShell(word)).toBe(word);
});

test('what only asks for a number, a person or a time weighs less than the matter', () => {
  const weightIn = (question: string, term: string) =>
    readingsOf(question)[0]?.slots.find(({ words }) => words[0]?.text === term)?.weight ?? 0;
  for (const [question, asking] of [
    ['经理的餐补是多少', '多少'],
    ['长城始建于什么时候', '时候'],
    ['早班谁交接', '谁'],
  ] as const)
    expect(weightIn(question, asking)).toBeLessThan(0.4);
  expect(weightIn('经理的餐补是多少', '经理')).toBe(1);
  expect(weightIn('多少', '多少')).toBe(1);
});

test('radicals and compatibility forms become usual letters', () => {
  expect(usualForms('⼿册第⼀⻚：⻓⻔')).toBe('手册第一页：长门');
  expect(searchedLetters('ＡＢ　網路⼿冊')).toBe('ab 网路手册');
});

test('a passage with the words near each other is seen before one where they are scattered', () => {
  const [reading] = readingsOf('月亮的潮汐');
  const values = reading!.slots.map(() => 1);
  const of = (content: string) => relevanceOf(reading!, values, searchedText(content));
  const near = of('月亮引起潮汐。');
  const far = of(`月亮很圆。${'海很大。'.repeat(60)}潮汐涨了。`);
  expect(near.together).toBeGreaterThan(far.together);
  expect(near.coverage).toBeCloseTo(far.coverage);
  expect(of('今天吃面').coverage).toBe(0);
});

test('a page that cannot be drawn is tried once for many readers, and not again at each request', async () => {
  let read = 0;
  const never = () => Promise.reject(new Error('nothing but reading is done here'));
  const originals = createOriginals(
    {
      get: async () => {
        read += 1;
        const broken = Buffer.from('%PDF-1.7 broken');
        return { stream: Readable.from([broken]), size: broken.length };
      },
      put: never,
      putFile: never,
      getPart: never,
      delete: never,
    },
    20,
  );
  const draw = (person: string) =>
    originals.draw({ key: 'broken', page: 1, looks: null }, { person, guest: false });
  expect(await Promise.all(['1', '2', '3'].map(draw))).toEqual([null, null, null]);
  expect(await draw('4')).toBeNull();
  expect(read).toBe(1);
});
