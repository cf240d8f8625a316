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

test(
  'without any model a base answers by its own sentences, or says that it has nothing; sources stay with who may open it',
  { timeout: 120_000 },
  async () => {
    const server = await startServer({ env: { ASSISTANT_RATE: '0' } });
    try {
      const person = await TestClient.register(server.baseURL);
      const stranger = await TestClient.register(server.baseURL);
      const learn = async (
        name: string,
        key: string,
        settings: Record<string, unknown>,
        text: string,
      ) => {
        const { model } = await person.call('newTrainModel', { name, key, type: 0, settings });
        const form = new FormData();
        form.set('model_id', String(model.id));
        form.set('file', new Blob([text]), `${name}.md`);
        await fetch(`${server.baseURL}/api/train/upload_file`, {
          method: 'POST',
          headers: person.headers(),
          body: form,
        });
        await expect
          .poll(
            async () => (await person.call('trainModel', { model_id: model.id })).model.over_num,
            { timeout: 30_000 },
          )
          .toBe(1);
        return model;
      };
      const staff = await learn(
        '员工手册',
        'staff',
        { questions: ['年假有几天？'], instruction: '先说结论' },
        '# 员工手册\n\n## 假期\n\n每位员工入职满一年后享有十二天年假。年假可以分三次休完。\n\n## 报销\n\n差旅费在回来后十天内报销，住宿每晚不超过四百元。\n',
      );
      await learn(
        '茶叶',
        'tea',
        {},
        '# 茶叶\n\n## 存放\n\n绿茶要放在冰箱里冷藏，温度不超过五度。\n\n## 价格\n\n| 茶 | 每斤 | 产地 |\n|---|---|---|\n| 龙井 | 800 | 杭州 |\n| 毛峰 | 450 | 黄山 |\n| 瓜片 | 380 | 六安 |\n',
      );
      const { uuid } = await person.call('newSession', {
        embeddings: ['staff', 'tea'],
        private: 0,
      });
      const detail = await person.call('getSession', { uuid });
      expect(detail.embedding_name).toBe('员工手册、茶叶');
      expect(detail.bases?.[0]).toMatchObject({ key: 'staff', questions: ['年假有几天？'] });
      const ask = async (msg: string) => {
        const { id } = await person.call('sendMessage', { session_id: uuid, msg });
        await person.read(uuid, id);
        const { list } = await person.call('historyList', { session_id: uuid, id });
        return { id, ai: list[0]?.ai ?? '', sources: list[0]?.sources ?? [] };
      };
      const leave = await ask('年假有几天？');
      expect(leave.ai).toMatch(/^> 每位员工入职满一年后享有十二天年假。.*\[1\]/);
      expect(leave.ai).not.toContain('报销');
      expect(leave.sources[0]).toEqual({
        n: 1,
        title: '员工手册.md',
        place: '员工手册 › 假期',
        base: '员工手册',
      });
      expect((await ask('绿茶怎么存放')).ai).toContain('冰箱里冷藏');
      // A row says nothing in pieces.
      expect((await ask('毛峰每斤多少？')).ai).toMatch(/^> 茶：毛峰；每斤：450；产地：黄山 *\[1\]/);
      const nothing = await ask('怎样给摩托车换轮胎？');
      expect(nothing.ai).toMatch(/^资料里没有/);

      const source = { history_id: leave.id, n: 1 };
      expect(await person.call('replySource', source)).toMatchObject({
        text: expect.stringContaining('十二天年假'),
        terms: expect.arrayContaining(['年假']),
        after: expect.stringContaining('差旅费'),
        url: expect.stringContaining('/train/passage'),
      });
      // Who may read the answer may not open the base, until it is opened; what it wants of answers is its owner's.
      await expect(stranger.call('replySource', source)).rejects.toThrow('1415');
      await person.call('setTrainModel', { model_id: staff.id, private: 0 });
      expect((await stranger.call('replySource', source)).text).toContain('十二天年假');
      const { model } = await stranger.call('trainModel', { model_id: staff.id });
      expect(JSON.parse(model.settings)).toMatchObject({
        instruction: '',
        questions: ['年假有几天？'],
      });
      await person.call('delTrainModel', { id: staff.id });
      await expect(person.call('replySource', source)).rejects.toThrow('1415');
      await expect(stranger.call('newSession', { embeddings: ['tea', 'help'] })).rejects.toThrow(
        '1415',
      );
    } finally {
      await server.stop();
    }
  },
);
