import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { createBooksCheck } from '#server/areas/ledger/books-check.ts';
import { openDatabase } from '#server/db/database.ts';
import { type ApiUser, apiUser } from '../support/api-user.ts';
import { TestClient } from '../support/client.ts';
import { makeFilm } from '../support/films.ts';
import { paint } from '../support/images.ts';
import { ADMIN_PASSWORD } from '../support/server.ts';
import { stageWithModels } from '../support/stage.ts';

/** One source and one meaning: each figure of administration is what the raw rows say. */

const here = stageWithModels('mock-a,mock-b');
let manager: TestClient;
let person: TestClient;
let personId: number;
let program: ApiUser;
beforeAll(async () => {
  manager = new TestClient(here.server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  person = await TestClient.register(here.server.baseURL);
  personId = (await person.call('userInfo', {})).id;
});

const one = async (query: string): Promise<number> => {
  const { rows } = await here.database.query<{ n: string | null }>(query);
  return Number(rows[0]?.n ?? 0);
};
const settled = async (client: TestClient, said: { uuid: string; id: number }) =>
  void (await client.read(said.uuid, said.id));
const speak = (client: TestClient) =>
  fetch(`${here.server.baseURL}/api/text_to_speech`, {
    method: 'POST',
    headers: { ...client.headers(), 'content-type': 'application/json' },
    body: JSON.stringify({ text: '你好' }),
  });
const order = async () => {
  const made = await person.call('recharge', { type: 'token', num: 1 });
  const key = new URL(made.url).searchParams.get('key') ?? '';
  const pay = async () => {
    await person.call('sandboxSettle', { key, pay: 1 });
    await person.call('tradeStatus', { platform_order_id: made.trade_no });
  };
  return { number: made.trade_no, pay };
};

const complete = async (model: string): Promise<number> => {
  const answer = await fetch(`${here.server.baseURL}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...program.client.headers(), 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: '你好' }] }),
  });
  await answer.text();
  return answer.status;
};

/** All that people do: talks, retries, failures, pictures, films, speech, programs, posts, money. */
const live = async () => {
  const first = await person.ask('今天天气怎么样呢', { model: 'mock-a' });
  await settled(person, first);
  await settled(person, await person.ask('再说一点吧好吗', { sessionId: first.uuid }));
  program = await apiUser(here.server);
  expect(await complete('mock-a')).toBe(200);
  expect((await person.call('translate', { msg: '江上的渡船', model: 'mock-a' })).translated).toBe(
    true,
  );
  here.mock.always('500');
  const failed = await person.ask('这次会出错的问题', { model: 'mock-b' });
  await settled(person, failed);
  expect(await complete('mock-b')).toBeGreaterThanOrEqual(500);
  expect((await person.raw('translate', { msg: '江上的渡船', model: 'mock-b' })).code).not.toBe(0);
  here.mock.always('normal');
  await person.call('retryMessage', { session_id: failed.uuid, history_id: failed.id });
  await settled(person, failed);
  await paint(person, '一座石桥', { image: { n: 1 } });
  await (await speak(person)).arrayBuffer();
  expect((await makeFilm(person)).job.state).toBe('done');
  const { uuid } = await person.call('newSession', { type: 2 });
  await person.call('sendMessage', { session_id: uuid, msg: '有人知道吗？' });
  await manager.call('updateTokens', { user_id: personId, tokens: 500, remarks: '赠送' });
  const [paid, refunded, closed] = [await order(), await order(), await order()];
  await paid.pay();
  await refunded.pay();
  await manager.call('refundOrder', { order_id: refunded.number, amount: 2000, reason: '试一试' });
  await person.call('closeTrade', { platform_order_id: closed.number });
};

/** Figures are up to five seconds old. */
const anew = () => here.database.query('DELETE FROM stat_marks');

test('each figure of each screen is what the rows say', async () => {
  await live();
  await anew();
  const summary = await manager.call('adminSummary', {});
  const counts = {
    user_count: await one('SELECT count(*) AS n FROM users WHERE NOT guest'),
    // What somebody paid: nothing closed, and no gift.
    order_count: await one(
      `SELECT count(*) AS n FROM orders WHERE state IN ('paid', 'refunded') AND provider <> ''`,
    ),
    session_count: await one('SELECT count(*) AS n FROM sessions'),
    history_count: await one('SELECT count(*) AS n FROM history'),
    image_count: await one('SELECT count(*) AS n FROM images'),
  };
  expect(counts.order_count).toBe(2);
  expect(summary).toMatchObject({ ...counts, today: counts });
  expect(summary.vip_count).toBe(
    await one('SELECT count(*) AS n FROM users WHERE vip_expired_at > now()'),
  );

  const chart = await manager.call('adminChartList', { range: '1w' });
  const sum = (rows: readonly { count?: number; tokens?: number }[]) =>
    rows.reduce((all, { count = 0, tokens = 0 }) => all + count + tokens, 0);
  const spent = await one('SELECT sum(deduct_tokens) AS n FROM consumptions');
  // Talks and their retry, failures, a picture, a film, speech, a text translated, programs: no post is a request.
  const asked = { 'mock-a': 4, 'mock-b': 4, 'builtin-canvas': 1, 'builtin-film': 1, speech: 1 };
  expect(sum(chart.requestCounts)).toBe(Object.values(asked).reduce((all, n) => all + n));
  expect(sum(chart.sessionCounts)).toBe(counts.session_count);
  expect(sum(chart.userCounts)).toBe(counts.user_count);
  expect(sum(chart.tokenCounts)).toBe(spent);

  const day = new Date(Date.now() + 8 * 3_600_000).toISOString().slice(0, 10);
  const stats = await manager.call('adminModelStats', { start_date: day, end_date: day });
  const named = (name: string) => stats.models.find(({ model }) => model === name);
  for (const name of ['mock-a', 'mock-b'] as const)
    expect(named(name), name).toMatchObject({
      request_count: asked[name],
      error_count: name === 'mock-b' ? 3 : 0,
      tokens: await one(`SELECT sum(deduct_tokens) AS n FROM consumptions WHERE model = '${name}'`),
    });
  for (const name of ['builtin-canvas', 'builtin-film'])
    expect(named(name), name).toMatchObject({ request_count: 1, error_count: 0, tokens: 0 });
  const errors = stats.models.reduce((all, { error_count }) => all + error_count, 0);
  expect(errors).toBe(await one('SELECT count(*) AS n FROM model_uses WHERE failed'));
  expect(stats.modelUserStats.reduce((all, { error_count }) => all + error_count, 0)).toBe(errors);
  expect(stats.models.reduce((all, { tokens }) => all + tokens, 0)).toBe(spent);
  expect(stats.list.reduce((all, { tokens }) => all + tokens, 0)).toBe(spent);
  const users = stats.modelUserStats.reduce((all, row) => all + row.request_count, 0);
  expect(users).toBe(sum(chart.requestCounts));

  const { day: ranked } = await manager.call('adminRankList', {});
  for (const { user_id: id, deduct_tokens: tokens } of ranked)
    expect(tokens).toBe(
      await one(`SELECT sum(deduct_tokens) AS n FROM consumptions WHERE user_id = ${id}`),
    );
  expect(ranked.reduce((all, row) => all + row.deduct_tokens, 0)).toBe(spent);

  const listed = { timeRange: [day, day] };
  const { total, days } = await manager.call('adminOrderList', listed);
  expect(total).toBe(await one('SELECT count(*) AS n FROM orders'));
  expect(days.reduce((all, { amount }) => all + amount, 0)).toBe(
    await one(`SELECT sum(amount - refunded_amount) AS n FROM orders WHERE paid_at IS NOT NULL`),
  );
});

test('how long failures took is told where failures were counted alone', async () => {
  const tell = (model: string, state: 'success' | 'error') =>
    person.call('modelStat', {
      state,
      model,
      first_time: 300,
      time: 7000,
      request_time: new Date().toISOString(),
    });
  for (const model of ['mock-a', 'mock-b']) await tell(model, 'error');
  await tell('mock-a', 'success');
  const { models } = await manager.call('adminModelStats', {});
  const named = (name: string) => models.find(({ model }) => model === name);
  // Only the device saw an error of the first: its line broke, the answer was written.
  expect(named('mock-a')).toMatchObject({ error_count: 0, error_time: 0, success_time: 7000 });
  expect(named('mock-b')).toMatchObject({ error_count: 3, error_time: 7000 });
});

test('a person’s usage and a program’s are what the rows say', async () => {
  const sums = async (userId: number) => {
    const { rows } = await here.database.query<Record<string, number | string>>(
      `SELECT type, model, count(*)::int AS count, sum(prompt_tokens)::int AS prompt_tokens,
         sum(completion_tokens)::int AS completion_tokens, sum(deduct_tokens)::int AS deduct_tokens
       FROM model_uses WHERE user_id = $1 AND NOT failed GROUP BY type, model ORDER BY type, model`,
      [userId],
    );
    return rows;
  };
  for (const [client, userId] of [
    [person, personId],
    [program.person, program.userId],
  ] as const) {
    const { list, items } = await client.call('usage', {});
    const told = list.map(({ date: _date, tokens: _tokens, ...rest }) => rest);
    const rows = await sums(userId);
    expect(told).toEqual(rows);
    expect(told.length).toBeGreaterThan(0);
    expect(items[0]).toMatchObject({
      request: rows.reduce((all, { count }) => all + Number(count), 0),
      deduct_tokens: await one(
        `SELECT sum(deduct_tokens) AS n FROM consumptions WHERE user_id = ${userId}`,
      ),
    });
    const { total } = await client.call('transactionList', {});
    expect(total).toBe(
      await one(`SELECT count(*) AS n FROM consumptions WHERE user_id = ${userId}`),
    );
  }
  const { list } = await program.person.call('apiUsage', {});
  const [row] = await sums(program.userId);
  expect(list).toHaveLength(1);
  expect(list[0]).toMatchObject({
    model: 'mock-a',
    count: row?.['count'],
    prompt_tokens: row?.['prompt_tokens'],
    completion_tokens: row?.['completion_tokens'],
    deduct_tokens: row?.['deduct_tokens'],
  });
});

test('each use of a connected model names the channel that served it, translations too', async () => {
  expect(
    await one(
      `SELECT count(*) AS n FROM model_uses WHERE model LIKE 'mock-%' AND channel_id IS NULL`,
    ),
  ).toBe(0);
});

test('what was spent belongs to the channel that served it, once', async () => {
  await manager.call('saveChannel', {
    kind: 'openai-compatible',
    base_url: here.mock.baseURL,
    api_key: 'sk-other',
    models: [{ name: 'mock-a' }],
    label: '新的服务',
  });
  await anew();
  const { list } = await manager.call('channelList', {});
  expect(list.find(({ label }) => label === '新的服务')?.spent).toBe(0);
  const spent = list.reduce((all, channel) => all + channel.spent, 0);
  expect(spent).toBe(await one('SELECT sum(deduct_tokens) AS n FROM consumptions'));
  expect(spent).toBeGreaterThan(0);
});

test('own calls of managers refuse by name what they do not know; an act tells what changed alone', async () => {
  const wrong = {
    kind: 'openai-compatible',
    base_url: here.mock.baseURL,
    label: '别的',
    apikey: 'x',
  };
  const refused = await manager.raw('saveChannel', wrong);
  expect(refused).toMatchObject({ status: 422, message: 'apikey：没有这个字段' });
  // A call of the documents ignores it.
  const stats = await fetch(`${here.server.baseURL}/api/admin/model_stats?unheard=1`, {
    headers: manager.headers(),
  });
  expect(stats.status).toBe(200);
  const { list } = await manager.call('adminModelList', { unique_key: 'mock-b' });
  await manager.call('setModel', { id: list[0]?.id ?? 0, factor: 3, label: list[0]?.label });
  const acts = await manager.call('adminActList', { call: 'setModel' });
  const { from, to } = acts.list[0] ?? { from: '', to: '' };
  expect([JSON.parse(from), JSON.parse(to)]).toEqual([{ factor: list[0]?.factor }, { factor: 3 }]);
});

test('a wallet that differs from its ledger is said once, and counted until it agrees again', async () => {
  const said: unknown[] = [];
  const books = createBooksCheck({ error: (about: unknown) => void said.push(about) });
  const pool = new pg.Pool({ connectionString: here.server.databaseUrl });
  const look = async () => {
    await openDatabase(pool).transaction(books.chore);
    return books.differing();
  };
  const add = (tokens: number) =>
    here.database.query('UPDATE wallets SET balance = balance + $1 WHERE user_id = $2', [
      tokens,
      personId,
    ]);
  expect(await look()).toBe(0);
  await add(1);
  expect([await look(), await look()]).toEqual([1, 1]);
  expect(said).toEqual([{ user: personId }]);
  await add(-1);
  expect(await look()).toBe(0);
  await pool.end();
});
