import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiUser } from '../support/api-user.ts';
import { joined, TestClient } from '../support/client.ts';
import { bodyOf, listen, paint, reply, replyPicture } from '../support/fake-service.ts';
import { startHttpProxy } from '../support/http-proxy.ts';
import { startDialectService } from '../support/mock-dialects.ts';
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
  const { id: group } = await owner.call('savePeopleGroup', { name: '搬来的组', factor: 1 });
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
            group: 'default,vip',
          },
          {
            name: '内测的',
            type: 14,
            key: 'sk-ant-moved',
            models: 'claude-moved',
            group: '搬来的组',
            openai_organization: 'org-moved-1234',
            setting: '{"force_format": false, "proxy": "http://10.0.0.3:3128"}',
          },
          { name: '没有组的', type: 1, models: 'imported-d', group: '搬来的组,svip' },
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
  expect(added.map(({ label }) => label)).toEqual(['导入的', '内测的']);
  expect(skipped.map(({ label }) => label)).toEqual(['讯飞', '没有组的', '贵的']);
  expect(skipped[1]?.reason).toContain('svip');
  expect(await channelOf(added[1]!.id)).toMatchObject({
    kind: 'anthropic',
    base_url: 'https://api.anthropic.com/v1',
    groups: [group],
    proxy: 'http://10.0.0.3:3128',
    headers: JSON.stringify({ 'openai-organization': 'org…1234' }, null, 2),
  });
  expect(await channelOf(added[0]!.id)).toMatchObject({
    base_url: mock.baseURL,
    models: ['imported-a', 'imported-b'],
    mapping: { 'imported-a': 'there-a' },
    weight: 3,
    priority: 490,
    tag: '旧站',
    groups: [],
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

test('a proxy carries chats, their trial and what else its service does, and only owners choose one', async () => {
  const proxy = await startHttpProxy();
  const asked: { path: string; proxied: boolean; house: unknown }[] = [];
  const service = await listen(async (request, response) => {
    await bodyOf(request);
    const { remotePort = 0 } = request.socket;
    const { 'x-house': house } = request.headers;
    asked.push({ path: request.url ?? '', proxied: proxy.ports.has(remotePort), house });
    if (request.url === '/done.png') return replyPicture(response, await paint(1024, 1024, '#123'));
    if (request.url?.endsWith('/images/generations'))
      return reply(response, 200, { data: [{ url: `${service.url}/done.png` }] });
    if (request.method === 'GET')
      return reply(response, 200, { data: [{ id: 'far-model' }, { id: 'tts-far' }] });
    if (request.url?.endsWith('/speech')) {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      return void response.end(Buffer.alloc(2_000, 7));
    }
    return reply(response, 200, {
      choices: [
        { index: 0, message: { role: 'assistant', content: '远方' }, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
    });
  });
  try {
    const channel = {
      kind: 'openai-compatible' as const,
      base_url: `${service.url}/v1`,
      api_key: 'sk-far-1234',
      proxy: proxy.url,
      headers: '{"X-House": "bridge"}',
    };
    const trial = await owner.call('testChannel', { ...channel, model: 'far-model' });
    expect(trial).toMatchObject({ ok: true, message: expect.stringContaining('远方') });
    const models = ['far-model', 'tts-1-far', 'dall-e-3'].map((name) => ({ name, factor: 0 }));
    const { id } = await owner.call('saveChannel', { ...channel, label: '远方', models });
    expect(await say('far-model')).toBe('远方');
    // Tried from the list, it takes the same way.
    expect(await owner.call('testChannel', { ...channel, id, proxy: undefined })).toMatchObject({
      ok: true,
    });
    const { key } = await apiUser(server);
    for (const [path, body] of [
      ['audio/speech', { model: 'tts-1-far', input: '你好', voice: 'alloy' }],
      ['images/generations', { model: 'dall-e-3', prompt: '山' }],
    ] as const) {
      const made = await fetch(`${server.baseURL}/v1/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect([path, made.status]).toEqual([path, 200]);
    }
    const paths = new Set(asked.map(({ path }) => path));
    expect([...paths].sort()).toEqual([
      '/done.png',
      '/v1/audio/speech',
      '/v1/chat/completions',
      '/v1/images/generations',
      '/v1/models',
    ]);
    expect(asked.filter(({ proxied, house }) => !proxied || house !== 'bridge')).toEqual([]);

    const lower = await TestClient.register(server.baseURL, 'lower-of-channels');
    const { id: lowerId } = await lower.call('userInfo', {});
    await owner.call('setManager', { user_id: lowerId, rank: 'manager' });
    const other = { ...channel, id, proxy: 'http://10.0.0.9:1' };
    for (const reply of [
      await lower.raw('testChannel', other),
      await lower.raw('saveChannel', { ...other, label: '远方', models }),
    ])
      expect(reply.message).toContain('只有所有者');
    await owner.call('delChannel', { id });
  } finally {
    await service.close();
    await proxy.close();
  }
});

test.each([
  ['anthropic', '/v1', 'sk-ant-test', 'claude-sonnet-mock'],
  ['gemini', '/v1beta', 'g-key', 'gemini-9-mock'],
] as const)(
  'a channel of %s maps names and carries what its manager adds; no other kind takes what it would not use',
  async (kind, path, api_key, upstream) => {
    const service = await startDialectService();
    try {
      const name = `house-${kind}`;
      const body = kind === 'gemini' ? { labels: { team: 'a' } } : { metadata: { user_id: 'a' } };
      const channel = {
        kind,
        base_url: `${service.url}${path}`,
        label: kind,
        api_key,
        models: [{ name, upstream, factor: 1 }],
        headers: '{"X-House": "bridge"}',
        body: JSON.stringify(body),
        parallel: 3,
        tag: '另一种话',
      };
      const { id } = await owner.call('saveChannel', channel);
      expect(await channelOf(id)).toMatchObject({ mapping: { [name]: upstream }, parallel: 3 });
      expect(await say(name)).toContain('我是');
      const { headers, body: sent, path: called } = service.asked.at(-1)!;
      expect(headers['x-house']).toBe('bridge');
      expect(sent).toMatchObject(body);
      expect(`${called} ${String(sent['model'])}`).toContain(upstream);
      for (const wrong of [
        { headers: '{"anthropic-beta": "context-1m-2025-08-07"}' },
        { body: '{"generationConfig": {"candidateCount": 8}}' },
        { body: '{"mcp_servers": [{}]}' },
        { maker: 'glm' },
      ])
        expect(
          (await owner.raw('saveChannel', { ...channel, id, ...wrong })).code,
          JSON.stringify(wrong),
        ).toBe(422);
      await owner.call('delChannel', { id });
    } finally {
      await service.close();
    }
    const webui = {
      kind: 'stable-diffusion-webui',
      base_url: 'http://127.0.0.1:9',
      label: '画图',
    };
    for (const field of [
      { headers: '{"X-House": "bridge"}' },
      { body: '{"steps": 5}' },
      { proxy: 'http://127.0.0.1:9' },
      { factor: 2 },
      { maker: 'openai' },
    ])
      expect((await owner.raw('saveChannel', { ...webui, ...field })).message).toContain(
        `${Object.keys(field)[0]}：`,
      );
  },
);
