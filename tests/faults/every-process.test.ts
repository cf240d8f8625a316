import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onDatabase } from '../support/api-user.ts';
import { TestClient } from '../support/client.ts';
import { scratchFolder } from '../support/scratch.ts';
import { resultsIn, startScriptedModel } from '../support/scripted-model.ts';
import { ADMIN_PASSWORD, makeDatabase, startServer, type TestServer } from '../support/server.ts';

/** What several processes are asked at once is done once, and what one is told holds in each at once. */

const article = `<title>桥</title><article>${'<p>鹊桥由喜鹊搭成，每年七月初七相会。</p>'.repeat(9)}</article>`;
const opened: string[] = [];
const site = createServer((request, response) => {
  opened.push(request.url ?? '');
  response.setHeader('content-type', 'text/html; charset=utf-8');
  response.end(article);
});
let model: Awaited<ReturnType<typeof startScriptedModel>>;
let first: TestServer;
let second: TestServer;
let here: TestClient;
let there: TestClient;

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    site.listen(0, '127.0.0.1', resolve);
  });
  const host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  model = await startScriptedModel((body) =>
    resultsIn(body).length === 0
      ? { calls: [{ name: 'read_page', arguments: { url: `http://${host}/bridge` } }] }
      : { text: `看过 ${resultsIn(body).length} 页。`, pauseMs: 50 },
  );
  const place = {
    databaseUrl: await makeDatabase(),
    dataDir: scratchFolder('every'),
    startTimeout: 120_000,
    env: {
      SECRET_KEY: 'one-key-for-both',
      OPENAI_BASE_URL: model.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: 'deepseek-scripted',
      FETCH_ALLOWED: host,
    },
  };
  first = await startServer(place);
  second = await startServer(place);
  here = await TestClient.register(first.baseURL);
  there = new TestClient(second.baseURL, here.token);
});
afterAll(async () => {
  await Promise.all([first.stop(), second.stop()]);
  await model.close();
  site.close();
});

const four = () => [here, there, here, there];

test('a call that asks is answered once, and each process tells how the reply goes on', async () => {
  const { uuid } = await here.call('newSession', { type: 0, model: 'deepseek-scripted' });
  const { id } = await here.call('sendMessage', { session_id: uuid, msg: '看看那个网页' });
  await there.read(uuid, id);
  const { list } = await there.call('historyList', { session_id: uuid });
  expect(list[0]).toMatchObject({ state: 'waiting', tools: [{ state: 'asking' }] });
  const call_id = list[0]!.tools![0]!.id;
  const asked = { session_id: uuid, history_id: id, call_id, answer: 'once' as const };
  const answers = await Promise.all(four().map((each) => each.raw('answerTool', asked)));
  expect(answers.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([0, 404, 404, 404]);
  for (const events of await Promise.all([here.read(uuid, id), there.read(uuid, id)]))
    expect(events.map(({ data }) => data)).toEqual(['"看过 1 页。"', '[DONE]']);
  expect(opened).toEqual(['/bridge']);
});

test('a file whose pieces come to either process is one file', async () => {
  const data = Buffer.alloc(90_000, '一行字\n');
  const id = crypto.randomUUID();
  const send = async (
    { baseURL, headers }: { baseURL: string; headers: Record<string, string> },
    path: string,
    piece: Buffer,
    more: Record<string, string> = {},
  ) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(more)) form.set(name, value);
    form.set('file', new Blob([new Uint8Array(piece)]), 'a.txt');
    const answer = await fetch(`${baseURL}${path}`, { method: 'POST', headers, body: form });
    return (await answer.json()) as { data: { received?: number; file?: { uuid: string } } };
  };
  const key = { 'idempotency-key': crypto.randomUUID() };
  const places = four().map((each) => ({
    baseURL: each.baseURL,
    headers: { ...each.headers(), ...key },
  }));
  for (let at = 0; at < data.length; at += 30_000) {
    const path = `/api/upload_piece?upload_id=${id}&offset=${at}&size=${data.length}`;
    const piece = data.subarray(at, at + 30_000);
    const received = await Promise.all(places.map((place) => send(place, path, piece)));
    for (const { data: told } of received) expect(told.received).toBe(at + 30_000);
  }
  const files = await Promise.all(
    places.map((place) => send(place, '/api/upload_file', Buffer.alloc(0), { file_upload: id })),
  );
  expect(new Set(files.map((each) => each.data.file?.uuid)).size).toBe(1);
  expect(files[0]?.data.file).toMatchObject({ name: 'a.txt', size: data.length });
});

test('whoever looks at a question counts once, and is shut out at once', async () => {
  const { uuid, id } = await here.call('newSession', { type: 2, private: 0 });
  await here.call('sendMessage', { session_id: uuid, msg: '哪里的桥最好看' });
  const other = await TestClient.register(second.baseURL);
  const both = [first, second, first, second].map(
    ({ baseURL }) => new TestClient(baseURL, other.token),
  );
  await Promise.all(both.map((each) => each.call('readNews', { session_id: uuid })));
  const views = await onDatabase(
    second,
    'SELECT people FROM question_views WHERE session_id = $1',
    [id],
  );
  expect(views).toEqual([{ people: 1 }]);
  const manager = new TestClient(first.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const { id: user_id } = await other.call('userInfo', {});
  await manager.call('updateUser', { user_id, disabled: 1 });
  for (const each of both) expect((await each.raw('userInfo', {})).code).toBe(3001);
});
