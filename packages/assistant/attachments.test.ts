import { expect, it } from 'vitest';
import { help } from '#server/areas/help/help.service.ts';
import type { ChatMessage, ContentPart } from '#common/chat-message.ts';
import { answer } from './answer.ts';

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
