import { expect, test } from 'vitest';
import { buildMessages, buildTalk, historyLength, sampling, withTemplate } from './prompt.ts';

test('earlier exchanges go along in their order, as many as fit', () => {
  const exchanges = [
    { human: 'q3', ai: 'a3' },
    { human: 'q2', ai: 'a2' },
    { human: 'q1', ai: 'a1' },
  ];
  expect(buildMessages(exchanges, 'now', 11).map((message) => message.content)).toEqual([
    'q2',
    'a2',
    'q3',
    'a3',
    'now',
  ]);
  expect(buildMessages(exchanges, 'now', 3)).toEqual([{ role: 'user', content: 'now' }]);
});

test('the call counts before the settings, and those before the defaults', () => {
  expect(historyLength({}, {})).toBe(3);
  expect(historyLength({}, { max_history: 5 })).toBe(5);
  expect(historyLength({ max_history: 0 }, { max_history: 5 })).toBe(0);
  expect(historyLength({}, { max_history: 5 }, { embedding: true })).toBe(1);
  expect(historyLength({ max_history: 4 }, {}, { embedding: true })).toBe(4);
  expect(sampling({ temperature: 20 }, { presence_penalty: 10 })).toEqual({
    temperature: 2,
    presencePenalty: 2,
    frequencyPenalty: 0,
  });
});

test('what a model is told before all counts for the room, too', () => {
  const exchanges = [{ human: 'q1', ai: 'a1' }];
  expect(buildMessages(exchanges, 'now', 7, '规则')).toHaveLength(2);
  expect(buildMessages(exchanges, 'now', 9, '规则').map((message) => message.role)).toEqual([
    'system',
    'user',
    'assistant',
    'user',
  ]);
});

test('a scenario takes the question in, whatever it is made of', () => {
  expect(withTemplate('译成英文：{{input}}。', '你好 $& $1', 9)).toBe('译成英文：你好 $& $1。');
  expect(withTemplate('{{input}}与{{input}}', '{{input}}', 18)).toBe('{{input}}与{{input}}');
  expect(withTemplate('{{input}}与{{input}}', '{{input}}', 17)).toBeNull();
  expect(withTemplate('你是翻译', '你好', 2)).toBe('你是翻译\n\n你好');
});

test('a model among people is told who said what', () => {
  const earlier = [
    { speaker: '周二', human: '爬山', ai: '好主意' },
    { speaker: '林一', human: '看海', ai: '' },
  ];
  const question = { speaker: '林一', content: '你说呢' };
  const said = (most: number) =>
    buildTalk(earlier, question, most)
      .slice(1)
      .map(({ role, content }) => [role, content]);
  expect(said(1000)).toEqual([
    ['user', '林一：看海'],
    ['user', '周二：爬山'],
    ['assistant', '好主意'],
    ['user', '林一：你说呢'],
  ]);
  expect(said(10)).toEqual([['user', '林一：你说呢']]);
  const image = {
    type: 'image_url',
    image_url: { url: 'https://a.b/c.png', detail: 'low' },
  } as const;
  expect(buildTalk([], { speaker: '林一', content: [image] }, 1000).at(-1)?.content).toEqual([
    { type: 'text', text: '林一：' },
    image,
  ]);
});
