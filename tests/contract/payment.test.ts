import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { startAlipay } from '../support/fake-alipay.ts';
import { startWechatPay } from '../support/fake-wechat-pay.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';

/** Notices that nobody of the service has sent, or that were sent before. */
const forgeries = process.env['HEAVY'] === '1' ? 10_000 : 60;
const signup = 20_000;

const untilTrue = async (look: () => Promise<boolean>, ms = 20_000): Promise<void> => {
  const until = Date.now() + ms;
  while (!(await look())) {
    if (Date.now() > until) throw new Error('it did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

const balanceOf = async (client: TestClient) => (await client.call('userInfo', {})).chatgpt_balance;

const send = (server: TestServer, name: string, notice: { body: string; headers: object }) =>
  fetch(`${server.baseURL}/api/pay/${name}/notice`, {
    method: 'POST',
    headers: notice.headers as Record<string, string>,
    body: notice.body,
  });

/** Every balance is the sum of its entries. */
const expectSound = async (databaseUrl: string) => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query(`SELECT user_id FROM wallets w
    WHERE balance <> (SELECT coalesce(sum(amount), 0) FROM ledger l
                      WHERE l.user_id = w.user_id AND pot = 'balance')`);
  await client.end();
  expect(rows).toEqual([]);
};

describe('with the sandbox', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ env: { PAYMENT_CHECK_SECONDS: '1' } });
  });
  afterAll(() => server.stop());

  const keyOf = (url: string) => new URL(url, server.baseURL).searchParams.get('key') ?? '';

  test('the price is the specification’s, whatever the client thinks', async () => {
    const person = await TestClient.register(server.baseURL);
    const prices: [string, number, number][] = [
      ['token', 1, 2000],
      ['token', 4, 8000],
      ['token', 5, 9500],
      ['token', 19, 36_100],
      ['token', 20, 36_000],
      ['token', 100, 180_000],
      ['vip', 1, 2600],
      ['vip', 5, 13_000],
      ['vip', 6, 14_040],
      ['vip', 11, 25_740],
      ['vip', 12, 24_960],
      ['code', 1, 39_800],
      ['code-pro', 1, 198_000],
    ];
    for (const [type, num, amount] of prices) {
      const order = await person.call('recharge', { type: type as 'token', num });
      expect([type, num, order.amount]).toEqual([type, num, amount]);
      expect(order.trade_no).toMatch(/^Q\d{20}$/);
      await person.call('closeTrade', { platform_order_id: order.trade_no });
    }
    for (const [type, num] of [
      ['token', 0],
      ['token', 101],
      ['token', undefined],
      ['vip', 13],
      ['vip', -1],
    ] as const) {
      const refused = await person.raw('recharge', { type, num });
      expect(refused.status).toBe(422);
      expect(refused.message).toMatch(/请选择/);
    }
  });

  test('an order is paid once, shown everywhere, and another’s does not exist', async () => {
    const [person, other] = [
      await TestClient.register(server.baseURL),
      await TestClient.register(server.baseURL),
    ];
    const key = randomUUID();
    const order = await person.call(
      'recharge',
      { type: 'token', num: 5 },
      { 'idempotency-key': key },
    );
    const again = await person.call(
      'recharge',
      { type: 'token', num: 5 },
      { 'idempotency-key': key },
    );
    expect(again.trade_no).toBe(order.trade_no);
    const asked = { platform_order_id: order.trade_no };
    expect((await person.call('tradeStatus', asked)).status).toBe(0);
    expect((await other.raw('tradeStatus', asked)).status).toBe(404);
    expect((await other.raw('closeTrade', asked)).status).toBe(404);
    const shown = await new TestClient(server.baseURL).call('sandboxTrade', {
      key: keyOf(order.url),
    });
    expect(shown).toMatchObject({ amount: 9500, state: 'unpaid', trade_no: order.trade_no });
    await new TestClient(server.baseURL).call('sandboxSettle', { key: keyOf(order.url), pay: 1 });
    await Promise.all(Array.from({ length: 20 }, () => person.call('tradeStatus', asked)));
    await untilTrue(async () => (await person.call('tradeStatus', asked)).status === 1);
    expect(await balanceOf(person)).toBe(signup + 5_000_000);
    const { list, total } = await person.call('tradeList', {});
    expect(total).toBe(1);
    expect(list[0]).toMatchObject({ paid_success: 1, trade_value: 5, type: 1, url: '' });
    const news = await person.call('waitStatus', {
      waits: [{ kind: 'order', id: order.trade_no }],
    });
    expect(news.results[0]).toMatchObject({ state: 'done', body: '充值成功' });
    expect((await person.raw('closeTrade', asked)).code).toBe(1442);
  });

  test('an edition that was paid for once cannot be paid for again by an order left open', async () => {
    const person = await TestClient.register(server.baseURL);
    const [left, dearer, paid] = [
      await person.call('recharge', { type: 'code' }),
      await person.call('recharge', { type: 'code-pro' }),
      await person.call('recharge', { type: 'code' }),
    ];
    const tokens = await person.call('recharge', { type: 'token', num: 1 });
    await person.call('sandboxSettle', { key: keyOf(paid.url), pay: 1 });
    const stateOf = async ({ trade_no: number }: { trade_no: string }) =>
      (await person.call('tradeStatus', { platform_order_id: number })).state;
    await untilTrue(async () => (await stateOf(paid)) === 'paid');
    await untilTrue(async () => (await stateOf(left)) === 'closed');
    await untilTrue(async () => (await stateOf(dearer)) === 'closed');
    expect(await stateOf(tokens)).toBe('created');
    const late = await person.raw('sandboxSettle', { key: keyOf(left.url), pay: 1 });
    expect(late.data).not.toMatchObject({ state: 'paid' });
    expect((await person.call('userInfo', {})).subscribe).toBe(1);
  });

  test('a payment that nobody looks at is found, one of a closed order too', async () => {
    const person = await TestClient.register(server.baseURL);
    const order = await person.call('recharge', { type: 'vip', num: 2 });
    await person.call('sandboxSettle', { key: keyOf(order.url), pay: 1 });
    await untilTrue(async () => (await person.call('userInfo', {})).vip === 1);
    const { vip_balance: tokens, vip_expired_at: end } = await person.call('userInfo', {});
    expect(tokens).toBe(250_000);
    const mayUseApi = async () => (await person.call('apiKeys', {})).userinfo.may_use;
    expect(await mayUseApi()).toBe(true);
    const months = new Date(end ?? 0).getUTCMonth() - new Date().getUTCMonth();
    expect((months + 12) % 12).toBe(2);

    const pool = new pg.Client({ connectionString: server.databaseUrl });
    await pool.connect();
    // A membership whose month's tokens were used goes back whole only where that is forgiven.
    const { id } = await person.call('userInfo', {});
    await pool.query('UPDATE wallets SET vip_balance = 100000 WHERE user_id = $1', [id]);
    const manager = new TestClient(server.baseURL);
    await manager.login('admin', ADMIN_PASSWORD);
    const back = { order_id: order.trade_no, reason: '不要了' };
    const whole = { ...back, amount: 5_200 };
    const used = await manager.raw('refundOrder', whole);
    expect(used).toMatchObject({
      code: 1442,
      message: expect.stringContaining('已经用了 150,000'),
    });
    expect((await person.call('userInfo', {})).vip).toBe(1);
    await manager.call('refundOrder', { ...whole, forgive: 1 });
    expect((await person.call('userInfo', {})).vip).toBe(0);
    expect(await mayUseApi()).toBe(false);

    const late = await person.call('recharge', { type: 'token', num: 1 });
    await pool.query(`UPDATE orders SET state = 'closed', closed_at = now() WHERE number = $1`, [
      late.trade_no,
    ]);
    await person.call('sandboxSettle', { key: keyOf(late.url), pay: 1 });
    await untilTrue(async () => (await balanceOf(person)) === signup + 1_000_000);
    const { rows } = await pool.query(
      `SELECT event FROM order_events JOIN orders o ON o.id = order_id WHERE number = $1
       ORDER BY order_events.id`,
      [late.trade_no],
    );
    expect(rows.map((row: { event: string }) => row.event)).toEqual(['created', 'paid']);
    await pool.end();
    expect(await mayUseApi()).toBe(true);
    await manager.call('refundOrder', { order_id: late.trade_no, amount: 2000, reason: '不要了' });
    expect(await mayUseApi()).toBe(false);
  });

  test('months of a membership that are over go back only where that is forgiven', async () => {
    const pool = new pg.Client({ connectionString: server.databaseUrl });
    await pool.connect();
    const manager = new TestClient(server.baseURL);
    await manager.login('admin', ADMIN_PASSWORD);
    /** A membership of so many months that began some months ago. */
    const member = async (months: number, ago: number) => {
      const person = await TestClient.register(server.baseURL);
      const order = await person.call('recharge', { type: 'vip', num: months });
      await person.call('sandboxSettle', { key: keyOf(order.url), pay: 1 });
      await untilTrue(async () => (await person.call('userInfo', {})).vip === 1);
      const { id } = await person.call('userInfo', {});
      await pool.query(
        `UPDATE users SET vip_activated_at = begun, vip_expired_at = begun + make_interval(months => $2)
         FROM (SELECT now() - make_interval(months => $3, days => 1) AS begun) b WHERE id = $1`,
        [id, months, ago],
      );
      return { person, back: { order_id: order.trade_no, reason: '不要了' } };
    };
    try {
      const over = await member(1, 2);
      expect(await manager.raw('refundOrder', { ...over.back, amount: 2_600 })).toMatchObject({
        code: 1442,
        message: expect.stringContaining('有 1 个月已经过去'),
      });
      await manager.call('refundOrder', { ...over.back, amount: 2_600, forgive: 1 });
      // Nothing was taken that could be given again.
      const { rows } = await pool.query(
        'SELECT taken FROM refunds r JOIN orders o ON o.id = r.order_id WHERE o.number = $1',
        [over.back.order_id],
      );
      expect(rows).toEqual([{ taken: { tokens: 0, months: 0 } }]);

      const year = await member(12, 3);
      expect(await manager.raw('refundOrder', { ...year.back, amount: 24_960 })).toMatchObject({
        code: 1442,
        message: expect.stringContaining('有 3 个月已经过去'),
      });
      expect((await year.person.call('userInfo', {})).vip).toBe(1);
      // What is left of it goes back: nothing of the month that runs was used.
      await manager.call('refundOrder', { ...year.back, amount: 9 * 2_080 });
      expect((await year.person.call('userInfo', {})).vip).toBe(0);
    } finally {
      await pool.end();
    }
  });

  test('an order closes after two hours, and its QR code with it', async () => {
    const person = await TestClient.register(server.baseURL);
    const order = await person.call('recharge', { type: 'token', num: 1 });
    const pool = new pg.Client({ connectionString: server.databaseUrl });
    await pool.connect();
    const { rows } = await pool.query<{ hours: number }>(
      `SELECT extract(epoch FROM expires_at - created_at)::float8 / 3600 AS hours
       FROM orders WHERE number = $1`,
      [order.trade_no],
    );
    expect(rows[0]?.hours).toBeCloseTo(2, 1);
    await pool.query(`UPDATE orders SET expires_at = now() WHERE number = $1`, [order.trade_no]);
    await pool.end();
    const asked = { platform_order_id: order.trade_no };
    await untilTrue(async () => (await person.call('tradeStatus', asked)).status === 2);
    const tried = await person.call('sandboxSettle', { key: keyOf(order.url), pay: 1 });
    expect(tried.state).toBe('closed');
    const news = await person.call('waitStatus', {
      waits: [{ kind: 'order', id: order.trade_no }],
    });
    expect(news.results[0]?.state).toBe('failed');
  });

  test('what is paid for an account that was ended goes back, and managers know of it', async () => {
    const person = await TestClient.register(server.baseURL);
    const order = await person.call('recharge', { type: 'token', num: 1 });
    await person.call('deleteAccount', { password: 'password-1' });
    const pool = new pg.Client({ connectionString: server.databaseUrl });
    await pool.connect();
    try {
      const stateOf = async () => {
        const { rows } = await pool.query<{ state: string; refunded: number; user: number }>(
          `SELECT state, refunded_amount AS refunded, user_id::int AS user FROM orders
           WHERE number = $1`,
          [order.trade_no],
        );
        return rows[0]!;
      };
      expect((await stateOf()).state).toBe('closed');
      // The service took the money before it heard that the order was closed.
      await pool.query(`UPDATE sandbox_trades SET state = 'unpaid' WHERE number = $1`, [
        order.trade_no,
      ]);
      await new TestClient(server.baseURL).call('sandboxSettle', { key: keyOf(order.url), pay: 1 });
      await untilTrue(async () => (await stateOf()).state === 'refunded');
      const { user, refunded } = await stateOf();
      expect(refunded).toBe(2000);
      const refunds = () =>
        pool.query(
          `SELECT r.state, r.amount, r.reason FROM refunds r JOIN orders o ON o.id = r.order_id
           WHERE o.number = $1`,
          [order.trade_no],
        );
      await untilTrue(async () => (await refunds()).rows[0]?.state === 'done');
      expect((await refunds()).rows).toEqual([
        { state: 'done', amount: 2000, reason: '账号已注销' },
      ]);
      const { rows: purse } = await pool.query(
        `SELECT balance::int, vip_balance::int AS vip FROM wallets WHERE user_id = $1`,
        [user],
      );
      expect(purse).toEqual([{ balance: 0, vip: 0 }]);
      const manager = new TestClient(server.baseURL);
      await manager.login('admin', ADMIN_PASSWORD);
      const { list } = await manager.call('differenceList', { page: 1 });
      expect(list.find(({ number }) => number === order.trade_no)).toMatchObject({
        kind: 'deleted_account',
        detail: expect.stringContaining('账号注销之后付了 2000 分'),
      });
    } finally {
      await pool.end();
    }
    await expectSound(server.databaseUrl);
  });

  test('orders begun at once are no more than may be open', async () => {
    const person = await TestClient.register(server.baseURL);
    await Promise.allSettled(
      Array.from({ length: 28 }, () => person.call('recharge', { type: 'token', num: 1 })),
    );
    expect((await person.call('tradeList', { page: 1 })).total).toBe(20);
  });

  test('an edition that is paid for twice is paid back once', async () => {
    const person = await TestClient.register(server.baseURL);
    const orders = [
      await person.call('recharge', { type: 'code' }),
      await person.call('recharge', { type: 'code' }),
    ];
    for (const { url } of orders) await person.call('sandboxSettle', { key: keyOf(url), pay: 1 });
    const states = async () => {
      for (const { trade_no } of orders)
        await person.call('tradeStatus', { platform_order_id: trade_no });
      return (await person.call('tradeList', { page: 1 })).list.map(({ state }) => state).sort();
    };
    await untilTrue(async () => (await states()).join() === 'paid,refunded');
    const { chatgpt_balance, subscribe } = await person.call('userInfo', {});
    expect([chatgpt_balance, subscribe]).toEqual([signup + 2_000_000, 1]);
  });

  test('editions: the upgrade costs the difference, and each brings its bonus', async () => {
    const person = await TestClient.register(server.baseURL);
    const buy = async (type: 'code' | 'code-pro') => {
      const order = await person.call('recharge', { type });
      await person.call('sandboxSettle', { key: keyOf(order.url), pay: 1 });
      await untilTrue(
        async () =>
          (await person.call('tradeStatus', { platform_order_id: order.trade_no })).status === 1,
      );
      return order.amount;
    };
    expect(await buy('code')).toBe(39_800);
    expect((await person.call('userInfo', {})).subscribe).toBe(1);
    expect(await buy('code-pro')).toBe(198_000 - 39_800);
    expect((await person.call('userInfo', {})).subscribe).toBe(2);
    expect(await balanceOf(person)).toBe(signup + 4_000_000);
    expect((await person.raw('recharge', { type: 'code' })).message).toBe('您已订阅这个版本');
  });

  test('a refund is asked for once, of one’s own paid order, and answered by a manager', async () => {
    const [person, other] = [
      await TestClient.register(server.baseURL),
      await TestClient.register(server.baseURL),
    ];
    const manager = new TestClient(server.baseURL);
    await manager.login('admin', ADMIN_PASSWORD);
    const paid = async () => {
      const order = await person.call('recharge', { type: 'token', num: 1 });
      const wish = { order_id: order.trade_no, reason: '买多了' };
      expect((await person.raw('requestRefund', wish)).code).toBe(1442);
      await person.call('sandboxSettle', { key: keyOf(order.url), pay: 1 });
      await untilTrue(
        async () =>
          (await person.call('tradeStatus', { platform_order_id: order.trade_no })).status === 1,
      );
      return wish;
    };
    const waiting = async (number: string) =>
      (await manager.call('adminOrderList', { type: 'refund' })).list.find(
        ({ order_id }) => order_id === number,
      )?.refund_wish;
    const refused = await paid();
    expect((await other.raw('requestRefund', refused)).status).toBe(404);
    expect((await person.raw('requestRefund', { ...refused, reason: ' ' })).status).toBe(422);
    expect((await person.call('requestRefund', refused)).refund).toBe('requested');
    expect(await waiting(refused.order_id)).toBe('买多了');
    await manager.call('rejectRefund', { order_id: refused.order_id, reason: '已经用完' });
    expect(await waiting(refused.order_id)).toBeUndefined();
    const again = await person.raw('requestRefund', refused);
    expect(again).toMatchObject({ code: 1442, message: '这个订单的退款申请已有答复：已经用完' });
    const { list } = await person.call('tradeList', {});
    expect(list[0]).toMatchObject({ refund: 'rejected', refund_answer: '已经用完' });
    // Refunded after all, it is not told as refused, too.
    await manager.call('refundOrder', { ...refused, amount: 2000 });
    const refunded = await person.call('tradeList', {});
    expect(refunded.list[0]).toMatchObject({ refund: '', refund_answer: '', state: 'refunded' });
    const told = { waits: [{ kind: 'order' as const, id: refused.order_id }] };
    expect((await person.call('waitStatus', told)).results[0]).toMatchObject({
      state: 'done',
      title: '退款',
    });

    const granted = await paid();
    await person.call('requestRefund', granted);
    expect((await person.raw('requestRefund', granted)).code).toBe(1442);
    await manager.call('refundOrder', { ...granted, amount: 2000 });
    expect(await waiting(granted.order_id)).toBeUndefined();
    const answer = { order_id: granted.order_id, reason: '晚了' };
    expect((await manager.raw('rejectRefund', answer)).status).toBe(404);
    expect((await person.call('tradeList', {})).list[0]).toMatchObject({
      refund: '',
      state: 'refunded',
    });
  });

  test('an invoice is asked for once, for paid orders of one’s own', async () => {
    const [person, other] = [
      await TestClient.register(server.baseURL),
      await TestClient.register(server.baseURL),
    ];
    const order = await person.call('recharge', { type: 'token', num: 1 });
    const wish = {
      order_ids: [order.trade_no],
      kind: 'company' as const,
      title: '鹊桥科技有限公司',
      tax_number: '91110000MA0000001X',
      email: 'a@example.com',
    };
    expect((await person.raw('requestInvoice', wish)).code).toBe(1442);
    await person.call('sandboxSettle', { key: keyOf(order.url), pay: 1 });
    await untilTrue(
      async () =>
        (await person.call('tradeStatus', { platform_order_id: order.trade_no })).status === 1,
    );
    expect((await other.raw('requestInvoice', wish)).status).toBe(404);
    expect((await person.raw('requestInvoice', { ...wish, tax_number: '12' })).status).toBe(422);
    const made = await person.call('requestInvoice', wish);
    expect(made).toMatchObject({ amount: 2000, state: 'requested' });
    expect((await person.raw('requestInvoice', wish)).code).toBe(1442);
    expect((await person.call('tradeList', {})).list[0]?.invoice).toBe('requested');
    const manager = new TestClient(server.baseURL);
    await manager.login('admin', ADMIN_PASSWORD);
    const refundedOf = async () =>
      (await manager.call('adminInvoiceList', { page: 1 })).list.find(({ id }) => id === made.id)
        ?.refunded_amount;
    expect(await refundedOf()).toBe(0);
    await manager.call('handleInvoice', { id: made.id, state: 'issued' });
    const back = { order_id: order.trade_no, reason: '退款', forgive: 1 as const };
    await manager.call('refundOrder', { ...back, amount: 500 });
    expect(await refundedOf()).toBe(500);
    // No more than is left, in words.
    const over = await manager.raw('refundOrder', { ...back, amount: 1501 });
    expect(over).toMatchObject({ status: 200, code: 1442 });
    await manager.call('refundOrder', { ...back, amount: 1500 });
    expect(await refundedOf()).toBe(2000);
    await expectSound(server.databaseUrl);
  });

  test('nobody buys with play money through a proxy that is not trusted, or by a public name', async () => {
    const named = await startServer({
      databaseUrl: server.databaseUrl,
      env: { SANDBOX_ALLOWED: 'shop.example.com', TRUST_PROXY: 'loopback' },
    });
    try {
      expect(server.log()).toContain('play money');
      const person = await TestClient.register(server.baseURL);
      const there = new TestClient(named.baseURL, person.token);
      /** Whether a request is offered the sandbox, and may pay by it. */
      const plays = async (client: TestClient, headers: Record<string, string>) => {
        const { providers } = await client.call('paymentInfo', {}, headers);
        const paid = await client.raw('sandboxSettle', { key: 'unknown', pay: 1 }, headers);
        expect(paid.code).toBe(providers.length === 0 ? 1441 : 404);
        return providers.length > 0;
      };
      const outside: Record<string, string>[] = [
        { 'x-forwarded-for': '203.0.113.7' },
        { 'x-forwarded-for': '10.0.0.7' },
        { 'x-forwarded-host': 'localhost' },
        { forwarded: 'for=10.0.0.7' },
        { 'x-real-ip': '10.0.0.7' },
        { via: '1.1 proxy' },
        { 'cf-connecting-ip': '10.0.0.7' },
        { host: 'shop.example.org' },
        { host: '8.8.8.8:3000' },
      ];
      for (const headers of outside)
        expect(await plays(person, headers), JSON.stringify(headers)).toBe(false);
      const refused = await person.raw('recharge', { type: 'token', num: 1 }, outside[0]);
      expect(refused.code).toBe(1441);
      for (const host of ['localhost', 'mybox', '192.168.1.5:3000', '[::1]', 'phone.local'])
        expect(await plays(person, { host }), host).toBe(true);
      await person.call('recharge', { type: 'token', num: 1 });
      // A plain proxy_pass speaks HTTP/1.0, says its own host, and adds nothing.
      const paid = async (at: TestServer, version: string, more = '') =>
        said(at, `POST /api/sandbox_settle HTTP/${version}`, `{"key":"unknown","pay":1}`, [
          `authorization: Bearer ${person.token}`,
          ...(more === '' ? [] : [more]),
        ]);
      expect(await paid(server, '1.1')).toContain('"code":404');
      expect(await paid(server, '1.0')).toContain('"code":1441');
      expect(await paid(named, '1.0', 'x-forwarded-for: 10.0.0.7')).toContain('"code":404');
      expect(await plays(there, { 'x-forwarded-for': '10.0.0.7' })).toBe(true);
      expect(await plays(there, { 'x-forwarded-for': '8.8.4.4' })).toBe(false);
      // Between the trusted proxy and the person there is another.
      expect(await plays(there, { 'x-forwarded-for': '8.8.4.4, 10.0.0.7' })).toBe(false);
      expect(await plays(there, { host: 'shop.example.com', via: '1.1 proxy' })).toBe(true);
    } finally {
      await named.stop();
    }
  });
});

test('the sandbox is shut where strangers come, and without keys there is no address for notices', async () => {
  const server = await startServer({ env: { PUBLIC_URL: 'https://queqiao.example.com' } });
  try {
    const person = await TestClient.register(server.baseURL);
    expect((await person.call('paymentInfo', {})).providers).toEqual([]);
    const refused = await person.raw('recharge', { type: 'token', num: 1 });
    expect(refused.code).toBe(1441);
    for (const name of ['wechat', 'alipay'])
      expect((await send(server, name, { body: '{}', headers: {} })).status).toBe(404);
  } finally {
    await server.stop();
  }
});

/** The whole answer to a request that is written by hand. */
const said = (server: TestServer, line: string, body: string, headers: string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(server.port, '127.0.0.1', () =>
      socket.write(
        [
          line,
          'host: 127.0.0.1',
          'connection: close',
          'content-type: application/json',
          `content-length: ${body.length}`,
          ...headers,
          '',
          body,
        ].join('\r\n'),
      ),
    );
    socket
      .setEncoding('utf8')
      .on('data', (chunk: string) => (answer += chunk))
      .once('end', () => resolve(answer))
      .once('error', reject);
  });

describe('with WeChat Pay', () => {
  let service: Awaited<ReturnType<typeof startWechatPay>>;
  let server: TestServer;
  const env = (slow: boolean) => ({
    ...service.env('http://127.0.0.1:1'),
    PAYMENT_CHECK_SECONDS: slow ? '3600' : '1',
  });
  beforeEach(async () => {
    service = await startWechatPay();
  });
  afterEach(async () => {
    expect(service.badSignatures()).toBe(0);
    await server.stop();
    await service.close();
  });

  test(`${forgeries} forged or replayed notices credit nothing; the true one does, once`, async () => {
    server = await startServer({ env: env(true) });
    const person = await TestClient.register(server.baseURL);
    const order = await person.call('recharge', { type: 'token', num: 2 });
    expect(order.url).toBe(`weixin://wxpay/bizpayurl?pr=${order.trade_no}`);
    const trade = service.trades.get(order.trade_no)!;
    const lie = { ...trade, state: 'SUCCESS' as const, transaction: '4200', paidAt: new Date() };
    const forged = Array.from({ length: forgeries }, (_, nth) => {
      const true_ = service.noticeOf(lie);
      switch (nth % 6) {
        case 0:
          return service.noticeOf(lie, service.forgedBy);
        case 1:
          return { ...true_, body: true_.body.replace('支付成功', '支付失败') };
        case 2:
          return service.noticeOf(lie, undefined, Date.now() - 600_000);
        case 3:
          return {
            ...true_,
            headers: { ...true_.headers, 'wechatpay-signature': 'WECHATPAY/SIGNTEST/AAAA' },
          };
        case 4:
          return { body: true_.body, headers: { 'content-type': 'application/json' } };
        default:
          // Signed by the service, and yet the trade is not paid: the service is asked.
          return true_;
      }
    });
    const statuses = new Set<number>();
    for (let at = 0; at < forged.length; at += 50) {
      const sent = await Promise.all(
        forged.slice(at, at + 50).map((each) => send(server, 'wechat', each)),
      );
      for (const [nth, { status }] of sent.entries()) {
        if ((at + nth) % 6 !== 5) expect(status).toBe(401);
        statuses.add(status);
      }
    }
    expect(await balanceOf(person)).toBe(signup);
    service.pay(order.trade_no);
    const good = service.noticeOf(service.trades.get(order.trade_no)!);
    const asked = { platform_order_id: order.trade_no };
    const replies = await Promise.all(
      Array.from({ length: 20 }, async (_, nth) =>
        nth % 2
          ? (await person.raw('tradeStatus', asked)).status
          : (await send(server, 'wechat', good)).status,
      ),
    );
    expect(replies.every((status) => status === 200)).toBe(true);
    expect(await balanceOf(person)).toBe(signup + 2_000_000);
    await expectSound(server.databaseUrl);
  });

  test('lost notices, a service that is down and a server that is down lose nothing', async () => {
    server = await startServer({ env: env(false) });
    const person = await TestClient.register(server.baseURL);
    const orders = [];
    for (let nth = 0; nth < 3; nth += 1)
      orders.push(await person.call('recharge', { type: 'token', num: 1 }));
    service.setDown(true);
    service.pay(orders[0]!.trade_no);
    const notice = service.noticeOf(service.trades.get(orders[0]!.trade_no)!);
    expect((await send(server, 'wechat', notice)).status).toBeGreaterThanOrEqual(400);
    expect((await person.raw('recharge', { type: 'token', num: 1 })).code).toBe(1441);
    service.setDown(false);
    await untilTrue(async () => (await balanceOf(person)) === signup + 1_000_000);
    const { databaseUrl, dataDir } = server;
    await server.kill9();
    service.pay(orders[1]!.trade_no);
    // The service has a new certificate when the server is back.
    service.rotate();
    server = await startServer({ databaseUrl, dataDir, env: env(false) });
    const back = new TestClient(server.baseURL, person.token);
    await untilTrue(async () => (await balanceOf(back)) === signup + 2_000_000);
    // Another amount than was asked for is no payment of this order.
    service.pay(orders[2]!.trade_no, 1);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(await balanceOf(back)).toBe(signup + 2_000_000);
    const pool = new pg.Client({ connectionString: databaseUrl });
    await pool.connect();
    const { rows } = await pool.query(`SELECT number, kind FROM payment_differences`);
    await pool.end();
    expect(rows).toEqual([{ number: orders[2]!.trade_no, kind: 'amount' }]);
    await expectSound(databaseUrl);
  });
});

test('with Alipay: precreated, paid by a signed notice, forged ones refused', async () => {
  const service = await startAlipay();
  const server = await startServer({
    env: { ...service.env('http://127.0.0.1:1'), PAYMENT_CHECK_SECONDS: '3600' },
  });
  try {
    const person = await TestClient.register(server.baseURL);
    const order = await person.call('recharge', { type: 'token', num: 5 });
    expect(order.url).toBe(`https://qr.alipay.com/${order.trade_no}`);
    const asked = { platform_order_id: order.trade_no };
    expect((await person.call('tradeStatus', asked)).status).toBe(0);
    const trade = service.trades.get(order.trade_no)!;
    const lie = { ...trade, state: 'TRADE_SUCCESS' as const, trade: '2026' };
    for (const forged of [
      service.noticeOf(lie, service.forgedBy),
      service.noticeOf(lie, service.forgedBy, { sign_type: 'RSA' }),
      { ...service.noticeOf(lie), body: service.noticeOf(lie).body.replace('95.00', '95.01') },
      service.noticeOf(lie, undefined, { app_id: '2021000000000002' }),
      service.noticeOf(lie, undefined, { out_trade_no: `${order.trade_no}\0` }),
      { body: '', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    ])
      expect((await send(server, 'alipay', forged)).status).toBe(400);
    expect(await (await send(server, 'alipay', service.noticeOf(lie))).text()).toBe('success');
    expect(await balanceOf(person)).toBe(signup);
    service.pay(order.trade_no);
    const good = service.noticeOf(service.trades.get(order.trade_no)!);
    expect(await (await send(server, 'alipay', good)).text()).toBe('success');
    expect(await balanceOf(person)).toBe(signup + 5_000_000);
    expect(service.badSignatures()).toBe(0);
  } finally {
    await server.stop();
    await service.close();
  }
});
