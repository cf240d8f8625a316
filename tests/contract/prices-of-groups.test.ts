import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiUser, apiUser, onDatabase } from '../support/api-user.ts';
import { joined, TestClient } from '../support/client.ts';
import { bodyOf, type FakeService, listen, reply } from '../support/fake-service.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';

/** What people pay by their group, at which channel, and of what a service had in a cache. */

interface Asked {
  path: string;
  headers: Record<string, unknown>;
  body: Record<string, unknown>;
}

let service: FakeService;
let server: TestServer;
let owner: TestClient;
const asked: Asked[] = [];
/** Paths of balances, and what stands there. */
const balances: Record<string, unknown> = {
  '/deepseek/user/balance': {
    is_available: true,
    balance_infos: [
      { currency: 'USD', total_balance: '0.00' },
      { currency: 'CNY', total_balance: '110.50' },
    ],
  },
  '/silicon/v1/user/info': { code: 20000, data: { balance: '1', totalBalance: '88.88' } },
  '/moon/v1/users/me/balance': { code: 0, data: { available_balance: 49.58894 }, status: true },
  '/relay/v1/dashboard/billing/subscription': { hard_limit_usd: 20 },
  '/relay/v1/dashboard/billing/usage': { total_usage: 1250 },
};
const usage = {
  prompt_tokens: 100,
  completion_tokens: 30,
  total_tokens: 130,
  prompt_tokens_details: { cached_tokens: 60, cache_creation_tokens: 20 },
};
/** What a chat of the above costs of a model with these prices: 20, 60 from a cache, 20 into it, 30. */
const prices = { factor: 2, prompt_factor: 1, cached_factor: 0.5, written_factor: 1.25 };
const price = 20 + 60 * 0.5 + 20 * 1.25 + 30 * 2;
/** What our own count makes of a prompt may be more than 100 tokens only if it is long. */
const question =
  '请用三十个字说说月亮、桥和七夕的故事，写得有画面感一些，再说说为什么人们喜欢它。'.repeat(2);
const answer = '月亮下面有一座桥，桥上有人在等另一个人，他们一年见一次面。';

beforeAll(async () => {
  service = await listen(async (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    const data = await bodyOf(request);
    if (request.method === 'GET') {
      const known = balances[path];
      return reply(response, known ? 200 : 404, known ?? {});
    }
    const body = JSON.parse(data.toString()) as Record<string, unknown>;
    asked.push({ path: request.url ?? '', headers: request.headers, body });
    if (path.startsWith('/down')) return reply(response, 500, { error: { message: 'down' } });
    if (!body['stream'])
      return reply(response, 200, {
        choices: [
          { index: 0, message: { role: 'assistant', content: answer }, finish_reason: 'stop' },
        ],
        usage,
      });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = (rest: object) => response.write(`data: ${JSON.stringify(rest)}\n\n`);
    event({ choices: [{ index: 0, delta: { content: answer }, finish_reason: null }] });
    event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    event({ choices: [], usage });
    response.end('data: [DONE]\n\n');
  });
  server = await startServer({ env: { SIGNUP_TOKENS: '1000000', CANVAS_SECONDS: '0' } });
  owner = new TestClient(server.baseURL);
  await owner.login('admin', ADMIN_PASSWORD);
});
afterAll(async () => {
  await server?.stop();
  await service?.close();
});

/** A name that no try before has. */
const named = (name: string) => `${name} ${randomUUID().slice(0, 8)}`;

const connect = (
  name: string,
  path: string,
  more: Partial<Parameters<typeof owner.call<'saveChannel'>>[1]> = {},
) =>
  owner.call('saveChannel', {
    kind: 'openai-compatible',
    label: `${name} ${path}`,
    base_url: `${service.url}${path}`,
    api_key: 'sk-of-the-house-1',
    models: [{ name, factor: prices.factor }],
    ...more,
  });
const setPrices = async (name: string, values: object = prices) => {
  const { list } = await owner.call('adminModelList', { unique_key: name });
  await owner.call('setModel', { id: list[0]!.id, ...values });
};
const balanceOf = async (person: TestClient) => (await person.call('userInfo', {})).chatgpt_balance;
const spentOn = async (person: TestClient, work: () => Promise<unknown>): Promise<number> => {
  const before = await balanceOf(person);
  await work();
  return before - (await balanceOf(person));
};
const talk = async (person: TestClient, model: string) => {
  const { uuid, id } = await person.ask(question, { model });
  return joined(await person.read(uuid, id)).text;
};
const complete = async ({ key }: ApiUser, model: string, more: object = {}) => {
  const response = await fetch(`${server.baseURL}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: question }], ...more }),
  });
  return {
    status: response.status,
    deducted: Number(response.headers.get('x-deducted-tokens')),
    ignored: response.headers.get('x-ignored-fields'),
    adjusted: response.headers.get('x-adjusted-fields'),
    json: (await response.json()) as { error?: { message: string; param?: string } },
  };
};
const listed = async (person: TestClient, name: string) =>
  (await person.call('models', {})).models.find((model) => model.name === name);

test('a group pays its part of every price, and is shown that price before', async () => {
  const model = 'group-model';
  await connect(model, '/group/v1');
  await setPrices(model);
  const { id } = await owner.call('savePeopleGroup', { name: named('同事'), factor: 0.4 });
  const user = await apiUser(server, { key: { month_limit: 1_000 } });
  const other = await apiUser(server);
  await owner.call('updateUser', { user_id: user.userId, people_group: id });

  expect(await spentOn(user.person, () => talk(user.person, model))).toBe(price * 0.4);
  expect(await spentOn(other.person, () => talk(other.person, model))).toBe(price);
  expect((await complete(user, model)).deducted).toBe(price * 0.4);
  expect((await complete(other, model)).deducted).toBe(price);
  expect(await listed(user.person, model)).toMatchObject({
    factor: 0.8,
    prompt_factor: 0.4,
    cached_factor: 0.2,
    written_factor: 0.5,
  });
  expect(await listed(other.person, model)).toMatchObject(prices);

  // A key's bound is of what is paid: 54 and 54 of 1,000 are used, and no token more than it goes.
  for (let round = 0; round < 6; round += 1)
    await Promise.all(Array.from({ length: 5 }, () => complete(user, model, { max_tokens: 60 })));
  const [used] = await onDatabase<{ taken: number }>(
    server,
    'SELECT sum(deduct_prompt + deduct_completion)::float8 AS taken FROM api_usage WHERE key_id = $1',
    [user.keyId],
  );
  expect(used!.taken).toBeGreaterThan(800);
  expect(used!.taken).toBeLessThanOrEqual(1_000);

  expect((await owner.call('adminUserList', { people_group: id })).list).toHaveLength(1);
  const { list } = await owner.call('peopleGroups', {});
  expect(list.find((group) => group.id === id)).toMatchObject({ people: 1, channels: [] });
  await owner.call('delPeopleGroup', { id });
  expect(await spentOn(user.person, () => talk(user.person, model))).toBe(price);
});

test('a manager puts nobody in power into a group, and changes none that one is in', async () => {
  const name = named('管理组');
  const { id } = await owner.call('savePeopleGroup', { name, factor: 0.5 });
  const manager = await TestClient.register(server.baseURL);
  const { id: managerId } = await manager.call('userInfo', {});
  await owner.call('setManager', { user_id: managerId, rank: 'manager' });
  expect((await manager.raw('updateUser', { user_id: managerId, people_group: id })).code).toBe(
    (await manager.raw('updateTokens', { user_id: managerId, tokens: 1, add: 1 })).code,
  );
  await owner.call('updateUser', { user_id: managerId, people_group: id });
  const cheaper = await manager.raw('savePeopleGroup', { id, name, factor: 0.01 });
  expect(cheaper.message).toContain('只有所有者');
  expect((await manager.raw('savePeopleGroup', { name, factor: 1 })).message).toContain('同名');
  await manager.call('savePeopleGroup', { id, name: named('改了名'), factor: 0.5 });
  expect((await manager.raw('delPeopleGroup', { id })).message).toContain('只有所有者');
});

test('a channel for some groups is missing to all others, and each takes its own price', async () => {
  const model = 'channel-model';
  const { id: group } = await owner.call('savePeopleGroup', { name: named('专线'), factor: 1 });
  const wrong = await owner.raw('saveChannel', {
    kind: 'openai-compatible',
    label: '没有的组',
    base_url: service.url,
    models: [{ name: model }],
    groups: [987_654],
  });
  expect(wrong.message).toContain('groups');
  const { id: closed } = await connect(model, '/closed/v1', { groups: [group], factor: 3 });
  await setPrices(model);
  const inside = await apiUser(server);
  const outside = await apiUser(server);
  await owner.call('updateUser', { user_id: inside.userId, people_group: group });

  expect(await listed(inside.person, model)).toMatchObject({ factor: 6, prompt_factor: 3 });
  expect(await listed(outside.person, model)).toBeUndefined();
  expect(await spentOn(inside.person, () => talk(inside.person, model))).toBe(price * 3);
  expect((await complete(inside, model)).deducted).toBe(price * 3);
  expect((await complete(outside, model)).status).toBe(404);
  expect((await outside.person.raw('newSession', { model })).code).not.toBe(0);
  const { list: groups } = await owner.call('peopleGroups', {});
  expect(groups.find(({ id }) => id === group)?.channels.map(({ id }) => id)).toEqual([closed]);
  const left = await owner.raw('delPeopleGroup', { id: group });
  expect(left.message).toContain('/closed/v1');

  // Another one serves everybody, at another price: who is asked is paid, and no other.
  const { id: cheap } = await connect(model, '/cheap/v1', { factor: 0.6 });
  await owner.call('setChannel', { id: closed, priority: 5 });
  expect((await complete(outside, model)).deducted).toBe(price * 0.6);
  expect((await complete(inside, model)).deducted).toBe(price * 0.6);
  expect(await listed(outside.person, model)).toMatchObject({ factor: 1.2 });
  expect(await listed(inside.person, model)).toMatchObject({ factor: 6 });
  await owner.call('setChannel', { id: cheap, priority: 9 });
  expect(await spentOn(inside.person, () => talk(inside.person, model))).toBe(price * 3);
  expect(await spentOn(outside.person, () => talk(outside.person, model))).toBe(price * 0.6);
});

/** The name of a model of each kind, and what is said to it, by the call that asks. */
const ofKinds = {
  'chat/completions': ['chat', { messages: [{ role: 'user', content: question }] }],
  'images/generations': ['dall-e-3', { prompt: question }],
  'audio/speech': ['tts-1', { input: question, voice: 'alloy' }],
} as const;
const askKind = async ({ key }: ApiUser, path: string, body: object): Promise<number> => {
  const response = await fetch(`${server.baseURL}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
};
const modelsFor = async ({ key }: ApiUser): Promise<string[]> => {
  const response = await fetch(`${server.baseURL}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
};

test.each(Object.entries(ofKinds))(
  'what %s asks of is missing to the programs of those who may not use it',
  async (path, [kind, words]) => {
    const [inside, outside] = [await apiUser(server), await apiUser(server)];
    const idOf = async ({ person }: ApiUser) => (await person.call('userInfo', {})).id;
    const groups: number[] = [];
    for (const _ of [1, 2])
      groups.push((await owner.call('savePeopleGroup', { name: named('组'), factor: 1 })).id);
    await owner.call('updateUser', { user_id: await idOf(inside), people_group: groups[0] });
    const model = named(kind).replace(' ', '-');
    // Each group has a channel of its own; the other's has the higher priority.
    await connect(model, `/first-${kind}/v1`, {
      groups: [groups[0]!],
      models: [{ name: model, factor: 1 }],
    });
    await connect(model, `/second-${kind}/v1`, {
      groups: [groups[1]!],
      models: [{ name: model, factor: 1 }],
      priority: 9,
    });
    const from = asked.length;
    await askKind(inside, path, { model, ...words });
    const reached = asked.slice(from).map((each) => each.path);
    expect(reached).toContain(`/first-${kind}/v1/${path}`);
    expect(reached.filter((each) => each.includes('second'))).toEqual([]);
    expect(await modelsFor(inside)).toContain(model);

    const expectMissing = async (user: ApiUser) => {
      const before = asked.length;
      expect(await askKind(user, path, { model, ...words })).toBe(404);
      expect(asked.length).toBe(before);
      expect(await modelsFor(user)).not.toContain(model);
    };
    await expectMissing(outside);
    await setPrices(model, { private: 1 });
    await expectMissing(inside);
  },
);

test('services that tell what is left on their account are asked in their own way', async () => {
  const told = [];
  for (const [maker, path] of [
    ['deepseek', '/deepseek/v1'],
    ['siliconflow', '/silicon/v1'],
    ['kimi', '/moon/v1'],
    ['new-api', '/relay/v1'],
    ['minimax', '/mini/v1'],
    ['kimi', '/nothing/v1'],
  ] as const) {
    const { id } = await connect(`balance-${path}`, path, { maker });
    const { amount, unit, message } = await owner.call('channelBalance', { id });
    const row = (await owner.call('channelList', {})).list.find((each) => each.id === id)!;
    expect(row.balance?.amount ?? null, path).toBe(amount);
    told.push(amount === null ? message : `${amount} ${unit}`);
    await owner.call('delChannel', { id });
  }
  expect(told).toEqual([
    '110.5 CNY',
    '88.88 CNY',
    '49.5889 CNY',
    '7.5 USD',
    expect.stringContaining('不说余额'),
    expect.stringContaining('没有问到'),
  ]);
});

test('each maker is spoken to in its own way, and what it has not is refused or asked elsewhere', async () => {
  const user = await apiUser(server);
  const last = () => asked.at(-1)!;
  await connect('azure-old', '/az', { maker: 'azure', models: [{ name: 'azure-old', factor: 0 }] });
  expect((await complete(user, 'azure-old')).status).toBe(200);
  expect(last().path).toBe(
    '/az/openai/deployments/azure-old/chat/completions?api-version=2024-10-21',
  );
  expect(last().headers).toMatchObject({ 'api-key': 'sk-of-the-house-1' });
  expect(last().headers['authorization']).toBeUndefined();
  await talk(user.person, 'azure-old');
  expect(last().path).toContain('/az/openai/deployments/azure-old/');
  expect(last().headers['authorization']).toBeUndefined();

  const { id } = await connect('glm-own', '/glm/v4', { maker: 'glm' });
  const near = await complete(user, 'glm-own', { user: 'u1', temperature: 1.8 });
  expect(near).toMatchObject({ status: 200, adjusted: 'temperature=1', ignored: null });
  expect(last().body).toMatchObject({ user_id: 'u1', temperature: 1 });
  expect(last().body['user']).toBeUndefined();
  const refused = await complete(user, 'glm-own', { n: 2 });
  expect(refused.status).toBe(400);
  expect(refused.json.error).toMatchObject({ param: 'n' });
  expect((await complete(user, 'glm-own', { stop: ['a', 'b'] })).json.error?.param).toBe('stop');
  const tools = [{ type: 'function', function: { name: 'a', parameters: {} } }];
  const forced = await complete(user, 'glm-own', { tools, tool_choice: 'required' });
  expect(forced.json.error?.param).toBe('tool_choice');
  // What a model has one value of is not sent to it.
  await connect('kimi-k2.6', '/kimi/v1', { maker: 'kimi' });
  const fixed = { temperature: 0.3, top_p: 0.5, presence_penalty: 1 };
  expect(await complete(user, 'kimi-k2.6', fixed)).toMatchObject({
    status: 200,
    ignored: Object.keys(fixed).join(', '),
    adjusted: null,
  });
  for (const name of Object.keys(fixed)) expect(last()?.body).not.toHaveProperty(name);
  const must = await complete(user, 'kimi-k2.6', { tools, tool_choice: 'required' });
  expect([must.status, must.json.error?.param]).toEqual([400, 'tool_choice']);
  // Of what many makers have in one place each is spoken to as its own.
  for (const model of ['ernie-4.5', 'deepseek-v3.2'])
    await connect(model, '/qianfan/v2', { maker: 'qianfan' });
  await complete(user, 'ernie-4.5', { temperature: 1.8 });
  expect(last().body['temperature']).toBe(1);
  expect((await complete(user, 'deepseek-v3.2', { temperature: 1.8 })).adjusted).toBeNull();
  expect(last().body['temperature']).toBe(1.8);
  await connect('flow-own', '/flow/v1', { maker: 'siliconflow' });
  const penal = await complete(user, 'flow-own', { presence_penalty: 0.5 });
  expect([penal.status, penal.json.error?.param]).toEqual([400, 'presence_penalty']);
  // Another channel has it.
  await connect('glm-own', '/elsewhere/v1');
  await owner.call('setChannel', { id, priority: 0 });
  expect((await complete(user, 'glm-own', { n: 2 })).status).toBe(200);
  expect(last().path).toBe('/elsewhere/v1/chat/completions');
  // The page's chat leaves out at once what the maker has not.
  await owner.call('saveChannel', {
    id,
    kind: 'openai-compatible',
    label: '智谱',
    base_url: `${service.url}/glm/v4`,
    models: [{ name: 'glm-page' }],
  });
  await user.person.call('saveSettings', { presence_penalty: 5 });
  await talk(user.person, 'glm-page');
  expect(last()).toMatchObject({ path: '/glm/v4/chat/completions' });
  expect(last().body).not.toHaveProperty('presence_penalty');
});
