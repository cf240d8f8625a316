import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countTokens } from '#server/engines/tokens.ts';
import { joined, TestClient } from '../support/client.ts';
import { startMockOpenAi, type MockOpenAi, type Scenario } from '../support/mock-openai.ts';
import { startServer, type TestServer } from '../support/server.ts';

let mock: MockOpenAi;
let server: TestServer;
let client: TestClient;
beforeAll(async () => {
  mock = await startMockOpenAi();
  server = await startServer({
    env: {
      OPENAI_BASE_URL: mock.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: 'mock-chat',
      // Enough for a reply of 20,000 tokens: without, whether it ends whole would be left to chance.
      SIGNUP_TOKENS: '100000',
    },
  });
  client = await TestClient.register(server.baseURL);
});
afterAll(async () => {
  await server.stop();
  await mock.close();
});

const balance = async () => (await client.call('userInfo', {})).chatgpt_balance;
const newest = async (uuid: string) => {
  const { list } = await client.call('historyList', { session_id: uuid, newest: 1 });
  if (!list[0]) throw new Error('no message');
  return list[0];
};

const ask = async (scenario: Scenario) => {
  // A channel that failed often is left out for a while: a good reply makes it well again.
  const well = await client.ask('[[mock normal]] 好', { model: 'mock-chat' });
  await client.read(well.uuid, well.id);
  const before = await balance();
  const { uuid, id } = await client.ask(`[[mock ${scenario}]] 问题`, { model: 'mock-chat' });
  const reply = joined(await client.read(uuid, id));
  const row = await newest(uuid);
  return { uuid, id, reply, row, charged: before - (await balance()), before };
};

const nothingWritten: [Scenario, string][] = [
  ['cut-before', 'upstream'],
  ['cut-first', 'upstream'],
  ['500', 'upstream'],
  ['429', 'rate_limited'],
  ['garbage', 'upstream'],
  ['empty', 'empty'],
  ['context', 'context_length_exceeded'],
];
for (const [scenario, code] of nothingWritten) {
  test(`${scenario}: an error, no text, no charge`, async () => {
    const { uuid, reply, row, charged } = await ask(scenario);
    expect(reply).toMatchObject({ text: '', done: true, error: { code } });
    expect(reply.error?.message).not.toContain('SECRET');
    expect(row).toMatchObject({ ai: '', state: 'error', error_code: code, deduct_tokens: 0 });
    expect(charged).toBe(0);
    expect((await client.call('getSession', { uuid })).reply_count).toBe(0);
  });
}

test('a paid model that answers long questions by nothing is asked no more of them for nothing that day', async () => {
  const own = await TestClient.register(server.baseURL);
  const long = '一二三四五六七八九十'.repeat(3000);
  const uuid = (await own.call('newSession', { model: 'mock-chat' })).uuid;
  let asked = 0;
  for (; asked < 20; asked += 1) {
    const msg = `[[mock empty]] ${asked} ${long}`;
    const sent = await own.raw<{ id: number }>('sendMessage', {
      session_id: uuid,
      msg,
    });
    if (sent.code !== 0) {
      expect(sent.message).toContain('没有写出内容');
      break;
    }
    await own.read(uuid, sent.data.id);
  }
  expect(asked).toBeGreaterThan(2);
  expect(asked).toBeLessThan(20);
});

const partly: Scenario[] = ['cut-middle', 'no-finish', 'error-event', 'garbage-middle'];
for (const scenario of partly) {
  test(`${scenario}: the text stays, is marked, and is paid for`, async () => {
    const { row, reply, charged } = await ask(scenario);
    expect(reply.error?.code).toBe('upstream');
    expect(reply.text.length).toBeGreaterThan(0);
    expect(mock.textFor(`[[mock ${scenario}]] 问题`).startsWith(reply.text)).toBe(true);
    expect(row).toMatchObject({ ai: reply.text, state: 'error', error_code: 'upstream' });
    expect(row.completion_tokens).toBe(countTokens(row.ai));
    expect(charged).toBe(row.prompt_tokens + row.completion_tokens);
    expect(row.deduct_tokens).toBe(charged);
  });
}

test('cut before usage: the reply is whole and counted here', async () => {
  const { row, reply, charged } = await ask('cut-usage');
  expect(reply).toMatchObject({ text: mock.textFor('[[mock cut-usage]] 问题'), error: null });
  expect(row.state).toBe('done');
  expect(charged).toBe(row.prompt_tokens + row.completion_tokens);
});

test('the reader leaves: the reply is written to its end and paid once', async () => {
  const before = await balance();
  const { uuid, id } = await client.ask('[[bench tokens=100 rate=100 id=left]]', {
    model: 'mock-chat',
  });
  await client.read(uuid, id, { onEvent: () => false });
  await expect
    .poll(async () => (await newest(uuid)).state, { timeout: 10_000, interval: 100 })
    .toBe('done');
  const row = await newest(uuid);
  expect(row.ai.endsWith('END-left-DONE')).toBe(true);
  expect(before - (await balance())).toBe(row.deduct_tokens);
  expect(mock.active).toBe(0);
});

test('stop: what was written stays and is paid, the service is hung up on, and a retry replaces it', async () => {
  const before = await balance();
  const { uuid, id } = await client.ask('[[bench tokens=5000 rate=100 id=stop]]', {
    model: 'mock-chat',
  });
  let seen = 0;
  const reading = client.read(uuid, id, { onEvent: () => void (seen += 1) });
  await expect.poll(() => seen, { timeout: 10_000 }).toBeGreaterThan(10);
  expect(await client.call('stopStream', { history_id: id })).toEqual({ stopped: true });
  const reply = joined(await reading);
  expect(reply).toMatchObject({ error: null, done: true });
  const row = await newest(uuid);
  expect(row).toMatchObject({ ai: reply.text, state: 'stopped' });
  expect(before - (await balance())).toBe(row.deduct_tokens);
  expect(row.deduct_tokens).toBeGreaterThan(0);
  await expect.poll(() => mock.active, { timeout: 5000 }).toBe(0);
  expect(await client.call('stopStream', { history_id: id })).toEqual({ stopped: false });

  mock.enqueue('normal');
  const again = await client.call('retryMessage', { session_id: uuid, history_id: id });
  const second = joined(await client.read(uuid, again.id));
  expect(second.error).toBeNull();
  const { list } = await client.call('historyList', { session_id: uuid });
  expect(list).toHaveLength(1);
  expect(list[0]).toMatchObject({ ai: second.text, state: 'done' });
  expect((await client.call('getSession', { uuid })).reply_count).toBe(1);
  expect((await client.raw('retryMessage', { session_id: uuid, history_id: id })).code).toBe(1414);
});

test('a reader that takes nothing holds nobody up, and gets it all in the end', async () => {
  const { uuid, id } = await client.ask('[[bench tokens=20000 rate=0 id=slow]]', {
    model: 'mock-chat',
  });
  const url = `${server.baseURL}/api/event_stream?session_id=${uuid}&history_id=${id}`;
  const frozen = await fetch(url, { headers: client.headers() });
  const quick = joined(await client.read(uuid, id));
  expect(quick.text.endsWith('END-slow-DONE')).toBe(true);
  const text = await frozen.text();
  const late = text
    .split('\n\n')
    .map(
      (frame) =>
        frame
          .split('\n')
          .find((line) => line.startsWith('data: '))
          ?.slice(6) ?? '',
    )
    .filter((data) => data !== '' && data !== '[DONE]')
    .map((data) => JSON.parse(data) as string)
    .join('');
  expect(late).toBe(quick.text);
});

test('a hold that runs out ends the reply with its text, and the balance stays above zero', async () => {
  const poor = await startServer({
    env: {
      OPENAI_BASE_URL: mock.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: 'mock-chat',
      SIGNUP_TOKENS: '700',
    },
  });
  try {
    const person = await TestClient.register(poor.baseURL);
    const { uuid, id } = await person.ask('[[bench tokens=6000 rate=1000 id=poor]]', {
      model: 'mock-chat',
    });
    const reply = joined(await person.read(uuid, id));
    expect(reply.error?.code).toBe('balance');
    expect(reply.text.length).toBeGreaterThan(100);
    const left = (await person.call('userInfo', {})).chatgpt_balance;
    const { list } = await person.call('historyList', { session_id: uuid });
    expect(list[0]).toMatchObject({ ai: reply.text, state: 'error', error_code: 'balance' });
    expect(left).toBeGreaterThanOrEqual(0);
    expect(700 - left).toBe(list[0]?.deduct_tokens);
    const spends = await person.call('transactionList', {});
    expect(spends.list[0]).toMatchObject({ current_balance: 700, deduct_tokens: 700 - left });
    const refused = await person.raw('sendMessage', { session_id: uuid, msg: '再来一次' });
    expect(refused.code).toBe(1025);
  } finally {
    await poor.stop();
  }
});

test('the server is told to stop: the reply ends as interrupted, is paid, and can be retried', async () => {
  const first = await startServer({
    env: { OPENAI_BASE_URL: mock.baseURL, OPENAI_API_KEY: 'sk-test', OPENAI_MODELS: 'mock-chat' },
  });
  const person = await TestClient.register(first.baseURL);
  const { uuid, id } = await person.ask('[[bench tokens=60000 rate=200 id=term]]', {
    model: 'mock-chat',
  });
  const reading = person.read(uuid, id).then(joined);
  await new Promise((resolve) => setTimeout(resolve, 500));
  await first.stop();
  const reply = await reading;
  expect(reply.error?.code).toBe('interrupted');
  const second = await startServer({ databaseUrl: first.databaseUrl });
  try {
    const back = new TestClient(second.baseURL, person.token);
    const { list } = await back.call('historyList', { session_id: uuid });
    expect(list[0]).toMatchObject({ ai: reply.text, state: 'interrupted' });
    const user = await back.call('userInfo', {});
    expect(user.chatgpt_balance).toBe(20_000 - (list[0]?.deduct_tokens ?? 0));
  } finally {
    await second.stop();
  }
});

test('the end of a reply and the next question at once: they take turns, and neither fails', async () => {
  const database = new pg.Client({ connectionString: server.databaseUrl });
  await database.connect();
  const waiting = async () => {
    const { rows } = await database.query<{ count: number }>(
      `SELECT count(*)::int FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows[0]?.count;
  };
  const soon = { timeout: 30_000, interval: 20 };
  const person = await TestClient.register(server.baseURL);
  const { id: userId } = await person.call('userInfo', {});
  const { uuid, id } = await person.ask('[[bench tokens=60 rate=100 id=turns]]', {
    model: 'mock-chat',
  });
  await database.query('BEGIN');
  await database.query('SELECT FROM wallets WHERE user_id = $1 FOR UPDATE', [userId]);
  await expect.poll(waiting, soon).toBe(1);
  const next = person.ask('[[mock normal]] 下一个问题', { sessionId: uuid });
  await expect.poll(waiting, soon).toBe(2);
  await database.query('COMMIT');
  await database.end();
  const { id: nextId } = await next;
  await person.read(uuid, nextId);
  const { list } = await person.call('historyList', { session_id: uuid });
  expect(list.map((row) => [row.id, row.state])).toEqual([
    [id, 'done'],
    [nextId, 'done'],
  ]);
});
