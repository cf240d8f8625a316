import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StoredTool } from '#contract/tool.ts';
import { TestClient } from '../support/client.ts';
import { ADMIN_PASSWORD } from '../support/server.ts';
import { stage } from '../support/stage.ts';
import { talk } from '../support/world.ts';

/** A talk of many long messages: nobody is made to carry it at once, and each message is reached. */
const here = stage({ env: { TRUST_PROXY: '127.0.0.1' } });
const messages = 24;
let owner: TestClient;
let session: { uuid: string; first: number };
let ids: number[];
const sockets: Socket[] = [];
afterAll(() => sockets.forEach((socket) => socket.destroy()));

beforeAll(async () => {
  owner = await TestClient.register(here.server.baseURL);
  const { uuid, historyId } = await talk(owner, '第一句');
  session = { uuid, first: historyId };
  // Each a text of its own, so that packing saves little.
  await here.database.query(
    `INSERT INTO history (session_id, user_id, human, ai, model, state, prev_id)
     SELECT h.session_id, h.user_id,
       (SELECT string_agg(md5(n::text || ' ' || m::text), '') FROM generate_series(1, 8000) m),
       '好', h.model, h.state, h.id
     FROM history h, generate_series(1, $2::int - 1) n WHERE h.id = $1`,
    [historyId, messages],
  );
  const { rows } = await here.database.query<{ id: number }>(
    `SELECT id::float8 AS id FROM history WHERE session_id =
       (SELECT session_id FROM history WHERE id = $1) ORDER BY id`,
    [historyId],
  );
  ids = rows.map(({ id }) => id);
  expect(ids).toHaveLength(messages);
});

const idsOf = (list: readonly { id: number }[]): number[] => list.map(({ id }) => id);

test('a page ends once it is heavy, and going on leads to every message', async () => {
  const found: number[] = [];
  for (let page = 1, last = 1; page <= last; page += 1) {
    const part = await owner.call('historyList', { session_id: session.uuid, page, page_size: 50 });
    expect(JSON.stringify(part).length).toBeLessThan(1_500_000);
    expect(part).toMatchObject({ page, page_size: 50, total: messages });
    found.push(...idsOf(part.list));
    last = part.page_count;
  }
  expect(found).toEqual(ids);

  const older: number[] = [];
  for (let before = Infinity, more = true; more;) {
    const where = Number.isFinite(before) ? { before } : {};
    const asked = { session_id: session.uuid, newest: 1, page_size: 30, ...where } as const;
    const part = await owner.call('historyList', asked);
    older.push(...idsOf(part.list));
    before = older.at(-1) ?? 0;
    more = part.page_count > 1;
  }
  expect(older.toReversed()).toEqual(ids);

  const newer: number[] = [];
  for (;;) {
    const after = newer.at(-1) ?? 0;
    const part = await owner.call('lastMessages', {
      sessionId: session.uuid,
      maxHistoryId: after,
    });
    expect(JSON.stringify(part).length).toBeLessThan(1_500_000);
    if (part.length === 0) break;
    newer.push(...idsOf(part));
  }
  expect(newer).toEqual(ids);

  const { key } = await owner.call('shareSession', { session_id: session.uuid });
  const manager = new TestClient(here.server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const shared: number[] = [];
  const managed: number[] = [];
  for (let page = 1, last = 1; page <= last; page += 1) {
    const part = await new TestClient(here.server.baseURL).call('sharedSession', { key, page });
    shared.push(...idsOf(part.list));
    const same = await manager.call('adminHistoryList', { session_id: session.uuid, page });
    managed.push(...idsOf(same.list));
    last = part.page_count;
    expect(same.page_count).toBe(last);
  }
  expect(shared).toEqual(ids);
  expect(managed).toEqual(ids);
});

test('who leaves large answers lying gets no more of them, others do, and small ones go on', async () => {
  const { port } = new URL(here.server.baseURL);
  await owner.call('setSession', { session_id: session.uuid, private: 0 });
  // 20 MB in one message, as an import may bring it.
  await here.database.query(`UPDATE history SET ai = repeat('啊', 6000000) WHERE id = $1`, [
    session.first,
  ]);
  const path = `/api/history_list?session_id=${session.uuid}&page_size=1`;
  const read = async (from: string, address = path) => {
    const answer = await request(here.server.baseURL + address, {
      headers: { 'x-forwarded-for': from, 'accept-encoding': 'br' },
    });
    await answer.body.dump();
    return answer;
  };
  for (let n = 0; n < 2; n += 1) {
    const socket = connect(Number(port), '127.0.0.1');
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nx-forwarded-for: 198.51.100.7\r\n\r\n`);
    await once(socket, 'readable');
  }
  const refused = await request(here.server.baseURL + path, {
    headers: { 'x-forwarded-for': '198.51.100.9' },
  });
  expect(await refused.body.json()).toMatchObject({
    code: 429,
    message: expect.stringContaining('同时读取的内容太多') as string,
  });
  expect(refused.headers['retry-after']).toBe('2');
  expect((await read('198.51.100.9', '/api/sign_in_ways')).statusCode).toBe(200);
  const other = await read('203.0.113.7');
  expect(other.headers).toMatchObject({ 'content-encoding': 'br' });
  for (const socket of sockets) socket.destroy();
  await expect
    .poll(async () => (await read('198.51.100.9')).headers['content-encoding'], { timeout: 10_000 })
    .toBe('br');
});

test('a talk of many heavy messages is not copied without an end', async () => {
  const codes: number[] = [];
  const last = ids.at(-1)!;
  for (let times = 0; times < 12; times += 1)
    codes.push((await owner.raw('newSession', { type: 0, history_id: last })).code);
  // Of several MB each, 50 MB in a day.
  const copied = codes.indexOf(429);
  expect(copied).toBeGreaterThan(0);
  expect(codes.slice(copied).every((code) => code === 429)).toBe(true);
  expect(codes.slice(0, copied).every((code) => code === 0)).toBe(true);
  const guest = new TestClient(here.server.baseURL);
  const small = await talk(owner, '短短一句');
  for (const { uuid } of [session, small])
    await owner.call('setSession', { session_id: uuid, private: 0 });
  expect((await guest.raw('newSession', { type: 0, history_id: last })).code).toBe(429);
  expect((await guest.raw('newSession', { type: 0, history_id: small.historyId })).code).toBe(0);
});

test('what a tool gave is weighed as it goes out, not as it is kept', async () => {
  const { uuid, historyId } = await talk(owner, '第一句');
  const call: StoredTool = {
    id: 'a',
    name: 'run_code',
    label: '运行代码',
    arguments: '{}',
    state: 'done',
    result: 'a'.repeat(300_000),
    at: 0,
    ms: 1,
    ask: '',
    round: 0,
    callId: 'a',
    own: false,
  };
  const letters = JSON.stringify([call]);
  await here.database.query('UPDATE history SET tools = $1::jsonb WHERE id = $2', [
    letters,
    historyId,
  ]);
  await here.database.query(
    `INSERT INTO history (session_id, user_id, human, ai, model, state, prev_id, tools)
     SELECT session_id, user_id, human, ai, model, state, id, tools
     FROM history h, generate_series(1, 11) WHERE h.id = $1`,
    [historyId],
  );
  const page = await owner.call('historyList', { session_id: uuid, page_size: 50 });
  expect([page.list.length, page.page_count]).toEqual([4, 3]);
});
