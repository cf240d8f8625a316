import OpenAI, { APIError } from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { In } from '#contract/calls.ts';
import { type ApiUser, apiUser, onDatabase } from '../support/api-user.ts';
import { type MockOpenAi, startMockOpenAi } from '../support/mock-openai.ts';
import { TestClient } from '../support/client.ts';
import { bodyOf, listen, paint, reply } from '../support/fake-service.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';

/** What a key may do, held to the token by two processes on one database. */

let mock: MockOpenAi;
let servers: TestServer[];
const model = 'mock-chat';

beforeAll(async () => {
  mock = await startMockOpenAi();
  const env = {
    OPENAI_BASE_URL: mock.baseURL,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODELS: model,
    SECRET_KEY: 'the same in all processes',
    SIGNUP_TOKENS: '10000000',
    API_REQUESTS: '100000',
  };
  const first = await startServer({ env });
  servers = [first, await startServer({ databaseUrl: first.databaseUrl, env })];
});
afterAll(async () => {
  for (const server of [...servers].reverse()) await server.stop();
  await mock.close();
});

const clientOf = (key: string, at = 0) =>
  new OpenAI({ apiKey: key, baseURL: `${servers[at % 2]!.baseURL}/v1`, maxRetries: 0 });
const failing = (work: Promise<unknown>): Promise<APIError> =>
  work.then(
    () => expect.fail('it was answered'),
    (error: unknown) => error as APIError,
  );
const withKey = (key: In<'genKey'>): Promise<ApiUser> => apiUser(servers[0]!, { key });
const words = '[[bench tokens=60 rate=0 id=x]]';
const streamed = [{ role: 'user' as const, content: words }];
const messages = [{ role: 'user' as const, content: '你好' }];
const keyRow = async (user: ApiUser) => (await user.person.call('apiKeys', {})).list[0]!;

/** Many streams at once through both processes; gives how many came to their end. */
const storm = async (user: ApiUser, count: number): Promise<number> => {
  const ends = await Promise.allSettled(
    Array.from({ length: count }, (_, at) =>
      clientOf(user.key, at)
        .chat.completions.stream({ model, messages: streamed, max_tokens: 100 })
        .finalChatCompletion(),
    ),
  );
  for (const end of ends)
    if (end.status === 'rejected')
      expect(['key_limit_reached', 'key_concurrency_reached'], String(end.reason)).toContain(
        (end.reason as APIError).code,
      );
  return ends.filter(({ status }) => status === 'fulfilled').length;
};

test('each bound holds to the token under 200 streams in two processes', async () => {
  const bounds: NonNullable<In<'genKey'>['limits']>[number][] = [
    { per: 'minute', unit: 'requests', amount: 17 },
    { per: 'day', unit: 'requests', amount: 23 },
    { per: 'minute', unit: 'tokens', amount: 2500 },
    { per: 'week', unit: 'tokens', amount: 3000 },
    { per: 'month', unit: 'yuan', amount: 0.05 },
  ];
  for (const bound of bounds) {
    const user = await withKey({ limits: [bound] });
    const good = await storm(user, 200);
    const { list } = await user.person.call('apiUsage', {});
    const sum = (of: (row: (typeof list)[number]) => number) =>
      list.reduce((total, row) => total + of(row), 0);
    const used = {
      requests: sum((row) => row.count),
      tokens: sum((row) => row.tokens),
      yuan: sum((row) => row.deduct_tokens) / 50_000,
    }[bound.unit];
    expect(used, JSON.stringify(bound)).toBeLessThanOrEqual(bound.amount);
    expect(used, JSON.stringify(bound)).toBeGreaterThan(bound.amount * 0.5);
    if (bound.unit === 'requests') expect(good).toBe(bound.amount);
    const [shown] = (await keyRow(user)).limits;
    expect(shown).toMatchObject(bound);
    expect(shown!.left).toBeCloseTo(bound.amount - used, 6);
    const untilRefused = async () => {
      for (let more = 0; more < 200; more += 1)
        await clientOf(user.key, more).chat.completions.create({ model, messages, max_tokens: 16 });
    };
    const refused = await failing(untilRefused());
    expect([refused.code, refused.status]).toEqual([
      'key_limit_reached',
      bound.per === 'minute' ? 429 : 402,
    ]);
    expect(refused.message).toContain('这个 API-KEY');
  }
  const [running] = await onDatabase<{ count: string }>(
    servers[0]!,
    'SELECT count(*) FROM api_running WHERE ended_at IS NULL',
  );
  expect(running!.count).toBe('0');
});

test('calls that end at once are paid together, each exactly, and only by its own person', async () => {
  const people = [await withKey({}), await withKey({}), await withKey({})];
  const ids = await Promise.all(
    people.map(async ({ person }) => (await person.call('userInfo', {})).id),
  );
  const balances = async () => {
    const rows = await onDatabase<{ balance: string }>(
      servers[0]!,
      `SELECT balance FROM wallets WHERE user_id IN (${ids.join(',')}) ORDER BY user_id`,
    );
    return rows.map(({ balance }) => Number(balance));
  };
  const before = await balances();
  expect(await Promise.all(people.map((each) => storm(each, 60)))).toEqual([60, 60, 60]);
  const after = await balances();
  for (const [at, { person }] of people.entries()) {
    const { list } = await person.call('apiUsage', {});
    const [count, taken] = [
      list.reduce((all, row) => all + row.count, 0),
      list.reduce((all, row) => all + row.deduct_tokens, 0),
    ];
    expect([count, taken]).toEqual([60, before[at]! - after[at]!]);
    const [spent] = await onDatabase<{ count: string; sum: string }>(
      servers[0]!,
      `SELECT count(*), sum(deduct_tokens) FROM consumptions WHERE user_id = ${ids[at]}`,
    );
    expect(spent).toMatchObject({ count: '60', sum: String(taken) });
  }
});

test('a key with whatever bound pays what one without pays', async () => {
  const bounds: In<'genKey'>[] = [
    {},
    { at_once: 100 },
    { call_tokens: 8000 },
    { month_limit: 100_000 },
    { limits: [{ per: 'minute', unit: 'requests', amount: 100 }] },
    { limits: [{ per: 'day', unit: 'tokens', amount: 100_000 }] },
    { limits: [{ per: 'month', unit: 'yuan', amount: 5 }] },
  ];
  const paid: number[] = [];
  for (const bound of bounds) {
    const user = await withKey(bound);
    const balance = async () => {
      const { id } = await user.person.call('userInfo', {});
      const [row] = await onDatabase<{ balance: string }>(
        servers[0]!,
        `SELECT balance FROM wallets WHERE user_id = ${id}`,
      );
      return Number(row!.balance);
    };
    const before = await balance();
    await clientOf(user.key).chat.completions.create({ model, messages });
    const stream = clientOf(user.key, 1).chat.completions.stream({ model, messages: streamed });
    await stream.finalChatCompletion();
    paid.push(before - (await balance()));
  }
  expect(paid[0]).toBeGreaterThan(0);
  expect(paid).toEqual(bounds.map(() => paid[0]));
});

test('as many run at once as its owner allows, and what a dead process held is given back', async () => {
  const user = await withKey({ at_once: 3, limits: [{ per: 'day', unit: 'yuan', amount: 100 }] });
  const slow = [{ role: 'user' as const, content: '[[bench tokens=5000 rate=20 id=y]]' }];
  const third = await startServer({
    databaseUrl: servers[0]!.databaseUrl,
    env: {
      OPENAI_BASE_URL: mock.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: model,
      SECRET_KEY: 'the same in all processes',
    },
  });
  const dying = new OpenAI({ apiKey: user.key, baseURL: `${third.baseURL}/v1`, maxRetries: 0 });
  const streams = await Promise.all(
    [0, 1, 2].map(() => dying.chat.completions.create({ model, messages: slow, stream: true })),
  );
  const full = await failing(clientOf(user.key).chat.completions.create({ model, messages }));
  expect([full.status, full.code]).toEqual([429, 'key_concurrency_reached']);
  expect(Number(full.headers?.get('retry-after'))).toBeGreaterThan(0);
  await third.kill9();
  for (const stream of streams) stream.controller.abort();
  await onDatabase(servers[0]!, `UPDATE api_running SET begun_at = begun_at - interval '1 minute'`);
  await clientOf(user.key).chat.completions.create({ model, messages });
});

test('its owner raises the length of a call, changes bounds at once, rotates it and switches it off', async () => {
  const user = await withKey({ used_for: '夜里的翻译' });
  const long = [{ role: 'user' as const, content: '月'.repeat(5000) }];
  const tooLong = await failing(
    clientOf(user.key).chat.completions.create({ model, messages: long }),
  );
  expect([tooLong.code, tooLong.message]).toEqual([
    'context_length_exceeded',
    expect.stringContaining('4096'),
  ]);
  await user.person.call('updateKey', { id: user.keyId, call_tokens: 20_000 });
  await clientOf(user.key, 1).chat.completions.create({ model, messages: long });

  // What was used before a bound was set counts.
  const bounds = [{ per: 'day' as const, unit: 'requests' as const, amount: 2 }];
  await user.person.call('updateKey', { id: user.keyId, limits: bounds });
  await clientOf(user.key).chat.completions.create({ model, messages });
  expect(
    (await failing(clientOf(user.key, 1).chat.completions.create({ model, messages }))).code,
  ).toBe('key_limit_reached');
  expect(await keyRow(user)).toMatchObject({
    used_for: '夜里的翻译',
    call_tokens: 20_000,
    limits: [{ ...bounds[0], left: 0 }],
  });
  await user.person.call('updateKey', { id: user.keyId, limits: [] });

  const made = await user.person.call('rotateKey', { id: user.keyId, grace_hours: 1 });
  for (const key of [user.key, made.full_key]) await clientOf(key, 1).models.list();
  expect((await keyRow(user)).old_until).not.toBeNull();
  // Another one would end the first before its time.
  const again = await user.person.raw('rotateKey', { id: user.keyId, grace_hours: 1 });
  expect(again).toMatchObject({ code: 422, message: expect.stringContaining('使用期内') });
  for (const key of [user.key, made.full_key]) await clientOf(key, 1).models.list();
  const last = await user.person.call('rotateKey', { id: user.keyId, grace_hours: 0 });
  for (const key of [user.key, made.full_key])
    expect((await failing(Promise.resolve(clientOf(key).models.list()))).status).toBe(401);

  const stream = await clientOf(last.full_key, 1).chat.completions.create({
    model,
    messages: [{ role: 'user', content: '[[bench tokens=5000 rate=50 id=z]]' }],
    stream: true,
  });
  const ended = await failing(
    (async () => {
      let chunks = 0;
      for await (const _ of stream) {
        chunks += 1;
        if (chunks === 5) await user.person.call('pauseKey', { id: user.keyId, on: true });
      }
    })(),
  );
  expect(ended).toBeInstanceOf(APIError);
  expect((await failing(Promise.resolve(clientOf(last.full_key).models.list()))).code).toBe(
    'key_paused',
  );
  await user.person.call('pauseKey', { id: user.keyId, on: false });
  await clientOf(last.full_key).models.list();

  const other = await withKey({});
  for (const act of [
    () => other.person.raw('updateKey', { id: user.keyId, name: '别人的' }),
    () => other.person.raw('rotateKey', { id: user.keyId }),
    () => other.person.raw('pauseKey', { id: user.keyId, on: true }),
  ])
    expect((await act()).code).toBe(404);
});

test('a channel has as many calls at once as its manager allows, in all processes together', async () => {
  let now = 0;
  let most = 0;
  let stay = 120;
  const picture = (await paint(1024, 1024, '#123')).toString('base64');
  const service = await listen(async (request, response) => {
    const asked = (await bodyOf(request)).toString();
    if (request.method === 'GET') return reply(response, 200, { data: [] });
    now += 1;
    most = Math.max(most, now);
    response.on('close', () => (now -= 1));
    await new Promise((resolve) => setTimeout(resolve, stay));
    if (request.url?.endsWith('/images/generations'))
      return reply(response, 200, { data: [{ b64_json: picture }] });
    if (asked.includes('tts-1-broken')) return reply(response, 500, {});
    if (request.url?.endsWith('/speech')) {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      return void response.end(Buffer.alloc(2_000, 7));
    }
    return reply(response, 200, {
      choices: [{ index: 0, message: { role: 'assistant', content: '好' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
    });
  });
  const env = {
    OPENAI_BASE_URL: mock.baseURL,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODELS: model,
    SECRET_KEY: 'the same in all processes',
  };
  const third = await startServer({ databaseUrl: servers[0]!.databaseUrl, env });
  try {
    const manager = new TestClient(servers[0]!.baseURL);
    await manager.login('admin', ADMIN_PASSWORD);
    const { id } = await manager.call('saveChannel', {
      kind: 'openai-compatible',
      base_url: `${service.url}/v1`,
      label: '窄的',
      models: [
        { name: 'narrow-model', factor: 0 },
        ...['tts-1-narrow', 'tts-1-broken', 'dall-e-3'].map((name) => ({ name, factor: 1 })),
      ],
      parallel: 3,
    });
    const user = await withKey({});
    const at = (baseURL: string) =>
      new OpenAI({ apiKey: user.key, baseURL: `${baseURL}/v1`, maxRetries: 0 });
    const ask = (baseURL: string) =>
      at(baseURL).chat.completions.create({ model: 'narrow-model', messages });
    for (const { baseURL } of [...servers, third])
      await expect
        .poll(
          () =>
            ask(baseURL).then(
              () => true,
              () => false,
            ),
          { timeout: 10_000 },
        )
        .toBe(true);
    most = 0;
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, at) => ask([...servers, third][at % 3]!.baseURL)),
    );
    expect(answers.map(({ choices }) => choices[0]?.message.content)).toEqual(
      Array.from({ length: 24 }, () => '好'),
    );
    expect(most).toBe(3);

    // What is no chat counts among them, and how it went is seen as well.
    most = 0;
    const speak = (place: number, name: string) =>
      at(servers[place % 2]!.baseURL).audio.speech.create({
        model: name,
        input: '你好',
        voice: 'alloy',
      });
    await Promise.all([
      ...[0, 1, 2, 3, 4, 5].map((place) => ask(servers[place % 2]!.baseURL)),
      ...[0, 1, 2, 3, 4, 5].map((place) => speak(place, 'tts-1-narrow')),
      ...[0, 1].map((place) =>
        at(servers[place]!.baseURL).images.generate({ model: 'dall-e-3', prompt: '山' }),
      ),
      failing(speak(0, 'tts-1-broken')),
    ]);
    expect(most).toBe(3);
    await expect
      .poll(
        async () => {
          const { list } = await manager.call('channelHealth', { id });
          return Object.fromEntries(
            list
              .filter(({ model: name }) => name !== 'narrow-model')
              .map(({ model: name, outcomes }) => [
                name,
                outcomes.map(({ result, status }) => `${result} ${status}`),
              ]),
          );
        },
        { timeout: 15_000 },
      )
      .toEqual({
        'tts-1-narrow': Array.from({ length: 6 }, () => 'ok 200'),
        'dall-e-3': ['ok 200', 'ok 200'],
        'tts-1-broken': ['failed 500'],
      });

    // What a process had running that is killed counts no more.
    stay = 60_000;
    const held = Promise.allSettled([1, 2, 3].map(() => ask(third.baseURL)));
    await expect.poll(() => now, { timeout: 10_000 }).toBe(3);
    await third.kill9();
    await held;
    stay = 50;
    await ask(servers[1]!.baseURL);
  } finally {
    await third.stop().catch(() => undefined);
    await service.close();
  }
}, 60_000);
