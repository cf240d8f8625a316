import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requestOf, TestClient } from '../support/client.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** What ends with a login, and with an account. */

let server: TestServer;
let database: pg.Client;
beforeAll(async () => {
  server = await startServer({
    env: { ASSISTANT_RATE: '0', GUEST_MESSAGES: '3', TRUST_PROXY: '127.0.0.1' },
  });
  database = new pg.Client({ connectionString: server.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await server.stop();
});

test('an open stream of jobs ends soon after a logout', async () => {
  const person = await TestClient.register(server.baseURL);
  const response = await fetch(server.baseURL + requestOf('jobEvents', {}).url, {
    headers: person.headers(),
  });
  const over = (async () => {
    try {
      for await (const _ of response.body!);
    } catch {
      // It was cut.
    }
    return true;
  })();
  await person.call('logout', {});
  const late = new Promise((resolve) => setTimeout(resolve, 12_000, false));
  expect(await Promise.race([over, late])).toBe(true);
});

test('a guest’s token does not come again by its key after the logout', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const guest = new TestClient(server.baseURL);
  await guest.call('newSession', { type: 0 }, key);
  const again = new TestClient(server.baseURL);
  await again.call('newSession', { type: 0 }, key);
  // An answer that was lost on the way is given again.
  expect(again.token).not.toBe('');
  await guest.call('logout', {});
  await again.call('logout', {});
  const thief = new TestClient(server.baseURL);
  await thief.raw('newSession', { type: 0 }, key);
  expect(thief.token).toBe('');
});

test.each(['disabled', 'session_private'])(
  'public sessions and shares of somebody who becomes %s are read by nobody',
  async (column) => {
    const person = await TestClient.register(server.baseURL);
    const session = await person.call('newSession', { type: 0, private: 0 });
    const sent = await person.call('sendMessage', { session_id: session.uuid, msg: '大家都能看' });
    await person.read(session.uuid, sent.id);
    await person.call('setSession', { session_id: session.uuid, private: 0 });
    const { key } = await person.call('shareSession', { session_id: session.uuid });
    const visitor = new TestClient(server.baseURL);
    const codes = async () => [
      (await visitor.raw('getSession', { uuid: session.uuid })).code,
      (await visitor.raw('sharedSession', { key })).code,
    ];
    expect(await codes()).toEqual([0, 0]);
    await database.query(
      `UPDATE users SET ${column} = true WHERE id = (SELECT user_id FROM sessions WHERE id = $1)`,
      [session.id],
    );
    const [read, shared] = await codes();
    expect(read).toBe(1432);
    expect(shared).not.toBe(0);
  },
);

test('a reader of an answer is cut off when its session is made private, and an export ends', async () => {
  // Slow enough that the answer is being written all the while.
  const server = await startServer({ env: { ASSISTANT_RATE: '3' } });
  const person = await TestClient.register(server.baseURL);
  const visitor = new TestClient(server.baseURL);
  const session = await person.call('newSession', { type: 0, private: 0 });
  await person.call('setSession', { session_id: session.uuid, private: 0 });
  const { id } = await person.call('sendMessage', {
    session_id: session.uuid,
    msg: '请详细介绍一下这里都能做什么，怎么收费，有哪些模型',
  });
  const begin = async (client: TestClient) => {
    const { url } = requestOf('eventStream', { session_id: session.uuid, history_id: id });
    const response = await fetch(server.baseURL + url, { headers: client.headers() });
    let text = '';
    const over = async () => {
      try {
        for await (const chunk of response.body!) text += Buffer.from(chunk).toString();
      } catch {
        return 'cut';
      }
      return text.includes('[DONE]') ? 'done' : 'ended';
    };
    // In an object: a promise itself would be waited for.
    return { over: over() };
  };
  const reading = await begin(visitor);
  const { url } = requestOf('exportSession', { session_id: session.uuid, format: 'markdown' });
  const events = await (await fetch(server.baseURL + url)).text();
  const key = /"key":"([^"]+)"/.exec(events)?.[1] ?? '';
  const file = () => fetch(`${server.baseURL}${requestOf('exportFile', { key }).url}`);
  expect((await file()).status).toBe(200);
  await person.call('setSession', { session_id: session.uuid, private: 1 });
  expect((await file()).status).toBe(404);
  expect(await reading.over).toBe('cut');
  await server.kill9();
  await server.stop();
}, 60_000);

test('a guest asks so much in a day, and reports so many requests in a minute', async () => {
  const guest = new TestClient(server.baseURL);
  const from = { 'x-forwarded-for': '203.0.113.80' };
  const codes: number[] = [];
  for (let at = 0; at < 4; at += 1) {
    const { uuid } = await guest.call('newSession', { type: 0 }, from);
    codes.push(
      (await guest.raw('sendMessage', { session_id: uuid, msg: '今天吃什么好' }, from)).code,
    );
  }
  expect(codes).toEqual([0, 0, 0, 1001]);
  const stat = {
    state: 'success',
    first_time: 300,
    time: 1200,
    model: 'builtin-assistant',
    request_time: '2026-01-01T00:00:00.000Z',
  };
  const reports = await Promise.all(
    Array.from({ length: 80 }, () => guest.raw('modelStat', stat, from)),
  );
  expect(new Set(reports.map(({ status }) => status))).toEqual(new Set([200, 429]));
});
