import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { strFromU8, unzipSync } from 'fflate';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Envelope } from '#contract/call.ts';
import { onDatabase } from '../support/api-user.ts';
import { TestClient } from '../support/client.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';
import { onePixel } from '../support/world.ts';

/** A clamd that finds what holds the word “virus”. */
const startClamd = async (): Promise<{ url: string; stop: () => void }> => {
  const server: Server = createServer((socket) => {
    const pieces: Buffer[] = [];
    socket.on('error', () => undefined);
    socket.on('data', (piece: Buffer) => {
      pieces.push(piece);
      const all = Buffer.concat(pieces);
      if (!all.subarray(-4).equals(Buffer.alloc(4))) return;
      socket.end(all.includes('virus') ? 'stream: Test-Virus FOUND\0' : 'stream: OK\0');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { url: `tcp://127.0.0.1:${port}`, stop: () => void server.close() };
};

let server: TestServer;
let clamd: Awaited<ReturnType<typeof startClamd>>;
let manager: TestClient;
let buyer: TestClient;
let stranger: TestClient;
beforeAll(async () => {
  clamd = await startClamd();
  server = await startServer({ env: { APP_FILE_MB: '1', CLAMD_URL: clamd.url } });
  manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  buyer = await TestClient.register(server.baseURL);
  stranger = await TestClient.register(server.baseURL);
});
afterAll(async () => {
  await server.stop();
  clamd.stop();
});

// What answers hold is what this tests.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = Record<string, any>;

/** A client that knows the specification's paths and fields alone. */
const get = async (client: TestClient, path: string, query: Json = {}): Promise<Json> => {
  const search = new URLSearchParams(query).toString();
  const response = await fetch(`${server.baseURL}/api/${path}?${search}`, {
    headers: client.headers(),
  });
  return { status: response.status, ...((await response.json()) as Envelope) };
};
const post = async (client: TestClient, path: string, body: Json): Promise<Json> => {
  const response = await fetch(`${server.baseURL}/api/${path}`, {
    method: 'POST',
    headers: { ...client.headers(), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, ...((await response.json()) as Envelope) };
};
const sendForm = async (client: TestClient, path: string, fields: Json): Promise<Json> => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    if (value instanceof Buffer)
      form.set(
        name,
        new Blob([new Uint8Array(value)]),
        name === 'cover_image' ? 'cover.png' : '工具 1.zip',
      );
    else form.set(name, String(value));
  const response = await fetch(`${server.baseURL}/api/${path}`, {
    method: 'POST',
    headers: client.headers(),
    body: form,
  });
  return { status: response.status, ...((await response.json()) as Envelope) };
};

const file = Buffer.from('PK-program-'.repeat(1000));
const sha256 = createHash('sha256').update(file).digest('hex');

const publish = async (more: Json = {}): Promise<number> => {
  const answer = await sendForm(manager, 'product/save_app', {
    type: '效率工具',
    title: '写作助手',
    source: '',
    price: 990,
    version: '1.0',
    version_desc: '第一版',
    images_url: JSON.stringify(['https://example.com/a.png', 'https://example.com/b.png']),
    md_description: '# 介绍',
    cover_image: onePixel,
    file,
    ...more,
  });
  expect(answer).toMatchObject({ code: 0, data: { message: '应用发布成功' } });
  return answer['data'].id as number;
};

const details = async (client: TestClient, id: number) =>
  (await get(client, 'product/app_details', { id: String(id) }))['data'] as Json;

const pay = async (client: TestClient, id: number): Promise<string> => {
  const order = await post(client, 'product/pay_app', { id });
  expect(order).toMatchObject({ code: 0 });
  const { trade_no: number, url } = order['data'] as { trade_no: string; url: string };
  const key = new URL(url, server.baseURL).searchParams.get('key') ?? '';
  await client.call('sandboxSettle', { key, pay: 1 });
  await expect
    .poll(
      async () =>
        (await post(client, `product/trade_status?platform_order_id=${number}`, {}))['data'].status,
      { timeout: 15_000 },
    )
    .toBe(1);
  return number;
};

const linkOf = async (client: TestClient, id: number): Promise<string> =>
  server.baseURL + (await client.call('appDownloadLink', { id })).url;

describe('an app', () => {
  test('is bought, downloaded and commented on by who knows the specification alone @M1 @M2', async () => {
    const id = await publish();
    const listed = (await get(stranger, 'product/get_list'))['data'] as Json;
    expect(listed['types']).toContain('效率工具');
    expect(listed['list'].find((each: Json) => each['id'] === id)).toMatchObject({
      title: '写作助手',
      source: '',
      price: 990,
      version: '1.0',
      version_desc: '第一版',
      isDownloadable: false,
      closeComment: false,
      images_url: ['https://example.com/a.png', 'https://example.com/b.png'],
      cover_image_url: expect.stringMatching(/^\/files\//),
    });
    const before = await details(buyer, id);
    expect(JSON.parse(before['app_detail'].images_url)).toHaveLength(2);
    expect(before['versions_detail']).toMatchObject({
      list: [{ version: '1.0', code_url: '', sha256, scanned: true, code_size: file.length }],
      hasMorePages: false,
    });
    const early = { app_id: id, comment_content: '没买也想说', rating: 5 };
    expect((await post(buyer, 'product/send_comment', early))['code']).toBeGreaterThan(0);
    expect((await post(buyer, 'product/send_comment', early))['data']).toBeNull();

    await pay(buyer, id);
    const after = await details(buyer, id);
    expect(after['app_detail'].isDownloadable).toBe(true);
    expect((await details(stranger, id))['app_detail'].isDownloadable).toBe(false);
    const response = await fetch(server.baseURL + after['versions_detail'].list[0].code_url);
    expect(response.headers.get('content-disposition')).toContain('attachment');
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(Buffer.from(await response.arrayBuffer()).equals(file)).toBe(true);

    for (const rating of [3, 4.5])
      expect(
        await post(buyer, 'product/send_comment', { app_id: id, comment_content: '好用', rating }),
      ).toMatchObject({ code: 0 });
    const bad = { app_id: id, comment_content: '好用', rating: 4.3 };
    expect((await post(buyer, 'product/send_comment', bad))['status']).toBe(422);
    const said = await details(stranger, id);
    expect(said['app_detail'].rating).toBe(4.5);
    expect(said['comments_detail'].list).toMatchObject([{ rating: 4.5, comment_content: '好用' }]);
    expect(said['app_detail'].ratings.filter(({ count }: Json) => count > 0)).toEqual([
      { rating: 4.5, count: 1 },
    ]);

    const comments = (
      await get(manager, 'product/comment_list', { id: String(id), page: '1', pageSize: '10' })
    )['data'];
    expect(comments).toMatchObject({
      title: '写作助手',
      list: { count: 1, list: [{ version: '1.0', description: '第一版', rating: 4.5 }] },
    });
    const row = (await manager.call('managedAppList', {})).list.find((each) => each.id === id);
    expect(row).toMatchObject({ download_count: 1, sales: 1, income: 990 });
    await post(manager, 'product/save_general_info', { id, closeComment: true });
    expect((await post(buyer, 'product/send_comment', early))['code']).toBeGreaterThan(0);
    const { id: commentId } = comments.list.list[0] as { id: number };
    expect(await post(stranger, 'product/del_comment', { id: commentId })).toMatchObject({
      code: 404,
    });
    expect(await post(manager, 'product/del_comment', { id: commentId })).toMatchObject({
      code: 0,
    });
    expect(
      (await get(buyer, 'product/comment_next', { id: String(id), comment_page: '1' }))['data'],
    ).toEqual({ list: [], hasMorePages: false });
  });

  test('has versions in pages, a description and general information @M2', async () => {
    const id = await publish({ title: '多版本', price: 0 });
    for (let at = 1; at <= 11; at += 1)
      expect(
        await sendForm(manager, 'product/add_version', {
          id,
          version: `1.${at}`,
          description: '更快',
          file,
        }),
      ).toMatchObject({ code: 0 });
    expect((await details(buyer, id))['versions_detail']).toMatchObject({
      hasMorePages: true,
      list: { length: 10 },
    });
    const next = (await get(buyer, 'product/version_next', { id: String(id), version_page: '2' }))[
      'data'
    ];
    expect(next).toMatchObject({
      hasMorePages: false,
      list: [{ version: '1.1' }, { version: '1.0' }],
    });
    expect(
      (await get(manager, 'product/version_list', { id: String(id), page: '1', pageSize: '5' }))[
        'data'
      ],
    ).toMatchObject({
      title: '多版本',
      list: { count: 12, list: { length: 5 } },
    });
    expect(
      await post(manager, 'product/save_description', { id, md_description: '新的介绍' }),
    ).toMatchObject({ code: 0 });
    expect((await get(manager, 'product/get_description', { id: String(id) }))['data']).toEqual({
      title: '多版本',
      md_description: '新的介绍',
    });
    await post(manager, 'product/save_general_info', {
      id,
      title: '新名字',
      developer: '鹊桥',
      type: '游戏',
      rating: 3.5,
      price: 100,
    });
    expect((await get(manager, 'product/general_info', { id: String(id) }))['data']).toMatchObject({
      title: '新名字',
      developer: '鹊桥',
      type: '游戏',
      rating: 3.5,
      price: 100,
    });
    expect((await details(buyer, id))['app_detail']).toMatchObject({
      rating: 3.5,
      isDownloadable: false,
    });
  });

  test('says what is missing, and keeps drafts to managers @M2', async () => {
    for (const [more, text] of [
      [{ title: ' ' }, '名称不能为空'],
      [{ version: '' }, '版本号不能为空'],
      [{ version_desc: '' }, '版本描述不能为空'],
      [{ images_url: '["https://example.com/a.png", ""]' }, '链接不能为空'],
      [{ images_url: '["javascript:alert(1)"]' }, '图片'],
      [
        {
          images_url: JSON.stringify(Array.from({ length: 7 }, () => 'https://example.com/a.png')),
        },
        '最多 6 张',
      ],
    ] as const) {
      const whole = { title: '应用', version: '1', version_desc: '一', file };
      const answer = await sendForm(manager, 'product/save_app', { ...whole, ...more });
      expect(answer).toMatchObject({ code: 422, message: expect.stringContaining(text) });
    }
    const tooMuch = {
      title: '大',
      version: '1',
      version_desc: '一',
      file: Buffer.alloc(1024 * 1024 + 1),
    };
    expect(await sendForm(manager, 'product/save_app', tooMuch)).toMatchObject({ code: 413 });
    const ill = { ...tooMuch, file: Buffer.from('a virus') };
    expect(await sendForm(manager, 'product/save_app', ill)).toMatchObject({
      code: 1481,
      message: expect.stringContaining('Test-Virus'),
    });

    const draft = await sendForm(manager, 'product/save_app', { title: '草稿', state: 'draft' });
    const { id } = draft['data'] as { id: number };
    for (const [client, hidden] of [
      [buyer, 404],
      [new TestClient(server.baseURL), 401],
    ] as const) {
      expect(await get(client, 'product/app_details', { id: String(id) })).toMatchObject({
        code: 404,
      });
      expect(await get(client, 'product/get_draft', { id: String(id) })).toMatchObject({
        code: hidden,
      });
    }
    expect(
      await sendForm(buyer, 'product/save_app', {
        title: '我的',
        version: '1',
        version_desc: '一',
        file,
      }),
    ).toMatchObject({ code: 404 });
    const done = { id, title: '成品', version: '1', version_desc: '一', price: 0, file };
    expect(await sendForm(manager, 'product/save_app', done)).toMatchObject({ code: 0 });
    expect((await details(buyer, id))['app_detail']).toMatchObject({
      title: '成品',
      isDownloadable: true,
    });
  });
});

test('what one bought and said is in the data that one takes away, and goes with the account', async () => {
  const id = await publish({ title: '随身带走' });
  const account = `leaving${Date.now().toString(36)}`;
  const person = await TestClient.register(server.baseURL, account);
  const number = await pay(person, id);
  await post(person, 'product/send_comment', {
    app_id: id,
    comment_content: '只有我会这么说',
    rating: 2.5,
  });
  await person.call('exportAccount', {});
  let made = 0;
  await expect
    .poll(async () => (made = (await person.call('accountFiles', {})).list[0]?.id ?? 0), {
      timeout: 20_000,
    })
    .toBeGreaterThan(0);
  const zip = await fetch(`${server.baseURL}/api/account_file?id=${made}`, {
    headers: person.headers(),
  });
  const files = unzipSync(new Uint8Array(await zip.arrayBuffer()));
  expect(JSON.parse(strFromU8(files['apps.json'] ?? new Uint8Array()))).toMatchObject({
    purchases: [{ app: '随身带走', order: number, revoked_at: null }],
    comments: [{ app: '随身带走', rating: 2.5, comment_content: '只有我会这么说' }],
  });
  expect((await details(stranger, id))['comments_detail'].list).toHaveLength(1);
  await person.call('deleteAccount', { password: 'password-1' });
  const left = await details(stranger, id);
  expect(left['comments_detail'].list).toEqual([]);
  expect(left['app_detail']).toMatchObject({ rating: 0, rating_count: 0 });
  const row = (await manager.call('managedAppList', {})).list.find((each) => each.id === id);
  expect(row).toMatchObject({ sales: 1, income: 990 });
});

describe('nobody downloads what they did not buy', () => {
  test('asked for at once it is one order; a second that is paid all the same is paid back', async () => {
    const id = await publish({ title: '同时' });
    const person = await TestClient.register(server.baseURL);
    const asked = await Promise.all(
      Array.from({ length: 6 }, () => post(person, 'product/pay_app', { id })),
    );
    expect(new Set(asked.map(({ data }) => data?.['trade_no'])).size).toBe(1);
    // A price that changed begins a new order; the old one can still be paid.
    await post(manager, 'product/save_general_info', { id, price: 1200 });
    const second = await post(person, 'product/pay_app', { id });
    expect(second['data']['trade_no']).not.toBe(asked[0]?.['data']['trade_no']);
    const orders = [asked[0], second].map(
      (each) => each?.['data'] as { url: string; trade_no: string },
    );
    for (const { url } of orders) {
      const key = new URL(url, server.baseURL).searchParams.get('key') ?? '';
      await person.call('sandboxSettle', { key, pay: 1 });
    }
    await expect
      .poll(
        async () => {
          for (const { trade_no: number } of orders)
            await person.call('tradeStatus', { platform_order_id: number });
          return (await person.call('tradeList', { page: 1 })).list.map((each) => each.state);
        },
        { timeout: 15_000 },
      )
      .toEqual(expect.arrayContaining(['paid', 'refunded']));
    const free = await publish({ title: '同时免费', price: '0' });
    await Promise.all(
      Array.from({ length: 6 }, () => post(person, 'product/pay_app', { id: free })),
    );
    const { list } = await person.call('tradeList', { page: 1 });
    expect(list.filter(({ title }) => title.includes('同时免费'))).toHaveLength(1);
  });

  test('a link is of one person, for one download that may go on', async () => {
    const id = await publish({ title: '一次' });
    const other = await publish({ title: '别的应用', version: '9' });
    await pay(buyer, id);
    await expect(stranger.call('appDownloadLink', { id })).rejects.toThrow('1480');
    const foreign = (await manager.call('appVersionList', { id: other })).list.list[0]?.id ?? 0;
    await expect(buyer.call('appDownloadLink', { id, version_id: foreign })).rejects.toThrow('404');
    await expect(buyer.call('appDownloadLink', { id: other })).rejects.toThrow('1480');

    const link = await linkOf(buyer, id);
    const begun = await fetch(link, { headers: { range: 'bytes=0-99' } });
    expect(begun.status).toBe(206);
    const rest = await fetch(link, { headers: { range: 'bytes=100-' } });
    expect(rest.headers.get('content-range')).toBe(`bytes 100-${file.length - 1}/${file.length}`);
    const whole = Buffer.concat([
      Buffer.from(await begun.arrayBuffer()),
      Buffer.from(await rest.arrayBuffer()),
    ]);
    expect(createHash('sha256').update(whole).digest('hex')).toBe(sha256);
    expect((await fetch(link)).status).toBe(404);
    expect((await fetch(link, { headers: { range: 'bytes=0-' } })).status).toBe(404);

    // Another version, another person, another time: each changes what was signed.
    const key = new URL(await linkOf(buyer, id)).searchParams.get('key') ?? '';
    const parts = key.split('.');
    for (const at of [0, 1, 2, 3, 4]) {
      const forged = parts.map((part, index) =>
        index === at ? part.replace(/^./, (first) => (first === '1' ? '2' : '1')) : part,
      );
      const url = `${server.baseURL}/api/product/download?key=${forged.join('.')}`;
      expect((await fetch(url)).status).toBe(404);
    }
  });

  test('a refund takes the right back, also of links that were made', async () => {
    const id = await publish({ title: '退款' });
    const number = await pay(buyer, id);
    expect(await post(buyer, 'product/pay_app', { id })).toMatchObject({ code: 1442 });
    const [unused, begun] = [await linkOf(buyer, id), await linkOf(buyer, id)];
    await (await fetch(begun, { headers: { range: 'bytes=0-9' } })).arrayBuffer();
    await manager.call('refundOrder', { order_id: number, amount: 990, reason: '不要了' });
    // Who did it is written in the transaction that did it.
    const database = new pg.Client({ connectionString: server.databaseUrl });
    await database.connect();
    const { rows } = await database.query<{ acts: string; events: string }>(
      `SELECT a.xmin::text AS acts, e.xmin::text AS events
       FROM orders o JOIN order_events e ON e.order_id = o.id AND e.event = 'refund'
       JOIN manager_acts a ON a.subject = 'order:' || o.number
       WHERE o.number = $1`,
      [number],
    );
    await database.end();
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ events: rows[0]?.acts });
    expect((await details(buyer, id))['app_detail'].isDownloadable).toBe(false);
    expect((await details(buyer, id))['versions_detail'].list[0].code_url).toBe('');
    expect((await fetch(unused)).status).toBe(404);
    expect((await fetch(begun, { headers: { range: 'bytes=10-' } })).status).toBe(404);
    await expect(buyer.call('appDownloadLink', { id })).rejects.toThrow('1480');
    const late = { app_id: id, comment_content: '退了还想说', rating: 1 };
    expect(await post(buyer, 'product/send_comment', late)).toMatchObject({ code: 1480 });
  });

  test('what is free is there for accounts at once, and taken down it is gone', async () => {
    const id = await publish({ title: '免费', price: 0 });
    const guest = new TestClient(server.baseURL);
    await guest.call('newSession', { type: 0 });
    expect((await details(guest, id))['app_detail'].isDownloadable).toBe(false);
    expect((await guest.raw('appDownloadLink', { id })).code).toBe(1001);
    expect((await details(buyer, id))['app_detail'].isDownloadable).toBe(true);
    const unused = await linkOf(stranger, id);
    await (await fetch(await linkOf(buyer, id))).arrayBuffer();
    const outdated = async () =>
      (await buyer.call('appList', { mine: 'outdated' })).list.some((each) => each.id === id);
    expect(await outdated()).toBe(false);
    const next = { id, version: '1.1', description: '更快', file };
    expect(await sendForm(manager, 'product/add_version', next)).toMatchObject({ code: 0 });
    expect(await outdated()).toBe(true);
    expect((await stranger.call('appList', { mine: 'outdated' })).list).toEqual([]);
    await manager.call('setAppState', { id, state: 'down' });
    expect(await get(stranger, 'product/app_details', { id: String(id) })).toMatchObject({
      code: 404,
    });
    expect((await fetch(unused)).status).toBe(404);
    // Who has it keeps it.
    expect((await details(buyer, id))['app_detail'].isDownloadable).toBe(true);
    await manager.call('setAppState', { id, state: 'published' });
    expect((await details(stranger, id))['app_detail'].isDownloadable).toBe(true);
  });

  test('an order goes on instead of a second one, and another’s is unknown', async () => {
    const id = await publish({ title: '接着付' });
    const first = await post(buyer, 'product/pay_app', { id });
    const again = await post(buyer, 'product/pay_app', { id });
    expect(again['data'].trade_no).toBe(first['data'].trade_no);
    const path = `product/trade_status?platform_order_id=${first['data'].trade_no as string}`;
    expect(await post(stranger, path, {})).toMatchObject({ code: 404 });
    // One that was cancelled at the till is no order to pay any more.
    const key = new URL(String(first['data'].url)).searchParams.get('key');
    await onDatabase(server, `UPDATE sandbox_trades SET state = 'closed' WHERE key = $1`, [key]);
    const numberNow = async () =>
      String((await post(buyer, 'product/pay_app', { id }))['data'].trade_no);
    // A service is not asked twice in a moment.
    await expect.poll(numberNow, { timeout: 5_000 }).not.toBe(first['data'].trade_no);
  });
});
