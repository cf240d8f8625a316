import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StreamCode } from '#contract/page-errors.ts';
import { comparesTimes } from '../support/compares-times.ts';
import { joined, TestClient } from '../support/client.ts';
import { type MockOpenAi, type Scenario, startMockOpenAi } from '../support/mock-openai.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** design/reliability.md, "bad upstream". */

let first: MockOpenAi;
let second: MockOpenAi;
let server: TestServer;
let person: TestClient;

/** As the catalogue is cached for this long at most, ms. */
const stale = 3_500;

const query = async (sql: string, values: unknown[] = []) => {
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  try {
    return await client.query(sql, values);
  } finally {
    await client.end();
  }
};

const limits = { MODEL_FIRST_WORD_SECONDS: '2', MODEL_IDLE_SECONDS: '5' };

/** A server whose model `mock-chat` only `first` serves, until `addSecond`. */
const begin = async () => {
  first = await startMockOpenAi();
  second = await startMockOpenAi();
  server = await startServer({
    env: {
      OPENAI_BASE_URL: first.baseURL,
      OPENAI_MODELS: 'mock-chat',
      SIGNUP_TOKENS: '100000000',
      TRUST_PROXY: '127.0.0.1',
      ...limits,
    },
  });
  person = await TestClient.register(server.baseURL);
};
const end = async () => {
  await server?.stop();
  await first?.close();
  await second?.close();
};

const addSecond = async () => {
  await query(
    `WITH channel AS (
       INSERT INTO channels (key, kind, label, base_url, source)
       VALUES ('second', 'openai-compatible', 'second', $1, 'manager') RETURNING id
     )
     INSERT INTO model_channels (model_id, channel_id, upstream_name, priority)
     SELECT models.id, channel.id, 'other-name', 1 FROM models, channel WHERE models.name = 'mock-chat'`,
    [second.baseURL],
  );
  await sleep(stale);
};

const balance = async (who: TestClient) => (await who.call('userInfo', {})).chatgpt_balance;

const ask = async (msg: string, who = person) => {
  const before = await balance(who);
  const started = Date.now();
  const { uuid, id } = await who.ask(msg, { model: 'mock-chat' });
  const events = joined(await who.read(uuid, id));
  const { list } = await who.call('historyList', { session_id: uuid });
  return {
    events,
    row: list[0],
    spent: before - (await balance(who)),
    ms: Date.now() - started,
  };
};

const guestAt = async (address: string) => {
  const guest = new TestClient(server.baseURL);
  await guest.call('newSession', { type: 0 }, { 'x-forwarded-for': address });
  return guest;
};

const openHolds = async () =>
  Number((await query(`SELECT count(*) FROM holds WHERE state = 'open'`)).rows[0].count);

describe('with one channel', () => {
  beforeAll(begin);
  afterAll(end);

  /** What fails before the first word, and how it is told. */
  const failures: [Scenario, StreamCode][] = [
    ['429', 'rate_limited'],
    ['500', 'upstream'],
    ['401', 'upstream'],
    ['quota', 'upstream'],
    ['html', 'upstream'],
    ['redirect', 'upstream'],
    ['garbage', 'upstream'],
    ['cut-before', 'upstream'],
    ['cut-first', 'upstream'],
    ['empty', 'empty'],
    ['hang-before', 'timeout'],
    ['hang-first', 'timeout'],
    ['drip', 'timeout'],
    ['huge', 'too_large'],
    ['huge-json', 'too_large'],
  ];
  test.each(failures)('%s costs nothing and says %s', comparesTimes, async (scenario, code) => {
    const { events, row, spent, ms } = await ask(`[[mock ${scenario}]] 你好`);
    expect(events.text).toBe('');
    expect(events.error?.code).toBe(code);
    expect(events.error?.message).toMatch(/\p{Script=Han}/u);
    expect(row).toMatchObject({ state: 'error', error_code: code, ai: '', deduct_tokens: 0 });
    expect(spent).toBe(0);
    expect(await openHolds()).toBe(0);
    expect(ms).toBeLessThan(10_000);
    expect(JSON.stringify([events, row])).not.toContain('SECRET');
    // A good reply keeps the breaker shut.
    expect((await ask('你好，还在吗')).row?.state).toBe('done');
  });

  test('an endless reply ends at the size limit, and what was written is kept and billed', async () => {
    const { events, row, spent } = await ask('[[mock endless]] 你好');
    expect(events.error?.code).toBe('too_large');
    expect(row?.state).toBe('error');
    expect(row?.ai.length).toBeGreaterThan(500_000);
    expect(row?.ai.length).toBeLessThanOrEqual(2_000_000);
    expect(row?.ai).toBe(events.text);
    expect(spent).toBe(row?.deduct_tokens);
    expect(spent).toBeGreaterThan(100_000);
    await expect.poll(() => first.active, { timeout: 3_000 }).toBe(0);
  });

  test('a gigabyte is not read', async () => {
    await ask('[[mock huge]] 你好');
    await expect.poll(() => first.active, { timeout: 3_000 }).toBe(0);
    expect(first.bytesSent).toBeLessThan(64 * 1024 * 1024);
  });

  test('others are served while a service hangs', async () => {
    const other = await TestClient.register(server.baseURL);
    // Fewer than open the breaker.
    const hung = Promise.all(
      Array.from({ length: 4 }, () => ask('[[mock hang-middle]] 你好', other)),
    );
    await expect.poll(() => first.active, { timeout: 4_000 }).toBe(4);
    expect((await ask('[[mock json]] 你好')).row?.state).toBe('done');
    expect(first.active).toBeGreaterThan(0);
    for (const { row } of await hung) {
      expect(row?.error_code).toBe('timeout');
      expect(row?.ai).not.toBe('');
    }
  });

  test('a service without another is never shut: a neighbour is served at once', async () => {
    await ask('[[mock json]] 你好');
    const neighbour = await TestClient.register(server.baseURL);
    const before = first.calls;
    for (const scenario of ['500', '429', 'empty', '500', '429', 'empty', '500', '429'] as const)
      await ask(`[[mock ${scenario}]] 你好`);
    expect(first.calls - before).toBe(8);
    expect((await ask('现在好了吗', neighbour)).row?.state).toBe('done');
    const people = await Promise.all(
      Array.from({ length: 3 }, () => TestClient.register(server.baseURL)),
    );
    for (const who of [...people, ...people]) await ask('[[mock 500]] 你好', who);
    expect((await ask('还好吗', neighbour)).row?.state).toBe('done');
  });
});

describe('with two channels', () => {
  beforeAll(async () => {
    await begin();
    await addSecond();
  });
  afterAll(end);

  test('the other one is tried before the first word', async () => {
    const before: Scenario[] = ['500', '429', 'garbage', 'cut-before', 'cut-first', 'hang-first'];
    for (const scenario of before) {
      // Whoever met a channel full is sent past it for as long as it wants.
      person = await TestClient.register(server.baseURL);
      first.enqueue(scenario);
      const said = `你好，${scenario}`;
      const calls = second.calls;
      const { events, row, spent } = await ask(said);
      expect(row, scenario).toMatchObject({ state: 'done', ai: second.textFor(said) });
      expect(events.error, scenario).toBeNull();
      expect(second.calls, scenario).toBe(calls + 1);
      expect(second.lastRequest?.model).toBe('other-name');
      expect(spent).toBe(18);
      // A good answer in between keeps the first one's breaker shut.
      person = await TestClient.register(server.baseURL);
      await ask('[[mock json]] 你好');
    }
  });

  test('after the first word it is not: no text is written twice', async () => {
    first.enqueue('cut-middle');
    const calls = second.calls;
    const { row } = await ask('从中间断开');
    expect(row?.state).toBe('error');
    expect(first.textFor('从中间断开').startsWith(row?.ai ?? 'x')).toBe(true);
    expect(second.calls).toBe(calls);
  });

  test('a refused prompt is not sent elsewhere', async () => {
    first.enqueue('context');
    const calls = second.calls;
    const { row } = await ask('太长的对话');
    expect(row?.error_code).toBe('context_length_exceeded');
    expect(second.calls).toBe(calls);
  });

  test('however many guests one person is, and whatever they ask, the other’s neighbours are served', async () => {
    await query(`UPDATE models SET factor = 0, prompt_factor = 0 WHERE name = 'mock-chat'`);
    await sleep(stale);
    /** Whether the first channel is asked; it answers well, which forgets what was before. */
    const asked = async () => {
      first.always('normal');
      const calls = first.calls;
      await ask('还在吗');
      return first.calls > calls;
    };
    const network = await Promise.all([5, 5, 5, 6].map((at) => guestAt(`203.0.113.${at}`)));
    first.always('500');
    for (const guest of network)
      for (let at = 0; at < 3; at += 1)
        expect((await ask(`第 ${at} 问`, guest)).row?.state).toBe('done');
    expect(await asked()).toBe(true);
    // What anybody can bring about by a question does not count, whoever and however many ask.
    const people = await Promise.all([1, 2, 3].map((at) => guestAt(`198.51.${at}.1`)));
    for (const scenario of ['context', 'empty', 'content-filter'] as const) {
      first.always(scenario);
      for (const who of [...people, ...people]) await ask(`不好答，${scenario}`, who);
      expect(await asked(), scenario).toBe(true);
    }
  });

  test('while one rests, all goes to the other', async () => {
    first.always('500');
    const begun = first.calls;
    for (let at = 0; at < 8; at += 1) expect((await ask(`第 ${at} 问`)).row?.state).toBe('done');
    // What one person meets three times keeps that person from it, and shuts it to nobody else.
    expect(first.calls - begun).toBe(3);
    // Guests of different networks are different people.
    for (const who of [await guestAt('192.0.2.1'), await TestClient.register(server.baseURL)])
      await ask('也问一句', who);
    const calls = first.calls;
    for (let at = 0; at < 3; at += 1) expect((await ask(`再问 ${at}`)).row?.state).toBe('done');
    expect(first.calls).toBe(calls);
  });
});

test('keys lie encrypted in the database', async () => {
  await begin();
  try {
    await server.stop();
    const again = await startServer({
      databaseUrl: server.databaseUrl,
      env: {
        OPENAI_BASE_URL: first.baseURL,
        OPENAI_API_KEY: 'sk-very-secret',
        OPENAI_MODELS: 'mock-chat',
      },
    });
    const { rows } = await query(`SELECT channels::text AS text, key_encrypted FROM channels`);
    expect(JSON.stringify(rows)).not.toContain('sk-very-secret');
    for (const row of rows) expect(String(row.key_encrypted ?? '')).not.toContain('sk-very-secret');
    expect(rows.some((row) => row.key_encrypted !== null)).toBe(true);
    expect(again.log()).not.toContain('sk-very-secret');
    await again.stop();
  } finally {
    await end();
  }
});
