import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallSpec } from '#contract/call.ts';
import { type CallName, calls } from '#contract/calls.ts';
import { TestClient } from '../support/client.ts';
import {
  bodyOf,
  createWorld,
  goodInputs,
  isAboutTalk,
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
const newPerson = async (talks = true): Promise<Person> => {
  const client = await TestClient.register(world.server.baseURL);
  return { client, own: talks ? await talk(client, '你好，请问你是谁') : world.talks.user };
};
beforeAll(async () => {
  world = await createWorld();
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

/** All by which a person changes something: what only reads writes nothing, and nobody else's calls are reached. */
const changing = (Object.entries(calls) as [CallName, CallSpec][]).filter(
  ([, { method, access }]) => method !== 'GET' && ['public', 'guest', 'user'].includes(access),
);

/** What of one's own row a call is there to change. */
const ownColumns: Partial<Record<CallName, string>> = {
  saveUser: 'user_name',
  uploadAvatar: 'avatar',
  lowBalanceSeen: 'low_told',
};

test.each(changing)('%s ignores what it does not know', async (name, spec) => {
  const { client, own } = await newPerson(isAboutTalk(name));
  const { id } = await client.call('userInfo', {});
  const { id: foreign } = await world.people.other.call('userInfo', {});
  const state = () =>
    rows(
      `SELECT (SELECT to_jsonb(u) - 'setting' - $3::text FROM users u WHERE id = $1) AS own,
         (SELECT to_jsonb(w) - $3::text FROM wallets w WHERE user_id = $1) AS wallet,
         (SELECT to_jsonb(u) FROM users u WHERE id = $2) AS theirs,
         (SELECT jsonb_agg(id ORDER BY id) FROM sessions WHERE user_id = $2) AS sessions`,
      [id, foreign, ownColumns[name] ?? ''],
    );
  const before = await state();

  const known = (spec.input as unknown as { def: { shape: object } }).def.shape;
  const extra = Object.fromEntries(
    Object.entries(injected(foreign)).filter(([field]) => !(field in known)),
  );
  const input = { ...goodInputs(own)[name], ...extra };
  const body = `{"__proto__":{"manager":true},"constructor":{"prototype":{"manager":true}},${JSON.stringify(input).slice(1)}`;
  const query = new URLSearchParams(
    Object.entries(extra).map(([field, value]) => [field, String(value)]),
  );
  // A file comes as a form, all else with what only JSON can say.
  const answer = await sendRaw(client, name, input, spec.kind === 'upload' ? {} : { body });
  expect(answer.status, `${name}: ${answer.text.slice(0, 200)}`).toBeLessThan(500);
  await fetch(`${world.server.baseURL}${spec.path}?${query.toString()}`, {
    method: spec.method,
    headers: { ...client.headers(), 'content-type': 'application/json' },
    ...(spec.method === 'POST' || spec.method === 'PUT' ? { body } : {}),
  }).then((response) => bodyOf(response, name));

  expect(await state()).toEqual(before);
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
