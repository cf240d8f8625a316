import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { ADMIN_PASSWORD } from '../support/server.ts';
import { stageWithModels } from '../support/stage.ts';
import { sendRaw } from '../support/world.ts';

const here = stageWithModels('mock-a');

const key = () => ({ 'idempotency-key': randomUUID() });
const count = async (text: string, values: unknown[] = []) =>
  Number((await here.database.query<{ count: string }>(text, values)).rows[0]?.count);
const guests = () => count('SELECT count(*) FROM users WHERE guest');

test('fifty requests with one key at once do it once and answer alike', async () => {
  const client = await TestClient.register(here.server.baseURL);
  const { uuid, id } = await client.call('newSession', { type: 0 });
  const headers = key();
  const answers = await Promise.all(
    Array.from({ length: 50 }, () =>
      sendRaw(client, 'sendMessage', { session_id: uuid, msg: '只说一次' }, { headers }),
    ),
  );
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers[0]?.envelope?.code).toBe(0);
  expect(await count('SELECT count(*) FROM history WHERE session_id = $1', [id])).toBe(1);
});

test('one key with other content is refused', async () => {
  const client = await TestClient.register(here.server.baseURL);
  const headers = key();
  await client.call('newSession', { type: 0, private: 1 }, headers);
  const other = await sendRaw(client, 'newSession', { type: 0, private: 0 }, { headers });
  expect(other.status).toBe(409);
  expect(other.envelope?.code).toBe(409);
});

test('one key of two people is two keys', async () => {
  const headers = key();
  const [a, b] = [
    await TestClient.register(here.server.baseURL),
    await TestClient.register(here.server.baseURL),
  ];
  const first = await a.call('newSession', { type: 0 }, headers);
  const second = await b.call('newSession', { type: 0 }, headers);
  expect(first.uuid).not.toBe(second.uuid);
});

test('words are read aloud once under one key', async () => {
  const client = await TestClient.register(here.server.baseURL);
  const headers = { ...client.headers(), ...key(), 'content-type': 'application/json' };
  const speak = async (text: string) => {
    const body = JSON.stringify({ model: 'builtin-voice', text });
    const answer = await fetch(`${client.baseURL}/api/text_to_speech`, {
      method: 'POST',
      headers,
      body,
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  expect(await speak('')).toBe(200);
  // What was refused may be asked again.
  expect(await speak('只念一次')).toBe(200);
  expect(await speak('只念一次')).toBe(409);
  expect(await speak('别的')).toBe(409);
});

test('a key that is no UUID is refused by name', async () => {
  const client = await TestClient.register(here.server.baseURL);
  const headers = { 'idempotency-key': 'again' };
  const answer = await sendRaw(client, 'newSession', { type: 0 }, { headers });
  expect(answer.status).toBe(422);
  expect(answer.envelope?.message).toContain('idempotency-key');
});

test('a refusal leaves the key free', async () => {
  const client = await TestClient.register(here.server.baseURL);
  const { uuid } = await client.call('newSession', { type: 0 });
  const headers = key();
  const input = { session_id: uuid, msg: 'a' };
  const refused = await sendRaw(client, 'sendMessage', input, { headers });
  expect(refused.envelope?.code).toBe(1412);
  expect(
    await count('SELECT count(*) FROM idempotency WHERE key = $1', [headers['idempotency-key']]),
  ).toBe(0);
});

test('a visitor who repeats the first session is the same guest, with or without the token', async () => {
  const headers = key();
  const before = await guests();
  const visitors = Array.from({ length: 10 }, () => new TestClient(here.server.baseURL));
  const made = await Promise.all(
    visitors.map((visitor) => visitor.call('newSession', { type: 0 }, headers)),
  );
  expect(new Set(made.map(({ uuid }) => uuid)).size).toBe(1);
  const people = await Promise.all(visitors.map((visitor) => visitor.call('userInfo', {})));
  expect(new Set(people.map(({ id }) => id)).size).toBe(1);
  const [first] = visitors;
  expect(await first?.call('newSession', { type: 0 }, headers)).toEqual(made[0]);
  expect(await guests()).toBe(before + 1);
});

test('after a day the key is new', async () => {
  const client = await TestClient.register(here.server.baseURL);
  const headers = key();
  const first = await client.call('newSession', { type: 0 }, headers);
  await here.database.query(
    `UPDATE idempotency SET created_at = now() - interval '25 hours' WHERE key = $1`,
    [headers['idempotency-key']],
  );
  const second = await client.call('newSession', { type: 0 }, headers);
  expect(second.uuid).not.toBe(first.uuid);
  expect(await client.call('newSession', { type: 0 }, headers)).toEqual(second);
});

test('a session begun under an address of its maker exists once, however often and late it is asked for', async () => {
  const [client, other] = [
    await TestClient.register(here.server.baseURL),
    await TestClient.register(here.server.baseURL),
  ];
  const uuid = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => client.call('newSession', { type: 0, uuid }, key())),
  );
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
  expect(answers[0]?.uuid).toBe(uuid);
  expect(await count('SELECT count(*) FROM sessions WHERE uuid = $1', [uuid])).toBe(1);
  const foreign = await sendRaw(other, 'newSession', { type: 0, uuid }, { headers: key() });
  expect(foreign.envelope?.code).toBe(409);
  await client.call('deleteSession', { session_id: uuid });
  const gone = await sendRaw(client, 'newSession', { type: 0, uuid }, { headers: key() });
  expect(gone.envelope?.code).toBe(1433);
});

test('a like that says what shall hold is the same after repeats', async () => {
  const client = await TestClient.register(here.server.baseURL);
  const { uuid, id } = await client.ask('喜欢这一条');
  await client.read(uuid, id);
  const like = (liked?: 0 | 1) =>
    client.call('historyLike', { session_id: uuid, history_id: id, liked });
  const repeated = await Promise.all([like(1), like(1), like(1)]);
  expect(repeated.map(({ like_count }) => like_count)).toEqual([1, 1, 1]);
  expect(await like(0)).toEqual({ liked: false, like_count: 0 });
  expect(await like(0)).toEqual({ liked: false, like_count: 0 });
  expect(await like()).toEqual({ liked: true, like_count: 1 });
});

test('a key of the API is made once, and no answer that is kept for repeats holds it', async () => {
  const client = await TestClient.register(here.server.baseURL);
  const make = (headers: Record<string, string>) => sendRaw(client, 'genKey', {}, { headers });
  const headers = key();
  const [first, ...repeats] = await Promise.all([make(headers), make(headers), make(headers)]);
  const made = first?.envelope?.data as { id: number; api_key: string };
  for (const repeat of [...repeats, await make(headers)])
    expect(repeat.envelope).toEqual(first?.envelope);
  const { list } = await client.call('apiKeys', {});
  expect(list.map(({ id, api_key: whole }) => [id, whole])).toEqual([[made.id, made.api_key]]);
  const holding = 'SELECT count(*) FROM idempotency WHERE answer::text LIKE $1';
  expect(await count(holding, [`%${made.api_key.slice(0, 20)}%`])).toBe(0);
  // Whoever wants them shown once is shown them once.
  await client.call('keysShownOnce', { on: true });
  const once = key();
  expect((await make(once)).envelope?.code).toBe(0);
  expect((await make(once)).status).toBe(409);
  expect((await client.call('apiKeys', {})).list).toHaveLength(2);
});

test.each([
  ['translate', { msg: '江上的渡船' }],
  ['inscriptor', { msg: '江上的渡船' }],
] as const)('what asks a model is asked and paid once (%s)', async (name, input) => {
  const client = await TestClient.register(here.server.baseURL);
  const { id } = await client.call('userInfo', {});
  const uses = () => count('SELECT count(*) FROM model_uses WHERE user_id = $1', [id]);
  const headers = key();
  const ask = () => sendRaw(client, name, input, { headers });
  const answers = await Promise.all([ask(), ask(), ask()]);
  answers.push(await ask());
  expect(answers[0]?.envelope?.code).toBe(0);
  for (const answer of answers) expect(answer.envelope).toEqual(answers[0]?.envelope);
  expect(await uses()).toBe(1);
  const other = await sendRaw(client, name, { msg: '别的' }, { headers });
  expect(other.status).toBe(409);
  // What failed may be asked again under its key.
  here.mock.always('500');
  const again = key();
  const failed = await sendRaw(client, name, input, { headers: again });
  expect(failed.envelope?.code).not.toBe(0);
  here.mock.always('normal');
  const went = await sendRaw(client, name, input, { headers: again });
  expect(went.envelope?.code).toBe(0);
});

test('repeats that wait share one answer, a failure, too', async () => {
  const client = await TestClient.register(here.server.baseURL);
  const ask = (headers: Record<string, string>) =>
    sendRaw(client, 'translate', { msg: '江上的渡船' }, { headers });
  const asked = async (times: number): Promise<number> => {
    const before = here.mock.calls;
    const headers = key();
    await Promise.all(Array.from({ length: times }, () => ask(headers)));
    return here.mock.calls - before;
  };
  here.mock.always('401');
  const alone = await asked(1);
  const together = await asked(5);
  here.mock.always('normal');
  expect(alone).toBeGreaterThan(0);
  expect(together).toBeLessThanOrEqual(alone);
});

test('what a browser sends again by itself makes nothing twice', async () => {
  const person = await TestClient.register(here.server.baseURL);
  const manager = new TestClient(here.server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const { id: category } = await manager.call('saveScenarioCategory', { name: '常用', sort: 1 });
  const twice = async (
    client: TestClient,
    name: Parameters<typeof sendRaw>[1],
    input: Record<string, unknown>,
    table: string,
  ) => {
    const before = await count(`SELECT count(*) FROM ${table}`);
    const headers = key();
    const [first, second] = [
      await sendRaw(client, name, input, { headers }),
      await sendRaw(client, name, input, { headers }),
    ];
    expect(first.envelope?.code, name).toBe(0);
    expect(second.envelope, name).toEqual(first.envelope);
    expect(await count(`SELECT count(*) FROM ${table}`), name).toBe(before + 1);
  };
  const scenario = { name: '写信', prompt: '帮我写信', category };
  await twice(person, 'saveScenario', scenario, 'scenarios');
  await twice(
    person,
    'savePrompt',
    { type: 0, prompt_json: { title: '问候', content: '您好' } },
    'prompt_templates',
  );
  await twice(person, 'newInvite', {}, 'invites');
  await twice(manager, 'saveForumGroup', { name: '闲谈' }, 'forum_groups');
});
