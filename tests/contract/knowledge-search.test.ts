import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { expect, test } from 'vitest';
import { chunksOf } from '#server/areas/embedding/chunk.ts';
import type { TrainDeps } from '#server/areas/train/train-deps.ts';
import { readDueAddresses } from '#server/areas/train/watch.service.ts';
import { openDatabase } from '#server/db/database.ts';
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

test(
  'the owner of a base keeps its passages, answers, addresses and what was not found; nobody else does',
  { timeout: 60_000 },
  async () => {
    let page = '<h1>公告</h1><p>食堂十一点半开门。</p><p>周三停水。</p>';
    const site = createServer((_, answer) => {
      if (page === '') answer.writeHead(500).end();
      else answer.writeHead(200, { 'content-type': 'text/html' }).end(`<body>${page}</body>`);
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    const address = `127.0.0.1:${(site.address() as AddressInfo).port}`;
    const server = await startServer({ env: { FETCH_ALLOWED: address } });
    const { databaseUrl, dataDir } = server;
    const other = await startServer({ databaseUrl, dataDir, env: { WORKERS: '0' } });
    const pool = new pg.Pool({ connectionString: databaseUrl });
    try {
      const person = await TestClient.register(server.baseURL);
      const stranger = await TestClient.register(server.baseURL);
      const elsewhere = new TestClient(other.baseURL, person.token);
      const { model } = await person.call('newTrainModel', { name: '手册', key: 'kept', type: 0 });
      const base = { model_id: model.id };
      /** What is found, which every process is to tell alike. */
      const ask = async (question: string) => {
        const [here, there] = await Promise.all(
          [person, elsewhere].map((client) =>
            client.call('askKnowledge', { embedding_key: 'kept', question }),
          ),
        );
        expect(there?.list).toEqual(here?.list);
        return here?.list ?? [];
      };
      const done = async () => {
        await expect
          .poll(
            async () =>
              (await person.call('trainFileList', base)).list.every(({ status }) => status === 1),
            { timeout: 20_000 },
          )
          .toBe(true);
        return (await person.call('trainFileList', base)).list;
      };
      await person.upload('uploadTrainFile', new Blob(['# 假期\n\n年假有十天。']), '假期.md');
      const [file] = await done();
      const passages = async (fileId: number) =>
        (await person.call('passageList', { file_id: fileId })).list;
      const [first] = await passages(file!.id);
      expect(first).toMatchObject({ heading: '假期', text: '年假有十天。', off: false });

      // Changed words are found, the old ones no more; what is off is not found and still there.
      const { id } = first!;
      const at = async () => (await ask('年假几天')).map((each) => [each.id, each.text]);
      expect(await at()).toEqual([[id, '年假有十天。']]);
      await person.call('savePassage', { id, text: '年假有十五天。' });
      expect(await at()).toEqual([[id, '年假有十五天。']]);
      // Its number stays, so a press that still knows the text before reaches it.
      await elsewhere.call('savePassage', { id, off: true });
      expect(await at()).toEqual([]);
      expect(await passages(file!.id)).toMatchObject([{ id, text: '年假有十五天。', off: true }]);
      await person.call('savePassage', { id, off: false });
      expect(await at()).toEqual([[id, '年假有十五天。']]);

      // What is asked and not found is counted for the owner, by what is asked and not by whom.
      await person.call('setTrainModel', { ...base, private: 0 });
      for (const human of ['请问班车几点发车？', '班车几点发车']) {
        const { uuid } = await stranger.call('newSession', { embeddings: ['kept'] });
        await stranger.ask(human, { sessionId: uuid });
      }
      const { list: gaps } = await person.call('gapList', base);
      expect(gaps).toMatchObject([{ question: '请问班车几点发车？', asked: 2 }]);
      expect(Object.keys(gaps[0]!).sort()).toEqual(['asked', 'id', 'last_at', 'question']);
      const pair = { ...base, question: '班车几点发车', answer: '早上七点四十，南门上车。' };
      const { passage } = await person.call('addPair', pair);
      expect((await ask('班车什么时候发车'))[0]?.text).toBe(pair.answer);
      expect((await person.call('gapList', base)).list).toEqual([]);

      // A page is read, and what changed is told.
      const { file: read } = await person.call('addAddress', {
        ...base,
        url: `http://${address}/a`,
      });
      await done();
      expect((await ask('食堂几点开门'))[0]?.text).toContain('十一点半');
      await expect(
        person.call('addAddress', { ...base, url: 'http://127.0.0.1:1/' }),
      ).rejects.toThrow('1417');
      page = '<h1>公告</h1><p>食堂十二点开门。</p><p>周三停水。</p>';
      await person.call('setWatch', { file_id: read.id, live: true });
      const watched = async () => (await person.call('watchList', base)).list[0];
      await expect.poll(watched, { timeout: 20_000 }).toMatchObject({
        changed: '多了 1 行，少了 1 行；如新的：食堂十二点开门。',
      });
      await done();
      expect((await ask('食堂几点开门'))[0]?.text).toContain('十二点');
      page = '';
      await person.call('setWatch', { file_id: read.id, live: true });
      await expect.poll(watched, { timeout: 20_000 }).toMatchObject({
        live: true,
        error: expect.stringContaining('打不开'),
      });
      // Four more days without an answer, and it is left alone until its owner switches it on again.
      const db = openDatabase(pool);
      const log = { warn: (told: unknown) => expect(told).toBeUndefined() };
      const deps = { db, fetch: () => Promise.resolve(null), log } as unknown as TrainDeps;
      const failures = () => pool.query('SELECT failures, live FROM training_watches');
      for (const [days, live] of [1, 2, 3, 4, 5, 6]
        .map((day) => [day, day < 5] as const)
        .slice(1)) {
        await pool.query(`UPDATE training_watches SET next_at = now() - interval '1 minute'`);
        await db.transaction((tx) => readDueAddresses(deps, tx));
        // Behind the fifth nothing is read any more.
        const told = [{ failures: Math.min(days, 5), live }];
        await expect.poll(async () => (await failures()).rows).toEqual(told);
      }
      expect(await watched()).toMatchObject({ error: expect.stringMatching(/^连续 5 次没有读到/) });
      page = '<p>食堂十二点开门。</p>';
      await person.call('setWatch', { file_id: read.id, live: true });
      await expect.poll(watched, { timeout: 20_000 }).toMatchObject({ live: true, error: '' });
      await done();

      // To everybody else, of an open base too, none of it is there.
      for (const [call, input] of [
        ['passageList', { file_id: file!.id }],
        ['savePassage', { id: passage.id, text: '改' }],
        ['delPassage', { id: passage.id }],
        ['addPair', pair],
        ['actOnFiles', { ...base, ids: [file!.id], act: 'remove' }],
        ['addAddress', { ...base, url: `http://${address}/b` }],
        ['watchList', base],
        ['setWatch', { file_id: read.id, live: false }],
        ['gapList', base],
        ['delGap', { ...base, id: 1 }],
      ] as const)
        await expect(stranger.call(call, input as never), call).rejects.toThrow('404');

      const all = (await person.call('trainFileList', base)).list.map(({ id }) => id);
      expect(await person.call('actOnFiles', { ...base, ids: all, act: 'remove' })).toEqual({
        done: 3,
      });
      expect(await ask('食堂年假班车')).toEqual([]);
      expect(await watched()).toBeUndefined();
    } finally {
      site.close();
      await pool.end();
      await other.stop();
      await server.stop();
    }
  },
);
