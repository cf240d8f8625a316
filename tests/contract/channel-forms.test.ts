import { afterAll, beforeAll, expect, test } from 'vitest';
import { joined, TestClient } from '../support/client.ts';
import { bodyOf, listen, reply } from '../support/fake-service.ts';
import { type MockOpenAi, startMockOpenAi } from '../support/mock-openai.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';

let mock: MockOpenAi;
let server: TestServer;
let owner: TestClient;
let person: TestClient;

beforeAll(async () => {
  mock = await startMockOpenAi();
  server = await startServer({ env: { SIGNUP_TOKENS: '100000000' } });
  owner = new TestClient(server.baseURL);
  await owner.login('admin', ADMIN_PASSWORD);
  person = await TestClient.register(server.baseURL);
});
afterAll(async () => {
  await server?.stop();
  await mock?.close();
});

const say = async (model: string) => {
  const { uuid, id } = await person.ask('你好', { model });
  return joined(await person.read(uuid, id)).text;
};
const channelOf = async (id: number) =>
  (await owner.call('channelList', {})).list.find((each) => each.id === id);

test('names are mapped, fields and headers go along, and what costs or carries a key is refused', async () => {
  const service = {
    kind: 'openai-compatible' as const,
    base_url: mock.baseURL,
    label: '映射',
    api_key: 'sk-mapping-1234',
    models: [{ name: 'house-model', upstream: 'vendor/real-name', factor: 1 }],
    headers: '{"X-Title": "bridge-secret-5678"}',
    body: '{"enable_thinking": false, "temperature": 9}',
    tag: '备用',
    parallel: 2,
  };
  const { id } = await owner.call('saveChannel', service);
  expect(await channelOf(id)).toMatchObject({
    models: ['house-model'],
    mapping: { 'house-model': 'vendor/real-name' },
    headers: JSON.stringify({ 'x-title': 'bri…5678' }, null, 2),
    tag: '备用',
    parallel: 2,
  });
  expect(await say('house-model')).toBe(mock.textFor('你好'));
  expect(mock.lastRequest).toMatchObject({ model: 'vendor/real-name', enable_thinking: false });
  // What the program says itself counts.
  expect(mock.lastRequest?.temperature).not.toBe(9);

  for (const wrong of [
    { headers: '{"Authorization": "Bearer x"}' },
    { headers: '{"api-key": "x"}' },
    { headers: '[]' },
    { body: '{"n": 5}' },
    { body: '{"max_tokens": 100000}' },
    { body: '{"enable_thinking": true}' },
    { body: 'not json' },
    { proxy: 'socks5://10.0.0.1' },
    { proxy: 'http://user:secret@10.0.0.1:3128' },
  ])
    expect(
      (await owner.raw('saveChannel', { ...service, id, ...wrong })).code,
      JSON.stringify(wrong),
    ).toBe(422);
  // What a form leaves out stays.
  const { headers: _headers, body: _body, tag: _tag, parallel: _parallel, ...less } = service;
  await owner.call('saveChannel', { ...less, id });
  expect(await channelOf(id)).toMatchObject({ tag: '备用', parallel: 2 });
});

test('headers and fields of a channel may be secrets: they show masked, and a mask that comes back changes nothing', async () => {
  const sent: unknown[] = [];
  const service = await listen(async (request, response) => {
    const body = (await bodyOf(request)).toString();
    sent.push(request.headers['x-title'], body);
    reply(response, 500, {});
  });
  try {
    const channel = {
      kind: 'openai-compatible' as const,
      base_url: `${service.url}/v1`,
      label: '带请求头',
      models: [{ name: 'headed-model', factor: 0 }],
    };
    const told = {
      ...channel,
      headers: '{"X-Title": "bridge-secret-5678"}',
      body: '{"top_p": 0.5, "app": {"api_key": "bridge-secret-9012", "name": "鹊桥"}}',
    };
    const { id } = await owner.call('saveChannel', told);
    const { headers, body } = (await channelOf(id))!;
    expect(JSON.parse(headers)).toEqual({ 'x-title': 'bri…5678' });
    expect(JSON.parse(body)).toEqual({ top_p: 0.5, app: { api_key: 'bri…9012', name: '鹊桥' } });
    await owner.call('saveChannel', { ...channel, id, headers, body });
    const { uuid, id: message } = await owner.ask('你好', { model: 'headed-model' });
    await owner.read(uuid, message);
    expect(sent[0]).toBe('bridge-secret-5678');
    expect(sent[1]).toContain('bridge-secret-9012');
    // It goes nowhere but where it was entered for.
    const whole = { headers: told.headers };
    for (const elsewhere of [{ headers }, {}, { ...whole, body }, whole]) {
      const moved = { ...channel, ...elsewhere, id, base_url: 'http://127.0.0.1:9/v1' };
      expect((await owner.raw('saveChannel', moved)).message).toMatch(/^(?:headers|body)：/);
    }
    const acts = await owner.call('adminActList', { call: 'saveChannel' });
    expect(acts.total).toBeGreaterThan(1);
    expect(JSON.stringify(acts)).not.toContain('bridge-secret');
    await owner.call('delChannel', { id });
  } finally {
    await service.close();
  }
});

test('a list of new-api is taken over, with names, priorities and what cannot be', async () => {
  const { added, skipped } = await owner.call('importChannels', {
    text: JSON.stringify({
      success: true,
      data: {
        items: [
          {
            name: '导入的',
            type: 1,
            key: 'sk-imported-5678',
            base_url: mock.baseURL.replace(/\/v1$/, ''),
            models: 'imported-a,imported-b',
            model_mapping: '{"imported-a": "there-a"}',
            param_override: '{"top_p": 0.5}',
            weight: 3,
            priority: 10,
            status: 1,
            tag: '旧站',
          },
          { name: '讯飞', type: 18, key: 'x', models: 'spark' },
          {
            name: '贵的',
            type: 1,
            base_url: mock.baseURL,
            models: 'imported-c',
            param_override: '{"n": 9}',
          },
        ],
      },
    }),
  });
  expect(added.map(({ label }) => label)).toEqual(['导入的']);
  expect(skipped.map(({ label }) => label)).toEqual(['讯飞', '贵的']);
  expect(await channelOf(added[0]!.id)).toMatchObject({
    base_url: mock.baseURL,
    models: ['imported-a', 'imported-b'],
    mapping: { 'imported-a': 'there-a' },
    weight: 3,
    priority: 490,
    tag: '旧站',
    key_count: 1,
  });
  expect(await say('imported-a')).toBe(mock.textFor('你好'));
  expect(mock.lastRequest).toMatchObject({ model: 'there-a', top_p: 0.5 });
  expect(mock.lastAuthorization).toBe('Bearer sk-imported-5678');
  expect((await owner.call('channelList', {})).list.some(({ label }) => label === '贵的')).toBe(
    false,
  );
  const { list } = await owner.call('channelHealth', { id: added[0]!.id });
  expect(Array.isArray(list)).toBe(true);
});

test('a list of channels with what the database cannot keep, or nested without end, is no fault', async () => {
  const row = { name: 'x\0', type: 1, key: 'k\0', models: 'nul\0-model', model_mapping: '' };
  const mapped = { ...row, name: 'y', models: 'm', model_mapping: '{"m": "a\\u0000b"}' };
  const { added } = await owner.call('importChannels', { text: JSON.stringify([row, mapped]) });
  expect(added.map(({ label }) => label)).toEqual(['x\uFFFD', 'y']);
  for (const { id } of added) await owner.call('delChannel', { id });
  const deep = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;
  expect((await owner.raw('importChannels', { text: deep })).status).toBe(422);
});
