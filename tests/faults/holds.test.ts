import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { In } from '#contract/calls.ts';
import { apiUser } from '../support/api-user.ts';
import { TestClient } from '../support/client.ts';
import { startMockOpenAi, type MockOpenAi } from '../support/mock-openai.ts';
import { makeDatabase, startServer } from '../support/server.ts';

const heavy = process.env['HEAVY'] === '1';
const kills = heavy ? 50 : 2;
const repliesPerKill = 10;
const apiKills = heavy ? 22 : 2;

let mock: MockOpenAi;
let databaseUrl: string;
let pool: pg.Pool;
beforeAll(async () => {
  mock = await startMockOpenAi();
  databaseUrl = await makeDatabase();
  pool = new pg.Pool({ connectionString: databaseUrl });
});
afterAll(async () => {
  await pool.end();
  await mock.close();
});

const start = () =>
  startServer({
    databaseUrl,
    env: {
      OPENAI_BASE_URL: mock.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: 'mock-chat',
      SIGNUP_TOKENS: '1000000',
    },
  });

const rows = async <T extends object>(text: string): Promise<T[]> =>
  (await pool.query<T>(text)).rows;

/** Every balance is the sum of its entries, every hold is ended, and each by one entry at most. */
const expectSound = async () => {
  expect(
    await rows(`SELECT w.user_id FROM wallets w
      WHERE w.balance <> (SELECT coalesce(sum(amount), 0) FROM ledger l
                          WHERE l.user_id = w.user_id AND pot = 'balance')
         OR w.vip_balance <> (SELECT coalesce(sum(amount), 0) FROM ledger l
                              WHERE l.user_id = w.user_id AND pot = 'vip')`),
  ).toEqual([]);
  expect(await rows(`SELECT id FROM holds WHERE state = 'open'`)).toEqual([]);
  expect(
    await rows(`SELECT reference FROM ledger WHERE kind IN ('release', 'spend')
      GROUP BY reference, kind, pot HAVING count(*) > 1`),
  ).toEqual([]);
};

test(
  `${kills * repliesPerKill} replies killed between hold and settlement: each hold ends once`,
  async () => {
    let server = await start();
    try {
      const person = await TestClient.register(server.baseURL);
      const sessions = await Promise.all(
        Array.from({ length: repliesPerKill }, () =>
          person.call('newSession', { model: 'mock-chat' }),
        ),
      );
      for (let kill = 0; kill < kills; kill += 1) {
        const client = new TestClient(server.baseURL, person.token);
        await Promise.all(
          // Some die before anything was stored, some in the middle, some while they end.
          sessions.map(({ uuid }, index) =>
            client.call('sendMessage', {
              session_id: uuid,
              msg: `[[bench tokens=${20 + index * 60} rate=150 id=k]]`,
            }),
          ),
        );
        await new Promise((resolve) => setTimeout(resolve, 200 + (kill % 5) * 400));
        await server.kill9();
        server = await start();
        // The sweep at the start has ended them before the first request is answered.
        expect(await rows(`SELECT id FROM history WHERE state = 'streaming'`)).toEqual([]);
        await expectSound();
      }
      expect(
        await rows(`SELECT id FROM history WHERE
          (state = 'interrupted' AND ai = '' AND reasoning = '' AND deduct_tokens <> 0)
          OR (ai <> '' AND deduct_tokens = 0)
          OR (state = 'interrupted') <> (error_code = 'interrupted')`),
      ).toEqual([]);
      const [sums] = await rows<{ charged: string; spent: string; recorded: string }>(`SELECT
        (SELECT sum(deduct_tokens) FROM history) charged,
        (SELECT -sum(amount) FROM ledger WHERE kind = 'spend') spent,
        (SELECT sum(deduct_tokens) FROM consumptions) recorded`);
      expect(sums?.spent).toBe(sums?.charged);
      expect(sums?.recorded).toBe(sums?.charged);
    } finally {
      await server.stop();
    }
  },
  heavy ? 900_000 : 120_000,
);

test(
  `programs ask 50 times a second while the server is killed ${apiKills} times: no token is wrong`,
  async () => {
    let server = await start();
    const place = { baseURL: server.baseURL, databaseUrl };
    // One key without bounds and one with, as these are paid in different ways.
    const bounded: In<'genKey'> = { limits: [{ per: 'day', unit: 'tokens', amount: 1e9 }] };
    const programs = await Promise.all([apiUser(place), apiUser(place, { key: bounded })]);
    const ofThem = `WHERE user_id IN (${programs.map(({ userId }) => userId).join()})`;
    const ended = new AbortController();
    let asked = 0;
    let acknowledged = 0;
    const ask = async (at: number): Promise<void> => {
      const stream = at % 4 < 2;
      const answer = await fetch(`${server.baseURL}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${programs[at % 2]!.key}`,
        },
        body: JSON.stringify({
          model: 'mock-chat',
          stream,
          messages: [{ role: 'user', content: '你好' }],
        }),
      });
      const text = await answer.text();
      if (answer.ok && (!stream || text.includes('[DONE]'))) acknowledged += 1;
    };
    const calls: Promise<void>[] = [];
    const load = (async () => {
      for (; !ended.signal.aborted; asked += 1) {
        // A connection that breaks is a call that was not answered.
        calls.push(ask(asked).catch(() => undefined));
        await sleep(20);
      }
    })();
    try {
      for (let kill = 0; kill < apiKills; kill += 1) {
        await sleep(600 + (kill % 7) * 130);
        await server.kill9();
        server = await start();
      }
      await sleep(500);
      ended.abort();
      await load;
      await Promise.all(calls);
      await server.kill9();
      server = await start();
      // What a dead process held comes back with the next sweep.
      await expect
        .poll(() => rows(`SELECT id FROM holds WHERE state = 'open'`), { timeout: 60_000 })
        .toEqual([]);
      await expectSound();
      const [sums] = await rows<Record<string, number>>(`SELECT
        (SELECT count(*)::int FROM consumptions ${ofThem}) calls,
        (SELECT count(DISTINCT deduct_tokens)::int FROM consumptions ${ofThem}) prices,
        (SELECT sum(deduct_tokens)::int FROM consumptions ${ofThem}) recorded,
        (SELECT -sum(amount)::int FROM ledger ${ofThem} AND kind = 'spend') spent,
        (SELECT sum(deduct_prompt + deduct_completion)::int FROM api_usage ${ofThem}) counted,
        (SELECT sum(count)::int FROM api_usage ${ofThem}) counted_calls`);
      expect(acknowledged).toBeGreaterThan(apiKills * 10);
      expect(sums).toMatchObject({ prices: 1, counted_calls: sums!['calls'] });
      expect(sums!['spent']).toBe(sums!['recorded']);
      expect(sums!['counted']).toBe(sums!['recorded']);
      // Whatever was answered is paid; what was paid and not answered died on its way out.
      expect(sums!['calls']).toBeGreaterThanOrEqual(acknowledged);
      expect(sums!['calls']! - acknowledged).toBeLessThanOrEqual((apiKills + 1) * 50);
    } finally {
      ended.abort();
      await server.stop();
    }
  },
  heavy ? 900_000 : 120_000,
);

test('questions that are stopped before the first word while the process dies are paid once or not at all', async () => {
  let server = await start();
  try {
    const person = await TestClient.register(server.baseURL);
    mock.always('hang-before');
    const before = mock.calls;
    const sent = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(() => person.ask('山'.repeat(500), { model: 'mock-chat' })),
    );
    await expect.poll(() => mock.calls).toBe(before + 6);
    const [first, ...others] = sent;
    await person.call('stopStream', { history_id: first!.id });
    // Some have ended by then, some are in the middle of it, one was not stopped at all.
    for (const { id } of others.slice(1))
      void person.call('stopStream', { history_id: id }).catch(() => undefined);
    await server.kill9();
    server = await start();
    await expectSound();
    const ended = await rows<{ state: string; paid: boolean }>(
      `SELECT state, deduct_tokens > 0 AS paid FROM history WHERE ai = '' AND human LIKE '山%'`,
    );
    expect(ended).toHaveLength(6);
    expect(ended.filter(({ state, paid }) => paid !== (state === 'stopped'))).toEqual([]);
    expect(ended.filter(({ paid }) => paid).length).toBeGreaterThanOrEqual(1);
    const { id: userId } = await new TestClient(server.baseURL, person.token).call('userInfo', {});
    expect(
      await rows(`SELECT (SELECT sum(deduct_tokens) FROM history WHERE user_id = ${userId})
        + (SELECT sum(amount) FROM ledger WHERE user_id = ${userId} AND kind = 'spend') AS difference`),
    ).toEqual([{ difference: '0' }]);
  } finally {
    mock.always('normal');
    await server.stop();
  }
});

test('what still runs when its account ends is paid, and what comes back of it stays with nobody', async () => {
  const server = await start();
  try {
    const user = await apiUser({ baseURL: server.baseURL, databaseUrl });
    mock.always('late');
    const before = mock.calls;
    const asked = fetch(`${server.baseURL}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...user.client.headers(), 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'mock-chat',
        max_tokens: 4000,
        messages: [{ role: 'user', content: '这个账号马上就注销' }],
      }),
    });
    await expect.poll(() => mock.calls).toBe(before + 1);
    await user.person.call('deleteAccount', { password: 'password-1' });
    expect((await asked).status).toBe(200);
    await expectSound();
    const [left] = await rows<{ balance: string; spent: string }>(
      `SELECT balance, (SELECT -sum(amount) FROM ledger WHERE user_id = ${user.userId}
        AND kind = 'spend') AS spent FROM wallets WHERE user_id = ${user.userId}`,
    );
    expect(left?.balance).toBe('0');
    expect(Number(left?.spent)).toBeGreaterThan(3000);
  } finally {
    mock.always('normal');
    await server.stop();
  }
});

test('a hold that belongs to nothing is released when its time is over', async () => {
  const server = await start();
  try {
    await TestClient.register(server.baseURL);
    await pool.query(`WITH held AS (
        INSERT INTO holds (id, user_id, balance, vip, expires_at)
        SELECT gen_random_uuid(), max(id), 500, 0, now() - interval '1 second' FROM users
        RETURNING id, user_id
      ), entry AS (
        INSERT INTO ledger (user_id, pot, kind, amount, reference)
        SELECT user_id, 'balance', 'hold', -500, id::text FROM held
      )
      UPDATE wallets SET balance = balance - 500 WHERE user_id = (SELECT user_id FROM held)`);
    await expect
      .poll(() => rows(`SELECT id FROM holds WHERE state = 'open'`), { timeout: 15_000 })
      .toEqual([]);
    await expectSound();
  } finally {
    await server.stop();
  }
});
