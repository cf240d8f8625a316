import { rmSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { joined, TestClient } from '../support/client.ts';
import { startMockOpenAi, type MockOpenAi } from '../support/mock-openai.ts';
import { scratchFolder } from '../support/scratch.ts';
import { makeDatabase, startServer, type TestServer } from '../support/server.ts';
import { clockAhead } from '../support/skewed-clock.ts';

let mock: MockOpenAi;
beforeAll(async () => {
  mock = await startMockOpenAi();
});
afterAll(() => mock.close());

const channel = () => ({
  OPENAI_BASE_URL: mock.baseURL,
  OPENAI_API_KEY: 'sk-test',
  OPENAI_MODELS: 'mock-chat',
  // Processes with data folders of their own share the key of the channels' keys.
  SECRET_KEY: 'one-key-for-both',
});

const statusOf = async (url: string, authorization: string): Promise<number> =>
  (await fetch(url, { headers: { authorization } })).status;

const kinds = ['one DATABASE_URL', 'one data folder with the embedded database'] as const;
describe.each(kinds)('two processes on %s, whose clocks lie apart', (kind) => {
  let first: TestServer;
  let second: TestServer;
  let here: TestClient;
  let there: TestClient;
  let folder = '';

  beforeAll(async () => {
    const embedded = kind !== 'one DATABASE_URL';
    if (embedded) folder = scratchFolder('two');
    const place = embedded ? { embedded, dataDir: folder } : { databaseUrl: await makeDatabase() };
    first = await startServer({ ...place, env: channel() });
    // Whoever comes from the first one comes from the future, and the other way round.
    const clock = { NODE_OPTIONS: clockAhead(embedded ? 50 : -50) };
    second = await startServer({ ...place, alone: true, env: { ...channel(), ...clock } });
  });
  beforeEach(async () => {
    here = await TestClient.register(first.baseURL);
    there = new TestClient(second.baseURL, here.token);
  });
  afterAll(async () => {
    await Promise.all([first.kill9(), second.stop()]);
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  test('a stream begun on one goes on on the other, to the character', async () => {
    const { uuid, id } = await here.ask('[[bench tokens=400 rate=100 id=move]]', {
      model: 'mock-chat',
    });
    let seen = 0;
    // The way between processes opens to nobody else.
    const soon = Math.floor(Date.now() / 1000) + 60;
    for (const authorization of ['', `Instance ${soon}.${'A'.repeat(43)}`, `Bearer ${here.token}`])
      for (const instance of [1, 2, 3])
        expect(
          await statusOf(`${first.baseURL}/api/instances/${instance}/replies/${id}`, authorization),
        ).toBe(404);
    const begun = await here.read(uuid, id, { onEvent: () => (seen += 1) < 30 });
    const rest = await there.read(uuid, id, { lastEventId: begun.at(-1)?.id });
    // Word by word as it is written, and not as it is stored.
    expect(rest.length).toBeGreaterThan(200);
    const whole = joined([...begun, ...rest]);
    expect(whole).toMatchObject({ done: true, error: null });
    const { list } = await there.call('historyList', { session_id: uuid });
    expect(list[0]).toMatchObject({ ai: whole.text, state: 'done' });
    expect(whole.text.endsWith('END-move-DONE')).toBe(true);
  });

  test('a stream of one is stopped on the other', async () => {
    const { uuid, id } = await here.ask('[[bench tokens=60000 rate=100 id=halt]]', {
      model: 'mock-chat',
    });
    const reading = here.read(uuid, id).then(joined);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await there.call('stopStream', { history_id: id })).toEqual({ stopped: true });
    const reply = await reading;
    expect(reply).toMatchObject({ done: true, error: null });
    const { list } = await there.call('historyList', { session_id: uuid });
    expect(list[0]).toMatchObject({ ai: reply.text, state: 'stopped' });
    await there.call('logout', {});
    expect((await here.raw('userInfo', {})).status).toBe(401);
  });

  test('a key whose claimant is killed is free at once, and not before', async () => {
    const third = await startServer({
      ...(folder ? { embedded: true, dataDir: folder } : { databaseUrl: second.databaseUrl }),
      env: channel(),
    });
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const asked = { msg: '把这一句话译成英文', cn2en: 1 as const, model: 'mock-chat' };
    mock.enqueue('hang-before');
    const { calls } = mock;
    const elsewhere = new TestClient(third.baseURL, here.token);
    const lost = elsewhere.call('translate', asked, headers).catch(() => null);
    await expect.poll(() => mock.calls, { timeout: 10_000 }).toBe(calls + 1);
    const again = there.call('translate', asked, headers);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(mock.calls).toBe(calls + 1);
    await third.kill9();
    await lost;
    const begun = Date.now();
    expect(await again).toMatchObject({ translated: true });
    expect(Date.now() - begun).toBeLessThan(10_000);
    expect(mock.calls).toBe(calls + 2);
    expect(await here.call('translate', asked, headers)).toEqual(await again);
  });

  // The last one: it ends the first process.
  test('the process that writes is killed: readers elsewhere are told, it is paid, and retried', async () => {
    const { uuid, id } = await here.ask('[[bench tokens=60000 rate=100 id=dead]]', {
      model: 'mock-chat',
    });
    const reading = there.read(uuid, id).then(joined);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    await first.kill9();
    const reply = await reading;
    expect(reply.error?.code).toBe('interrupted');
    expect(reply.text.length).toBeGreaterThan(100);
    // Which process says it, of which reply.
    const said = new RegExp(`"instance":\\d+,.*"id":${id},.*ended a reply whose process is gone`);
    await expect.poll(() => second.log(), { timeout: 10_000 }).toMatch(said);
    const { list } = await there.call('historyList', { session_id: uuid });
    expect(list[0]).toMatchObject({ ai: reply.text, state: 'interrupted' });
    const charged = 20_000 - (await there.call('userInfo', {})).chatgpt_balance;
    expect(charged).toBe(list[0]?.deduct_tokens);
    expect(charged).toBe((list[0]?.prompt_tokens ?? 0) + (list[0]?.completion_tokens ?? 0));
    mock.enqueue('normal');
    const again = await there.call('retryMessage', { session_id: uuid, history_id: id });
    expect(joined(await there.read(uuid, again.id))).toMatchObject({ done: true, error: null });
  });
});

test('a model service stays while one process lives that was started with it', async () => {
  const databaseUrl = await makeDatabase();
  const names = async ({ baseURL }: TestServer) =>
    (await new TestClient(baseURL).call('models', {})).models.map((model) => model.name);
  const having = await startServer({ databaseUrl, env: channel() });
  const lacking = await startServer({ databaseUrl, env: { SECRET_KEY: channel().SECRET_KEY } });
  try {
    expect(await names(lacking)).toContain('mock-chat');
    const person = await TestClient.register(lacking.baseURL);
    const { uuid, id } = await person.ask('从另一个进程问', { model: 'mock-chat' });
    expect(joined(await person.read(uuid, id))).toMatchObject({ done: true, error: null });
    expect(await names(having)).toContain('mock-chat');
    await having.kill9();
    await expect
      .poll(() => names(lacking), { timeout: 10_000 })
      .toSatisfy(
        (left: string[]) => !left.includes('mock-chat') && left.includes('builtin-assistant'),
      );
  } finally {
    await having.stop();
    await lacking.stop();
  }
});

test('limits hold for all processes together, and a day’s limit outlives a restart', async () => {
  const databaseUrl = await makeDatabase();
  const env = {
    TRUST_PROXY: '127.0.0.1',
    RATE_LIMIT: '60',
    GUEST_MESSAGES: '3',
    ASSISTANT_RATE: '0',
  };
  const first = await startServer({ databaseUrl, env });
  const second = await startServer({ databaseUrl, env });
  const asked = async ({ baseURL }: TestServer, times: number): Promise<number> => {
    let refused = 0;
    for (let time = 0; time < times; time += 1) {
      const headers = { 'x-forwarded-for': '203.0.113.77' };
      const { status } = await fetch(`${baseURL}/api/models`, { headers });
      if (status === 429) refused += 1;
    }
    return refused;
  };
  expect(await asked(first, 45)).toBe(0);
  expect(await asked(second, 10)).toBe(0);
  // By then the two have told each other.
  await expect.poll(() => asked(second, 1), { timeout: 10_000, interval: 500 }).toBe(1);
  await expect.poll(() => asked(first, 1), { timeout: 10_000, interval: 500 }).toBe(1);
  expect((await asked(first, 5)) + (await asked(second, 5))).toBe(10);

  const guest = new TestClient(first.baseURL);
  const headers = { 'x-forwarded-for': '198.51.100.4' };
  const { uuid } = await guest.call('newSession', { type: 0 }, headers);
  const ask = async ({ baseURL }: TestServer): Promise<number> => {
    const message = { session_id: uuid, msg: '现在几点了？' };
    const asker = new TestClient(baseURL, guest.token);
    const { code } = await asker.raw('sendMessage', message, headers);
    // The next one may be asked once this one is answered.
    const list = async () => (await asker.call('historyList', { session_id: uuid }, headers)).list;
    if (code === 0)
      await expect.poll(async () => (await list()).at(-1)?.state, { interval: 50 }).toBe('done');
    return code;
  };
  expect([await ask(first), await ask(first), await ask(first)]).toEqual([0, 0, 0]);
  await first.stop();
  expect(await ask(second)).not.toBe(0);
  await second.stop();
});
