import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallSpec } from '../../contract/call.ts';
import { type CallName, calls } from '../../contract/calls.ts';
import { TestClient } from '../support/client.ts';
import {
  bodyOf,
  createWorld,
  goodInputs,
  sendRaw,
  talk,
  type Talk,
  type World,
} from '../support/world.ts';

interface Person {
  client: TestClient;
  own: Talk;
}

let world: World;
let database: pg.Client;
const newPerson = async (): Promise<Person> => {
  const client = await TestClient.register(world.server.baseURL);
  return { client, own: await talk(client, '你好，请问你是谁') };
};
/** Of the calls that leave their person as they were. */
let unchanged: Person;
beforeAll(async () => {
  world = await createWorld();
  unchanged = await newPerson();
  database = new pg.Client({ connectionString: world.server.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await world.stop();
});

const rows = async (text: string, values: unknown[]) =>
  (await database.query<Record<string, unknown>>(text, values)).rows;

/** What nobody may set about themselves, under every name that the wire or the tables know. */
const injected = (foreignUser: number): Record<string, unknown> => ({
  balance: 1_000_000_000,
  chatgpt_balance: 1_000_000_000,
  chatgptBalance: 1_000_000_000,
  vip: 1,
  vip_balance: 1_000_000_000,
  vip_expired_at: '2099-01-01T00:00:00Z',
  vipExpiredAt: '2099-01-01T00:00:00Z',
  subscribe: 2,
  role: 'admin',
  admin: true,
  is_admin: 1,
  manager: true,
  guest: false,
  disabled: false,
  user_id: foreignUser,
  userId: foreignUser,
  owner: foreignUser,
  user_name: '冒名',
  merged_into: foreignUser,
  session_private: 0,
  session_blacklist: 0,
  sessions_left: 9999,
  factor: 0,
  prompt_tokens: 0,
  deduct_tokens: -1_000_000,
  like_count: 9999,
  state: 'done',
  ai: '伪造的回复',
  __proto__: { manager: true },
  'constructor[prototype][manager]': true,
});

const every = Object.entries(calls) as [CallName, CallSpec][];

/** What of one's own row a call is there to change. */
const ownColumns: Partial<Record<CallName, string>> = {
  saveUser: 'user_name',
  uploadAvatar: 'avatar',
  lowBalanceSeen: 'low_told',
};

test.each(every)('%s ignores what it does not know', async (name, spec) => {
  const changesNothing =
    spec.method === 'GET' || !['public', 'guest', 'user'].includes(spec.access);
  const { client, own } = changesNothing ? unchanged : await newPerson();
  const { id } = await client.call('userInfo', {});
  const { id: foreign } = await world.people.other.call('userInfo', {});
  const before = {
    user: await rows('SELECT to_jsonb(u) - $2::text - $3::text AS it FROM users u WHERE id = $1', [
      id,
      'setting',
      ownColumns[name] ?? '',
    ]),
    wallet: await rows('SELECT to_jsonb(w) - $2::text AS it FROM wallets w WHERE user_id = $1', [
      id,
      ownColumns[name] ?? '',
    ]),
    foreign: await rows('SELECT * FROM users WHERE id = $1', [foreign]),
    foreignSessions: await rows('SELECT id FROM sessions WHERE user_id = $1 ORDER BY id', [
      foreign,
    ]),
  };

  const known = (spec.input as unknown as { def: { shape: object } }).def.shape;
  const extra = Object.fromEntries(
    Object.entries(injected(foreign)).filter(([field]) => !(field in known)),
  );
  const input = { ...goodInputs(own)[name], ...extra };
  const body = `{"__proto__":{"manager":true},"constructor":{"prototype":{"manager":true}},${JSON.stringify(input).slice(1)}`;
  const query = new URLSearchParams(
    Object.entries(extra).map(([field, value]) => [field, String(value)]),
  );
  for (const options of [{}, { body }]) {
    const answer = await sendRaw(client, name, input, options);
    expect(answer.status, `${name}: ${answer.text.slice(0, 200)}`).toBeLessThan(500);
  }
  await fetch(`${world.server.baseURL}${spec.path}?${query.toString()}`, {
    method: spec.method,
    headers: { ...client.headers(), 'content-type': 'application/json' },
    ...(spec.method === 'POST' || spec.method === 'PUT' ? { body } : {}),
  }).then((response) => bodyOf(response, name));

  const after = {
    user: await rows('SELECT to_jsonb(u) - $2::text - $3::text AS it FROM users u WHERE id = $1', [
      id,
      'setting',
      ownColumns[name] ?? '',
    ]),
    wallet: await rows('SELECT to_jsonb(w) - $2::text AS it FROM wallets w WHERE user_id = $1', [
      id,
      ownColumns[name] ?? '',
    ]),
    foreign: await rows('SELECT * FROM users WHERE id = $1', [foreign]),
    foreignSessions: await rows('SELECT id FROM sessions WHERE user_id = $1 ORDER BY id', [
      foreign,
    ]),
  };
  expect(after).toEqual(before);
  const [{ setting } = {}] = await rows('SELECT setting FROM users WHERE id = $1', [id]);
  const allowed = Object.keys(
    (calls.saveSettings.input as unknown as { def: { shape: object } }).def.shape,
  );
  for (const field of Object.keys(setting as object)) expect(allowed).toContain(field);
});

test('a registration gives no more than it gives everybody', async () => {
  const { id: foreign } = await world.people.other.call('userInfo', {});
  const client = new TestClient(world.server.baseURL);
  const password = 'password-1';
  const form = { account: 'climber', name: '攀登者', password, password2: password };
  const answer = await sendRaw(client, 'register', { ...injected(foreign), ...form });
  expect(answer.envelope?.data).toMatchObject({
    profile: {
      account: 'climber',
      user_name: '攀登者',
      admin: false,
      guest: false,
      vip: 0,
      chatgpt_balance: 20_000,
      vip_balance: 0,
      subscribe: 0,
      sessions_left: 128,
    },
  });
});
