import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiUser } from '../support/api-user.ts';
import { TestClient } from '../support/client.ts';
import { type MockOpenAi, startMockOpenAi } from '../support/mock-openai.ts';
import { ADMIN_PASSWORD } from '../support/server.ts';
import { stage } from '../support/stage.ts';

/** Where nobody names a model it is the cheapest that this person may use and that does well. */

const here = stage({ env: { SIGNUP_TOKENS: '1000000' } });
let cheap: MockOpenAi;
let dear: MockOpenAi;
let manager: TestClient;
let person: TestClient;

const modelId = async (name: string) =>
  (await manager.call('adminModelList', { unique_key: name })).list[0]?.id ?? 0;
beforeAll(async () => {
  [cheap, dear] = await Promise.all([startMockOpenAi(), startMockOpenAi()]);
  manager = new TestClient(here.server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  person = await TestClient.register(here.server.baseURL);
  // The dear one is offered first.
  for (const [name, { baseURL }, factor] of [
    ['dear-chat', dear, 3],
    ['cheap-chat', cheap, 1],
  ] as const) {
    await manager.call('saveChannel', {
      kind: 'openai-compatible',
      base_url: baseURL,
      api_key: 'sk-test',
      label: name,
      models: [{ name }],
    });
    await manager.call('setModel', { id: await modelId(name), factor });
  }
});
afterAll(async () => {
  await Promise.all([cheap?.close(), dear?.close()]);
});

const usual = async (client: TestClient) => (await client.call('models', {})).default_model;
/** The model of a new session that names none; `of`: more of it, such as a scenario. */
const begun = async (client: TestClient, of: object = {}) => {
  const { uuid } = await client.call('newSession', { type: 0, ...of });
  return (await client.call('getSession', { uuid })).model;
};
/** The service that an edit of a text goes to. */
const edits = async (client: TestClient) => {
  const before = [cheap.calls, dear.calls];
  expect((await client.call('inscriptor', { msg: '山间的一座石桥' })).library).toBe(false);
  return cheap.calls > (before[0] ?? 0) ? 'cheap-chat' : 'dear-chat';
};
let turn = 0;
const scenario = async () => {
  const made = { name: `周报 ${(turn += 1)}`, prompt: '写成周报：{{input}}', category: 1 };
  return { scenario_id: (await manager.call('manageScenario', made)).id };
};

test('the cheapest one, in a new session, a scenario and the tools that edit texts', async () => {
  await expect.poll(() => usual(person)).toBe('cheap-chat');
  expect(await begun(person)).toBe('cheap-chat');
  expect(await begun(person, await scenario())).toBe('cheap-chat');
  expect(await edits(person)).toBe('cheap-chat');
});

test('a member whom it excludes, and who never paid, gets the next', async () => {
  const member = await TestClient.register(here.server.baseURL);
  const paying = await TestClient.register(here.server.baseURL);
  const { id } = await paying.call('userInfo', {});
  await manager.call('activatedAbility', {
    user_id: id,
    vip_expired_at: new Date(Date.now() + 86_400_000).toISOString(),
    subscribe: 0,
  });
  const only = await modelId('cheap-chat');
  await manager.call('setModel', { id: only, vip: 1, vip_excluded: 1 });
  await expect.poll(() => usual(member)).toBe('dear-chat');
  for (const of of [{}, await scenario()]) expect(await begun(member, of)).toBe('dear-chat');
  expect(await edits(member)).toBe('dear-chat');
  expect(await usual(paying)).toBe('cheap-chat');
  await manager.call('setModel', { id: only, vip: 0, vip_excluded: 0 });
});

test('not one whose service keeps failing', async () => {
  await expect.poll(() => usual(person)).toBe('cheap-chat');
  cheap.always('500');
  // What one person meets alone says nothing of others.
  const asking = [person];
  while (asking.length < 3) asking.push(await TestClient.register(here.server.baseURL));
  for (let i = 0; i < 6; i += 1) {
    const client = asking[i % 3] ?? person;
    const { uuid, id } = await client.ask(`第 ${i} 次问的问题`, { model: 'cheap-chat' });
    await client.read(uuid, id);
  }
  await expect.poll(() => usual(person)).toBe('dear-chat');
  expect(await begun(person)).toBe('dear-chat');
  expect(await begun(person, await scenario())).toBe('dear-chat');
  expect(await edits(person)).toBe('dear-chat');
  const { key } = await apiUser(here.server);
  const before = dear.calls;
  const answer = await fetch(`${here.server.baseURL}/v1/translate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: '山间的一座石桥', to: 'en' }),
  });
  expect(answer.status).toBe(200);
  expect(dear.calls).toBe(before + 1);
});
