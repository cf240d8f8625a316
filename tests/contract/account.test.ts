import { randomUUID } from 'node:crypto';
import { strFromU8, unzipSync } from 'fflate';
import { generateSync } from 'otplib';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rewardActive } from '#server/areas/account/invite.service.ts';
import { connectDatabase } from '#server/db/connect.ts';
import { onDatabase } from '../support/api-user.ts';
import { TestClient } from '../support/client.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    env: { ASSISTANT_RATE: '0', PAYMENT_CHECK_SECONDS: '1', TRUST_PROXY: 'loopback' },
  });
});
afterAll(() => server.stop());

const register = async (account: string, invite?: string): Promise<TestClient> => {
  const client = new TestClient(server.baseURL);
  const data = await client.call('register', {
    account,
    name: '测试用户',
    password: 'password-1',
    password2: 'password-1',
    ...(invite ? { invite } : {}),
  });
  client.token = data.token ?? '';
  return client;
};

test('a link brings its owner 250,000 for each who comes, for three days @A5', async () => {
  const owner = await register('owner-one');
  const { code } = await owner.call('newInvite', {});
  await register('friend-one', code);
  await register('friend-two', 'no-such-link');
  expect((await owner.call('userInfo', {})).chatgpt_balance).toBe(270_000);
  const [gift] = (await owner.call('tradeList', {})).list;
  expect(gift).toMatchObject({ type: 3, trade_value: 0.25, amount: 0 });
  expect(gift?.order_id).toMatch(/^SYS\d{20}$/);
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  await client.query(`UPDATE invites SET expires_at = now() WHERE code = $1`, [code]);
  await client.end();
  await register('friend-three', code);
  expect((await owner.call('inviteInfo', {})).total).toBe(1);
});

/** Registers by a link, as if from this address. */
const comeFrom = async (address: string, code?: string): Promise<TestClient> => {
  const client = new TestClient(server.baseURL);
  const { data } = await client.raw<{ token?: string }>(
    'register',
    {
      account: `i${randomUUID().slice(0, 12)}`,
      name: '朋友',
      password: 'password-1',
      password2: 'password-1',
      ...(code ? { invite: code } : {}),
    },
    { 'x-forwarded-for': address },
  );
  client.token = data.token ?? '';
  return client;
};

test('at once no more than 20 come of a day, three of a network, none of one’s own; the others once they are active @A5', async () => {
  const owner = await comeFrom('2001:db8:1::1');
  const { data: link } = await owner.raw<{ code: string }>(
    'newInvite',
    {},
    { 'x-forwarded-for': '192.0.2.7' },
  );
  const balance = async () => (await owner.call('userInfo', {})).chatgpt_balance;
  const per = 250_000;
  // 40 at once of 40 /64 of one network: no race gets past the third.
  await Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      comeFrom(`2001:db9:200:${at.toString(16)}::1`, link.code),
    ),
  );
  expect(await balance()).toBe(20_000 + 3 * per);
  // Of one's own networks: where one registered, and where the link was made.
  await comeFrom('2001:db8:1:9::1', link.code);
  await comeFrom('192.0.2.200', link.code);
  expect(await balance()).toBe(20_000 + 3 * per);
  expect(await owner.call('inviteInfo', {})).toMatchObject({ total: 42, waiting: 39 });
  // 30 at once of as many networks: the day's number, exactly.
  await Promise.all(Array.from({ length: 30 }, (_, at) => comeFrom(`10.1.${at}.1`, link.code)));
  expect(await balance()).toBe(20_000 + 20 * per);

  const pool = new pg.Pool({ connectionString: server.databaseUrl });
  const connection = await connectDatabase(
    { dataDir: '', databaseUrl: server.databaseUrl },
    pino({ level: 'silent' }),
  );
  try {
    const { id } = await owner.call('userInfo', {});
    const { rows } = await pool.query<{ user_id: string }>(
      `SELECT user_id FROM invited WHERE inviter_id = $1 AND look_at IS NOT NULL
       ORDER BY user_id LIMIT 2`,
      [id],
    );
    const [active, idle] = rows.map((row) => row.user_id);
    const use = (user: string | undefined, daysAgo: number) =>
      pool.query(
        `INSERT INTO usage_days (user_id, day, type, model)
         SELECT $1, (now() AT TIME ZONE 'Asia/Shanghai')::date - $2::int, 0, 'm'`,
        [user, daysAgo],
      );
    for (const [user, days] of [
      [active, [1, 2]],
      [idle, [0, 1]],
    ] as const)
      for (const day of days) await use(user, day);
    // Today's are full; tomorrow the one who was active on three days brings them, the other not yet.
    await connection.db.transaction(rewardActive);
    expect(await balance()).toBe(20_000 + 20 * per);
    await pool.query(
      `UPDATE invited SET credited_at = credited_at - interval '25 hours',
         look_at = look_at - interval '2 hours' WHERE inviter_id = $1`,
      [id],
    );
    await Promise.all([1, 2].map(() => connection.db.transaction(rewardActive)));
    expect(await balance()).toBe(20_000 + 21 * per);
    expect(await owner.call('inviteInfo', {})).toMatchObject({
      waiting: 38,
      total_tokens: 21 * per,
    });
  } finally {
    await connection.close();
    await pool.end();
  }
});

test('networks of one provider bring nine of a day at once, and none to who came from it @A5', async () => {
  const inviter = async (madeIn: string, linkIn: string) => {
    const owner = await comeFrom(madeIn);
    const { data } = await owner.raw<{ code: string }>(
      'newInvite',
      {},
      { 'x-forwarded-for': linkIn },
    );
    return { owner, code: data.code };
  };
  let networks = 0;
  const come = (code: string, count: number, provider = '2a0c:b641') =>
    Promise.all(
      Array.from({ length: count }, () => {
        networks += 1;
        return comeFrom(`${provider}:${(networks << 8).toString(16)}::1`, code);
      }),
    );
  const far = await inviter('198.18.1.1', '198.18.1.1');
  await come(far.code, 12);
  expect(await far.owner.call('inviteInfo', {})).toMatchObject({ total_tokens: 9 * 250_000 });
  // By others' links neither; of another provider as before.
  const next = await inviter('198.18.2.1', '198.18.2.1');
  await come(next.code, 2);
  await come(next.code, 1, '2a0c:b642');
  expect(await next.owner.call('inviteInfo', {})).toMatchObject({
    total_tokens: 250_000,
    waiting: 2,
  });
  // Of one's own provider: where one registered, and where the link was made.
  for (const own of [
    await inviter('2a0c:b643:100::1', '198.18.3.1'),
    await inviter('198.18.4.1', '2a0c:b643:100::1'),
  ]) {
    await come(own.code, 1, '2a0c:b643');
    expect(await own.owner.call('inviteInfo', {})).toMatchObject({ total_tokens: 0, waiting: 1 });
  }
});

test('a new password ends the other sign-ins, and a device can be signed out @P1', async () => {
  const here = await register('devices-one');
  const there = new TestClient(server.baseURL);
  await there.login('devices-one', 'password-1');
  const { list } = await here.call('deviceList', {});
  expect(list).toHaveLength(2);
  const wrong = await here.raw('changePassword', {
    old_password: 'password-0',
    password: 'password-2',
    password2: 'password-2',
  });
  expect(wrong.code).toBe(1443);
  await here.call('changePassword', {
    old_password: 'password-1',
    password: 'password-2',
    password2: 'password-2',
  });
  expect((await there.raw('userInfo', {})).status).toBe(401);
  expect((await here.call('deviceList', {})).list).toHaveLength(1);
  await there.login('devices-one', 'password-2');
  const other = (await here.call('deviceList', {})).list.find((each) => each.current === 0);
  await here.call('signOutDevice', { id: other?.id });
  expect((await there.raw('userInfo', {})).status).toBe(401);
});

test('who signs in with the old password while it is changed or reset stays out @P1', async () => {
  const person = await register('race-one');
  const { id } = await person.call('userInfo', {});
  const { secret } = await person.call('totpBegin', {});
  const { recovery_codes: codes } = await person.call('totpEnable', {
    code: generateSync({ secret }),
  });
  const owner = new TestClient(server.baseURL);
  await owner.login('admin', ADMIN_PASSWORD);
  const holder = new pg.Client({ connectionString: server.databaseUrl });
  await holder.connect();
  /** The password was compared already, its second factor is not yet. */
  const amidLogin = async (password: string, at: number, change: () => Promise<unknown>) => {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM second_factors WHERE user_id = $1 FOR UPDATE', [id]);
    const late = new TestClient(server.baseURL);
    const entering = late.raw('login', { account: 'race-one', password, totp: codes[at] });
    await expect
      .poll(() =>
        onDatabase(
          server,
          `SELECT pid FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        ),
      )
      .toHaveLength(1);
    await change();
    await holder.query('COMMIT');
    expect((await entering).data).toEqual({ error: '密码刚刚改过，请用新密码登录' });
    expect((await late.raw('userInfo', {})).status).toBe(401);
  };
  try {
    await amidLogin('password-1', 0, () =>
      person.call('changePassword', {
        old_password: 'password-1',
        password: 'password-2',
        password2: 'password-2',
      }),
    );
    await amidLogin('password-2', 1, () => owner.call('resetPassword', { user_id: id }));
  } finally {
    await holder.end();
  }
});

test('a login whose month of membership turns waits for the wallet before its account @P1', async () => {
  const person = await register('turning-one');
  const { id } = await person.call('userInfo', {});
  const delivery = new pg.Client({ connectionString: server.databaseUrl });
  await delivery.connect();
  try {
    await delivery.query(
      `UPDATE users SET vip_activated_at = now() - interval '10 days',
         vip_expired_at = now() + interval '1 day' WHERE id = $1`,
      [id],
    );
    // As a membership is delivered: the wallet, then the person.
    await delivery.query('BEGIN');
    await delivery.query('SELECT FROM wallets WHERE user_id = $1 FOR UPDATE', [id]);
    const visitor = new TestClient(server.baseURL);
    await visitor.call('newSession', { type: 0 });
    const entering = visitor.raw('login', { account: 'turning-one', password: 'password-1' });
    await expect
      .poll(() =>
        onDatabase(
          server,
          `SELECT pid FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        ),
      )
      .toHaveLength(1);
    await delivery.query('SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE', [id]);
    await delivery.query('COMMIT');
    expect(await entering).toMatchObject({ status: 200, code: 0 });
  } finally {
    await delivery.end();
  }
});

test('a login where an account was not used before is told to its others, each once @P1', async () => {
  const home = await register('fresh-one');
  const told = async (client: TestClient) => (await client.call('userInfo', {})).new_sign_in;
  const enter = async (input: { device?: string | undefined }) => {
    const client = new TestClient(server.baseURL);
    const { token = '', device } = await client.call('login', {
      account: 'fresh-one',
      password: 'password-1',
      ...input,
    });
    client.token = token;
    return { client, device };
  };
  const phone = await enter({});
  expect((await told(home))?.name).not.toBe('');
  expect(await told(phone.client)).toBeUndefined();
  // Whoever came in cannot say for the others that they saw it; each device says so for itself.
  await phone.client.call('newSignInSeen', {});
  expect(await told(home)).toBeDefined();
  await home.call('newSignInSeen', {});
  expect(await told(home)).toBeUndefined();
  // The same device again is no news.
  const again = await enter({ device: phone.device });
  expect(await told(home)).toBeUndefined();
  const { list } = await home.call('deviceList', {});
  expect(list.map(({ fresh }) => fresh === 1).filter(Boolean)).toHaveLength(1);
  // It is said to who comes back to a known device after it happened, too; and not by others' marks.
  await again.client.call('logout', {});
  await enter({ device: `${phone.device?.slice(0, -4)}AAAA` });
  const back = await enter({ device: phone.device });
  expect(await told(back.client)).toBeDefined();
});

test('an account that is ended leaves its orders and nothing of its person @P1', async () => {
  const person = await register('leaving-one');
  const { uuid } = await person.ask('我的秘密是芝麻开门');
  const order = await person.call('recharge', { type: 'token', num: 1 });
  const key = new URL(order.url, server.baseURL).searchParams.get('key') ?? '';
  const open = await person.call('recharge', { type: 'vip', num: 1 });
  const openKey = new URL(open.url, server.baseURL).searchParams.get('key') ?? '';
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  // The clock leaves it alone.
  await client.query(`UPDATE orders SET next_ask_at = NULL WHERE number = $1`, [order.trade_no]);
  await person.call('sandboxSettle', { key, pay: 1 });
  expect((await person.raw('deleteAccount', { password: 'wrong-one-1' })).code).toBe(1443);
  // What was paid and not looked at yet is credited first, and told.
  const told = await person.raw('deleteAccount', { password: 'password-1' });
  expect([told.code, told.message]).toEqual([1442, expect.stringContaining('刚刚到账')]);
  expect((await person.call('userInfo', {})).chatgpt_balance).toBeGreaterThanOrEqual(1_000_000);
  await person.call('deleteAccount', { password: 'password-1' });
  const late = await new TestClient(server.baseURL).call('sandboxSettle', { key: openKey, pay: 1 });
  expect(late.state).toBe('closed');
  expect((await person.raw('userInfo', {})).status).toBe(401);
  const { rows: users } = await client.query<{ account: string | null; user_name: string }>(
    `SELECT account, user_name FROM users u JOIN orders o ON o.user_id = u.id WHERE number = $1`,
    [order.trade_no],
  );
  expect(users).toEqual([{ account: null, user_name: '已注销用户' }]);
  const ended = await client.query(
    `SELECT vip_expired_at FROM users u JOIN orders o ON o.user_id = u.id WHERE number = $1`,
    [order.trade_no],
  );
  expect(ended.rows).toEqual([{ vip_expired_at: null }]);
  const { rows } = await client.query(
    `SELECT FROM history h JOIN sessions s ON s.id = h.session_id
     WHERE s.uuid = $1 AND (human <> '' OR ai <> '')`,
    [uuid],
  );
  expect(rows).toEqual([]);
  await client.end();
});

test('all of one’s data comes as a zip, to its owner alone @P1', async () => {
  const person = await register('taking-one');
  const other = await register('taking-two');
  await person.ask('你好，请问你是谁');
  // What was used, with words that a table must quote.
  await onDatabase(
    server,
    `INSERT INTO consumptions (user_id, type, model, human, prompt_tokens, completion_tokens,
       deduct_tokens, current_balance)
     SELECT $1, 0, 'gpt-4', E'第"' || n || E'",\n行', n, n, n, 1000 - n FROM generate_series(1, 3) AS n`,
    [(await person.call('userInfo', {})).id],
  );
  // What programs left there may be far more than is held in memory at once.
  const { id: userId } = await person.call('userInfo', {});
  await person.call('genKey', {});
  await onDatabase(
    server,
    `WITH file AS (
       INSERT INTO api_files (id, key_id, user_id, name, purpose, bytes)
       SELECT 'file-taken', id, user_id, 'a.jsonl', 'batch', 1 FROM api_keys WHERE user_id = $1
       RETURNING id
     ) INSERT INTO api_file_parts (file_id, part, content)
     SELECT id, part, repeat('p' || part, 1500000) FROM file, generate_series(0, 5) AS part`,
    [userId],
  );
  await person.call('exportAccount', {});
  let id = 0;
  for (let tries = 0; tries < 100 && id === 0; tries += 1) {
    id = (await person.call('accountFiles', {})).list[0]?.id ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const get = (client: TestClient) =>
    fetch(`${server.baseURL}/api/account_file?id=${id}`, { headers: client.headers() });
  const file = await get(person);
  expect(file.status).toBe(200);
  const zip = unzipSync(new Uint8Array(await file.arrayBuffer()));
  expect(Object.keys(zip)).toContain('account.json');
  const told = await fetch(`${server.baseURL}/api/transaction_file`, { headers: person.headers() });
  const books = await told.text();
  expect(books).toContain('第""3""');
  expect(strFromU8(zip['consumption.csv']!)).toBe(books);
  const rows = ['', '-2'].map(
    (nth) => JSON.parse(strFromU8(zip[`more/api_file_parts${nth}.json`]!)) as { part: number }[],
  );
  expect(rows.flat().map(({ part }) => part)).toEqual([0, 1, 2, 3, 4, 5]);
  expect((await get(other)).status).toBe(404);
  // Another one takes its place, and there are so many in a day.
  await person.call('exportAccount', {});
  const files = async () => (await person.call('accountFiles', {})).list.map((each) => each.id);
  await expect.poll(async () => (await files()).includes(id)).toBe(false);
  expect(await files()).toHaveLength(1);
  expect((await get(person)).status).toBe(404);
  await onDatabase(
    server,
    `INSERT INTO jobs (uuid, user_id, kind, title, model, subject_kind, subject_id, input, state, deadline)
     SELECT gen_random_uuid(), user_id, kind, title, model, subject_kind, subject_id, input, state, deadline
     FROM jobs, generate_series(1, 8) WHERE id = $1`,
    [(await files())[0]],
  );
  expect((await person.raw('exportAccount', {})).message).toContain('请明天再试');
});

test('usage counts what was free, too, by day and month; the future has none @P1 @P6', async () => {
  const person = await register('usage-one');
  const { uuid, id } = await person.ask('你好，请问你是谁');
  await person.read(uuid, id);
  const used = await person.call('usage', { month: '2999-01' });
  expect(used.items).toHaveLength(12);
  expect(used.items[0]).toMatchObject({ month: used.month, session: 1, deduct_tokens: 0 });
  expect(used.list.reduce((sum, row) => sum + row.count, 0)).toBe(1);
});

test('usage and its file tell the days asked for, of oneself alone; days that cannot be are told why @P1 @P6', async () => {
  const person = await register('usage-range');
  const other = await register('usage-other');
  const database = new pg.Client({ connectionString: server.databaseUrl });
  await database.connect();
  const dayAgo = (days: number) =>
    new Date(Date.now() + (8 - days * 24) * 3_600_000).toISOString().slice(0, 10);
  try {
    for (const client of [person, other]) {
      const { id } = await client.call('userInfo', {});
      for (const days of [0, 10, 40, 364, 366])
        await database.query(
          `WITH used AS (INSERT INTO usage_days (user_id, day, type, model, requests, records,
             deduct_tokens) VALUES ($1, $2::date, 0, 'm', 1, 1, 100))
           INSERT INTO consumptions (user_id, type, model, human, prompt_tokens, completion_tokens,
             deduct_tokens, current_balance, created_at)
           VALUES ($1, 0, 'm', $2, 0, 0, 100, 0, ($2::date + time '00:00') AT TIME ZONE 'Asia/Shanghai')`,
          [id, dayAgo(days)],
        );
    }
  } finally {
    await database.end();
  }
  const file = async (span: Record<string, string>) => {
    const query = new URLSearchParams(span).toString();
    const answer = await fetch(`${server.baseURL}/api/transaction_file?${query}`, {
      headers: person.headers(),
    });
    return answer.text();
  };
  const used = await person.call('usage', { from: dayAgo(40), to: dayAgo(10) });
  expect(used.list.map(({ date }) => date)).toEqual([dayAgo(40), dayAgo(10)]);
  expect(used).toMatchObject({
    month: dayAgo(10).slice(0, 7),
    range: { from: dayAgo(40), to: dayAgo(10), session: 0 },
  });
  const lines = (await file({ from: dayAgo(40), to: dayAgo(10) })).trim().split('\r\n').slice(1);
  expect(lines.map((line) => line.slice(0, 10))).toEqual([dayAgo(40), dayAgo(10)]);
  // As many days as are told at once, and nothing of the future; a month is told as before.
  const year = await person.call('usage', { from: dayAgo(365), to: '2999-01-01' });
  expect(year.range).toMatchObject({ from: dayAgo(365), to: dayAgo(0) });
  expect(year.list).toHaveLength(4);
  expect((await person.call('usage', {})).range).toBeUndefined();
  for (const [span, why] of [
    [{ from: dayAgo(366) }, 'to：一次最多看 366 天'],
    [{ from: dayAgo(1), to: dayAgo(2) }, 'from：开始的一天应不晚于结束的一天'],
    [{ from: dayAgo(-1), to: dayAgo(-2) }, 'from：开始的一天还没有到'],
    [{ to: dayAgo(2) }, 'from：请给出从哪一天开始'],
    [{ month: '2026-01', from: dayAgo(2) }, 'month：月份与 from、to 只能给一种'],
    [{ from: '2026-02-30' }, '没有这一天'],
  ] as const) {
    const { code, message } = await person.raw('usage', span);
    expect([code > 0, message], JSON.stringify(span)).toEqual([true, expect.stringContaining(why)]);
    expect(await file(span)).toContain(why);
  }
});

test('what counts double or a quarter is weighed; little left is told once, until tokens come again @P6', async () => {
  const person = await register('weighed-one');
  const { id: userId } = await person.call('userInfo', {});
  const database = new pg.Client({ connectionString: server.databaseUrl });
  await database.connect();
  try {
    for (const [type, expected] of [
      [0, 400],
      [1, 400],
      [2, 100],
      [4, 800],
      [5, 800],
    ] as const) {
      await database.query(`DELETE FROM usage_days WHERE user_id = $1`, [userId]);
      await database.query(
        `INSERT INTO usage_days SELECT $1, (now() AT TIME ZONE 'Asia/Shanghai')::date, $2, 'one', 1, 1,
           300, 100, 7`,
        [userId, type],
      );
      const [row] = (await person.call('usage', {})).list;
      expect(row).toMatchObject({ type, tokens: expected, deduct_tokens: 7 });
    }
    const left = (tokens: number) =>
      database.query(`UPDATE wallets SET balance = $2 WHERE user_id = $1`, [userId, tokens]);
    const low = async () => (await person.call('userInfo', {})).balance_low;
    await left(2001);
    expect(await low()).toBe(0);
    await left(2000);
    expect(await low()).toBe(1);
    await person.call('lowBalanceSeen', {});
    await left(10);
    expect(await low()).toBe(0);
    const order = await person.call('recharge', { type: 'token', num: 1 });
    const key = new URL(order.url, server.baseURL).searchParams.get('key') ?? '';
    await person.call('sandboxSettle', { key, pay: 1 });
    const asked = { platform_order_id: order.trade_no };
    await expect.poll(async () => (await person.call('tradeStatus', asked)).status).toBe(1);
    expect(await low()).toBe(0);
    await left(100_000);
    expect(await low()).toBe(1);
  } finally {
    await database.end();
  }
});
