import { expect, test } from 'vitest';
import { textOf, type ChatMessage } from '#common/chat-message.ts';
import { fitLoop } from './loop-room.ts';

const words = '今天的天气和路上的见闻，没有什么特别的。';
const round = (n: number, length: number): ChatMessage[] => [
  { role: 'assistant', content: '', calls: [{ id: `c${n}`, name: 'read_page', arguments: '{}' }] },
  {
    role: 'tool',
    callId: `c${n}`,
    content: `${words.repeat(length / words.length)}门票价格是 ${n}5 元。${words}`,
  },
];
const sum = (messages: readonly ChatMessage[]): number =>
  messages.reduce((all, { content }) => all + textOf(content).length, 0);

test('a loop that outgrows the window goes on with what its results come to, each behind its call', () => {
  const window = 20_000;
  const before: ChatMessage[] = [
    { role: 'system', content: '照资料回答' },
    ...Array.from({ length: 20 }, (_, at): ChatMessage[] => [
      {
        role: 'user',
        content: `第 ${at} 问。${at === 2 ? '请记住我叫沈知微。' : words.repeat(6)}`,
      },
      { role: 'assistant', content: '好的。' },
    ]).flat(),
    { role: 'user', content: '读完这几页，门票各多少？' },
  ];
  let messages = before;
  let held = 0;
  for (let n = 1; n <= 12; n += 1) {
    const asked = [...messages, ...round(n, 6000)];
    const fit = fitLoop(asked, window);
    if (fit.shortened.length === 0) {
      held += 1;
      expect(fit.messages).toEqual(asked);
    }
    ({ messages } = fit);
    expect(sum(messages)).toBeLessThanOrEqual(window * 0.8);
    const open: string[] = [];
    for (const { role, calls = [], callId } of messages) {
      if (role === 'tool') expect(open.shift()).toBe(callId);
      else expect(open).toEqual([]);
      open.push(...calls.map(({ id }) => id));
    }
  }
  // Its beginning stays the same for some rounds, and the newest result is whole.
  expect(held).toBeGreaterThan(3);
  const all = messages.map(({ content }) => textOf(content)).join('\n');
  for (let n = 1; n <= 12; n += 1) expect(all).toContain(`${n}5 元`);
  expect(all).toContain('沈知微');
  expect(all).toContain('读完这几页');
  expect(textOf(messages.at(-1)!.content).length).toBeGreaterThan(5000);
  expect(messages[0]).toEqual(before[0]);
});
