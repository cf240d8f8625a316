import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { type MockOpenAi, startMockOpenAi } from '../support/mock-openai.ts';
import { type MockSdWebui, startMockSdWebui } from '../support/mock-sd-webui.ts';
import { paint } from '../support/images.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';

const signup = 20_000;
const monthly = 250_000;

let chat: MockOpenAi;
let painter: MockSdWebui;
let server: TestServer;
let pool: pg.Pool;
beforeAll(async () => {
  chat = await startMockOpenAi();
  painter = await startMockSdWebui();
  server = await startServer({
    env: {
      OPENAI_BASE_URL: chat.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: 'mock-chat',
      SD_WEBUI_URL: painter.url,
      PAYMENT_CHECK_SECONDS: '1',
    },
  });
  pool = new pg.Pool({ connectionString: server.databaseUrl });
});
afterAll(async () => {
  await pool?.end();
  await server?.stop();
  await painter?.close();
  await chat?.close();
});

const register = async (invite?: string) => {
  const client = new TestClient(server.baseURL);
  const { token = '' } = await client.call('register', {
    account: `u${randomUUID().slice(0, 12)}`,
    name: '测试用户',
    password: 'password-1',
    password2: 'password-1',
    ...(invite && { invite }),
  });
  client.token = token;
  return client;
};

const buy = async (client: TestClient, type: 'token' | 'vip', num: number) => {
  const order = await client.call('recharge', { type, num });
  const key = new URL(order.url, server.baseURL).searchParams.get('key') ?? '';
  await client.call('sandboxSettle', { key, pay: 1 });
  const asked = { platform_order_id: order.trade_no };
  await expect
    .poll(async () => (await client.call('tradeStatus', asked)).status, { timeout: 15_000 })
    .toBe(1);
  return order;
};

/** What the service counts for a question and its answer; the model's factor is 1. */
const [questionTokens, answerTokens] = [11, 7];
const reply = questionTokens + answerTokens;

const ask = async (client: TestClient) => {
  const { uuid, id } = await client.ask('说说赵州桥', { model: 'mock-chat' });
  await client.read(uuid, id);
};

/** What the person should have, in tokens and cents, told by what happened so far. */
interface Account {
  balance: number;
  vip: number;
  /** Of all uses: how many, how many took something, and what they took of either pot. */
  requests: number;
  records: number;
  spent: number;
  /** Cents paid and cents given back. */
  paid: number;
  refunded: number;
  /** Tokens that came by orders and gifts, in sum. */
  granted: number;
}

/** Every call that shows a figure of this person shows this one; so do the rows behind them. */
const agree = async (client: TestClient, expected: Account) => {
  const me = await client.call('userInfo', {});
  expect({ balance: me.chatgpt_balance, vip: me.vip_balance }).toEqual({
    balance: expected.balance,
    vip: expected.vip,
  });

  const used = await client.call('usage', {});
  expect(used.userInfo).toMatchObject({
    user_id: me.id,
    chatgpt_balance: expected.balance,
    vip_balance: expected.vip,
  });
  expect(used.vipInfo).toMatchObject({ vip: me.vip, vip_expired_at: me.vip_expired_at });
  expect(used.items[0]).toMatchObject({
    request: expected.requests,
    deduct_tokens: expected.spent,
  });
  const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);
  expect(sum(used.list.map((row) => row.count))).toBe(expected.requests);
  expect(sum(used.list.map((row) => row.deduct_tokens))).toBe(expected.spent);

  const spends = await client.call('transactionList', {});
  expect(spends.total).toBe(expected.records);
  expect(spends.list).toHaveLength(expected.records);
  expect(sum(spends.list.map((row) => row.deduct_tokens))).toBe(expected.spent);

  const trades = await client.call('tradeList', {});
  const paid = trades.list.filter((row) => row.paid_success === 1);
  expect(sum(paid.map((row) => row.amount))).toBe(expected.paid);
  expect(sum(paid.map((row) => row.refunded_amount))).toBe(expected.refunded);
  expect(sum(paid.map((row) => Math.round(row.trade_value * 1_000_000)))).toBe(expected.granted);

  const { rows: wallets } = await pool.query<{ balance: number; vip: number }>(
    `SELECT balance::float8, vip_balance::float8 AS vip FROM wallets WHERE user_id = $1`,
    [me.id],
  );
  expect(wallets).toEqual([{ balance: expected.balance, vip: expected.vip }]);
  const { rows: sums } = await pool.query<{ balance: number; vip: number; spent: number }>(
    `SELECT coalesce(sum(amount) FILTER (WHERE pot = 'balance'), 0)::float8 AS balance,
       coalesce(sum(amount) FILTER (WHERE pot = 'vip'), 0)::float8 AS vip,
       coalesce(-sum(amount) FILTER (WHERE kind = 'spend'), 0)::float8 AS spent
     FROM ledger WHERE user_id = $1`,
    [me.id],
  );
  expect(sums).toEqual([{ ...wallets[0], spent: expected.spent }]);
};

const balanceOf = async (client: TestClient) => (await client.call('userInfo', {})).chatgpt_balance;

/** Asks, and gives the message once the service has it. */
const askAndWait = async (client: TestClient, words: string) => {
  const before = chat.calls;
  const { uuid, id } = await client.ask(words, { model: 'mock-chat' });
  await expect.poll(() => chat.calls).toBe(before + 1);
  return { uuid, id };
};

test('a question that was sent is paid for although it is stopped before the first word, once; what failed costs nothing', async () => {
  const ann = await register();
  const words = '山'.repeat(4000);
  chat.enqueue('hang-before');
  const { uuid, id } = await askAndWait(ann, words);
  await Promise.all([1, 2, 3].map(() => ann.call('stopStream', { history_id: id })));
  const { list } = await ann.call('historyList', { session_id: uuid });
  const [message] = list;
  expect(message).toMatchObject({ state: 'stopped', ai: '', completion_tokens: 0 });
  expect(message?.deduct_tokens).toBeGreaterThan(2000);
  expect(message?.prompt_tokens).toBe(message?.deduct_tokens);
  expect(await balanceOf(ann)).toBe(signup - (message?.deduct_tokens ?? 0));
  const bills = await ann.call('transactionList', {});
  expect(bills.list.map((bill) => bill.deduct_tokens)).toEqual([message?.deduct_tokens]);

  // Stopped in the middle: the question and what was written.
  const left = await balanceOf(ann);
  chat.enqueue('hang-middle');
  const begun = await askAndWait(ann, words);
  await ann.read(begun.uuid, begun.id, { onEvent: () => false });
  await ann.call('stopStream', { history_id: begun.id });
  expect(await balanceOf(ann)).toBeLessThan(left - 2000);

  const before = await balanceOf(ann);
  chat.enqueue('500');
  const failed = await ann.ask(words, { model: 'mock-chat' });
  await ann.read(failed.uuid, failed.id);
  expect(await balanceOf(ann)).toBe(before);
});

test('an invite, a top-up with discount, a month, a picture that is free by it, refunds: all figures agree @P6', async () => {
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const none = { requests: 0, records: 0, spent: 0, paid: 0, refunded: 0, granted: 0, vip: 0 };
  const ann = await register();
  await agree(ann, { ...none, balance: signup });

  const { code } = await ann.call('newInvite', {});
  const ben = await register(code);
  let hers: Account = { ...none, balance: signup + 250_000, granted: 250_000 };
  const his: Account = { ...none, balance: signup };
  await agree(ann, hers);
  await agree(ben, his);
  expect(await ann.call('inviteInfo', {})).toMatchObject({ total: 1, total_tokens: 250_000 });

  const tokens = await buy(ann, 'token', 5);
  expect(tokens.amount).toBe(9500);
  hers = { ...hers, balance: hers.balance + 5_000_000, granted: 5_250_000, paid: 9500 };
  await agree(ann, hers);

  await ask(ann);
  hers = { ...hers, balance: hers.balance - reply, requests: 1, records: 1, spent: reply };
  await agree(ann, hers);

  // A picture has its price until the membership begins.
  const dear = await paint(ann, '山间的月亮', { model: 'stable-diffusion' });
  const { deduct_tokens: price = 0 } =
    (await ann.call('transactionList', { type: 1 })).list[0] ?? {};
  expect(price).toBeGreaterThan(0);
  expect(dear.message.deduct_tokens).toBe(price);
  hers = {
    ...hers,
    balance: hers.balance - price,
    requests: 2,
    records: 2,
    spent: reply + price,
  };
  await agree(ann, hers);

  const month = await buy(ann, 'vip', 1);
  expect(month.amount).toBe(2600);
  hers = { ...hers, vip: monthly, paid: 12_100 };
  await agree(ann, hers);

  const free = await paint(ann, '山间的月亮', { model: 'stable-diffusion' });
  expect(free.message.deduct_tokens).toBe(0);
  hers = { ...hers, requests: 3 };
  await agree(ann, hers);

  // A month's tokens go first.
  await ask(ann);
  hers = { ...hers, vip: monthly - reply, requests: 4, records: 3, spent: reply * 2 + price };
  await agree(ann, hers);
  const [last] = (await ann.call('transactionList', {})).list;
  expect(last).toMatchObject({
    deduct_tokens: reply,
    current_balance: hers.balance + monthly,
    prompt_tokens: questionTokens,
    completion_tokens: answerTokens,
  });

  // 40 of 95 yuan: of 5,000,000 tokens as many, and not a token more.
  const refund = { order_id: tokens.trade_no, amount: 4000, reason: '用不完' };
  expect((await manager.call('refundOrder', refund)).state).toBe('done');
  const back = Math.floor((5_000_000 * 4000) / 9500);
  hers = { ...hers, balance: hers.balance - back, refunded: 4000 };
  await agree(ann, hers);

  // The whole month: the membership ends, and with it what was left of its tokens; what was used of
  // them is to be forgiven.
  const whole = { order_id: month.trade_no, amount: 2600, reason: '不要了' };
  expect((await manager.raw('refundOrder', whole)).code).toBe(1442);
  await agree(ann, hers);
  await manager.call('refundOrder', { ...whole, forgive: 1 });
  hers = { ...hers, vip: 0, refunded: 6600 };
  await agree(ann, hers);
  expect((await ann.call('userInfo', {})).vip).toBe(0);
  const states = (await ann.call('tradeList', {})).list.map((row) => [row.type, row.state]);
  expect(states).toEqual([
    [2, 'refunded'],
    [1, 'paid'],
    [3, 'paid'],
  ]);
  await agree(ben, his);

  // What managers see of it is the same.
  const seen = await manager.call('adminOrderInfo', { order_id: tokens.trade_no });
  expect(seen.order).toMatchObject({ amount: 9500, refunded_amount: 4000, state: 'paid' });
  expect(seen.refunds).toMatchObject([{ amount: 4000, state: 'done' }]);
});
