import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import {
  behaveAsUsual,
  holdBack,
  type ImageServiceFake,
  sendJson,
  startImageService,
} from '../support/image-service.ts';
import {
  ended,
  generate,
  messageOf,
  newPictures,
  paint,
  replyOf,
  sendPicture,
} from '../support/images.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { settled, unsettled } from '../support/settled.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const kills = process.env['HEAVY'] ? 50 : 2;
const tokens = 1_000_000;
/** Of one picture in the usual size. */
const price = 7_500;
const model = 'dall-e-2';

let service: ImageServiceFake;
let server: TestServer;
let database: pg.Pool;
let client: TestClient;

const environment = () => ({
  OPENAI_BASE_URL: service.baseURL,
  OPENAI_API_KEY: 'sk-test',
  OPENAI_MODELS: model,
  SIGNUP_TOKENS: String(tokens),
  CANVAS_SECONDS: '0',
});

beforeAll(async () => {
  service = await startImageService();
  server = await startServer({ env: environment() });
  database = new pg.Pool({ connectionString: server.databaseUrl, max: 4 });
});
beforeEach(async () => {
  service.behave(behaveAsUsual);
  service.asked.length = 0;
  client = await TestClient.register(server.baseURL);
});
afterAll(async () => {
  await database.end();
  await server.stop();
  await service.close();
});

const balance = async (who = client): Promise<number> =>
  (await who.call('userInfo', {})).chatgpt_balance;

/** Nothing is held and the balance is what the ledger adds up to. */
const expectSettled = async () => {
  expect(await unsettled(database)).toEqual(settled);
};

const until = async (what: string, holds: () => boolean | Promise<boolean>, ms = 15_000) => {
  for (let waited = 0; waited < ms; waited += 25) {
    if (await holds()) return;
    await sleep(25);
  }
  throw new Error(`it never came to this: ${what}`);
};

test('pictures are paid when they are delivered, and their spend is written down', async () => {
  const { job, message } = await paint(client, '山间的月亮', { model, image: { n: 2 } });
  expect(job).toMatchObject({ state: 'done', deduct_tokens: 2 * price });
  expect(message).toMatchObject({ state: 'done', deduct_tokens: 2 * price });
  expect(await balance()).toBe(tokens - 2 * price);
  const { list } = await client.call('transactionList', {});
  expect(list).toMatchObject([
    { type: 1, model, human: '山间的月亮', deduct_tokens: 2 * price, current_balance: tokens },
  ]);
  await expectSettled();
});

test('of a partial result its part is paid, and each picture that failed is told', async () => {
  service.behave(async (_asked, give, response) =>
    sendJson(response, 200, { data: [...(await give(1)), { b64_json: 'bm8gcGljdHVyZQ==' }] }),
  );
  const { job, message } = await paint(client, '三只白鹭', { model, image: { n: 3 } });
  expect(job).toMatchObject({ state: 'done', deduct_tokens: price });
  const { images } = replyOf(message);
  expect(images).toHaveLength(3);
  expect(images[0]).toMatchObject({ error: '', width: 64, height: 64 });
  for (const image of images.slice(1)) {
    expect(image).toMatchObject({ id: 0, url: '' });
    expect(image.error).toMatch(/\p{Script=Han}/u);
  }
  expect(await balance()).toBe(tokens - price);
  await expectSettled();
});

test('more pictures than were asked for cost nothing more and are not kept', async () => {
  service.behave(async (_asked, give, response) =>
    sendJson(response, 200, { data: await give(9) }),
  );
  const { job, message } = await paint(client, '一盏孤灯', { model, image: { n: 2 } });
  expect(job.deduct_tokens).toBe(2 * price);
  expect(replyOf(message).images).toHaveLength(2);
  await expectSettled();
});

const asked = (times = 1) =>
  until(`the service is asked ${times} times`, () => service.asked.length >= times);

test('a refused prompt is told at once, costs nothing, and the message can be tried again', async () => {
  service.behave((_asked, _give, response) =>
    Promise.resolve(
      sendJson(response, 400, {
        error: { code: 'content_policy_violation', message: 'Your request was rejected' },
      }),
    ),
  );
  const { job, sent } = await paint(client, '不该画的东西', { model });
  expect(job).toMatchObject({ state: 'error', error_code: 1427 });
  expect(service.asked).toHaveLength(1);
  service.behave(behaveAsUsual);
  const again = await generate(client, sent.historyId);
  expect(await ended(client, again.uuid)).toMatchObject({ state: 'done', deduct_tokens: price });
  const message = await messageOf(client, sent);
  expect(message).toMatchObject({ state: 'done', error_message: '' });
  expect(message.job?.uuid).toBe(again.uuid);
  expect(await balance()).toBe(tokens - price);
  await expectSettled();
});

test('what was sent to a service that takes nothing back is delivered although it is stopped, and paid once', async () => {
  const letGo = holdBack(service);
  const sent = await sendPicture(client, '长长的画卷', { model });
  const { uuid } = await generate(client, sent.historyId);
  await asked();
  const stop = () => client.call('cancelJob', { request_id: uuid });
  expect(await Promise.all([stop(), stop()])).toEqual([{ cancelled: false }, { cancelled: false }]);
  const { list } = await client.call('jobList', { running: '1' });
  expect(list[0]).toMatchObject({ uuid, sent: true, stopping: true });
  letGo();
  expect(await ended(client, uuid)).toMatchObject({ state: 'done', deduct_tokens: price });
  const message = await messageOf(client, sent);
  expect(message.state).toBe('done');
  expect(replyOf(message).images[0]?.url).not.toBe('');
  expect(await balance()).toBe(tokens - price);
  expect(service.asked).toHaveLength(1);
  await expectSettled();
});

test('what is stopped and then fails at its service costs nothing and is not tried again', async () => {
  let letGo: () => void = () => {};
  const free = new Promise<void>((resolve) => (letGo = resolve));
  service.behave(async (_asked, _give, response) => {
    await free;
    sendJson(response, 500, {});
  });
  const sent = await sendPicture(client, '长长的画卷', { model });
  const { uuid } = await generate(client, sent.historyId);
  await asked();
  await client.call('cancelJob', { request_id: uuid });
  letGo();
  expect(await ended(client, uuid)).toMatchObject({ state: 'cancelled', deduct_tokens: 0 });
  expect((await messageOf(client, sent)).state).toBe('stopped');
  expect(service.asked).toHaveLength(1);
  expect(await balance()).toBe(tokens);
  await expectSettled();
});

test('what waits is stopped before anything is sent, free of charge', async () => {
  const letGo = holdBack(service);
  const jobs = [];
  // As many as are worked on at once, and one more.
  for (let at = 0; at < 5; at += 1) {
    const sent = await sendPicture(client, `第 ${at} 幅`, { model });
    jobs.push(await generate(client, sent.historyId));
  }
  await asked(4);
  const last = jobs[4]?.uuid ?? '';
  expect(await client.call('cancelJob', { request_id: last })).toEqual({ cancelled: true });
  letGo();
  for (const [at, { uuid }] of jobs.entries())
    expect(await ended(client, uuid)).toMatchObject(
      at < 4 ? { state: 'done', deduct_tokens: price } : { state: 'cancelled', deduct_tokens: 0 },
    );
  expect(service.asked).toHaveLength(4);
  expect(await balance()).toBe(tokens - 4 * price);
  await expectSettled();
});

test('a message or a session that is deleted takes its running job with it; what was sent is paid', async () => {
  const letGo = holdBack(service);
  const first = await sendPicture(client, '要删掉的画', { model });
  const second = await sendPicture(client, '要删掉的会话', { model });
  const jobs = [await generate(client, first.historyId), await generate(client, second.historyId)];
  await asked(2);
  await client.call('deleteHistory', { session_id: first.uuid, id: first.historyId });
  await client.call('deleteSession', { session_id: second.uuid });
  letGo();
  // A session can be had back for some time, with what comes meanwhile.
  for (const [at, state] of (['cancelled', 'done'] as const).entries())
    expect(await ended(client, jobs[at]?.uuid ?? '')).toMatchObject({
      state,
      deduct_tokens: price,
    });
  // What is paid for is kept, among one's own images.
  expect((await client.call('privateImages', {})).total).toBe(2);
  expect(await balance()).toBe(tokens - 2 * price);
  await expectSettled();
});

test('a cancellation that races with the end leaves one of the two, and its charge', async () => {
  const rounds = 8;
  const sent = await newPictures(client, model);
  let delivered = 0;
  for (let round = 0; round < rounds; round += 1) {
    const wait = round * 4;
    service.behave(async ({ n }, give, response) => {
      await sleep(wait);
      if (!response.destroyed) sendJson(response, 200, { data: await give(n) });
    });
    const message = await sendPicture(client, `第 ${round} 幅小画`, { uuid: sent.uuid });
    const { uuid } = await generate(client, message.historyId);
    await asked(round + 1).catch(() => {});
    await sleep(wait / 2);
    const { cancelled } = await client.call('cancelJob', { request_id: uuid });
    const job = await ended(client, uuid);
    expect(job.state).toBe(cancelled ? 'cancelled' : 'done');
    expect(job.deduct_tokens).toBe(cancelled ? 0 : price);
    expect((await messageOf(client, message)).state).toBe(cancelled ? 'stopped' : 'done');
    if (!cancelled) delivered += 1;
    // Whether it was asked or not, the next round counts from the same.
    while (service.asked.length < round + 1) service.asked.push({ prompt: '', n: 0, at: 0 });
  }
  expect(await balance()).toBe(tokens - delivered * price);
  await expectSettled();
});

test('a service that never answers is given up when the time is over', async () => {
  service.behave(() => Promise.resolve());
  const sent = await sendPicture(client, '画不完的画', { model });
  const { uuid } = await generate(client, sent.historyId);
  await asked();
  await database.query('UPDATE jobs SET deadline = now() WHERE uuid = $1', [uuid]);
  const running = `SELECT FROM jobs WHERE uuid = $1 AND state = 'running'`;
  await until('it stops', async () => (await database.query(running, [uuid])).rowCount === 0);
  // It has ended then: there is no time for another try.
  expect(await ended(client, uuid, 1)).toMatchObject({ state: 'error', error_code: 1426 });
  expect((await messageOf(client, sent)).state).toBe('error');
  expect(await balance()).toBe(tokens);
  await expectSettled();
});

test('many at once never spend more than there is, nor make more than may wait', async () => {
  const rich = 4;
  const letGo = holdBack(service);
  await database.query(
    `WITH taken AS (
       UPDATE wallets SET balance = $2 WHERE user_id = $1 RETURNING user_id
     )
     INSERT INTO ledger (user_id, pot, kind, amount) SELECT user_id, 'balance', 'spend', $2 - $3
     FROM taken`,
    [(await client.call('userInfo', {})).id, rich * price, tokens],
  );
  const { uuid } = await newPictures(client, model);
  const sent = [];
  for (let at = 0; at < 40; at += 1) sent.push(await sendPicture(client, `小画 ${at}`, { uuid }));
  const answers = await Promise.all(
    sent.flatMap(({ historyId }) =>
      Array.from({ length: 5 }, () =>
        client.raw('generateImage', { history_id: historyId, request_id: randomUUID() }),
      ),
    ),
  );
  const codes = answers.map(({ code }) => code);
  expect(codes.filter((code) => code === 0)).toHaveLength(rich);
  // Not enough left, or the message's own job runs already.
  expect(codes.every((code) => [0, 1025, 1409].includes(code))).toBe(true);
  letGo();
  for (const { uuid: id } of (await client.call('jobList', {})).list) await ended(client, id);
  expect(await balance()).toBe(0);
  await expectSettled();

  const free = await newPictures(client, 'builtin-canvas');
  const more = [];
  for (let at = 0; at < 12; at += 1)
    more.push(
      await sendPicture(client, `免费的小画 ${at}`, { uuid: free.uuid, image: { size: 1 } }),
    );
  const replies = await Promise.all(
    more.map(({ historyId }) =>
      client.raw('generateImage', { history_id: historyId, request_id: randomUUID() }),
    ),
  );
  expect(replies.filter(({ code }) => code === 1424).length).toBeGreaterThanOrEqual(1);
  expect(replies.filter(({ code }) => code === 0).length).toBeLessThanOrEqual(11);
  for (const { uuid: id } of (await client.call('jobList', { running: '1' })).list)
    await client.call('cancelJob', { request_id: id });
});

test('a VIP pays nothing but for excluded models, guests have none that cost', async () => {
  const { id } = await client.call('userInfo', {});
  await database.query(
    `UPDATE users SET vip_activated_at = now(), vip_expired_at = now() + interval '30 days'
     WHERE id = $1`,
    [id],
  );
  const { job } = await paint(client, '会员的画', { model });
  expect(job.deduct_tokens).toBe(price);
  await database.query('UPDATE models SET vip_excluded = false WHERE name = $1', [model]);
  await sleep(3_500);
  const free = await paint(client, '会员的画', { model });
  expect(free.job).toMatchObject({ state: 'done', deduct_tokens: 0 });
  await database.query('UPDATE models SET vip_excluded = true WHERE name = $1', [model]);
  await sleep(3_500);
  await database.query(
    `WITH taken AS (UPDATE wallets SET balance = 0 WHERE user_id = $1 RETURNING user_id)
     INSERT INTO ledger (user_id, pot, kind, amount)
     SELECT user_id, 'balance', 'spend', $2::bigint FROM taken`,
    [id, price - tokens],
  );
  const poor = await sendPicture(client, '会员付不起的画', { model });
  const refused = await client.raw('generateImage', {
    history_id: poor.historyId,
    request_id: randomUUID(),
  });
  expect(refused.code).toBe(1026);
  const guest = new TestClient(server.baseURL);
  await guest.call('newSession', { type: 1 });
  const denied = await guest.raw('newSession', { type: 1, model });
  expect(denied.code).toBe(1001);
  await expectSettled();
});

// Behind the others: a service that fails so often is left alone for some time.
test.each([
  ['fails', (response: Parameters<typeof sendJson>[0]) => sendJson(response, 500, { error: {} })],
  [
    'gives no picture',
    (response: Parameters<typeof sendJson>[0]) => sendJson(response, 200, { data: [] }),
  ],
  [
    'gives what is no picture',
    (response: Parameters<typeof sendJson>[0]) =>
      sendJson(response, 200, { data: [{ b64_json: 'PHN2Zz48L3N2Zz4=' }] }),
  ],
  [
    'hangs up',
    (response: Parameters<typeof sendJson>[0]) => {
      response.destroy();
    },
  ],
])('a service that %s is asked three times and costs nothing', async (_what, answer) => {
  service.behave((_asked, _give, response) => Promise.resolve(answer(response)));
  const { job, message } = await paint(client, '黄昏的码头', { model });
  expect(job).toMatchObject({ state: 'error', deduct_tokens: 0 });
  expect(job.error_code).toBeGreaterThan(0);
  expect(job.error_message).toMatch(/\p{Script=Han}/u);
  expect(message).toMatchObject({ state: 'error', ai: '', error_message: job.error_message });
  expect(await balance()).toBe(tokens);
  await expectSettled();
});

// ---- workers that die ---------------------------------------------------------

/** `npm run worker`, as a process of its own on the same database and files. */
const startWorker = async (): Promise<ChildProcess> => {
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', path.join(root, 'dist/server/worker-main.js')],
    {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        DATA_DIR: front.dataDir,
        DATABASE_URL: front.databaseUrl,
        ...environment(),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let printed = '';
  child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString('utf8')));
  await until('the worker has started', () => printed.includes('工作进程已启动'));
  return child;
};

const killed = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });

/** A server that works on nothing itself. */
let front: TestServer;

test(
  `a worker killed in mid-job loses nothing and charges once, ${kills} times`,
  async () => {
    front = await startServer({ env: { ...environment(), WORKERS: '0' } });
    const own = new pg.Pool({ connectionString: front.databaseUrl, max: 2 });
    try {
      const person = await TestClient.register(front.baseURL);
      const { uuid } = await newPictures(person, model);
      let worker = await startWorker();
      for (let round = 1; round <= kills; round += 1) {
        service.behave(async ({ n }, give, response) => {
          await sleep(400);
          if (!response.destroyed) sendJson(response, 200, { data: await give(n) });
        });
        service.asked.length = 0;
        const before = await balance(person);
        const sent = await sendPicture(person, `不会丢的画 ${round}`, { uuid });
        const job = await generate(person, sent.historyId);
        await asked();
        // Anywhere between the order and the commit of what it delivered.
        await sleep(((round * 137) % 10) * 60);
        await killed(worker);
        worker = await startWorker();
        const last = await ended(person, job.uuid, 50_000);
        expect(last, `round ${round}`).toMatchObject({ state: 'done', deduct_tokens: price });
        expect(replyOf(await messageOf(person, sent)).images).toHaveLength(1);
        expect(await balance(person)).toBe(before - price);
        const { rows } = await own.query<{ images: number; open: number; spent: number }>(
          `SELECT (SELECT count(*)::int FROM images WHERE history_id = $1) AS images,
           (SELECT count(*)::int FROM holds WHERE state = 'open') AS open,
           (SELECT count(*)::int FROM consumptions) AS spent`,
          [sent.historyId],
        );
        expect(rows[0]).toEqual({ images: 1, open: 0, spent: round });
      }
      // Asked to stop in mid-job it lets others go on.
      service.behave(async ({ n }, give, response) => {
        await sleep(service.asked.length > 1 ? 0 : 60_000);
        if (!response.destroyed) sendJson(response, 200, { data: await give(n) });
      });
      service.asked.length = 0;
      const sent = await sendPicture(person, '换人接着画', { uuid });
      const job = await generate(person, sent.historyId);
      await asked();
      worker.kill('SIGTERM');
      const second = await startWorker();
      expect(await ended(person, job.uuid, 40_000)).toMatchObject({ state: 'done' });
      await killed(second);
    } finally {
      await own.end();
      await front.stop();
    }
  },
  120_000 + kills * 40_000,
);

test('what a dead worker had stored and nobody was told of is taken away', async () => {
  front = await startServer({ env: { ...environment(), WORKERS: '0' } });
  const own = new pg.Pool({ connectionString: front.databaseUrl, max: 3 });
  const folder = path.join(front.dataDir, 'files');
  mkdirSync(folder, { recursive: true });
  const stored = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.png'),
    );
  try {
    const person = await TestClient.register(front.baseURL);
    const { uuid } = await newPictures(person, model);
    let worker = await startWorker();
    /** Lets a worker store its picture, and die before it can say so. */
    const dieBeforeItsEnd = async () => {
      const sent = await sendPicture(person, '存了却没有交出来的画', { uuid });
      const blocker = await own.connect();
      try {
        service.asked.length = 0;
        const letGo = holdBack(service);
        const job = await generate(person, sent.historyId);
        await asked();
        const before = stored().length;
        await blocker.query('BEGIN');
        await blocker.query('SELECT FROM sessions WHERE uuid = $1 FOR UPDATE', [uuid]);
        letGo();
        await until('the picture is stored', () => stored().length > before);
        await killed(worker);
        return job;
      } finally {
        await blocker.query('ROLLBACK');
        blocker.release();
        service.behave(behaveAsUsual);
      }
    };
    const again = await dieBeforeItsEnd();
    worker = await startWorker();
    expect(await ended(person, again.uuid, 50_000)).toMatchObject({ state: 'done' });
    await until('one file is left', () => stored().length === 1);

    // The same where nobody draws it again.
    const given = await dieBeforeItsEnd();
    await own.query('UPDATE jobs SET cancel_requested = true WHERE uuid = $1', [given.uuid]);
    worker = await startWorker();
    expect(await ended(person, given.uuid, 50_000)).toMatchObject({ state: 'cancelled' });
    await until('one file is left', () => stored().length === 1);
    await killed(worker);
  } finally {
    await own.end();
    await front.stop();
  }
}, 150_000);
