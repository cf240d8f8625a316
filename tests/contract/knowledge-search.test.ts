import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { chunksOf } from '../../server/areas/embedding/chunk.ts';
import { PassageIndex } from '../../server/areas/embedding/passage-index.ts';
import { relevanceOf } from '../../server/areas/embedding/rerank.ts';
import { gramVector } from '../../server/engines/embedding/built-in-embedding.ts';
import { chanceOf } from '../../packages/canvas/chance.ts';
import { TestClient } from '../support/client.ts';
import { knowledgeQuestions, oldTexts } from '../support/knowledge-questions.ts';
import { startServer } from '../support/server.ts';

test(
  'of 100 questions at least 90 find their passage among the first five',
  { timeout: 120_000 },
  async () => {
    const server = await startServer();
    try {
      const person = await TestClient.register(server.baseURL);
      const { model } = await person.call('newTrainModel', { name: '帮助', key: 'pages', type: 0 });
      const folder = new URL('../../server/areas/help/pages/', import.meta.url);
      const pages = readdirSync(folder).map(
        (name) => [name, readFileSync(new URL(name, folder), 'utf8')] as const,
      );
      for (const [name, text] of [...pages, ...Object.entries(oldTexts)]) {
        const form = new FormData();
        form.set('model_id', String(model.id));
        form.set('file', new Blob([text]), name);
        const answer = await fetch(`${server.baseURL}/api/train/upload_file`, {
          method: 'POST',
          headers: person.headers(),
          body: form,
        });
        expect(((await answer.json()) as { code: number }).code).toBe(0);
      }
      await expect
        .poll(
          async () => (await person.call('trainModel', { model_id: model.id })).model.over_num,
          {
            timeout: 60_000,
          },
        )
        .toBe(pages.length + 2);
      const missed: string[] = [];
      for (const [question, file, heading] of knowledgeQuestions) {
        const { list } = await person.call('askKnowledge', { embedding_key: 'pages', question });
        const there = list
          .slice(0, 5)
          .some(({ title }) => title.startsWith(`${file}.md`) && title.includes(heading));
        if (!there) missed.push(question);
      }
      process.stdout.write(
        `knowledge: ${knowledgeQuestions.length - missed.length} of ${knowledgeQuestions.length} found; missed: ${missed.join('；')}\n`,
      );
      expect(knowledgeQuestions.length).toBe(100);
      expect(missed.length).toBeLessThanOrEqual(10);
    } finally {
      await server.stop();
    }
  },
);

test('passages keep to sentences, pages and headings, and no letter is lost', () => {
  const text = '一句话。'.repeat(300);
  const chunks = chunksOf([{ page: 3, heading: '甲', text }], { separator: '', size: 100 });
  expect(chunks.map(({ content }) => content).join('')).toBe(text);
  expect(
    chunks.every(
      ({ content, page, heading }) =>
        content.length <= 100 && content.endsWith('。') && page === 3 && heading === '甲',
    ),
  ).toBe(true);
  const parted = chunksOf([{ page: 0, heading: '', text: '甲##乙##丙' }], {
    separator: '##',
    size: 500,
  });
  expect(parted.map(({ content }) => content)).toEqual(['甲', '乙', '丙']);
  expect(
    chunksOf([{ page: 0, heading: '', text: '𠮷'.repeat(300) }], {
      separator: '',
      size: 101,
    }).every(({ content }) => !/[\uD800-\uDBFF]$/.test(content)),
  ).toBe(true);
});

test('groups of a large base find what looking at all of it finds', { timeout: 60_000 }, () => {
  const random = chanceOf(5);
  const letters = Array.from('天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏闰余成岁律吕调阳');
  const word = () => random.pick(letters) + random.pick(letters);
  const topics = Array.from({ length: 200 }, () => Array.from({ length: 8 }, word));
  const texts = Array.from({ length: 45_000 }, (_, at) => {
    const topic = topics[at % topics.length] ?? [];
    return Array.from({ length: 12 }, () => (random.is(0.8) ? random.pick(topic) : word())).join(
      '',
    );
  });
  const index = new PassageIndex();
  for (let from = 0; from < texts.length; from += 5000) {
    const part = texts.slice(from, from + 5000);
    index.add({
      mark: from,
      ids: part.map((_, at) => from + at),
      // Words are another list: here the vectors alone count.
      texts: part.map(() => ''),
      vectors: new Uint8Array(
        Buffer.concat(part.map((text) => Buffer.from(gramVector(text).buffer))),
      ),
      model: '',
    });
  }
  let same = 0;
  const took: number[] = [];
  const ask = (question: string, exact: boolean) =>
    index
      .search('', { numbers: gramVector(question), model: '' }, { exact })
      .candidates.filter(({ vectorRank }) => vectorRank > 0 && vectorRank <= 10)
      .map(({ id }) => id);
  ask(texts[0] ?? '', false);
  for (let at = 0; at < 50; at += 1) {
    const question = (texts[at * 801] ?? '').slice(0, 16);
    const start = performance.now();
    const found = new Set(ask(question, false));
    took.push(performance.now() - start);
    same += ask(question, true).filter((id) => found.has(id)).length;
  }
  took.sort((one, other) => one - other);
  process.stdout.write(
    `recall@10 ${(same / 500).toFixed(3)} of 45,000; median ${took[25]?.toFixed(1)} ms\n`,
  );
  expect(same / 500).toBeGreaterThan(0.95);
});

test('a passage with the words near each other is seen before one where they are scattered', () => {
  const near = relevanceOf('月亮的潮汐', { heading: '', content: '月亮引起潮汐。' }, {});
  const far = relevanceOf(
    '月亮的潮汐',
    { heading: '', content: `月亮很圆。${'海很大。'.repeat(60)}潮汐涨了。` },
    {},
  );
  expect(near.score).toBeGreaterThan(far.score);
  expect(relevanceOf('月亮的潮汐', { heading: '', content: '今天吃面' }, {}).coverage).toBe(0);
});
