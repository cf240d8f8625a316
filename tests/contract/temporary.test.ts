import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { joined, TestClient } from '../support/client.ts';
import { startServer } from '../support/server.ts';
import { stageWithModels } from '../support/stage.ts';

/** A temporary conversation works and costs like any other, and nothing of it is kept. */

const here = stageWithModels('mock-a,mock-b');
let person: TestClient;

beforeAll(async () => {
  person = await TestClient.register(here.server.baseURL);
});

/** Tables in which a text stands, in whatever column. */
const tablesWith = async (text: string): Promise<string[]> => {
  const { rows } = await here.database.query<{ name: string }>(
    `SELECT quote_ident(table_name) AS name FROM information_schema.tables
     WHERE table_schema = 'public'`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const hits = await here.database.query(
      `SELECT 1 FROM ${name} it WHERE strpos(it::text, $1) > 0`,
      [text],
    );
    if (hits.rowCount) found.push(name);
  }
  return found;
};

const start = async () => {
  const input = { type: 0, model: 'mock-a', temporary: 1 } as const;
  return (await person.call('newSession', input)).uuid;
};

test('nothing that was said stands in any table, in no log, and in no list', async () => {
  const uuid = await start();
  const secret = `暗号${randomUUID().slice(0, 8)}`;
  const question = `${secret}是什么意思`;
  const reply = here.mock.textFor(question).slice(0, 12);
  const before = (await person.call('userInfo', {})).chatgpt_balance;
  const sent = await person.call(
    'sendMessage',
    { session_id: uuid, msg: question, beside: 'mock-b' },
    { 'idempotency-key': randomUUID() },
  );
  expect(sent.msg).toBe('');
  for (const id of [sent.id, sent.beside ?? 0]) {
    const { text, done } = joined(await person.read(uuid, id));
    expect([text.includes(reply), done]).toEqual([true, true]);
  }
  const next = await person.call('sendMessage', {
    session_id: uuid,
    msg: '[[mock 500]] 那么呢',
    context: [{ human: question, ai: `${secret}的回答` }],
  });
  await person.read(uuid, next.id);
  expect(here.mock.lastRequest?.messages.map(({ content }) => content)).toEqual([
    question,
    `${secret}的回答`,
    '[[mock 500]] 那么呢',
  ]);
  // What is read is gone from memory no sooner than a lost connection needs.
  expect(joined(await person.read(uuid, sent.id)).text).toContain(reply);

  expect(await tablesWith(secret)).toEqual([]);
  expect(await tablesWith(reply)).toEqual([]);
  expect(await tablesWith('那么呢')).toEqual([]);
  expect(here.server.log()).not.toContain(secret);
  expect(await person.call('historyList', { session_id: uuid })).toMatchObject({
    list: [],
    total: 0,
  });
  expect(await person.call('lastMessages', { sessionId: uuid, maxHistoryId: 0 })).toEqual([]);
  const mine = await person.call('sessionList', { channel: 'private' });
  expect(mine.list.some((session) => session.uuid === uuid)).toBe(false);

  // It costs as always.
  expect((await person.call('userInfo', {})).chatgpt_balance).toBeLessThan(before);
  const { list } = await person.call('transactionList', {});
  expect(list.map(({ human }) => human)).toEqual(['临时对话', '临时对话']);
});

test('a long reply is not stored while it is written, and stopping it works', async () => {
  const uuid = await start();
  const sent = await person.call('sendMessage', {
    session_id: uuid,
    msg: '[[mock endless]] 一直说下去',
  });
  let text = '';
  await person.read(uuid, sent.id, {
    onEvent: ({ data }) => {
      text += data;
      return text.length < 4000;
    },
  });
  await new Promise((resolve) => setTimeout(resolve, 2500));
  const { rows } = await here.database.query(
    'SELECT human, ai, reasoning, parts, title, request FROM history WHERE id = $1',
    [sent.id],
  );
  expect(rows).toEqual([{ human: '', ai: '', reasoning: '', parts: [], title: '', request: null }]);
  await person.call('stopStream', { history_id: sent.id });
  expect(joined(await person.read(uuid, sent.id)).text.length).toBeGreaterThan(1000);
});

test('what needs the text is refused, and others see nothing', async () => {
  const uuid = await start();
  const { id } = await person.call('sendMessage', { session_id: uuid, msg: '你好你好你好' });
  await person.read(uuid, id);
  const message = { session_id: uuid, history_id: id };
  for (const name of [
    'retryMessage',
    'regenerateMessage',
    'historyLike',
    'addToFavorites',
  ] as const)
    expect((await person.raw(name, message)).code, name).toBe(1422);
  const again = { session_id: uuid, msg: '你好你好', replace: id };
  expect((await person.raw('sendMessage', again)).code).toBe(1422);
  expect((await person.raw('setSession', { session_id: uuid, private: 0 })).code).toBe(1434);
  const other = await TestClient.register(here.server.baseURL);
  expect((await other.raw('historyList', { session_id: uuid })).code).toBe(1432);
  expect((await other.raw('newSession', { history_id: id })).code).not.toBe(0);
  await expect(other.read(uuid, id)).rejects.toThrow('1432');
  expect(await person.call('deleteHistory', { session_id: uuid, id })).toEqual({
    is_session: false,
  });
});

test('another process tells what is being written and what was written a moment ago', async () => {
  const uuid = await start();
  const secret = path.join(here.server.dataDir, 'secret-key');
  const second = await startServer({
    databaseUrl: here.server.databaseUrl,
    env: { SECRET_KEY: readFileSync(secret, 'utf8').trim() },
  });
  try {
    const there = new TestClient(second.baseURL, person.token);
    const { id } = await person.call('sendMessage', {
      session_id: uuid,
      msg: '[[bench tokens=120 rate=40 id=handover]]',
    });
    const [nearby, meanwhile] = await Promise.all([person.read(uuid, id), there.read(uuid, id)]);
    expect(joined(nearby).text.length).toBeGreaterThan(100);
    expect(joined(meanwhile)).toMatchObject({ text: joined(nearby).text, done: true });
    expect(joined(await there.read(uuid, id))).toMatchObject({ text: joined(nearby).text });
    expect(await tablesWith(joined(nearby).text.slice(0, 40))).toEqual([]);
  } finally {
    await second.stop();
  }
});

test('a process that cannot ask for the reply, or asks in vain, says that it is gone', async () => {
  const uuid = await start();
  const { id } = await person.call('sendMessage', { session_id: uuid, msg: '你好你好你好' });
  await person.read(uuid, id);
  // It has another key.
  const second = await startServer({ databaseUrl: here.server.databaseUrl });
  try {
    const there = new TestClient(second.baseURL, person.token);
    const { text, error } = joined(await there.read(uuid, id));
    expect([text, error?.code]).toEqual(['', 'temporary']);
  } finally {
    await second.stop();
  }
});
