import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { type MockTraining, startMockTraining } from '../support/mock-training.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** So often the process that works is killed. */
const kills = Number(process.env['TRAINING_KILLS'] ?? 2);

let service: MockTraining;
let server: TestServer;
let person: TestClient;

const env = () => ({
  ASSISTANT_RATE: '0',
  OPENAI_BASE_URL: `${service.url}/v1`,
  OPENAI_API_KEY: 'key',
  SECRET_KEY: 'a-secret-of-two-processes',
  SIGNUP_TOKENS: '100000000',
});

beforeAll(async () => {
  service = await startMockTraining();
  server = await startServer({ env: { ...env(), WORKERS: '0' } });
  person = await TestClient.register(server.baseURL);
});
afterAll(async () => {
  await server.stop();
  await service.stop();
});

const send = async (modelId: number, name: string, text: string) => {
  const form = new FormData();
  form.set('model_id', String(modelId));
  form.set('file', new Blob([text]), name);
  const answer = await fetch(`${server.baseURL}/api/train/upload_file`, {
    method: 'POST',
    headers: person.headers(),
    body: form,
  });
  expect(((await answer.json()) as { code: number }).code).toBe(0);
};

test(
  'killing whoever works loses nothing, doubles nothing, and takes nothing twice',
  { timeout: 300_000 },
  async () => {
    const baseKey = `killed_${randomUUID().slice(0, 8)}`;
    const { model: documents } = await person.call('newTrainModel', {
      name: '译文',
      key: `killed_${randomUUID().slice(0, 8)}`,
      type: 2,
      settings: { type: 1 },
    });
    const { model: base } = await person.call('newTrainModel', {
      name: '资料',
      key: baseKey,
      type: 0,
      settings: { chunk_size: 100 },
    });
    const sentences = Array.from(
      { length: 60 * Math.max(8, kills) },
      (_, at) => `Sentence number ${at} is about rivers.`,
    );
    await send(documents.id, 'rivers.txt', sentences.join('\n'));
    for (let at = 0; at < 4; at += 1)
      await send(base.id, `${at}.txt`, `第 ${at} 篇讲河流。`.repeat(150));
    service.slowMs = 250;
    for (let at = 0; at < kills; at += 1) {
      const worker = await startServer({
        env: { ...env(), WORKERS: '2' },
        databaseUrl: server.databaseUrl,
        dataDir: server.dataDir,
      });
      await sleep(700 + (at % 4) * 300);
      await worker.kill9();
    }
    service.slowMs = 0;
    const worker = await startServer({
      env: { ...env(), WORKERS: '2' },
      databaseUrl: server.databaseUrl,
      dataDir: server.dataDir,
    });
    const ended = async (id: number) => {
      const { list } = await person.call('trainFileList', { model_id: id, page_size: 256 });
      return list.every(({ status }) => status !== 0) ? list : null;
    };
    await expect
      .poll(async () => (await ended(documents.id)) !== null && (await ended(base.id)) !== null, {
        timeout: 90_000,
        interval: 300,
      })
      .toBe(true);
    await worker.stop();
    const [file] = (await ended(documents.id)) ?? [];
    expect(file).toMatchObject({
      status: 1,
      total_num: sentences.length,
      over_num: sentences.length,
    });
    const made = await (await fetch(server.baseURL + String(file?.output_url))).text();
    expect(made.split('\n')).toEqual(sentences.map((sentence) => `译：${sentence}`));
    const files = (await ended(base.id)) ?? [];
    expect(files.map(({ status }) => status)).toEqual([1, 1, 1, 1]);

    // What was taken is what is written at the files, and no passage is there twice.
    let taken = 0;
    for (let page = 1; ; page += 1) {
      const { list, page_count } = await person.call('transactionList', { page });
      taken += list.reduce((sum, each) => sum + each.deduct_tokens, 0);
      if (page >= page_count) break;
    }
    const written = [...files, file].reduce((sum, each) => sum + (each?.token ?? 0), 0);
    expect(taken).toBe(written);
    const { list } = await person.call('askKnowledge', {
      embedding_key: baseKey,
      question: '第 3 篇讲河流',
    });
    expect(new Set(list.map(({ id }) => id)).size).toBe(list.length);
    const jobs = await person.call('jobList', { running: '1' });
    expect(jobs.list).toEqual([]);
    // Sentences whose answer had come were not asked for again: at most a batch for every kill was.
    expect(service.translated.length).toBeLessThanOrEqual(sentences.length + (kills + 1) * 30 * 2);
  },
);
