import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { WaitRef } from '#contract/wait.ts';
import { type Executor, openDatabase } from '#server/db/database.ts';
import { tellEnded } from '#server/waits/wait-ended.store.ts';
import { unclaimed, type Watched } from '#server/waits/wait.store.ts';
import { TestClient } from '../support/client.ts';
import { startMockOpenAi, type MockOpenAi } from '../support/mock-openai.ts';
import { type FakePushService, startPushService } from '../support/push-service.ts';
import { startServer, type TestServer } from '../support/server.ts';

let mock: MockOpenAi;
let push: FakePushService;
let server: TestServer;
/** A second process on the same database: what ends in one is told by either, once. */
let second: TestServer;
let pool: pg.Pool;
let me: TestClient;
let key = '';

beforeAll(async () => {
  mock = await startMockOpenAi();
  push = await startPushService(() => key);
  const env = {
    OPENAI_BASE_URL: mock.baseURL,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODELS: 'mock-chat',
    FETCH_ALLOWED: push.host,
    SECRET_KEY: 'the same in both processes',
  };
  server = await startServer({ env });
  second = await startServer({ env, databaseUrl: server.databaseUrl });
  pool = new pg.Pool({ connectionString: server.databaseUrl });
  me = await TestClient.register(server.baseURL);
  ({ key } = await me.call('pushKey', {}));
});
afterAll(async () => {
  await pool.end();
  await second.stop();
  await server.stop();
  await push.close();
  await mock.close();
});
beforeEach(() => {
  expect(push.faults).toEqual([]);
  push.pushed = [];
  push.requests = 0;
  push.answers = [];
});

const subscribe = async (client = me) => {
  const browser = push.browser();
  await client.call('pushSubscribe', browser);
  return browser;
};

/** Asks what takes the given time to answer. */
const ask = async (seconds: number, client = me) => {
  const prompt = `[[bench tokens=${Math.ceil(seconds * 20)} rate=20 id=${randomUUID()}]]`;
  const { uuid, id } = await client.ask(prompt, { model: 'mock-chat' });
  const wait: WaitRef = { kind: 'answer', id: String(id) };
  return { uuid, id, wait };
};

const waitUntil = async (holds: () => boolean | Promise<boolean>, ms = 15_000) => {
  for (const end = Date.now() + ms; Date.now() < end; await sleep(100)) if (await holds()) return;
  expect(await holds(), 'in time').toBe(true);
};

const watchedRows = async (device: string) =>
  (await pool.query('SELECT * FROM watched_waits WHERE device = $1', [device])).rows;

/** A job as server/jobs would leave it, in the hands of a process that lives. */
const makeJob = async (state: string, more: Record<string, unknown> = {}) => {
  const { uuid, id } = await me.ask('说说山间的月亮', { model: 'builtin-assistant' });
  const jobUuid = randomUUID();
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO jobs (uuid, user_id, kind, state, model, session_id, history_id, subject_id, input,
       title, error_message, owner, leased_until, deadline)
     SELECT $1, user_id, 'image', $2, 'builtin-canvas', session_id, id, id, '{}', '山间的月亮', $4,
       (SELECT max(id) FROM instances), now() + interval '1 hour', now() + interval '1 hour'
     FROM history WHERE id = $3 RETURNING id`,
    [jobUuid, state, id, more['error'] ?? ''],
  );
  for (let made = 0; made < Number(more['pictures'] ?? 0); made += 1)
    await pool.query(
      `INSERT INTO images (user_id, session_id, history_id, job_id, key, width, height, size, model,
         prompt)
       SELECT user_id, session_id, history_id, id, '', 1, 1, 1, '', '' FROM jobs WHERE id = $1`,
      [rows[0]!.id],
    );
  return { uuid, id, jobUuid };
};

describe('how a wait stands', () => {
  test('a reply: pending, then done with its session’s title and its beginning', async () => {
    const { uuid, id, wait } = await ask(1);
    const before = await me.call('waitStatus', { waits: [wait] });
    expect(before.results[0]).toMatchObject({ ...wait, state: 'pending' });
    await me.read(uuid, id);
    const { results } = await me.call('waitStatus', { waits: [wait] });
    expect(results[0]).toMatchObject({
      ...wait,
      state: 'done',
      url: `/chat?uuid=${uuid}&history_id=${id}`,
    });
    expect(results[0]?.title).toContain('bench');
    expect(results[0]?.body).toMatch(/把每一次更新合并到下一帧/);
  });

  test('a reply that failed says why, and that it cost nothing', async () => {
    const { uuid, id } = await me.ask('会失败的问题 [[mock 500]]', { model: 'mock-chat' });
    await me.read(uuid, id);
    const { results } = await me.call('waitStatus', {
      waits: [{ kind: 'answer', id: String(id) }],
    });
    expect(results[0]).toMatchObject({ state: 'failed', title: '会失败的问题 [[mock 500]]' });
    expect(results[0]?.body).toMatch(/.+没有扣费$/);
  });

  test('jobs: running, drawn, failed, cancelled', async () => {
    const done = await makeJob('done', { pictures: 4 });
    const failed = await makeJob('error', { error: '服务没有成功，没有扣费，请重试' });
    const cancelled = await makeJob('cancelled');
    // Last: within seconds the server finds that nobody works on it.
    const running = await makeJob('running');
    const { results } = await me.call('waitStatus', {
      waits: [running, done, failed, cancelled].map(({ jobUuid }) => ({
        kind: 'job' as const,
        id: jobUuid,
      })),
    });
    expect(results.map(({ state }) => state)).toEqual(['pending', 'done', 'failed', 'gone']);
    expect(results[1]).toMatchObject({
      body: '4 张图片画好了',
      url: `/chat?uuid=${done.uuid}&history_id=${done.id}`,
    });
    expect(results[2]?.body).toBe('服务没有成功，没有扣费，请重试');
  });

  test('what is somebody else’s, stopped, deleted or nonsense is gone', async () => {
    const other = await TestClient.register(server.baseURL);
    const theirs = await other.ask('别人的秘密：芝麻开门');
    const stopped = await ask(20);
    await me.call('stopStream', { history_id: stopped.id });
    const deleted = await me.ask('马上就删掉的会话');
    await me.read(deleted.uuid, deleted.id);
    await me.call('deleteSession', { session_id: deleted.uuid });
    const ids = [theirs.id, stopped.id, deleted.id, 'x', '9'.repeat(40), '-1', '1.5'];
    const answer = await me.raw('waitStatus', {
      waits: [
        ...ids.map((id) => ({ kind: 'answer', id: String(id) })),
        { kind: 'job', id: 'no-uuid' },
        { kind: 'job', id: randomUUID() },
      ],
    });
    const { results } = answer.data as { results: { state: string; url: string }[] };
    expect(results.map(({ state }) => state)).toEqual(Array.from({ length: 9 }, () => 'gone'));
    expect(JSON.stringify(answer)).not.toContain('芝麻');
  });
});

describe('push', () => {
  test('a browser that watches a reply is told once, encrypted and signed', async () => {
    const [phone, tablet, idle] = [await subscribe(), await subscribe(), await subscribe()];
    const { uuid, id, wait } = await ask(0.5);
    for (const { device } of [phone, tablet])
      await me.call('watchWaits', { device, waits: [wait] });
    await me.read(uuid, id);
    await waitUntil(() => push.pushed.length >= 2);
    // Longer than the sweep of both processes.
    await sleep(6000);
    expect(push.requests).toBe(2);
    expect(new Set(push.pushed.map(({ device }) => device))).toEqual(
      new Set([phone.device, tablet.device]),
    );
    const { results } = await me.call('waitStatus', { waits: [wait] });
    for (const { message, headers } of push.pushed) {
      expect(message).toEqual(results[0]);
      expect(headers).toMatchObject({ urgency: 'high', ttl: '86400' });
      expect(headers.topic).toMatch(/^[\w-]{32}$/);
    }
    expect(await watchedRows(phone.device)).toEqual([]);
    expect(push.pushed.map(({ device }) => device)).not.toContain(idle.device);
  });

  test('what ended before it was watched is told at once; what was taken back never', async () => {
    const { device } = await subscribe();
    const over = await ask(0.1);
    await me.read(over.uuid, over.id);
    await me.call('watchWaits', { device, waits: [over.wait] });
    await waitUntil(() => push.pushed.length === 1, 2000);
    const running = await ask(1);
    await me.call('watchWaits', { device, waits: [running.wait] });
    await me.call('watchWaits', { device, waits: [] });
    await me.read(running.uuid, running.id);
    await sleep(500);
    expect(push.requests).toBe(1);
  });

  test('a job that ends in any process is told, in a transaction with its end', async () => {
    const { device } = await subscribe();
    const { jobUuid } = await makeJob('running');
    await me.call('watchWaits', { device, waits: [{ kind: 'job', id: jobUuid }] });
    await openDatabase(pool).transaction(async (tx) => {
      await tx.execute(`UPDATE jobs SET state = 'error' WHERE uuid = '${jobUuid}'`);
      await tellEnded(tx, 'job', jobUuid);
    });
    await waitUntil(() => push.pushed.length === 1, 2000);
    expect(push.pushed[0]?.message).toMatchObject({
      kind: 'job',
      id: jobUuid,
      state: 'failed',
      body: '生成失败。没有扣费',
    });
  });

  test('an end that nobody announced is found', async () => {
    const { device } = await subscribe();
    const { jobUuid } = await makeJob('running');
    await me.call('watchWaits', { device, waits: [{ kind: 'job', id: jobUuid }] });
    await pool.query(`UPDATE jobs SET state = 'done' WHERE uuid = $1`, [jobUuid]);
    await waitUntil(() => push.pushed.length === 1, 12_000);
  });

  test('of what is looked for nothing hides behind what another waits for', async () => {
    const other = await TestClient.register(server.baseURL);
    const devices = [await subscribe(me), await subscribe(other)];
    // Seen by nobody else, and taken back.
    const client = await pool.connect();
    await client.query('BEGIN');
    for (const { device } of devices)
      await client.query(
        `INSERT INTO watched_waits (device, kind, ref) SELECT $1, 'order', 'hidden-' || n
         FROM generate_series(1, 7) AS n`,
        [device],
      );
    const db = drizzle(client) as unknown as Executor;
    const found: Watched[] = [];
    for (let behind: Watched | null = null; ;) {
      const some = await unclaimed(db, behind, 4);
      found.push(...some);
      behind = some.at(-1) ?? null;
      if (some.length < 4) break;
    }
    await client.query('ROLLBACK');
    client.release();
    const keys = found.filter(({ id }) => id.startsWith('hidden-'));
    expect(new Set(keys.map(({ id, userId }) => `${id} ${userId}`)).size).toBe(14);
  });

  test('a busy service is asked again; one that knows nobody ends it', async () => {
    const { device } = await subscribe();
    push.answers = [{ status: 503 }, { status: 429, headers: { 'retry-after': '1' } }];
    const { uuid, id, wait } = await ask(0.2);
    await me.call('watchWaits', { device, waits: [wait] });
    await me.read(uuid, id);
    await waitUntil(() => push.requests === 1);
    for (const requests of [2, 3]) {
      // The pauses are long; they are over.
      await waitUntil(async () => (await watchedRows(device)).length === 1);
      await sleep(200);
      await pool.query('UPDATE watched_waits SET claimed_until = now() - interval $$1 second$$');
      await waitUntil(() => push.requests === requests);
    }
    await waitUntil(() => push.pushed.length === 1);
    for (const status of [404, 410]) {
      const browser = await subscribe();
      push.answers = [{ status }];
      await me.call('watchWaits', { device: browser.device, waits: [wait] });
      const known = async () =>
        (await pool.query('SELECT FROM push_devices WHERE device = $1', [browser.device]))
          .rowCount === 1;
      await waitUntil(async () => !(await known()));
      const again = await me.raw('watchWaits', { device: browser.device, waits: [] });
      expect(again.status).toBe(404);
    }
  });

  test('of a login that ended nothing is told any more', async () => {
    const leaving = await TestClient.register(server.baseURL);
    const { device } = await subscribe(leaving);
    const { id, wait } = await ask(1, leaving);
    await leaving.call('watchWaits', { device, waits: [wait] });
    await leaving.call('logout', {});
    await waitUntil(async () => {
      const { rows } = await pool.query('SELECT state FROM history WHERE id = $1', [id]);
      return (rows[0] as { state: string }).state === 'done';
    });
    await sleep(500);
    expect(push.requests).toBe(0);
  });

  test('whoever signs in on a shared phone hears nothing of whoever had it before', async () => {
    const first = await TestClient.register(server.baseURL);
    const browser = await subscribe(first);
    const { uuid, id, wait } = await ask(1, first);
    await first.call('watchWaits', { device: browser.device, waits: [wait] });
    await me.call('pushSubscribe', browser);
    await first.read(uuid, id);
    await sleep(500);
    expect(push.requests).toBe(0);
    const foreign = await first.raw('watchWaits', { device: browser.device, waits: [] });
    expect(foreign.status).toBe(404);
    // Nor is what is somebody else's ever watched.
    await me.call('watchWaits', { device: browser.device, waits: [wait] });
    expect(await watchedRows(browser.device)).toEqual([]);
  });

  test('only public addresses of https, and keys that can be encrypted for', async () => {
    const browser = push.browser();
    for (const endpoint of [
      'http://push.example.com/a',
      'https://127.0.0.1/a',
      'https://localhost/a',
      'https://push.localhost./a',
      'https://printer.local/a',
      'https://metadata.internal/a',
      'https://[::1]/a',
      'https://169.254.169.254/latest/meta-data',
      'https://user:pass@push.example.com/a',
      'https://push.example.com:8443/a',
      'file:///etc/passwd',
      'nothing',
    ]) {
      const answer = await me.raw('pushSubscribe', { ...browser, endpoint });
      expect(answer.code, endpoint).toBe(1418);
    }
    for (const keys of [
      { ...browser.keys, p256dh: 'AAAA' },
      { ...browser.keys, p256dh: `B${'A'.repeat(86)}` },
      { ...browser.keys, auth: 'AAAA' },
    ]) {
      const answer = await me.raw('pushSubscribe', { ...browser, keys });
      expect(answer.status, JSON.stringify(keys)).toBe(422);
    }
  });
});
