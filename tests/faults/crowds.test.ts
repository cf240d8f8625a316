import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Many marks and messages of somebody who costs nothing. */

const atMost = 30;

let server: TestServer;
let asker: TestClient;
let uuid = '';
beforeAll(async () => {
  server = await startServer({ env: { MESSAGES_LIMIT: String(atMost) } });
  asker = await TestClient.register(server.baseURL);
  ({ uuid } = await asker.call('newSession', { type: 2 }));
});
afterAll(() => server.stop());

test('guests’ likes rank nothing until they register', async () => {
  const { id } = await asker.call('sendMessage', { session_id: uuid, title: '桥', msg: '谁在前' });
  const [one, two] = await Promise.all([1, 2].map(() => TestClient.register(server.baseURL)));
  const first = await one!.call('sendMessage', { session_id: uuid, msg: '先写的' });
  const second = await two!.call('sendMessage', { session_id: uuid, msg: '后写的' });
  const mark = { session_id: uuid, history_id: second.id };
  const guest = new TestClient(server.baseURL);
  await guest.call('newSession', { type: 0 });
  expect(await guest.call('historyLike', mark)).toEqual({ liked: true, like_count: 0 });
  const order = async () =>
    (await asker.call('historyList', { session_id: uuid, sort: 'votes' })).list.map(
      (each) => each.id,
    );
  expect(await order()).toEqual([id, first.id, second.id]);
  const password = 'password-1';
  const form = { account: 'liker', name: '赵四', password, password2: password };
  guest.token = (await guest.call('register', form)).token ?? '';
  expect(await order()).toEqual([id, second.id, first.id]);
  expect(await guest.call('historyLike', mark)).toEqual({ liked: false, like_count: 0 });
});

test('a program that replies without end is stopped, and others go on', async () => {
  const [loud, quiet] = await Promise.all([1, 2].map(() => TestClient.register(server.baseURL)));
  const sent = await Promise.all(
    Array.from({ length: atMost + 20 }, () =>
      loud!.raw('sendMessage', { session_id: uuid, msg: '顶' }),
    ),
  );
  const stopped = sent.filter(({ status }) => status === 429);
  expect(stopped).toHaveLength(20);
  expect(stopped[0]?.headers.get('retry-after')).toMatch(/^\d+$/);
  expect((await quiet!.raw('sendMessage', { session_id: uuid, msg: '我也答' })).code).toBe(0);
});

test('changes that wait for a row of their own account leave the connections to others', async () => {
  const [busy, other] = await Promise.all([1, 2].map(() => TestClient.register(server.baseURL)));
  const { id } = await busy!.call('userInfo', {});
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  let answered = 0;
  try {
    // As an import of many messages holds it.
    await client.query('BEGIN');
    await client.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [id]);
    const changes = Array.from({ length: 14 }, async () => {
      const { code } = await busy!.raw('saveSettings', { at_ai_max_history: 2 });
      answered += 1;
      return code;
    });
    for (let round = 0; round < 3; round += 1)
      expect((await other!.raw('newSession', { type: 0 })).code).toBe(0);
    expect(answered).toBe(0);
    await client.query('COMMIT');
    expect(new Set(await Promise.all(changes))).toEqual(new Set([0]));
  } finally {
    await client.end();
  }
});

test('slow changes of many accounts together leave connections to everybody else', async () => {
  const many = await Promise.all(
    Array.from({ length: 12 }, () => TestClient.register(server.baseURL)),
  );
  const ids = await Promise.all(many.map(async (each) => (await each.call('userInfo', {})).id));
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT FROM users WHERE id = ANY($1) FOR UPDATE', [ids]);
    const data = [{ title: '桥', messages: [{ human: '问', ai: '答' }] }];
    const imports = many.map(async (each) => (await each.raw('importSessions', { data })).code);
    const settings = many.slice(0, 2).map((each) => each.raw('saveSettings', { at_ai: 0 }));
    for (let round = 0; round < 3; round += 1)
      expect((await asker.raw('newSession', { type: 0 })).code).toBe(0);
    await client.query('COMMIT');
    expect(new Set(await Promise.all(imports))).toEqual(new Set([0]));
    await Promise.all(settings);
  } finally {
    await client.end();
  }
});
