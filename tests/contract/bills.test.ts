import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { startAlipay } from '../support/fake-alipay.ts';
import { startWechatPay } from '../support/fake-wechat-pay.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';

const signup = 20_000;
const hour = 3_600_000;
/** Of a day whose bill is there, whatever the time is now. */
const paidAt = new Date(Date.now() - 58.5 * hour);

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** What the two services have in common here: a trade's amount is theirs to write. */
const services = {
  wechat: async () => {
    const service = await startWechatPay();
    return {
      service,
      tamper: (number: string) => void (service.trades.get(number)!.amount = 1),
      lines: (number: string) => `\`时间,\`应用,\`4200x,\`${number},\`SUCCESS,\`12.34`,
    };
  },
  alipay: async () => {
    const service = await startAlipay();
    return {
      service,
      tamper: (number: string) => void (service.trades.get(number)!.amount = '0.01'),
      lines: (number: string) => `2026x\t,${number}\t,交易    ,鹊桥充值,时间,12.34`,
    };
  },
};

test.each(['wechat', 'alipay'] as const)(
  'the daily bill of %s: what was paid and not credited is credited, what differs is told to managers @P6',
  async (name) => {
    const { service, tamper, lines } = await services[name]();
    endings.push(() => service.close());
    const env = { ...service.env('http://127.0.0.1:1'), PAYMENT_CHECK_SECONDS: '1' };
    let server: TestServer = await startServer({ env });
    endings.push(() => server.stop());
    const person = await TestClient.register(server.baseURL);
    const numbers: string[] = [];
    for (let nth = 0; nth < 4; nth += 1)
      numbers.push((await person.call('recharge', { type: 'token', num: 1 })).trade_no);
    const [good, other, absent, lost] = numbers as [string, string, string, string];
    const pay = (number: string) => void (service.pay(number).paidAt = paidAt);
    for (const number of [good, other, absent]) pay(number);
    const balance = async () => (await person.call('userInfo', {})).chatgpt_balance;
    await expect.poll(balance, { timeout: 40_000 }).toBe(signup + 3_000_000);
    const { databaseUrl, dataDir } = server;
    await server.kill9();

    // Nobody asks about it any more; the bills have not been read; they say what the orders do not.
    const pool = new pg.Pool({ connectionString: databaseUrl });
    await pool.query(
      `UPDATE orders SET state = 'closed', closed_at = now() - interval '2 days', next_ask_at = NULL
       WHERE number = $1`,
      [lost],
    );
    await pool.query('DELETE FROM payment_bills');
    await pool.end();
    pay(lost);
    tamper(other);
    service.trades.delete(absent);
    const unknown = 'Q20260101000000000001';
    service.strayBill([lines(unknown), lines('another-shop-1')]);

    server = await startServer({ env, databaseUrl, dataDir });
    const manager = new TestClient(server.baseURL);
    await manager.login('admin', ADMIN_PASSWORD);
    const differences = async () =>
      (await manager.call('differenceList', {})).list
        .map((row) => `${row.number} ${row.kind}`)
        .sort();
    await expect
      .poll(differences, { timeout: 40_000 })
      .toEqual([`${unknown} unknown`, `${other} amount`, `${absent} absent`].sort());
    const back = new TestClient(server.baseURL, person.token);
    expect((await back.call('userInfo', {})).chatgpt_balance).toBe(signup + 4_000_000);
    const { list } = await manager.call('differenceList', {});
    expect(list.find((row) => row.number === unknown)?.detail).toContain('1234 分');
    await manager.call('resolveDifference', { id: list[0]?.id ?? 0, note: '已退款' });
    expect((await manager.call('differenceList', {})).total).toBe(2);
    expect(service.badSignatures()).toBe(0);
  },
  120_000,
);
