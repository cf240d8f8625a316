import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallSpec } from '#contract/call.ts';
import { type CallName, calls } from '#contract/calls.ts';
import { refusesUnknown } from '#server/http/validate.ts';
import { ADMIN_PASSWORD } from '../support/server.ts';
import { TestClient } from '../support/client.ts';
import { startMockOpenAi, type MockOpenAi } from '../support/mock-openai.ts';
import {
  createWorld,
  goodInputs,
  onePixel,
  sendRaw,
  type Talk,
  talk,
  type RawAnswer,
  type World,
} from '../support/world.ts';

/** All calls of managers: to whom they exist, and that each leaves its line in the log of acts. */
const every = Object.entries(calls) as [CallName, CallSpec][];
const managers = every.filter(([, { access }]) => access === 'manager' || access === 'owner');
const acts = managers.filter(([, { method, logged }]) => method !== 'GET' && logged);

let world: World;
let database: pg.Client;
let service: MockOpenAi;
let ollama: Server;
let ollamaUrl = '';
let owner: TestClient;
let ownerId: number;
/** A manager of the lower rank, one that is one no more, a member, and one that is disabled. */
let lower: TestClient;
let former: TestClient;
let vip: TestClient;
let person: TestClient;
let personId: number;

const idOf = async (client: TestClient) => (await client.call('userInfo', {})).id;
const rank = async (client: TestClient, to: 'none' | 'manager') =>
  owner.call('setManager', { user_id: await idOf(client), rank: to });

beforeAll(async () => {
  service = await startMockOpenAi();
  // An Ollama that has nothing and never ends a pull.
  ollama = createServer((request, response) => {
    if (request.url === '/api/tags') response.end('{"models":[]}');
    else if (request.url !== '/api/pull') response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => ollama.once('listening', resolve));
  ollamaUrl = `http://127.0.0.1:${(ollama.address() as AddressInfo).port}/v1`;
  world = await createWorld({ env: { PAYMENT_CHECK_SECONDS: '1', LOCAL_MODELS: ollamaUrl } });
  owner = world.people.manager;
  ownerId = await idOf(owner);
  const { baseURL } = world.server;
  [lower, former, vip, person] = await Promise.all([
    TestClient.register(baseURL),
    TestClient.register(baseURL),
    TestClient.register(baseURL),
    TestClient.register(baseURL),
  ]);
  personId = await idOf(person);
  await rank(lower, 'manager');
  // Nobody else may take a manager's name, and everybody in the tests has the same one.
  await owner.call('updateUser', { user_id: await idOf(lower), user_name: '副手' });
  await rank(former, 'manager');
  await rank(former, 'none');
  const until = new Date(Date.now() + 86_400_000).toISOString();
  for (const client of [vip, person])
    await owner.call('activatedAbility', {
      user_id: await idOf(client),
      vip_expired_at: until,
      subscribe: 2,
    });
  database = new pg.Client({ connectionString: world.server.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  await world?.stop();
  await service?.close();
  ollama?.closeAllConnections();
  ollama?.close();
});

const hidden = (answer: RawAnswer): boolean =>
  answer.status === 404 && answer.envelope?.message === '没有找到';

describe('a call of managers', () => {
  test.each(managers)(
    '%s exists for managers of its rank and for nobody else',
    async (name, spec) => {
      const input = goodInputs(world.talks.user)[name];
      const { none, guest, user } = world.people;
      expect((await sendRaw(none, name, input)).status).toBe(401);
      const strangers = { guest, user, vip, former };
      for (const [who, client] of Object.entries(strangers))
        expect(hidden(await sendRaw(client, name, input)), who).toBe(true);
      expect(hidden(await sendRaw(lower, name, input)), 'lower').toBe(spec.access === 'owner');
    },
  );
});

interface Line {
  id: string;
  user_id: string;
  subject: string;
  before: unknown;
  after: unknown;
  ip: string;
}
const linesAfter = async (call: string, id: string): Promise<Line[]> => {
  const { rows } = await database.query<Line>(
    `SELECT id, user_id, subject, before, after, ip FROM manager_acts
     WHERE call = $1 AND id > $2 ORDER BY id`,
    [call, id],
  );
  return rows;
};
const lastLine = async (): Promise<string> => {
  const { rows } = await database.query<{ id: string }>(
    'SELECT coalesce(max(id), 0) AS id FROM manager_acts',
  );
  return rows[0]!.id;
};
const inserted = async (sql: string, values: unknown[] = []): Promise<number> =>
  Number((await database.query<{ id: string }>(`${sql} RETURNING id`, values)).rows[0]!.id);

type Input = Record<string, unknown>;
const made = async (name: CallName, input: Input): Promise<number> => {
  const { envelope, text } = await sendRaw(owner, name, input);
  if (envelope?.code !== 0) throw new Error(`${name}: ${text}`);
  return (envelope.data as { id: number }).id;
};
let turn = 0;
const word = (): string => `新${(turn += 1)}`;

const paidOrder = async (): Promise<string> => {
  const order = await person.call('recharge', { type: 'token', num: 1 });
  const key = new URL(order.url, world.server.baseURL).searchParams.get('key') ?? '';
  await person.call('sandboxSettle', { key, pay: 1 });
  await expect
    .poll(
      async () => (await person.call('tradeStatus', { platform_order_id: order.trade_no })).status,
      { timeout: 15_000 },
    )
    .toBe(1);
  return order.trade_no;
};
const question = async (): Promise<Talk> => {
  const { uuid, id } = await person.call('newSession', { type: 2, private: 0 });
  const sent = await person.call('sendMessage', { session_id: uuid, msg: '请问紫藤花什么时候开' });
  return { uuid, id, historyId: sent.id };
};
const builtIn = async (key: string): Promise<number> =>
  (await owner.call('adminModelList', { unique_key: key })).list[0]!.id;
const channel = () =>
  made('saveChannel', {
    kind: 'openai-compatible',
    label: '服务',
    base_url: service.baseURL,
    api_key: 'sk-of-the-log-1',
    models: [{ name: 'logged-model' }],
  });
const provider = () => ({
  kind: 'oidc' as const,
  name: `服务 ${word()}`.slice(0, 30),
  issuer: 'https://id.example.com',
  client_id: 'queqiao',
  client_secret: 'sk-of-the-log-2',
});
const group = () => made('savePeopleGroup', { name: `组 ${word()}`, factor: 0.5 });
const scenario = () => ({
  name: `场景 ${word()}`,
  prompt: '请改写：{{input}}',
  category: 1,
});
const keyword = () => ({
  type: 'draw',
  text: `brush ${word()}`,
  lang_zh: '笔触',
  dir: '绘画',
  sub_dir: '笔触',
});
const prompt = () => ({
  type: 0,
  prompt_json: { title: `周报 ${word()}`, content: '写成周报：{{事}}' },
});
const published = async () => {
  const id = await made('saveApp', { title: `应用 ${word()}`, state: 'draft' });
  await database.query(`UPDATE apps SET state = 'published', published_at = now() WHERE id = $1`, [
    id,
  ]);
  return id;
};
const project = async () =>
  (await person.call('newTrainModel', { name: '笔记', key: `log_${(turn += 1)}`, type: 0 })).model
    .id;
const someone = async () => ({
  user_id: await idOf(await TestClient.register(world.server.baseURL)),
});

/** For each act an input with which it is done. */
const doable: Record<string, () => Promise<Input>> = {
  manageScenario: async () => scenario(),
  removeScenario: async () => ({ id: await made('manageScenario', scenario()) }),
  saveScenarioCategory: async () => ({ name: word() }),
  delScenarioCategory: async () => ({ id: await made('saveScenarioCategory', { name: word() }) }),
  saveForumGroup: async () => ({ name: word(), sort: 200 }),
  delForumGroup: async () => ({ id: await made('saveForumGroup', { name: word(), sort: 200 }) }),
  markQuestion: async () => ({ session_id: (await question()).uuid, essence: 1 }),
  addBlockedWords: async () => ({ words: [`绝不${word()}`] }),
  saveSignIn: async () => ({
    smtp_host: `mail${(turn += 1)}.example.com`,
    smtp_password: 'sk-of-the-log-3',
  }),
  trySending: async () => {
    await owner.call('saveSignIn', {
      mail_enabled: 1,
      smtp_host: '127.0.0.1',
      // Nobody listens there: it says so.
      smtp_port: 9,
      smtp_secure: 0,
      mail_from: 'a@example.com',
    });
    return { kind: 'mail', to: 'b@example.com' };
  },
  saveProvider: async () => provider(),
  delProvider: async () => {
    const { providers } = await owner.call('saveProvider', provider());
    return { id: providers.at(-1)!.id };
  },
  saveCompliance: async () => ({ operator: `某某${word()}` }),
  exportRecords: async () => ({
    ...(await someone()),
    from: '2026-01-01',
    to: '2026-12-31',
    reason: `调取通知书 ${word()}`,
  }),
  resetMinor: async () => {
    const child = await TestClient.register(world.server.baseURL);
    await owner.call('saveCompliance', { minors: 1 });
    await child.call('startMinor', { code: '2468', from: 0, to: 1440, minutes: 60 });
    return { user_id: await idOf(child) };
  },
  saveSafety: async () => ({ business: word() }),
  decideSafetyCase: async () => {
    const user_id = await idOf(person);
    const { rows } = await database.query<{ id: string }>(
      `INSERT INTO safety_cases (user_id, way, kind, level, by, reason, excerpt)
       VALUES ($1, 'in', 'text', 'review', 'words', '', '') RETURNING id`,
      [user_id],
    );
    return { id: Number(rows[0]!.id), state: 'allowed' };
  },
  saveAgreement: async () => ({ kind: 'content', text: `不写假的：${word()}` }),
  delBlockedWord: async () => {
    const blocked = `绝不${word()}`;
    await made('addBlockedWords', { words: [blocked] });
    return { id: (await owner.call('blockedWordList', { query: blocked })).list[0]!.id };
  },
  resolveReport: async () => {
    const { uuid, historyId } = await question();
    await world.people.user.call('report', {
      session_id: uuid,
      history_id: historyId,
      reason: 'other',
    });
    return { id: (await owner.call('reportList', {})).list[0]!.id, remove: 1 };
  },
  managePrompt: async () => prompt(),
  removePrompt: async () => ({ id: await made('managePrompt', prompt()) }),
  manageKeyword: async () => keyword(),
  removeKeyword: async () => ({ id: await made('manageKeyword', keyword()) }),
  saveApp: async () => ({ title: `应用 ${word()}`, state: 'draft' }),
  addAppVersion: async () => ({ id: await published(), version: '2.0', description: '更快' }),
  delAppComment: async () => ({
    id: await inserted(
      'INSERT INTO app_comments (app_id, user_id, rating, content) VALUES ($1, $2, 8, $3)',
      [await published(), personId, '好用'],
    ),
  }),
  saveAppDescription: async () => ({ id: await published(), md_description: '# 新的介绍' }),
  saveAppGeneralInfo: async () => ({ id: await published(), developer: '某人' }),
  setAppState: async () => ({ id: await published(), state: 'down' }),
  delAppDraft: async () => ({ id: await made('saveApp', { title: '草稿', state: 'draft' }) }),
  setManager: async () => {
    const { user_id } = await someone();
    await owner.call('updateUser', { user_id, user_name: '新副手' });
    return { user_id, rank: 'manager' };
  },
  adminDeleteSession: async () => ({ session_id: (await talk(person, '你好，请问你是谁')).uuid }),
  adminDeleteHistory: async () => ({
    history_id: (await talk(person, '你好，请问你是谁')).historyId,
  }),
  adminUpdateHistory: async () => ({
    id: (await talk(person, '你好，请问你是谁')).historyId,
    ai: '改过的回答',
  }),
  adminSetSession: async () => {
    const { uuid } = await person.call('newSession', { type: 0, private: 0 });
    return { session_id: uuid, private: 1 };
  },
  adminUpload: async () => ({}),
  updateUser: async () => ({ ...(await someone()), session_blacklist: 1 }),
  updateTokens: async () => ({ ...(await someone()), tokens: 1000, add: 1, remarks: '补偿' }),
  activatedAbility: async () => ({ ...(await someone()), subscribe: 1, gift: 5 }),
  updateUserSession: async () => ({ ...(await someone()), session_private: 1 }),
  resetPassword: async () => ({ ...(await someone()) }),
  signOutUser: async () => ({ ...(await someone()) }),
  setModel: async () => ({ id: await builtIn('builtin-voice'), remarks: word() }),
  saveChannel: async () => ({
    id: await channel(),
    kind: 'openai-compatible',
    label: '改名',
    base_url: service.baseURL,
    models: [{ name: 'logged-model' }],
  }),
  setChannel: async () => ({ id: await channel(), enabled: 0 }),
  delChannel: async () => ({ id: await channel() }),
  savePeopleGroup: async () => ({ id: await group(), name: `组 ${word()}`, factor: 0.8 }),
  delPeopleGroup: async () => ({ id: await group() }),
  saveSetup: async () => ({ guests: 1, payment: 1, settle: 'payment' }),
  setupPassword: async () => {
    await database.query(
      'UPDATE setup SET first_hash = (SELECT password_hash FROM users WHERE id = $1)',
      [ownerId],
    );
    return { new_password: ADMIN_PASSWORD };
  },
  saveLocalMirrors: async () => ({ mirrors: ['http://127.0.0.1:9/{file}'] }),
  fetchLocalModel: async () => {
    // Nothing is brought from outside.
    await owner.call('saveLocalMirrors', { mirrors: ['http://127.0.0.1:9/{file}'] });
    return { key: 'qwen3-0.6b' };
  },
  stopLocalModel: async () => ({ key: 'qwen3-0.6b' }),
  removeLocalModel: async () => ({ key: 'qwen3-0.6b' }),
  pullOllama: async () => ({ base_url: ollamaUrl, model: 'qwen3:0.6b' }),
  stopOllama: async () => {
    const of = { base_url: ollamaUrl, model: 'qwen3:4b' };
    await owner.call('pullOllama', of);
    return of;
  },
  saveNotice: async () => ({ notice: '今晚维护' }),
  delNotice: async () => ({ id: await made('saveNotice', { notice: '今晚维护' }) }),
  setOrder: async () => ({ order_id: await paidOrder(), remarks: '电话里说过' }),
  closeOrder: async () => {
    const order = await person.call('recharge', { type: 'token', num: 1 });
    return { order_id: order.trade_no };
  },
  refundOrder: async () => ({ order_id: await paidOrder(), amount: 100, reason: '不要了' }),
  rejectRefund: async () => {
    const order_id = await paidOrder();
    await database.query('UPDATE orders SET refund_asked_at = now() WHERE number = $1', [order_id]);
    return { order_id, reason: '已经用完' };
  },
  handleInvoice: async () => ({
    id: await inserted(
      `INSERT INTO invoices (user_id, amount, kind, title, email)
       VALUES ($1, 2000, 'personal', '个人', 'a@example.com')`,
      [personId],
    ),
    state: 'issued',
  }),
  resolveDifference: async () => ({
    id: await inserted(
      `INSERT INTO payment_differences (provider, number, kind, detail)
       VALUES ('wechat', $1, 'amount', '差一分')`,
      [`Q${word()}`],
    ),
    note: '查过了',
  }),
  setTrainProject: async () => ({ id: await project(), name: '花园' }),
  delTrainProject: async () => ({ id: await project() }),
  adminBackup: async () => {
    await expect
      .poll(async () => (await owner.call('adminService', {})).backup.running)
      .toBe(false);
    return {};
  },
  importChannels: async () => ({
    text: JSON.stringify([
      {
        name: word(),
        type: 1,
        key: 'sk-of-the-log-2',
        base_url: service.baseURL,
        models: 'taken-over',
      },
    ]),
  }),
};

/** Acts that only add something: there was nothing before. */
const adds = new Set([
  'manageScenario',
  'saveScenarioCategory',
  'saveForumGroup',
  'managePrompt',
  'manageKeyword',
  'addBlockedWords',
  'saveAgreement',
  'saveApp',
  'addAppVersion',
  'saveNotice',
  'adminUpload',
  'resetPassword',
  'signOutUser',
  'adminBackup',
  'exportRecords',
  'importChannels',
  'fetchLocalModel',
  'pullOllama',
  'trySending',
  'saveProvider',
]);

describe('an act of a manager', () => {
  test.each(acts)('%s leaves one line: who, on what, from what to what', async (name) => {
    expect(doable[name], `${name} is not tried`).toBeDefined();
    const input = await doable[name]!();
    const before = await lastLine();
    const answer = await sendRaw(owner, name, input);
    expect(answer.envelope?.code, answer.text).toBe(0);
    const lines = await linesAfter(name, before);
    expect(lines).toHaveLength(1);
    const [line] = lines as [Line];
    expect(line).toMatchObject({ user_id: String(ownerId), ip: expect.stringMatching(/\d/) });
    expect(line.subject).toMatch(/^\w+(?::.+)?$/);
    if (!adds.has(name)) expect(line.before ?? null, 'from what').not.toBeNull();
    expect(line.before !== null || line.after !== null, 'from what to what').toBe(true);
    // No secret stands there.
    const written = JSON.stringify(
      await database.query('SELECT * FROM manager_acts WHERE id = $1', [line.id]),
    );
    expect(written).not.toContain('sk-of-the-log');
    const told = answer.envelope?.data as { password?: string };
    if (told.password) expect(written).not.toContain(told.password);
  });

  test('what is refused leaves none', async () => {
    const before = await lastLine();
    const refused: string[] = [];
    for (const [name] of acts) {
      const good: Input = goodInputs(world.talks.other)[name];
      if ('id' in good || 'user_id' in good || 'order_id' in good) {
        const nothing = { ...good, id: 987_654_321, user_id: 987_654_321, order_id: 'Q0' };
        const known = Object.fromEntries(
          Object.keys(good).map((key) => [key, nothing[key as keyof typeof nothing]]),
        );
        const answer = await sendRaw(owner, name, known);
        expect(answer.envelope?.code, `${name}: ${answer.text}`).toBeGreaterThan(0);
        refused.push(name);
      }
    }
    expect(refused.length).toBeGreaterThan(25);
    expect(await lastLine()).toBe(before);
  });
});

/** The same input once for each object in it, with a field more there; and where that field is. */
const withMore = function* (value: unknown, above = ''): Generator<[path: string, value: unknown]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [`${above}unheard`, { ...value, unheard: 1 }];
  for (const [name, part] of Object.entries(value))
    for (const [path, changed] of withMore(part, `${above}${name}.`)) {
      const copy = structuredClone(value) as Record<string, unknown>;
      copy[name] = changed;
      yield [path, copy];
    }
};

test('our own calls refuse by its place what they do not know, at any depth; those of the documents ignore it', async () => {
  const nested: Record<string, Input> = {
    saveChannel: {
      kind: 'openai-compatible',
      base_url: service.baseURL,
      api_key: 'sk-of-the-log-1',
      label: '写错的',
      models: [{ name: 'logged-model' }],
    },
  };
  const before = await lastLine();
  const tried: string[] = [];
  for (const [name, spec] of managers) {
    if (!refusesUnknown(spec)) continue;
    const good: Input = { ...goodInputs(world.talks.user)[name], ...nested[name] };
    for (const [path, input] of withMore(good)) {
      const { status, envelope, text } = await sendRaw(owner, name, input as Input);
      expect(status, `${name}: ${text}`).toBe(422);
      expect(envelope?.message).toBe(`${path}：没有这个字段`);
      tried.push(path);
    }
  }
  expect(tried).toContain('models.0.unheard');
  expect(tried.length).toBeGreaterThan(30);
  expect(await lastLine()).toBe(before);
  const ignored = { user_id: personId, session_blacklist: 0, unheard: 1 };
  expect((await sendRaw(owner, 'updateUser', ignored)).envelope?.code).toBe(0);
});

/** By paths and fields of document 3 §7 alone. */
const ask = async (method: string, path: string, body?: object | FormData) => {
  const isForm = body instanceof FormData;
  const response = await fetch(`${world.server.baseURL}/api/${path}`, {
    method,
    headers: {
      ...owner.headers(),
      ...(body && !isForm ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
  });
  const answer = (await response.json()) as { code: number; message: string; data: never };
  expect(answer.code, `${path}: ${answer.message}`).toBe(0);
  return answer.data as Record<string, never> & { list: Record<string, never>[] };
};

test('a client of the specification alone manages @G1 @G2 @G3 @G4 @G5 @G6 @G7', async () => {
  const summary = await ask('GET', 'admin/summary_data');
  for (const name of ['user', 'order', 'session', 'history', 'image', 'vip'])
    expect(summary[`${name}_count`], name).toEqual(expect.any(Number));
  expect(await ask('GET', 'admin/rank_list')).toBeTypeOf('object');
  const chart = await ask('GET', 'admin/chart_list');
  for (const name of ['userCounts', 'requestCounts', 'sessionCounts', 'tokenCounts'])
    expect(chart[name], name).toEqual(
      expect.arrayContaining([expect.objectContaining({ days: expect.any(String) })]),
    );

  const own = await talk(person, '银杏什么时候黄');
  const sessions = await ask('GET', `admin/session_list?page=1&user_id=${personId}&type=0`);
  expect(sessions).toMatchObject({ page_size: expect.any(Number), total: expect.any(Number) });
  expect(sessions.list.some(({ uuid }) => uuid === own.uuid)).toBe(true);
  const history = `admin/history_list?session_id=${own.uuid}&newest=1&page=1`;
  expect((await ask('GET', history)).list[0]).toMatchObject({ human: '银杏什么时候黄' });
  await ask('POST', 'admin/update_history', {
    id: own.historyId,
    human: '银杏几月黄',
    ai: '十一月',
  });
  await ask('POST', `admin/set_session?session_id=${own.uuid}`, { private: 1 });
  await ask('DELETE', `admin/delete_history?history_id=${own.historyId}`);
  await ask('DELETE', `admin/delete_session?session_id=${own.uuid}`);
  const [gone] = (await ask('GET', `admin/session_list?uuid=${own.uuid}`)).list;
  expect(gone).toMatchObject({ deleted: 1 });
  const picture = new FormData();
  picture.set('file', new Blob([new Uint8Array(onePixel)], { type: 'image/png' }), 'a.png');
  expect((await ask('POST', 'admin/upload', picture))['url']).toMatch(/^\//);

  const users = await ask('GET', `admin/user_list?page=1&user_id=${personId}`);
  expect(Object.keys(users.list[0] ?? {})).toEqual(
    expect.arrayContaining(
      'user_id user_name session_blacklist session_private chatgpt_balance vip vip_expired_at subscribe created_at'.split(
        ' ',
      ),
    ),
  );
  await ask('POST', 'admin/update_user', { user_id: personId, session_blacklist: 1 });
  expect((await person.raw('newSession', { type: 0 })).code).toBe(3001);
  await ask('POST', 'admin/update_user', { user_id: personId, session_blacklist: 0 });
  await ask('POST', 'admin/update_tokens', {
    user_id: personId,
    tokens: 700,
    add: true,
    remarks: '补偿',
  });
  await ask('POST', 'admin/activated_ability', {
    user_id: personId,
    vip_expired_at: new Date(Date.now() + 86_400_000).toISOString(),
    subscribe: 2,
  });
  // Forced to be private: a new session is so, whatever its owner wants.
  await ask('POST', 'admin/update_user_session', { user_id: personId, session_private: 1 });
  const { uuid } = await person.call('newSession', { type: 0, private: 0 });
  expect((await person.call('getSession', { uuid })).private).toBe(1);
  expect((await person.raw('setSession', { session_id: uuid, private: 0 })).code).toBeGreaterThan(
    0,
  );
  await ask('POST', 'admin/update_user_session', { user_id: personId, session_private: 0 });

  const number = await paidOrder();
  const range = [new Date(0).toISOString(), new Date(Date.now() + 60_000).toISOString()];
  const orders = await ask('POST', 'admin/order_list', {
    page: 1,
    orderId: '',
    timeRange: range,
    type: 'paid',
    userId: personId,
  });
  expect(orders.list[0]).toMatchObject({
    order_id: number,
    paid_success: 1,
    amount: 2000,
    trade_value: 1,
    type: 1,
  });
  // A number ignores the other filters.
  const one = { page: 1, orderId: number, timeRange: range, type: 'alipay', userId: 1 };
  expect((await ask('POST', 'admin/order_list', one)).list).toMatchObject([{ order_id: number }]);
  const gifts = { page: 1, orderId: '', timeRange: null, type: 'gifted', userId: personId };
  const [system] = (await ask('POST', 'admin/order_list', { ...gifts, timeRange: undefined })).list;
  expect(system).toMatchObject({ order_id: expect.stringMatching(/^SYS/), remarks: '补偿' });

  const models = await ask('GET', 'admin/model_list?page=1&name=内置&unique_key=builtin-film');
  expect(models.list).toMatchObject([{ unique_key: 'builtin-film' }]);
  await ask('POST', 'admin/set_model', models.list[0]);
  const words = {
    attrs: { include: [], exclude: [] },
    prompt_json: { act: '园丁', prompt: '问：{{花}}' },
  };
  const { id } = await ask('POST', 'admin/save_prompt', { ...words, type: 0 });
  const prompts = await ask('GET', 'admin/prompt_list?page=1&page_size=15&query=园丁&type=0');
  expect(prompts.list).toMatchObject([{ id, prompt_json: { act: '园丁' } }]);
  await ask('POST', 'admin/del_prompt', { id });
  const stats = await ask(
    'GET',
    `admin/model_stats?start_date=${encodeURIComponent(range[0]!)}&end_date=${encodeURIComponent(range[1]!)}`,
  );
  expect(stats).toMatchObject({ list: expect.any(Array), modelUserStats: expect.any(Array) });
  const notice = new FormData();
  notice.set('notice', '## 明早维护');
  notice.set('file', new Blob(['附件']), '说明.txt');
  const saved = await ask('POST', 'admin/save_notice', notice);
  const notices = await ask('GET', 'admin/notice_list?page=1&page_size=10&query=明早');
  expect(notices).toMatchObject({ total: 1, page_size: 10, list: [{ id: saved['id'] }] });
});
