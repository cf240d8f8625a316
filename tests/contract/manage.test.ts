import { randomUUID } from 'node:crypto';
import { generateSync } from 'otplib';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SortedList, sorts } from '#contract/sorts.ts';
import { TestClient } from '../support/client.ts';
import { type MockOpenAi, startMockOpenAi } from '../support/mock-openai.ts';
import { startMockTraining } from '../support/mock-training.ts';
import { createWorld, sendRaw, talk, type World } from '../support/world.ts';

let world: World;
let lower: TestClient;
let lowerId: number;
let userId: number;
let database: pg.Client;
let mock: MockOpenAi;

beforeAll(async () => {
  mock = await startMockOpenAi();
  world = await createWorld({ env: { METRICS_TOKEN: 'metrics-token-1' } });
  database = new pg.Client({ connectionString: world.server.databaseUrl });
  await database.connect();
  lower = await TestClient.register(world.server.baseURL);
  lowerId = (await lower.call('userInfo', {})).id;
  userId = (await world.people.user.call('userInfo', {})).id;
  // Nobody else may take a manager's name, and everybody in the tests has the same one.
  await world.people.manager.call('updateUser', { user_id: lowerId, user_name: '副手' });
  await world.people.manager.call('setManager', { user_id: lowerId, rank: 'manager' });
});
afterAll(async () => {
  await database?.end();
  await world?.stop();
  await mock?.close();
});

test('the log cannot be changed, says from what to what, and keeps no password', async () => {
  const { manager } = world.people;
  await manager.call('updateUser', { user_id: userId, session_blacklist: 1 });
  const refused = await sendRaw(world.people.user, 'newSession', { type: 0 });
  expect(refused.envelope?.code).toBe(3001);
  await manager.call('updateUser', { user_id: userId, session_blacklist: 0 });
  const { password } = await manager.call('resetPassword', {
    user_id: lowerId,
    password: 'new-password-1',
  });
  expect(password).toBe('new-password-1');
  lower = new TestClient(world.server.baseURL);
  const { rows } = await database.query<{ account: string }>(
    'SELECT account FROM users WHERE id = $1',
    [lowerId],
  );
  await lower.login(rows[0]!.account, 'new-password-1');
  const { list } = await manager.call('adminActList', { subject: `user:${userId}` });
  expect(JSON.parse(list[0]!.from)).toEqual({ sessionBlacklist: true });
  expect(JSON.parse(list[0]!.to)).toEqual({ sessionBlacklist: false });
  const all = await manager.call('adminActList', { call: 'resetPassword' });
  expect(JSON.stringify(all)).not.toContain('new-password-1');
  // Whoever has a line can be chosen by name, and nobody else.
  expect(all.managers.map(({ user_id: id }) => id)).not.toContain(lowerId);
  expect(all.managers).toContainEqual({ user_id: list[0]!.user_id, user_name: list[0]!.user_name });
  for (const statement of ['UPDATE manager_acts SET ip = 1', 'DELETE FROM manager_acts'])
    await expect(database.query(statement)).rejects.toThrow('append-only');
});

test('what a manager gives waits for a payment of the same person, and not the other way round', async () => {
  const { manager } = world.people;
  const payment = new pg.Client({ connectionString: world.server.databaseUrl });
  await payment.connect();
  const gifts = [
    () => manager.raw('updateTokens', { user_id: userId, tokens: 1000, add: 1 }),
    () => manager.raw('activatedAbility', { user_id: userId, gift: 1000 }),
  ];
  try {
    for (const give of gifts) {
      await payment.query('BEGIN');
      await payment.query('SELECT FROM wallets WHERE user_id = $1 FOR UPDATE', [userId]);
      const given = give();
      const waiting = `SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await expect.poll(async () => (await database.query(waiting)).rowCount).toBe(1);
      // As a membership that is paid for.
      await payment.query('SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE NOWAIT', [userId]);
      await payment.query('COMMIT');
      expect((await given).code).toBe(0);
    }
  } finally {
    await payment.end();
  }
});

test('a manager’s second factor is an act, and anybody else’s is none', async () => {
  const { manager } = world.people;
  const other = await TestClient.register(world.server.baseURL);
  for (const [client, id] of [
    [lower, lowerId],
    [other, (await other.call('userInfo', {})).id],
  ] as const) {
    const actsOf = async () =>
      (await manager.call('adminActList', { subject: `user:${id}` })).list
        .filter(({ call }) => call.startsWith('totp'))
        .map(({ call, from, to }) => [call, JSON.parse(from), JSON.parse(to)]);
    const { secret } = await client.call('totpBegin', {});
    expect((await client.raw('totpEnable', { code: 'no code' })).code).toBe(1444);
    expect(await actsOf()).toEqual([]);
    const { recovery_codes: codes } = await client.call('totpEnable', {
      code: generateSync({ secret }),
    });
    if (client === lower) {
      // Whoever is a manager no more keeps the second factor.
      await manager.call('setManager', { user_id: id, rank: 'none' });
      expect(await client.call('totpState', {})).toMatchObject({ enabled: true });
      await manager.call('setManager', { user_id: id, rank: 'manager' });
    }
    await client.call('totpDisable', { code: codes[0]! });
    const both = [
      ['totpDisable', { totp: 1 }, { totp: 0 }],
      ['totpEnable', { totp: 0 }, { totp: 1 }],
    ];
    expect(await actsOf()).toEqual(id === lowerId ? both : []);
  }
  const shown = JSON.stringify(await manager.call('adminActList', { subject: `user:${lowerId}` }));
  expect(shown).toContain('打开动态验证码');
});

test('a private session that a manager opens is in the log, once an hour, whichever way', async () => {
  const { manager, user } = world.people;
  const { uuid } = await talk(user, '只给自己看的话');
  const { id } = await user
    .call('setSession', { session_id: uuid, private: 1 })
    .then(() => user.call('getSession', { uuid }));
  const opened = async () =>
    (await manager.call('adminActList', { subject: `session:${id}`, call: 'getSession' })).list;
  await manager.call('historyList', { session_id: uuid });
  for (const reader of [lower, lower]) {
    await reader.call('adminHistoryList', { session_id: uuid });
    await reader.call('getSession', { uuid });
  }
  const acts = await opened();
  expect(acts.map(({ user_id: by }) => by)).toEqual([
    lowerId,
    (await manager.call('userInfo', {})).id,
  ]);
  for (const { to } of acts) expect(JSON.parse(to)).toEqual({ user_id: userId, private: 1 });
  // What is public, or one's own, is nobody's secret.
  await user.call('setSession', { session_id: uuid, private: 0 });
  const other = await talk(user, '大家都能看的话');
  await user.call('setSession', { session_id: other.uuid, private: 0 });
  await manager.call('historyList', { session_id: other.uuid });
  expect(await opened()).toHaveLength(2);
  const own = await talk(manager, '所有者自己的话');
  await manager.call('getSession', { uuid: own.uuid });
  expect((await manager.call('adminActList', { call: 'getSession' })).total).toBe(2);
  // Nor does a manager open by its address what the lists leave out.
  await manager.call('setSession', { session_id: own.uuid, private: 1 });
  expect((await lower.raw('getSession', { uuid: own.uuid })).code).toBe(1432);
  // Nor are words of a message shown beside a search without a line.
  const hidden = await talk(user, '琥珀色的灯塔只给自己看');
  await user.call('setSession', { session_id: hidden.uuid, private: 1 });
  const subject = `session:${hidden.id}`;
  const lines = async () => (await manager.call('adminActList', { subject })).list;
  await lower.call('adminSessionList', {});
  expect(await lines()).toEqual([]);
  const search = () => lower.call('adminSessionList', { query: '琥珀色的灯塔' });
  await expect.poll(async () => (await search()).list[0]?.match?.history_id).toBe(hidden.historyId);
  await search();
  expect(await lines()).toMatchObject([{ user_id: lowerId, call: 'getSession' }]);
});

test('a manager of the lower rank has no power over others of them', async () => {
  const owner = (await world.people.manager.call('userInfo', {})).id;
  for (const [name, input] of [
    ['resetPassword', { user_id: owner }],
    ['signOutUser', { user_id: owner }],
    ['updateUser', { user_id: owner, disabled: 1 }],
  ] as const) {
    const answer = await sendRaw(lower, name, input);
    expect(answer.envelope?.code).toBe(1490);
  }
  const { manager: own, user } = world.people;
  const kept = await talk(own, '所有者自己的事');
  const listed = await lower.call('adminSessionList', { user_id: owner });
  expect(listed.list.map(({ uuid }) => uuid)).not.toContain(kept.uuid);
  expect(listed.total).toBe(listed.list.length);
  expect((await lower.raw('adminHistoryList', { session_id: kept.uuid })).status).toBe(404);
  for (const [name, input] of [
    ['adminSetSession', { session_id: kept.uuid, private: 0 }],
    ['adminDeleteSession', { session_id: kept.uuid }],
    ['adminUpdateHistory', { id: kept.historyId, ai: '改过的' }],
    ['adminDeleteHistory', { history_id: kept.historyId }],
  ] as const)
    expect((await sendRaw(lower, name, input)).envelope?.code, name).toBe(1490);
  expect((await own.call('adminHistoryList', { session_id: kept.uuid })).total).toBe(1);
  // What two people say to each other, and what is kept nowhere, nobody opens.
  const { uuid } = await user.call('newFriend', { friend_user_id: lowerId });
  const opened = await sendRaw(lower, 'adminSetSession', { session_id: uuid, private: 0 });
  expect(opened.envelope?.code).toBe(1434);
  const last = await sendRaw(world.people.manager, 'setManager', { user_id: owner, rank: 'none' });
  expect(last.envelope?.message).toContain('至少');
});

test('tokens and memberships of managers come from owners alone, and are in the log of acts', async () => {
  const { manager, other } = world.people;
  const gift = { user_id: lowerId, tokens: 777, add: 1 as const, remarks: '加班' };
  const until = new Date(Date.now() + 86_400_000).toISOString();
  const before = (await lower.call('userInfo', {})).chatgpt_balance;
  for (const [name, input] of [
    ['updateTokens', gift],
    ['activatedAbility', { user_id: lowerId, gift: 777 }],
    ['activatedAbility', { user_id: lowerId, vip_expired_at: until }],
    ['activatedAbility', { user_id: lowerId, subscribe: 2 }],
  ] as const) {
    const { envelope } = await sendRaw(lower, name, input);
    expect(envelope).toMatchObject({ code: 1490, message: expect.stringContaining('所有者') });
  }
  expect((await lower.call('userInfo', {})).chatgpt_balance).toBe(before);
  await manager.call('updateTokens', gift);
  expect((await lower.call('userInfo', {})).chatgpt_balance).toBe(before + 777);
  const { list } = await manager.call('adminActList', { subject: `user:${lowerId}` });
  expect(list[0]).toMatchObject({ call: 'updateTokens' });
  expect(JSON.parse(list[0]!.to)).toEqual({ chatgpt_balance: before + 777 });
  const { id } = await other.call('userInfo', {});
  await lower.call('updateTokens', { ...gift, user_id: id });
});

test('balance, membership and privacy are changed, and the ledger says so', async () => {
  const { manager, other } = world.people;
  const { id, chatgpt_balance: before } = await other.call('userInfo', {});
  const added = { user_id: id, tokens: 5000, add: 1 as const, remarks: '补偿' };
  await manager.call('updateTokens', added);
  await manager.call('updateTokens', { ...added, tokens: 2000, add: 0 });
  const until = new Date(Date.now() + 30 * 86_400_000).toISOString();
  await manager.call('activatedAbility', { user_id: id, vip_expired_at: until, subscribe: 1 });
  const after = await other.call('userInfo', {});
  expect(after).toMatchObject({ chatgpt_balance: before + 3000, vip: 1, subscribe: 1 });
  expect(after.vip_balance).toBe(250_000);
  const { list } = await manager.call('adminUserLedger', { user_id: id });
  expect(list.map(({ amount }) => amount)).toContain(-2000);
  const tooMuch = await sendRaw(manager, 'updateTokens', { ...added, tokens: 1e9, add: 0 });
  expect(tooMuch.envelope?.code).toBe(1025);

  const shown = await other.call('newSession', { type: 0, private: 0 });
  await manager.call('adminSetSession', { session_id: shown.uuid, private: 0 });
  const forced = await manager.call('updateUserSession', { user_id: id, session_private: 1 });
  expect(forced.changed).toBeGreaterThan(0);
});

test('what was public is hidden from others: made private by a manager, or its person disabled', async () => {
  const { manager } = world.people;
  const { baseURL } = world.server;
  const stranger = await TestClient.register(baseURL);
  const visitor = new TestClient(baseURL);
  const account = `hidden${randomUUID().slice(0, 8)}`;
  const person = await TestClient.register(baseURL, account);
  const { id } = await person.call('userInfo', {});
  const publicTalk = async (words: string) => {
    const { uuid, historyId } = await talk(person, words);
    await person.call('setSession', { session_id: uuid, private: 0 });
    const { key } = await person.call('shareSession', { session_id: uuid });
    return { uuid, historyId, key: key ?? '' };
  };
  /** What somebody who is not the owner gets to see. */
  const seen = async ({ uuid, historyId, key }: Awaited<ReturnType<typeof publicTalk>>) => {
    const list = await visitor.call('sessionList', { channel: 'public', user_id: id });
    return {
      listed: list.list.some((each) => each.uuid === uuid),
      opened: await Promise.all(
        [stranger, visitor].map(
          async (who) => (await sendRaw(who, 'getSession', { uuid })).envelope?.code,
        ),
      ),
      read: (await sendRaw(stranger, 'historyList', { session_id: uuid })).envelope?.code,
      streamed:
        (await sendRaw(stranger, 'eventStream', { session_id: uuid, history_id: historyId }))
          .envelope?.code ?? 0,
      shared: (await sendRaw(visitor, 'sharedSession', { key })).status,
    };
  };
  const open = { listed: true, opened: [0, 0], read: 0, streamed: 0 };
  const hidden = { listed: false, opened: [1432, 1432], read: 1432, streamed: 1432 };

  const [first, second] = [
    await publicTalk('以前公开的第一个'),
    await publicTalk('以前公开的第二个'),
  ];
  for (const each of [first, second]) expect(await seen(each)).toMatchObject(open);
  expect((await seen(first)).shared).toBe(200);
  const made = { user_id: id, history_private: 1 as const };
  expect(await manager.call('updateUserSession', made)).toEqual({ changed: 2 });
  for (const each of [first, second]) expect(await seen(each)).toMatchObject(hidden);
  // Only what was, is hidden: the person still has it, and may show it again.
  expect((await person.call('getSession', { uuid: first.uuid })).private).toBe(1);
  await person.call('setSession', { session_id: first.uuid, private: 0 });
  expect(await seen(first)).toMatchObject(open);

  const third = await publicTalk('禁用之前公开的');
  expect(await seen(third)).toMatchObject({ ...open, shared: 200 });
  await manager.call('updateUser', { user_id: id, disabled: 1 });
  expect(await seen(third)).toMatchObject({ ...hidden, shared: 404 });
  expect(await seen(first)).toMatchObject(hidden);
  const signIn = () =>
    sendRaw(new TestClient(baseURL), 'login', { account, password: 'password-1' });
  expect((await signIn()).envelope?.code).toBe(3001);
  for (const name of ['userInfo', 'ticket'] as const)
    expect((await sendRaw(person, name, {})).envelope?.code, name).toBe(3001);
  const { list } = await manager.call('adminActList', { subject: `user:${id}` });
  expect(JSON.parse(list[0]!.to)).toEqual({ disabled: true, hidden: 2 });

  await manager.call('updateUser', { user_id: id, disabled: 0 });
  expect((await signIn()).envelope?.code).toBe(0);
  expect(await seen(third)).toMatchObject({ ...open, shared: 200 });

  const { ended } = await manager.call('signOutUser', { user_id: id });
  expect(ended).toBe(2);
  expect((await sendRaw(person, 'userInfo', {})).status).toBe(401);
});

test('a person is found by any part of a name or account, however written', async () => {
  const { manager } = world.people;
  const found = async (query: string) =>
    (await manager.call('adminUserList', { query })).list.map(({ user_id: id }) => id);
  const person = await TestClient.register(world.server.baseURL, 'Zhu-Que-77');
  const { id } = await person.call('userInfo', {});
  await person.call('saveUser', { user_name: '朱雀 Äpfel 白虎' });
  for (const query of ['雀', '白虎', '朱雀 äp', 'PFEL', 'que-77', 'Q', ' 雀 äpfel 白 '])
    expect(await found(query), query).toContain(id);
  // All its letters are there, but not one after the other; the account does not go on in the name.
  for (const query of ['雀白', '虎白', 'que-7朱', '77\n朱', '%', '雀_'])
    expect(await found(query), query).not.toContain(id);
});

test('sessions are found by their words, read, changed and deleted', async () => {
  const { manager, user } = world.people;
  const own = await talk(user, '紫藤花开在几月，怎么养护');
  await expect
    .poll(
      async () =>
        (await manager.call('adminSessionList', { query: '紫藤花' })).list.map(({ id }) => id),
      { timeout: 10_000 },
    )
    .toContain(own.id);
  await manager.call('adminUpdateHistory', { id: own.historyId, ai: '四月到五月' });
  const read = await manager.call('adminHistoryList', { session_id: own.uuid });
  expect(read.list[0]).toMatchObject({
    human: '紫藤花开在几月，怎么养护',
    ai: '四月到五月',
    type: 0,
    title: '',
    content: '',
    liked: false,
    in_favorites: false,
  });
  const seen = await user.call('historyList', { session_id: own.uuid });
  expect(JSON.stringify(seen)).toContain('四月到五月');
  await manager.call('adminDeleteHistory', { history_id: own.historyId });
  expect((await manager.call('adminHistoryList', { session_id: own.uuid })).total).toBe(0);
  await manager.call('adminDeleteSession', { session_id: own.uuid });
  const { list } = await manager.call('adminSessionList', { uuid: own.uuid });
  expect(list[0]).toMatchObject({ deleted: 1 });
});

test('a service is tried, added, rotates its keys and answers; its key never comes back', async () => {
  const { manager, user } = world.people;
  const service = {
    kind: 'openai-compatible' as const,
    base_url: mock.baseURL,
    api_key: 'sk-first-key-000001\nsk-second-key-00002',
  };
  const trial = await manager.call('testChannel', { ...service, model: 'trial-model' });
  expect(trial).toMatchObject({ ok: true });
  const { id } = await manager.call('saveChannel', {
    ...service,
    label: '试用服务',
    models: [{ name: 'trial-model', factor: 3 }],
  });
  const { models } = await user.call('models', {});
  expect(models.find(({ name }) => name === 'trial-model')).toMatchObject({ factor: 3 });
  const listed = await manager.call('channelList', {});
  const saved = listed.list.find((each) => each.id === id);
  expect(saved).toMatchObject({ key_count: 2, models: ['trial-model'], key_hint: 'sk-…0001' });
  expect(JSON.stringify(listed)).not.toContain('first-key');
  const session = await user.call('newSession', { type: 0, model: 'trial-model' });
  for (const msg of ['请介绍一下西湖', '再说说断桥']) {
    const sent = await user.call('sendMessage', { session_id: session.uuid, msg });
    await user.read(session.uuid, sent.id);
  }
  await manager.call('setChannel', { id, enabled: 0 });
  const gone = await user.call('models', {});
  // What names it can still tell its label; nobody chooses it.
  expect(gone.models.find(({ name }) => name === 'trial-model')).toMatchObject({
    disable: 1,
    display: false,
  });
  await manager.call('delChannel', { id });
});

test('a trial tries what was wanted where the service has it, and says what is usual there', async () => {
  const { manager } = world.people;
  const service = {
    kind: 'openai-compatible' as const,
    base_url: mock.baseURL,
    api_key: 'sk-first-key-000001',
  };
  const tried = async (wanted: string[]) => {
    const { model, models } = await manager.call('testChannel', { ...service, wanted });
    return [model, models.filter(({ usual }) => usual).map(({ name }) => name)];
  };
  const usual = ['mock-chat', 'mock-mini'];
  expect(await tried(['gone-chat', 'mock-chat'])).toEqual(['mock-chat', usual]);
  // Else the cheap one.
  expect(await tried(['gone-chat'])).toEqual(['mock-mini', usual]);
  expect(await tried([])).toEqual(['mock-mini', usual]);
});

test('services that embed and train are connected by form, tried, used and switched off', async () => {
  const { manager, user } = world.people;
  const side = await startMockTraining();
  try {
    const embedding = { kind: 'embedding' as const, base_url: `${side.url}/v1`, api_key: 'sk-e' };
    const trial = await manager.call('testChannel', { ...embedding, model: 'mock-embedding' });
    expect(trial).toMatchObject({ ok: true, message: expect.stringMatching(/\d+ 维向量/) });
    const bare = await sendRaw(manager, 'saveChannel', { ...embedding, label: '向量' });
    expect(bare.envelope?.message).toContain('模型');
    const { id } = await manager.call('saveChannel', {
      ...embedding,
      label: '向量',
      models: [{ name: 'mock-embedding' }],
    });
    const half = {
      kind: 'replicate' as const,
      base_url: `${side.url}/replicate`,
      api_key: 'r8-key',
      label: '训练服务',
      trainer: 'someone/lora:v1',
    };
    expect((await sendRaw(manager, 'saveChannel', half)).envelope?.message).toContain('结果');
    const { id: second } = await manager.call('saveChannel', { ...half, destination: 'me/style' });
    await expect
      .poll(() => user.call('trainEngines', {}), { timeout: 10_000 })
      .toMatchObject({
        embedding: ['mock-embedding'],
        lora: expect.stringContaining('someone/lora'),
      });
    const { list } = await manager.call('channelList', {});
    expect(list.find((each) => each.id === second)).toMatchObject({
      trainer: 'someone/lora:v1',
      destination: 'me/style',
    });
    expect(JSON.stringify(list)).not.toContain('r8-key');
    // They answer nobody in a session.
    const { models } = await user.call('models', {});
    expect(models.some(({ name }) => name === 'mock-embedding')).toBe(false);
    await manager.call('setChannel', { id, enabled: 0 });
    await manager.call('delChannel', { id: second });
    await expect
      .poll(() => user.call('trainEngines', {}), { timeout: 10_000 })
      .toMatchObject({ embedding: [], lora: '' });
    await manager.call('delChannel', { id });
  } finally {
    await side.stop();
  }
});

test('what a manager sets of a model holds: for the API, its sizes, its checkpoints and their prices @G7', async () => {
  const { manager, user } = world.people;
  const all = (await manager.call('adminModelList', { page_size: 100 })).list;
  const chat = all.find(({ unique_key }) => unique_key === 'builtin-assistant')!;
  await manager.call('setModel', { id: chat.id, disable_api: 1, api_max_tokens: 777 });
  const [row] = (await manager.call('adminModelList', { unique_key: chat.unique_key })).list;
  expect(row).toMatchObject({ disable_api: 1, api_max_tokens: 777, image_choice: null });
  const { models } = await user.call('models', {});
  expect(models.find(({ name }) => name === chat.unique_key)).toMatchObject({ disable_api: 1 });
  await manager.call('setModel', { id: chat.id, disable_api: 0, api_max_tokens: null });
  const wrong = await sendRaw(manager, 'setModel', { id: chat.id, sizes: ['512x512'] });
  expect(wrong.envelope?.code).toBe(1490);

  const canvas = all.find(({ unique_key }) => unique_key === 'builtin-canvas')!;
  const strange = await sendRaw(manager, 'setModel', { id: canvas.id, sizes: ['13x13'] });
  expect(strange.status).toBe(422);
  const none = await sendRaw(manager, 'setModel', { id: canvas.id, checkpoints: ['没有'] });
  expect(none.envelope?.message).toContain('没有大模型');
  // Two checkpoints, as a service would have told of them.
  await database.query(`UPDATE models SET image = $2 WHERE id = $1`, [
    canvas.id,
    JSON.stringify({
      family: 'built-in',
      abilities: ['text-to-image'],
      sizes: [],
      checkpoints: [
        { name: 'plain', label: 'plain', factor: null },
        { name: 'fine', label: 'fine', factor: 5 },
      ],
      default_checkpoint: 'plain',
      default_count: 1,
      max_count: 4,
      default_translate: false,
    }),
  ]);
  await manager.call('setModel', {
    id: canvas.id,
    sizes: ['512x512'],
    checkpoints: ['fine'],
    factors: { fine: 7 },
  });
  const offered = (await user.call('models', {})).models.find(
    ({ name }) => name === 'builtin-canvas',
  );
  expect(offered).toMatchObject({
    sizes: ['512x512'],
    checkpoints: ['fine'],
    factors: { fine: 7 },
    default_checkpoint: 'fine',
  });
  const { uuid } = await user.call('newSession', { type: 1, model: 'builtin-canvas' });
  const sent = await user.call('sendMessage', { session_id: uuid, msg: '山间的月亮' });
  const refused = await sendRaw(user, 'generateImage', {
    history_id: sent.id,
    request_id: randomUUID(),
    checkpoint: 'plain',
  });
  expect(refused.envelope?.message).toContain('大模型');
  await manager.call('setModel', { id: canvas.id, sizes: [], checkpoints: [], factors: {} });
});

test('projects of people are found, renamed, hidden and deleted @G7', async () => {
  const { manager, user, other } = world.people;
  const made = async (client: TestClient, key: string) =>
    (await client.call('newTrainModel', { name: '园艺笔记', key, type: 0, private: 0 })).model;
  const own = await made(user, 'garden_one');
  await made(other, 'garden_two');
  const found = await manager.call('adminTrainList', { user_id: userId });
  expect(found.list.map(({ key }) => key)).toEqual(['garden_one']);
  expect((await manager.call('adminTrainList', { unique_key: 'GARDEN_TWO' })).total).toBe(1);
  expect((await manager.call('adminTrainList', { name: '园艺', type: 0 })).total).toBe(2);
  expect((await manager.call('adminTrainList', { name: '园艺', type: 1 })).total).toBe(0);
  await manager.call('setTrainProject', { id: own.id, name: '花园', private: 1 });
  // Opening it is its owner's alone.
  const opened = await sendRaw(manager, 'setTrainProject', { id: own.id, private: 0 });
  expect(opened.envelope?.code).toBe(1490);
  expect((await other.raw('trainModel', { model_id: own.id })).status).toBe(404);
  expect((await user.call('trainModel', { model_id: own.id })).model.name).toBe('花园');
  await manager.call('delTrainProject', { id: own.id });
  expect((await user.raw('trainModel', { model_id: own.id })).status).toBe(404);
  const { list } = await manager.call('adminActList', { subject: `train:${own.id}` });
  expect(list.map(({ call }) => call)).toEqual(['delTrainProject', 'setTrainProject']);
});

test('what managers block is written nowhere that everybody reads', async () => {
  const { manager, user } = world.people;
  const { added } = await manager.call('addBlockedWords', { words: ['Bad Word', 'badword'] });
  expect(added).toBe(1);
  const { list } = await manager.call('blockedWordList', { query: 'BADW' });
  expect(list.map(({ word }) => word)).toEqual(['badword']);
  const { uuid } = await user.call('newSession', { type: 2, private: 0 });
  const say = (msg: string) => sendRaw(user, 'sendMessage', { session_id: uuid, msg });
  expect((await say('这里有一个 B a d\u200b W o r d，请看')).envelope?.code).toBe(1437);
  expect((await say('这里什么也没有，请看')).envelope?.code).toBe(0);
  const named = await sendRaw(user, 'saveUser', { user_name: 'ＢＡＤword' });
  expect(named.envelope?.code).toBe(1437);
  // Neither do managers give such names, nor those that the service speaks by.
  const renamedTo = (user_name: string) =>
    sendRaw(manager, 'updateUser', { user_id: userId, user_name });
  expect((await renamedTo('一个 Bad Word')).envelope?.code).toBe(1437);
  for (const name of ['鹊桥官方', 'Ａｄｍｉｎ', '   '])
    expect((await renamedTo(name)).status).toBe(422);
  expect((await renamedTo('园丁')).envelope?.code).toBe(0);
  expect((await user.call('userInfo', {})).user_name).toBe('园丁');
  const registered = await sendRaw(new TestClient(world.server.baseURL), 'register', {
    account: 'of-a-bad-name',
    name: '一个 BadWord',
    password: 'password-1',
    password2: 'password-1',
  });
  expect(registered.envelope?.code).toBe(1437);
  const renamed = (title: string) => sendRaw(user, 'setSession', { session_id: uuid, title });
  expect((await renamed('关于 bad word')).envelope?.code).toBe(1437);
  expect((await renamed('关于园艺')).envelope?.code).toBe(0);
  const { list: categories } = await user.call('scenarioCategory', {});
  const template = (publish: number) =>
    sendRaw(user, 'saveScenario', {
      name: '新场景',
      prompt: '请写 badword：{{input}}',
      desc_: '',
      color: '#3366cc',
      category: categories[0]!.id,
      publish,
    });
  expect((await template(1)).envelope?.code).toBe(1437);
  expect((await template(0)).envelope?.code).toBe(0);
  // Between a person and a model it is their own affair.
  const chat = await user.call('newSession', { type: 0 });
  const own = await sendRaw(user, 'sendMessage', { session_id: chat.uuid, msg: '什么是 bad word' });
  expect(own.envelope?.code).toBe(0);
  await user.call('setSession', { session_id: chat.uuid, private: 1 });
  expect(
    (await sendRaw(user, 'setSession', { session_id: chat.uuid, title: 'badword' })).envelope?.code,
  ).toBe(0);
  const opened = await sendRaw(user, 'setSession', { session_id: chat.uuid, private: 0 });
  expect(opened.envelope?.code).toBe(1437);
  await manager.call('delBlockedWord', { id: list[0]!.id });
  expect((await say('现在可以写 badword 了')).envelope?.code).toBe(0);
});

test('the library of words for pictures is added to, changed, taken from and given back', async () => {
  const { manager, user } = world.people;
  const offered = async (type: 'draw' | 'quality') =>
    (await user.call('keywordList', { type })).keywords;
  const total = (await manager.call('manageKeywordList', {})).total;
  const own = {
    type: 'draw' as const,
    text: 'lacquer painting',
    lang_zh: '漆画',
    dir: '绘画',
    sub_dir: '风格',
  };
  const { id } = await manager.call('manageKeyword', own);
  expect((await offered('draw')).find((each) => each.id === id)).toMatchObject({
    text: 'lacquer painting',
    lang_zh: '漆画',
  });
  const twice = await sendRaw(manager, 'manageKeyword', { ...own, text: 'Lacquer Painting' });
  expect(twice.envelope?.message).toContain('已经有');
  const list = async (filter: object) => (await manager.call('manageKeywordList', filter)).list;
  expect(await list({ query: '漆' })).toMatchObject([{ id, built_in: 0 }]);
  // One of the program's own: changed, taken away, and as it came again.
  const first = (await offered('quality'))[0]!;
  const { set } = await user.call('topKeyword', { id: first.id, type: 'quality' });
  expect(set).toBe(true);
  const changed = { id: first.id, type: 'quality' as const, text: 'magnum opus', lang_zh: '巨作' };
  await manager.call('manageKeyword', { ...changed, dir: first.dir, sub_dir: first.sub_dir });
  expect((await offered('quality')).find((each) => each.id === first.id)).toMatchObject({
    text: 'magnum opus',
    top: true,
  });
  await manager.call('removeKeyword', { id: first.id });
  expect((await offered('quality')).some((each) => each.id === first.id)).toBe(false);
  expect((await user.raw('hideKeyword', { id: first.id, type: 'quality' })).status).toBe(404);
  expect(await list({ state: 'removed' })).toMatchObject([{ id: first.id, removed: 1 }]);
  await manager.call('removeKeyword', { id: first.id, restore: 1 });
  expect((await offered('quality')).find((each) => each.id === first.id)?.text).toBe(first.text);
  await manager.call('removeKeyword', { id });
  expect((await offered('draw')).some((each) => each.id === id)).toBe(false);
  expect((await manager.call('manageKeywordList', {})).total).toBe(total);
});

test('figures, charts and ranks follow what people do', async () => {
  const { manager } = world.people;
  const summary = await manager.call('adminSummary', {});
  expect(summary.user_count).toBeGreaterThanOrEqual(4);
  expect(summary.history_count).toBeGreaterThan(0);
  const chart = await manager.call('adminChartList', { range: '1h' });
  expect(chart.requestCounts.length).toBeGreaterThanOrEqual(12);
  const days = await manager.call('adminChartList', { range: '1m' });
  expect(days.requestCounts.at(-1)?.days).toMatch(/^\d{4}-\d\d-\d\d$/);
  // Long ago is counted by days and all the same as every five minutes.
  await database.query(`INSERT INTO orders (number, user_id, kind, type, title, amount, tokens,
      provider, state, paid_at, created_at)
    SELECT 'QLold' || n, ${userId}, 'token', 1, '充值', 2000, 1, 'sandbox', 'paid',
      now() - n * interval '7 hours', now() - n * interval '7 hours' FROM generate_series(1, 90) n`);
  await database.query('DELETE FROM stat_marks');
  await database.query(`UPDATE stat_days SET value = value + 1000`);
  const orders = (await manager.call('adminSummary', {})).order_count;
  const { rows: counted } = await database.query(`SELECT (SELECT count(*)::int FROM orders
      WHERE paid_at IS NOT NULL AND provider <> '') AS orders,
    (SELECT sum(value)::int FROM stat_days WHERE metric = 'order') AS days,
    (SELECT count(*)::int FROM stat_days d WHERE value <> (SELECT sum(value) FROM stat_steps s
      WHERE s.metric = d.metric AND (s.at AT TIME ZONE 'Asia/Shanghai')::date = d.day)) AS wrong`);
  expect(counted[0]).toEqual({ orders, days: orders, wrong: 0 });
  const totals = async () => (await manager.call('adminOrderList', { type: 'all' })).days;
  const before = await totals();
  expect(before.length).toBeGreaterThan(25);
  expect(before.map(({ day }) => day)).toEqual(before.map(({ day }) => day).sort());
  await database.query(`INSERT INTO orders (number, user_id, kind, type, title, amount, tokens,
      provider, state, paid_at)
    VALUES ('QLnow', ${userId}, 'token', 1, '充值', 2000, 1, '', 'paid', now())`);
  const after = await totals();
  expect(after.reduce((sum, { amount }) => sum + amount, 0)).toBe(
    before.reduce((sum, { amount }) => sum + amount, 0) + 2000,
  );
  await manager.call('adminRankList', {});
  const state = await manager.call('adminService', {});
  expect(state.requests).toBeGreaterThan(10);
  const metrics = (token: string) =>
    fetch(`${world.server.baseURL}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  expect((await metrics('wrong')).status).toBe(404);
  expect(await (await metrics('metrics-token-1')).text()).toContain('queqiao_call_seconds');
});

test('a notice is published, scheduled, changed and deleted', async () => {
  const { manager, user } = world.people;
  const save = async (fields: Record<string, string>, file?: Blob) => {
    const form = new FormData();
    for (const [key, value] of Object.entries(fields)) form.set(key, value);
    if (file) form.set('file', file, '说明.txt');
    const response = await fetch(`${world.server.baseURL}/api/admin/save_notice`, {
      method: 'POST',
      headers: manager.headers(),
      body: form,
    });
    return ((await response.json()) as { data: { id: number } }).data.id;
  };
  const now = await save({ notice: '## 今晚维护\n\n一小时' }, new Blob(['附件']));
  const later = new Date(Date.now() + 3_600_000).toISOString();
  await save({ notice: '以后的公告', publish_at: later });
  const { list } = await user.call('noticeInfo', {});
  // As it was written: a form carries each line's end as two characters.
  expect(list.map(({ content }) => content)).toEqual(['## 今晚维护\n\n一小时']);
  expect(await save({ notice: '## 改过', id: String(now) })).toBe(now);
  const all = await manager.call('adminNoticeList', { query: '改过' });
  expect(all.list[0]).toMatchObject({ file_name: '说明.txt', published: 1 });
  // Who attached it can look at it; who has no subscription cannot.
  expect(all.list[0]?.code_url).toBe(`/api/download_source_code?id=${now}`);
  expect((await user.call('downloadSourceCode', { id: now })).url).toBe('');
  const { url, license, notices } = await manager.call('downloadSourceCode', { id: now });
  const textAt = async (address: string) => (await fetch(world.server.baseURL + address)).text();
  expect(await textAt(url)).toBe('附件');
  expect(await textAt(license)).toMatch(/^MIT License/);
  expect(await textAt(notices)).toMatch(/^鹊桥 · 第三方声明/);
  await save({ notice: '## 换了附件', id: String(now) }, new Blob(['新的附件']));
  const again = await manager.call('downloadSourceCode', { id: now });
  expect(await (await fetch(world.server.baseURL + again.url)).text()).toBe('新的附件');
  await manager.call('delNotice', { id: now });
});

test('what a person stores is all of it, files of training included', async () => {
  const { manager } = world.people;
  const person = await TestClient.register(world.server.baseURL);
  const { id } = await person.call('userInfo', {});
  const bytes = async () =>
    (await manager.call('adminUserInfo', { user_id: id })).figures.file_bytes;
  expect(await bytes()).toBe(0);
  const { model } = await person.call('newTrainModel', {
    name: '六个文件',
    key: `stored_${id}`,
    type: 0,
  });
  const form = new FormData();
  form.set('file', new Blob(['床前明月光。']), '诗.txt');
  const address = `${person.baseURL}/api/train/upload_file?model_id=${model.id}&start=0`;
  await fetch(address, { method: 'POST', headers: person.headers(), body: form });
  expect(await bytes()).toBe(18);
});

/** Rows of every list that is sorted, in no order by anything. */
const fillLists = async (owner: number, session: number): Promise<void> => {
  const mixed = '((n * 7919) % 31)';
  for (const filling of [
    `INSERT INTO users (user_name, guest, vip_expired_at, created_at)
     SELECT 's' || n, true, CASE WHEN n % 3 > 0 THEN now() + ${mixed} * interval '1 day' END,
       now() - ${mixed} * interval '1 hour' FROM generate_series(1, 25) n`,
    `INSERT INTO wallets (user_id, balance)
     SELECT id, (id * 7919) % 31 FROM users WHERE guest AND user_name LIKE 's%' AND id % 4 > 0
     ON CONFLICT DO NOTHING`,
    `INSERT INTO orders (number, user_id, kind, type, title, amount, tokens, provider, state,
       paid_at, created_at)
     SELECT 'S' || n, $1, 'token', 1, '充值', ${mixed}, n % 5, 'sandbox', 'closed',
       CASE WHEN n % 3 > 0 THEN now() - ${mixed} * interval '1 minute' END,
       now() - ${mixed} * interval '1 hour' FROM generate_series(1, 45) n`,
    `INSERT INTO sessions (type, user_id, model, prompt, private, reply_count, like_count, created_at)
     SELECT 0, $1, 'm', '排序 ' || n, true, ${mixed}, n % 4, now() - ${mixed} * interval '1 hour'
     FROM generate_series(1, 25) n`,
    `INSERT INTO training_projects (user_id, key, name, type, status, token, created_at)
     SELECT $1, 'sort_' || n, 's' || n, 0, 0, ${mixed}, now() - ${mixed} * interval '1 hour'
     FROM generate_series(1, 25) n`,
    `INSERT INTO training_files (project_id, name, kind, status)
     SELECT p.id, 'f', 'txt', 1 FROM training_projects p, generate_series(1, 3) n
     WHERE p.key LIKE 'sort_%' AND p.id % 4 >= n`,
    `INSERT INTO manager_acts (user_id, call, subject, input, created_at)
     SELECT $1, 'setOrder', 'order:S1', '{}', now() - ${mixed} * interval '1 hour'
     FROM generate_series(1, 45) n`,
    `INSERT INTO ledger (user_id, pot, kind, amount, reference, remark, created_at)
     SELECT $1, 'balance', 'grant', ${mixed}, '', '', now() - ${mixed} * interval '1 hour'
     FROM generate_series(1, 45) n`,
    `INSERT INTO usage_days (user_id, day, type, model, requests, records)
     VALUES ($1, now()::date, 0, 'sorted', 45, 45)`,
    `INSERT INTO consumptions (user_id, type, model, human, prompt_tokens, completion_tokens,
       deduct_tokens, current_balance, created_at)
     SELECT $1, 0, 'sorted', '', n % 4, ${mixed}, n % 7, ${mixed} * 2,
       now() - ${mixed} * interval '1 hour' FROM generate_series(1, 45) n`,
    `INSERT INTO apps (title, state, price, first_rating, updated_at)
     SELECT 's' || n, 'published', ${mixed}, n % 11, now() - ${mixed} * interval '1 hour'
     FROM generate_series(1, 25) n`,
    `INSERT INTO orders (number, user_id, kind, subject, type, title, amount, provider, state, paid_at)
     SELECT 'A' || a.id || 'x' || n, $1, 'app', a.id::text, 6, '应用', a.id % 9 + 1, 'sandbox', 'paid',
       now() FROM apps a, generate_series(1, 3) n WHERE a.id % 4 >= n`,
    `INSERT INTO reports (user_id, session_id, history_id, reason, created_at)
     SELECT $1, $2, n, 'spam', now() - ${mixed} * interval '1 hour' FROM generate_series(1, 45) n`,
  ])
    await database.query(
      filling,
      [owner, session].slice(0, filling.includes('$2') ? 2 : filling.includes('$1') ? 1 : 0),
    );
};

test('lists are sorted whole, both ways, by what is offered; a long one by what has an index', async () => {
  const { manager, user } = world.people;
  await fillLists(userId, world.talks.user.id);
  type Row = Record<string, unknown>;
  const rowsOf = async (list: SortedList, by: object): Promise<Row[]> => {
    const client = list === 'transactionList' ? user : manager;
    const own = list === 'adminUserLedger' ? { user_id: userId } : {};
    const all: Row[] = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const read = await client.call(list, { ...own, ...by, page });
      const { list: rows, page_count } = read as unknown as { list: Row[]; page_count: number };
      all.push(...rows);
      pages = page_count;
    }
    return all;
  };
  const valueOf = (row: Row, key: string) => row[key === 'progress' ? 'over_num' : key] ?? null;
  const idsOf = (rows: Row[]) =>
    rows
      .map((row) => Number(row['user_id'] && !row['id'] ? row['user_id'] : row['id']))
      .sort((a, b) => a - b);
  for (const list of Object.keys(sorts) as SortedList[]) {
    const usual = await rowsOf(list, {});
    for (const sort of sorts[list])
      for (const order of ['asc', 'desc'] as const) {
        const where = `${list} ${sort} ${order}`;
        const rows = await rowsOf(list, { sort, order });
        // Each once, on whatever page.
        expect(idsOf(rows), where).toEqual(idsOf(usual));
        const values = rows.map((row) => valueOf(row, sort));
        const known = values.filter((value) => value !== null);
        expect(values.slice(0, known.length), where).toEqual(known);
        // Words go by the database's alphabet.
        if (typeof known[0] === 'string' && sort === 'label') continue;
        const sorted = [...known].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
        expect(known, where).toEqual(order === 'asc' ? sorted : sorted.toReversed());
      }
  }
  // What was found by its words is sorted, too.
  const found = await manager.call('adminUserList', {
    query: 's',
    sort: 'created_at',
    order: 'asc',
  });
  const times = found.list.map(({ created_at }) => created_at);
  expect(times).toEqual([...times].sort());
  const talks = await manager.call('adminSessionList', { query: '排序', sort: 'reply_count' });
  const replies = talks.list.map(({ reply_count }) => reply_count);
  expect(replies).toEqual([...replies].sort((a, b) => b - a));
  expect(talks.total).toBe(25);

  for (const bad of [{ sort: 'password_hash' }, { sort: 'created_at', order: 'up; DROP' }])
    expect((await manager.raw('adminUserList', bad)).status, JSON.stringify(bad)).toBe(422);
  await database.query(
    `INSERT INTO orders (number, user_id, kind, type, title, amount, provider, state)
     SELECT 'L' || n, $1, 'token', 1, '充值', 1, 'sandbox', 'closed' FROM generate_series(1, 10000) n`,
    [userId],
  );
  expect((await manager.raw('adminOrderList', { sort: 'amount' })).message).toContain('请先筛选');
  await manager.call('adminOrderList', { sort: 'amount', type: 'paid' });
  await manager.call('adminOrderList', { sort: 'created_at', order: 'asc' });
});

test('a manager closes an order that nobody paid, once, and the log says whose', async () => {
  const { manager, other } = world.people;
  const { trade_no: number } = await other.call('recharge', { type: 'token', num: 1 });
  await manager.call('closeOrder', { order_id: number });
  expect((await other.call('tradeStatus', { platform_order_id: number })).state).toBe('closed');
  expect(await manager.raw('closeOrder', { order_id: number })).toMatchObject({
    code: 1442,
    message: '只能取消还没有付款的订单',
  });
  const { list } = await manager.call('adminActList', { subject: `order:${number}` });
  expect(list.map(({ call, to }) => [call, to])).toEqual([['closeOrder', '{"state":"closed"}']]);
});
