import { setTimeout as sleep } from 'node:timers/promises';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { tellVipEnds } from '#server/areas/ledger/vip.service.ts';
import { openDatabase } from '#server/db/database.ts';
import { TestClient } from '../support/client.ts';
import { type FakePushService, startPushService } from '../support/push-service.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';

let push: FakePushService;
let server: TestServer;
let pool: pg.Pool;
let manager: TestClient;
let key = '';

beforeAll(async () => {
  push = await startPushService(() => key);
  server = await startServer({
    env: {
      FETCH_ALLOWED: push.host,
      PAYMENT_CHECK_SECONDS: '1',
      OFFICIAL_SITE: 'https://queqiao.example/',
      WECHAT_ACCOUNT: 'http://weixin.qq.com/r/queqiao',
    },
  });
  pool = new pg.Pool({ connectionString: server.databaseUrl });
  manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  ({ key } = await manager.call('pushKey', {}));
});
afterAll(async () => {
  await pool?.end();
  await server?.stop();
  await push?.close();
});
beforeEach(() => {
  expect(push.faults).toEqual([]);
  push.pushed = [];
});

const personWithBrowser = async () => {
  const person = await TestClient.register(server.baseURL);
  const { id } = await person.call('userInfo', {});
  const browser = push.browser();
  await person.call('pushSubscribe', browser);
  return { person, id, device: browser.device };
};

const settle = async (url: string) => {
  const trade = new URL(url, server.baseURL).searchParams.get('key') ?? '';
  await new TestClient(server.baseURL).call('sandboxSettle', { key: trade, pay: 1 });
};

test('a payment that is finished while the app is closed is told by push, once @O4 @P3', async () => {
  const { person, device } = await personWithBrowser();
  const order = await person.call('recharge', { type: 'token', num: 1 });
  const wait = { kind: 'order' as const, id: order.trade_no };
  await person.call('watchWaits', { device, waits: [wait] });
  // From here on nobody asks: the money is found by the server itself.
  await settle(order.url);
  await expect.poll(() => push.pushed.length, { timeout: 15_000 }).toBe(1);
  expect(push.pushed[0]).toMatchObject({
    device,
    message: { ...wait, state: 'done', body: '充值成功', url: '/account?tab=usage' },
  });
  await sleep(1500);
  expect(push.pushed).toHaveLength(1);
});

test('a membership that ends within a week is told, once by push and once on screen @P4', async () => {
  const { person, id, device } = await personWithBrowser();
  const other = await personWithBrowser();
  const buy = async (client: TestClient) => {
    const order = await client.call('recharge', { type: 'vip', num: 1 });
    await settle(order.url);
    await expect
      .poll(
        async () =>
          (await client.call('tradeStatus', { platform_order_id: order.trade_no })).status,
      )
      .toBe(1);
  };
  const ending = async (client: TestClient) => (await client.call('userInfo', {})).vip_ending;
  const clock = () => openDatabase(pool).transaction((tx) => tellVipEnds(tx));
  await buy(person);
  await buy(other.person);
  expect(await ending(person)).toBe(0);
  const endsIn = (userId: number, days: number) =>
    pool.query(
      `UPDATE users SET vip_activated_at = now() - interval '30 days',
         vip_expired_at = now() + make_interval(days => $2) WHERE id = $1`,
      [userId, days],
    );
  await endsIn(id, 6);
  await endsIn(other.id, 8);
  expect([await ending(person), await ending(other.person)]).toEqual([1, 0]);
  await clock();
  await clock();
  await expect.poll(() => push.pushed.length, { timeout: 8000 }).toBe(1);
  expect(push.pushed[0]).toMatchObject({
    device,
    message: { kind: 'membership', title: '会员快到期了', url: '/account?tab=vip' },
  });
  expect(push.pushed[0]?.message.body).toMatch(/^您的会员 \d+ 月 \d+ 日到期/);
  await person.call('vipEndSeen', {});
  expect(await ending(person)).toBe(0);
  // Prolonged, it ends again some day, and that will be told again.
  await buy(person);
  await clock();
  await endsIn(id, 3);
  expect(await ending(person)).toBe(1);
  await clock();
  await expect.poll(() => push.pushed.length, { timeout: 8000 }).toBe(2);
});

test('an invoice that was issued or sent back is told by push, to whom asked for it @P3', async () => {
  const { person, device } = await personWithBrowser();
  const other = await TestClient.register(server.baseURL);
  const order = await person.call('recharge', { type: 'token', num: 1 });
  await settle(order.url);
  const asked = { platform_order_id: order.trade_no };
  await expect.poll(async () => (await person.call('tradeStatus', asked)).status).toBe(1);
  const request = () =>
    person.call('requestInvoice', {
      order_ids: [order.trade_no],
      kind: 'personal',
      title: '王小明',
      email: 'a@example.com',
    });
  const stands = async (client: TestClient, id: number) =>
    (await client.call('waitStatus', { waits: [{ kind: 'invoice', id: String(id) }] })).results[0];
  for (const [state, remark, news] of [
    ['rejected', '抬头不全', { state: 'failed', title: '发票申请被退回' }],
    ['issued', '', { state: 'done', title: '发票已开出' }],
  ] as const) {
    push.pushed = [];
    const { id } = await request();
    expect((await stands(person, id))?.state).toBe('pending');
    expect((await stands(other, id))?.state).toBe('gone');
    await manager.call('handleInvoice', { id, state, remark });
    await expect.poll(() => push.pushed.length, { timeout: 8000 }).toBe(1);
    const body = `20.00 元，抬头：王小明${remark && `。${remark}`}`;
    const message = { kind: 'invoice', id: String(id), ...news, body, url: '/account?tab=order' };
    expect(push.pushed[0]).toMatchObject({ device, message });
    expect((await stands(other, id))?.state).toBe('gone');
    expect((await manager.raw('handleInvoice', { id, state, remark })).status).toBe(404);
  }
  await sleep(1500);
  expect(push.pushed).toHaveLength(1);
});

test('the source code of a notice comes to subscribers alone, and nothing of it before its time @P5', async () => {
  const publish = async (
    fields: Record<string, string>,
    file?: string | Uint8Array<ArrayBuffer>,
  ) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    if (file) form.set('file', new Blob([file]), '源码 1.0.zip');
    const response = await fetch(`${server.baseURL}/api/admin/save_notice`, {
      method: 'POST',
      headers: manager.headers(),
      body: form,
    });
    return ((await response.json()) as { data: { id: number } }).data.id;
  };
  const person = await TestClient.register(server.baseURL);
  const visitor = new TestClient(server.baseURL);
  expect(await visitor.call('siteInfo', {})).toMatchObject({
    official_site: 'https://queqiao.example',
    wechat: 'http://weixin.qq.com/r/queqiao',
  });
  const later = await publish(
    { notice: '以后的', publish_at: new Date(Date.now() + 3_600_000).toISOString() },
    '还没有发布',
  );
  const first = await publish({ notice: '第一条' });
  const second = await publish({ notice: '## 新版本' }, '全部源码');
  const told = await person.call('noticeInfo', {});
  expect(told).toMatchObject({ unread: 2, list: [{ id: second, content: '## 新版本' }] });
  const shown = await visitor.raw('noticeList', {});
  expect(JSON.stringify(shown)).not.toContain('以后的');
  const { rows } = await pool.query<{ bucket_key: string }>(
    `SELECT bucket_key FROM notices WHERE bucket_key <> ''`,
  );
  expect(rows).toHaveLength(2);
  // Whoever knew it could read the file.
  for (const row of rows) expect(JSON.stringify([shown, told])).not.toContain(row.bucket_key);
  const { list } = await person.call('noticeList', {});
  expect(list.map((row) => [row.id, row.read, row.bucket_key, row.file_size])).toEqual([
    [second, 0, '源码 1.0.zip', 12],
    [first, 0, '', 0],
  ]);
  await person.call('updateNotice', { notice_id: first });
  expect(await person.call('noticeInfo', {})).toMatchObject({ unread: 1 });
  await person.call('updateNotice', { notice_id: second });
  expect(await person.call('noticeInfo', {})).toEqual({ list: [], unread: 0 });
  expect((await person.raw('updateNotice', { notice_id: later })).status).toBe(404);
  expect((await visitor.call('noticeList', {})).list.map((row) => row.view_count)).toEqual([1, 1]);

  expect((await person.call('downloadSourceCode', { id: second })).url).toBe('');
  const read = (url: string, client = visitor) =>
    fetch(server.baseURL + url, { headers: client.headers() });
  expect((await read(`/api/notice_file?id=${second}`, person)).status).toBe(404);
  const order = await person.call('recharge', { type: 'code' });
  await settle(order.url);
  await expect
    .poll(async () => (await person.call('userInfo', {})).subscribe, { timeout: 8000 })
    .toBe(1);
  expect((await person.raw('downloadSourceCode', { id: later })).status).toBe(404);
  expect((await person.call('downloadSourceCode', { id: first })).url).toBe('');
  const { url } = await person.call('downloadSourceCode', { id: second });
  const file = await read(url);
  expect(file.headers.get('content-disposition')).toContain(encodeURIComponent('源码 1.0.zip'));
  expect(await file.text()).toBe('全部源码');
  expect((await read(url)).status).toBe(401);
  // An archive carries the licence and the third-party notices.
  const zip = zipSync({ 'main.ts': strToU8('全部源码') });
  const third = await publish({ notice: '压缩的' }, zip);
  const packed = await read((await person.call('downloadSourceCode', { id: third })).url);
  const inside = unzipSync(new Uint8Array(await packed.arrayBuffer()));
  expect(strFromU8(inside['main.ts']!)).toBe('全部源码');
  const { notices } = await person.call('downloadSourceCode', { id: third });
  expect(strFromU8(inside['third-party-notices.txt']!)).toBe(await (await read(notices)).text());
  expect(Object.keys(inside)).toContain('license.txt');
  await person.call('updateNotice', { notice_id: third });

  // What was written before it and published after it is new to who has read everything.
  await pool.query('UPDATE notices SET publish_at = now() WHERE id = $1', [later]);
  expect(await person.call('noticeInfo', {})).toMatchObject({ unread: 1, list: [{ id: later }] });

  const pageOf = async (page: number) => {
    const {
      list,
      total,
      page_count: count,
    } = await visitor.call('noticeList', {
      page,
      page_size: 2,
    });
    return { ids: list.map((row) => row.id), total, count };
  };
  expect(await pageOf(1)).toEqual({ ids: [later, third], total: 4, count: 2 });
  expect(await pageOf(2)).toEqual({ ids: [second, first], total: 4, count: 2 });
  expect(await pageOf(3)).toEqual({ ids: [], total: 4, count: 2 });
});
