import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { chunksOf } from '../../server/areas/embedding/chunk.ts';
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
  const chunks = chunksOf(
    [
      { kind: 'heading', level: 1, text: '甲', place: { page: 3 } },
      { kind: 'text', text, place: { page: 3 } },
    ],
    { separator: '', size: 100 },
  );
  expect(chunks.map(({ content }) => content).join('')).toBe(text);
  expect(
    chunks.every(
      ({ content, place, heading }) =>
        content.length <= 100 && content.endsWith('。') && place.page === 3 && heading === '甲',
    ),
  ).toBe(true);
  const parted = chunksOf([{ kind: 'text', text: '甲##乙##丙', place: {} }], {
    separator: '##',
    size: 500,
  });
  expect(parted.map(({ content }) => content)).toEqual(['甲', '乙', '丙']);
  expect(
    chunksOf([{ kind: 'text', text: '𠮷'.repeat(300), place: {} }], {
      separator: '',
      size: 101,
    }).every(({ content }) => !/[\uD800-\uDBFF]$/.test(content)),
  ).toBe(true);
});
