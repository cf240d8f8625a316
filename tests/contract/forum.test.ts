import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { type FakePushService, startPushService } from '../support/push-service.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';
import { xssPayloads } from '../support/xss-payloads.ts';

/** The forum: three people ask, answer, like, accept, change, report and are told of it. */

let push: FakePushService;
let server: TestServer;
let pool: pg.Pool;
let key = '';
let lin: TestClient;
let zhou: TestClient;
let wang: TestClient;
let manager: TestClient;

const named = async (account: string, name: string) => {
  const client = new TestClient(server.baseURL);
  const password = 'password-1';
  const form = { account, name, password, password2: password };
  client.token = (await client.call('register', form)).token ?? '';
  return client;
};
const idOf = async (client: TestClient) => (await client.call('userInfo', {})).id;

beforeAll(async () => {
  push = await startPushService(() => key);
  server = await startServer({
    env: { FETCH_ALLOWED: push.host, ASSISTANT_RATE: '0', RATE_LIMIT: '1000000' },
  });
  pool = new pg.Pool({ connectionString: server.databaseUrl });
  lin = await named('lin', '林一');
  zhou = await named('zhou', '周二');
  wang = await named('wang', '王三');
  manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  ({ key } = await lin.call('pushKey', {}));
});
afterAll(async () => {
  await pool.end();
  await server.stop();
  await push.close();
});

const ask = async (client: TestClient, title: string, msg = `${title}，请教各位`, group = 1) => {
  const { uuid } = await client.call('newSession', { type: 2, private: 0, group_id: group });
  const { id } = await client.call('sendMessage', { session_id: uuid, msg, title });
  return { uuid, id };
};
const answer = (client: TestClient, uuid: string, msg: string) =>
  client.call('sendMessage', { session_id: uuid, msg });
const forum = (client: TestClient, input: object = {}) =>
  client.call('sessionList', { channel: 'forum', page_size: 50, ...input });
const titles = async (client: TestClient, input: object = {}) =>
  (await forum(client, input)).list.map(({ title }) => title);
const news = async (client: TestClient) => client.call('newsList', {});

test('one person does not fill the forum, nor the shelf of changes', async () => {
  const flood = await named('flood', '洪水');
  const { uuid, id } = await ask(flood, '灌水的问题');
  for (let nth = 0; nth < 55; nth += 1)
    await flood.call('updateMessage', { session_id: uuid, id, content: `改了 ${nth} 次` });
  const { rows } = await pool.query<{ kept: number; first: string | null }>(
    `SELECT count(*)::int AS kept, min(human) FILTER (WHERE human NOT LIKE '改了%') AS first
     FROM message_edits WHERE history_id = $1`,
    [id],
  );
  expect(rows).toEqual([{ kept: 50, first: null }]);
  const page = '灌水'.repeat(30_000);
  const said = await Promise.allSettled(Array.from({ length: 8 }, () => answer(flood, uuid, page)));
  const refused = said.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
  expect(refused).toHaveLength(2);
  for (const { reason } of refused) expect(String(reason)).toContain('429');
  await flood.call('deleteSession', { session_id: uuid });
});

test('what a model answered is accepted like a person’s answer, and people are counted once', async () => {
  const asker = await named('asks-ai', '问机器');
  const reader = await named('reads-ai', '路人');
  const { uuid } = await asker.call('newSession', { type: 2, private: 0 });
  const msg = { session_id: uuid, title: '一加一', msg: '1+1 等于几', ai: 'builtin-assistant' };
  const { id } = await asker.call('sendMessage', msg);
  await asker.read(uuid, id);
  const accept = { session_id: uuid, history_id: id };
  expect(await asker.call('acceptAnswer', accept)).toEqual({ accepted_id: id });
  expect(await titles(asker, { category: 'answered' })).toContain('一加一');
  for (const client of [reader, reader, asker]) await client.call('readNews', { session_id: uuid });
  expect((await reader.call('getSession', { uuid })).views).toBe(2);
  await asker.call('deleteSession', { session_id: uuid });
});

test('an answer that is taken away at the moment it is accepted is not accepted', async () => {
  const asker = await named('accepts-late', '晚了');
  const answerer = await named('takes-back', '不说了');
  const { uuid } = await asker.call('newSession', { type: 2, private: 0 });
  await asker.call('sendMessage', { session_id: uuid, title: '过河', msg: '怎样过河' });
  const { id } = await answerer.call('sendMessage', { session_id: uuid, msg: '坐船过河' });
  const client = await pool.connect();
  const waiting = async (count: number) =>
    expect
      .poll(async () => {
        const { rows } = await pool.query<{ count: number }>(
          `SELECT count(*)::int AS count FROM pg_stat_activity
           WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        );
        return rows[0]!.count;
      })
      .toBe(count);
  try {
    await client.query('BEGIN');
    await client.query('SELECT FROM sessions WHERE uuid = $1 FOR UPDATE', [uuid]);
    const removed = answerer.raw('deleteHistory', { session_id: uuid, id });
    await waiting(1);
    const accepted = asker.raw('acceptAnswer', { session_id: uuid, history_id: id });
    await waiting(2);
    await client.query('COMMIT');
    expect((await removed).code).toBe(0);
    expect((await accepted).status).toBe(404);
  } finally {
    client.release();
  }
  expect((await asker.call('getSession', { uuid })).accepted_id).toBeNull();
  await asker.call('deleteSession', { session_id: uuid });
});

describe('three people', () => {
  test('ask, answer, like, accept, change and are told', async () => {
    const browser = push.browser();
    await lin.call('pushSubscribe', browser);
    const { uuid, id } = await ask(lin, '怎样搭一座桥');
    const first = await answer(zhou, uuid, '用**石头**');
    const second = await answer(wang, uuid, '用木头');
    await expect.poll(() => push.pushed.length, { timeout: 10_000 }).toBe(1);
    expect(push.pushed[0]?.message).toMatchObject({
      kind: 'news',
      state: 'done',
      title: '怎样搭一座桥',
      url: `/chat?uuid=${uuid}&history_id=${first.id}`,
    });
    expect(push.pushed[0]?.message.body).toContain('周二');
    // What is unread counts on, and is pushed once.
    const told = await news(lin);
    expect(told.unread).toBe(1);
    expect(told.list[0]).toMatchObject({ kind: 'reply', count: 2, read: false, uuid });
    expect(await lin.call('readNews', { session_id: uuid })).toEqual({ unread: 0 });
    expect((await news(zhou)).unread).toBe(0);

    for (const client of [lin, zhou])
      await client.call('historyLike', { session_id: uuid, history_id: second.id });
    const byVotes = await lin.call('historyList', { session_id: uuid, sort: 'votes' });
    expect(byVotes.list.map((each) => each.id)).toEqual([id, second.id, first.id]);

    const accept = { session_id: uuid, history_id: first.id };
    expect((await zhou.raw('acceptAnswer', accept)).code).toBe(1403);
    expect((await lin.raw('acceptAnswer', { ...accept, history_id: id })).code).toBe(1422);
    expect(await lin.call('acceptAnswer', accept)).toEqual({ accepted_id: first.id });
    expect((await lin.call('getSession', { uuid })).accepted_id).toBe(first.id);
    // What was accepted stands above what is liked more.
    const pinned = await lin.call('historyList', { session_id: uuid, sort: 'votes' });
    expect(pinned.list.map((each) => each.id)).toEqual([id, first.id, second.id]);
    expect((await news(zhou)).list[0]).toMatchObject({
      kind: 'accept',
      text: '林一 采纳了您的回答',
    });
    expect(await titles(lin, { category: 'answered' })).toEqual(['怎样搭一座桥']);
    expect(await titles(lin, { category: 'unanswered' })).toEqual([]);

    const changed = { session_id: uuid, id: first.id, content: '用花岗岩' };
    expect((await wang.raw('updateMessage', changed)).code).toBe(1403);
    await zhou.call('updateMessage', changed);
    const edits = await wang.call('messageEdits', { session_id: uuid, history_id: first.id });
    expect(edits.list.map(({ content }) => content)).toEqual(['用**石头**']);

    const msg = JSON.stringify({ prompt: '您看呢', at_user: { id: await idOf(wang) } });
    await lin.call('sendMessage', { session_id: uuid, msg, format: 1 });
    expect((await news(wang)).list[0]).toMatchObject({ kind: 'mention', text: '林一 提到了您' });

    // A name that was typed tells its person as one that was chosen does; an address tells nobody.
    await zhou.call('readNews', { session_id: uuid });
    await lin.call('sendMessage', { session_id: uuid, msg: '写到 a@周二.cn，@林一' });
    expect((await news(zhou)).unread).toBe(0);
    await wang.call('sendMessage', { session_id: uuid, msg: '＠周二 用什么石头？' });
    expect((await news(zhou)).list[0]).toMatchObject({ kind: 'mention', text: '王三 提到了您' });

    // What is taken back takes its mark along.
    await zhou.call('deleteHistory', { session_id: uuid, id: first.id });
    expect((await lin.call('getSession', { uuid })).accepted_id).toBeNull();
    expect(await titles(zhou, { category: 'replied' })).toEqual([]);
    expect(await titles(wang, { category: 'replied' })).toEqual(['怎样搭一座桥']);
    expect(await titles(lin, { category: 'history' })).toEqual(['怎样搭一座桥']);
    expect(await titles(lin, { category: 'mine' })).toEqual(['怎样搭一座桥']);
  });

  test('report, and a manager judges', async () => {
    const { uuid } = await ask(lin, '买东西吗');
    const spam = await answer(wang, uuid, '加我好友领奖');
    const thing = { session_id: uuid, history_id: spam.id, reason: 'spam' as const };
    await zhou.call('report', { ...thing, note: '广告' });
    await zhou.call('report', thing);
    await lin.call('report', thing);
    expect((await zhou.raw('reportList', {})).status).toBe(404);
    const { list } = await manager.call('reportList', {});
    expect(list.filter((each) => each.uuid === uuid)).toHaveLength(2);
    expect(list[0]).toMatchObject({ excerpt: '加我好友领奖', author_name: '王三' });
    await manager.call('resolveReport', { id: list[0]!.id, remove: 1 });
    const left = await lin.call('historyList', { session_id: uuid });
    expect(left.list.some(({ id }) => id === spam.id)).toBe(false);
    expect((await manager.call('reportList', {})).list.filter((r) => r.uuid === uuid)).toEqual([]);
    expect((await news(zhou)).list[0]).toMatchObject({ kind: 'report' });
    // Nothing of a private talk can be reported by who may not see it.
    const { uuid: hidden } = await lin.call('newSession', { type: 2, private: 1 });
    expect((await zhou.raw('report', { session_id: hidden, reason: 'spam' })).code).toBe(1432);
  });

  test('a manager marks, moves and closes; groups are the manager’s alone', async () => {
    const group = await manager.call('saveForumGroup', { name: '桥梁', color: '#112233' });
    expect((await lin.raw('saveForumGroup', { name: '我的' })).status).toBe(404);
    expect((await lin.raw('newSession', { type: 2, group_id: 987_654 })).status).toBe(422);
    const { uuid, id } = await ask(lin, '石拱桥', '它为什么不倒', group.id);
    expect(await titles(zhou, { group_id: group.id })).toEqual(['石拱桥']);
    await manager.call('markQuestion', { session_id: uuid, essence: 1, pinned: 1, closed: 1 });
    expect(await titles(zhou, { category: 'essence' })).toEqual(['石拱桥']);
    expect((await titles(zhou))[0]).toBe('石拱桥');
    const closed = await zhou.raw('sendMessage', { session_id: uuid, msg: '因为拱' });
    expect(closed.code).toBe(1436);
    expect((await zhou.call('getSession', { uuid })).writable).toBe(false);
    await manager.call('markQuestion', { session_id: uuid, closed: 0, pinned: 0 });
    const moved = { session_id: uuid, id, title: '赵州桥', content: '它为什么不倒？', group_id: 2 };
    await lin.call('updateMessage', moved);
    expect(await titles(zhou, { group_id: 2 })).toEqual(['赵州桥']);
    await lin.call('updateMessage', { ...moved, group_id: group.id });
    await manager.call('delForumGroup', { id: group.id });
    expect((await lin.call('getSession', { uuid })).group_id).toBe(1);
    expect((await manager.raw('delForumGroup', { id: 1 })).status).toBe(422);
  });

  test('words are found, hot fades with time, private questions stay so', async () => {
    await ask(zhou, '琥珀是什么', '听说是**松脂**变成的');
    const { uuid: secret } = await zhou.call('newSession', { type: 2, private: 1 });
    await zhou.call('sendMessage', { session_id: secret, msg: '琥珀的秘密', title: '秘密' });
    await expect
      .poll(() => titles(lin, { query: '琥珀' }), { timeout: 10_000 })
      .toEqual(['琥珀是什么']);
    expect(await titles(lin, { query: '松脂', category: 'answered' })).toEqual([]);
    const old = await ask(wang, '去年的热帖');
    for (const client of [lin, zhou, lin, zhou, lin, zhou])
      await answer(client, old.uuid, '我也想知道');
    expect((await titles(lin, { category: 'hot' }))[0]).toBe('去年的热帖');
    await pool.query(`UPDATE sessions SET created_at = now() - interval '9 days' WHERE uuid = $1`, [
      old.uuid,
    ]);
    expect((await titles(lin, { category: 'hot' })).at(-1)).toBe('去年的热帖');
    expect(await titles(zhou, { category: 'mine' })).toContain('秘密');
    for (const client of [lin, new TestClient(server.baseURL)])
      expect(JSON.stringify(await forum(client))).not.toContain('秘密');
    for (const category of ['mine', 'replied', 'history'] as const)
      expect(
        (await new TestClient(server.baseURL).raw('sessionList', { channel: 'forum', category }))
          .status,
      ).toBe(401);
  });
});

test('several filters hold together, page by page, and what stops being shown is in no list', async () => {
  const asker = await TestClient.register(server.baseURL);
  const helper = await TestClient.register(server.baseURL);
  const made: { uuid: string; id: number; title: string }[] = [];
  for (let at = 0; at < 6; at++) {
    const title = `筛选 ${at}`;
    made.push({ ...(await ask(asker, title, title, at % 2 === 0 ? 3 : 4)), title });
  }
  const other = await ask(helper, '别人的筛选', '别人的', 3);
  for (const { uuid } of made.slice(0, 4)) {
    const { id } = await answer(helper, uuid, '这样');
    await asker.call('acceptAnswer', { session_id: uuid, history_id: id });
  }
  for (const { uuid } of [made[0]!, made[1]!, other])
    await manager.call('markQuestion', { session_id: uuid, essence: 1 });
  const ai = 'builtin-assistant';
  const asked = { session_id: made[2]!.uuid, msg: '请教', ai };
  const { id: reply } = await helper.call('sendMessage', asked);
  await helper.read(made[2]!.uuid, reply);
  await helper.call('readNews', { session_id: made[5]!.uuid });
  const user = await idOf(asker);
  const of = async (client: TestClient, filter: object) => (await titles(client, filter)).sort();
  const named3 = ['筛选 0', '筛选 2', '筛选 4'];
  expect(await of(wang, { user_id: user, group_id: 3 })).toEqual(named3);
  expect(await of(wang, { user_id: user, category: 'hot' })).toHaveLength(6);
  expect(await of(wang, { user_id: user, group_id: 3, category: 'hot' })).toEqual(named3);
  expect(await of(wang, { user_id: user, group_id: 3, category: 'answered' })).toEqual([
    '筛选 0',
    '筛选 2',
  ]);
  expect(await of(wang, { user_id: user, group_id: 4, category: 'unanswered' })).toEqual([
    '筛选 5',
  ]);
  expect(await of(wang, { group_id: 3, category: 'essence' })).toEqual(['别人的筛选', '筛选 0']);
  expect(await of(helper, { group_id: 4, category: 'replied' })).toEqual(['筛选 1', '筛选 3']);
  expect(await of(helper, { group_id: 4, category: 'history' })).toEqual(['筛选 5']);
  expect(await of(helper, { group_id: 4, category: 'history', user_id: 1 })).toEqual([]);
  expect(await of(asker, { group_id: 3, category: 'mine' })).toEqual(named3);
  expect(await of(wang, { model: ai, user_id: user })).toEqual(['筛选 2']);
  expect(await of(wang, { model: ai, group_id: 4 })).toEqual([]);

  const page = (at: number) => forum(wang, { user_id: user, group_id: 3, page: at, page_size: 2 });
  const [first, second, third] = [await page(1), await page(2), await page(3)];
  expect([first.total, first.page_count]).toEqual([3, 2]);
  expect([...first.list, ...second.list].map(({ title }) => title).sort()).toEqual(named3);
  expect(third.list).toEqual([]);
  expect(third.total).toBe(3);

  await asker.call('setSession', { session_id: made[2]!.uuid, private: 1 });
  await asker.call('deleteSession', { session_id: made[0]!.uuid });
  expect(await of(wang, { user_id: user, group_id: 3 })).toEqual(['筛选 4']);
  expect(await of(helper, { category: 'replied', user_id: user })).toEqual(['筛选 1', '筛选 3']);
  expect(await of(wang, { model: ai, user_id: user })).toEqual([]);
  expect(await of(asker, { group_id: 3, category: 'mine' })).toEqual(['筛选 2', '筛选 4']);
});

/** What the server keeps of a text. */
const storedOf = (text: string): string => text.replaceAll('\0', '\uFFFD');
/** What a phone's list of notifications is told of a text: the same letters, in one line. */
const lettersOf = (text: string): string =>
  storedOf(text).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u200B\s]/gu, '');

test('each hostile text comes back as that text: title, text, excerpt, notice, report and push', async () => {
  const pushed = push.pushed.length;
  const asker = await named(`a${Date.now().toString(36)}`, '甲');
  await asker.call('pushSubscribe', push.browser());
  // The shorter half as titles, the longer one as answers to them: each is told by a push.
  // To the server markup is letters: of what has none but those, some are enough.
  const sent = xssPayloads.filter(
    (text, at) => at % 8 === 0 || /[^\P{Cc}\n]|[\u200B\u2028\u00A0]/u.test(text),
  );
  const byLength = sent.toSorted((a, b) => a.length - b.length);
  const half = Math.ceil(byLength.length / 2);
  const { rows } = await pool.query<{ uuid: string }>(
    `INSERT INTO sessions (type, user_id, model, prompt, private)
     SELECT 2, $1, '', '', false FROM generate_series(1, $2) RETURNING uuid`,
    [await idOf(asker), half],
  );
  const all = rows.map(({ uuid }, at) => ({
    uuid,
    title: byLength[at]!.trim(),
    answer: byLength.at(-1 - at)!,
  }));
  expect(Math.max(...all.map(({ title }) => title.length))).toBeLessThanOrEqual(100);
  const left = [...all];
  const work = async () => {
    for (let each = left.pop(); each; each = left.pop()) {
      const { uuid, title } = each;
      await asker.call('sendMessage', { session_id: uuid, title, msg: title });
      await answer(zhou, uuid, each.answer);
    }
  };
  await Promise.all([1, 2, 3, 4].map(work));
  await expect.poll(() => push.pushed.length - pushed, { timeout: 30_000 }).toBe(half);
  expect(push.faults).toEqual([]);

  const told = new Map(
    push.pushed
      .slice(pushed)
      .map(({ message }) => [new URLSearchParams(message.url.split('?')[1]).get('uuid'), message]),
  );
  const wrong: unknown[] = [];
  for (const each of all) {
    const { title = '', body = '', url = '', ...more } = told.get(each.uuid) ?? {};
    const asTold =
      !/[\p{Cc}\u200B\u202A-\u202E\u2066-\u2069]/u.test(title + body) &&
      lettersOf(each.title).startsWith(lettersOf(title.replace(/…$/, ''))) &&
      Array.from(body).length <= 240 &&
      /^周二 回复了您的问题(：|$)/.test(body) &&
      /^\/chat\?uuid=[\da-f-]{36}&history_id=\d+$/.test(url) &&
      Object.keys(more).sort().join() === 'id,kind,state';
    if (!asTold) wrong.push({ ...each, told: { title, body, url, more } });
  }
  expect(wrong).toEqual([]);

  const letters = new Set(all.map(({ title }) => lettersOf(title)));
  for (let page = 1; page <= 2; page += 1) {
    const { list: cards } = await forum(asker, { page, category: 'mine' });
    const { list: items } = await asker.call('newsList', { page });
    const shown = [...cards, ...items].map(({ title }) => title);
    expect(shown.length).toBeGreaterThan(40);
    expect(shown.filter((title) => !letters.has(lettersOf(title)))).toEqual([]);
  }
  for (const each of all.filter((_, at) => at % 20 === 0)) {
    const { list } = await asker.call('historyList', { session_id: each.uuid });
    const texts = [each.title, each.answer].map((text) => storedOf(text).trim());
    expect(list.map(({ content }) => content.trim())).toEqual(texts);
  }
  const note = xssPayloads[3]!;
  await zhou.call('report', { session_id: all[0]!.uuid, reason: 'other', note });
  expect((await manager.call('reportList', {})).list[0]?.note).toBe(note);
}, 150_000);

test('a push is one plain line of bounded length, and a friend’s message is told as that', async () => {
  const pushed = push.pushed.length;
  const told = () => push.pushed.slice(pushed).map(({ message }) => message);
  const mei = await named('mei', '梅\u202E四');
  await mei.call('pushSubscribe', push.browser());
  const { uuid } = await ask(mei, '<b>粗\u202E\u2066反</b>\u200B字', '第一问');
  await answer(zhou, uuid, `# 标题\n\n<script>x</script>\u0007${'很长'.repeat(4000)}`);
  await expect.poll(() => told().length, { timeout: 10_000 }).toBe(1);
  expect(told()[0]?.title).toBe('<b>粗反</b>字');
  for (const message of told())
    expect(`${message.title}${message.body}`).not.toMatch(
      /[\p{Cc}\u200B\u202A-\u202E\u2066-\u2069]/u,
    );
  expect(Array.from(told()[0]?.body ?? '').length).toBeLessThanOrEqual(240);

  expect((await mei.call('userInfo', {})).news_unread).toBe(1);
  const { uuid: friend } = await mei.call('newFriend', { friend_user_id: await idOf(wang) });
  await answer(mei, friend, '你好，我是梅');
  for (const words of ['你好呀', '在吗']) await answer(wang, friend, words);
  await expect.poll(() => told().length, { timeout: 10_000 }).toBe(2);
  expect(told()[1]?.body).toMatch(/^王三 给您发来消息：你好呀$|^王三 给您发来 2 条消息：在吗$/);
  expect((await news(mei)).list[0]).toMatchObject({
    kind: 'message',
    text: '王三 给您发来 2 条消息',
    excerpt: '在吗',
  });
  expect((await mei.call('userInfo', {})).news_unread).toBe(2);
  await mei.call('readNews', {});
  expect((await mei.call('userInfo', {})).news_unread).toBe(0);
});

test('who is accepted or spoken to is told by a push, too', async () => {
  const pushed = push.pushed.length;
  const told = () =>
    push.pushed
      .slice(pushed)
      .map(({ message }) => message.body)
      // Who asked is told of the answers by another.
      .filter((body) => !body.includes('回复了您的问题'));
  const [jia, yi] = [await named('jia55', '贾五'), await named('yi666', '易六')];
  for (const client of [jia, yi]) await client.call('pushSubscribe', push.browser());
  const { uuid } = await ask(lin, '河上架桥', '怎样架');
  const { id } = await answer(jia, uuid, '先打桩');
  await lin.call('acceptAnswer', { session_id: uuid, history_id: id });
  await expect
    .poll(told, { timeout: 10_000 })
    .toEqual([expect.stringMatching(/^林一 采纳了您的回答/)]);
  const msg = JSON.stringify({ prompt: '您看呢', at_user: { id: await idOf(yi) } });
  await lin.call('sendMessage', { session_id: uuid, msg, format: 1 });
  await expect.poll(told, { timeout: 10_000 }).toHaveLength(2);
  expect(told()[1]).toMatch(/^林一 提到了您/);
});

test('how a model did is told by its replies; of reports nobody has more than one voice', async () => {
  // No other test of this file may ask before: what was counted is told again for a minute.
  const model = 'builtin-assistant';
  const { uuid } = await zhou.call('newSession', { type: 0, model });
  const { id } = await zhou.call('sendMessage', { session_id: uuid, msg: '你好' });
  await zhou.read(uuid, id);
  const stored = () => pool.query('SELECT state FROM history WHERE id = $1', [id]);
  await expect.poll(async () => (await stored()).rows).toEqual([{ state: 'done' }]);
  const report = (client: TestClient, state: 'success' | 'error', ms: number, of = model) =>
    client.call('modelStat', {
      state,
      model: of,
      first_time: ms,
      time: ms * 2,
      request_time: Date.now(),
    });
  for (const client of [lin, zhou]) await report(client, 'success', 300);
  for (let at = 0; at < 3; at++) {
    await report(wang, 'error', 0);
    await report(wang, 'success', 600_000);
  }
  for (let at = 0; at < 22; at++) await report(wang, 'error', 0, 'builtin-voice');
  await report(lin, 'success', 400, 'builtin-voice');
  const { list } = await lin.call('modelHealth', {});
  const chat = list.find((each) => each.model === model);
  expect(chat?.success).toBe(chat?.count);
  expect(chat?.first_time).toBe(300);
  expect(chat?.time).toBeLessThan(600_000);
  expect(list.find((each) => each.model === 'builtin-voice')).toMatchObject({
    count: 21,
    success: 1,
    first_time: 400,
    time: 800,
  });
});

describe('scenarios and prompts', () => {
  test('one’s own scenario is private until a manager has approved it', async () => {
    const { list: categories } = await lin.call('scenarioCategory', {});
    expect(categories.length).toBeGreaterThanOrEqual(10);
    expect((await lin.call('scenarioList', {})).total).toBeGreaterThanOrEqual(60);
    const category = categories[0]!.id;
    const mine = { name: '我的模板', prompt: '请把 {{内容}} 写成诗', category };
    const { id } = await lin.call('saveScenario', mine);
    const found = async (client: TestClient, scope: 'public' | 'mine' | 'pending' = 'public') =>
      (await client.call('scenarioList', { query: '我的模板', scope })).list.map((each) => each.id);
    expect([await found(lin, 'mine'), await found(lin), await found(zhou)]).toEqual([[id], [], []]);
    expect((await zhou.raw('newSession', { type: 0, scenario_id: id })).status).toBe(404);
    await lin.call('newSession', { type: 0, scenario_id: id });
    // Questions have no scenario.
    const forum = { channel: 'forum' } as const;
    expect((await lin.call('sessionList', forum)).total).toBeGreaterThan(0);
    expect((await lin.call('sessionList', { ...forum, scenario_id: id })).total).toBe(0);
    expect((await zhou.raw('saveScenario', { ...mine, id })).status).toBe(404);
    expect((await zhou.raw('delScenario', { id })).status).toBe(404);
    await lin.call('saveScenario', { ...mine, id, publish: 1, sample: '| 春 | 夏 |' });
    expect([await found(zhou), await found(zhou, 'pending')]).toEqual([[], []]);
    expect(await found(manager, 'pending')).toEqual([id]);
    // Given back with a reason that its maker reads, until it is changed.
    const told = async () =>
      (await lin.call('scenarioList', { query: '我的模板', scope: 'mine' })).list[0]?.rejection;
    await manager.call('manageScenario', { ...mine, id, state: 'private', reason: '太短' });
    expect([await told(), await found(manager, 'pending')]).toEqual(['太短', []]);
    await lin.call('saveScenario', { ...mine, id, publish: 1 });
    expect(await told()).toBe('');
    await manager.call('manageScenario', { ...mine, id, state: 'public' });
    expect(await found(zhou)).toEqual([id]);
    for (const wrong of [
      { ...mine, name: '短' },
      { ...mine, name: '长'.repeat(33) },
      { ...mine, prompt: '长'.repeat(513) },
      { ...mine, category: 987_654 },
    ])
      expect((await lin.raw('saveScenario', wrong)).status).toBe(422);
    // Stars are given by whoever used it, once, and not to one's own.
    const rate = (client: TestClient, stars: number) =>
      client.raw('rateScenario', { scenario_id: id, stars });
    const rated = async (client: TestClient) =>
      (await client.call('scenarioList', { query: '我的模板' })).list[0];
    expect((await rate(lin, 5)).code).toBe(422);
    expect((await rate(zhou, 1)).code).toBe(422);
    const { uuid } = await zhou.call('newSession', { type: 0, scenario_id: id });
    expect((await rate(zhou, 1)).code, 'nothing was said in it').toBe(422);
    await zhou.call('sendMessage', { session_id: uuid, msg: '写一首春天的诗' });
    for (const stars of [1, 4]) expect((await rate(zhou, stars)).code).toBe(0);
    expect(await rated(lin)).toMatchObject({ rating: 4, rating_count: 1, my_stars: 0 });
    expect(await rated(zhou)).toMatchObject({ my_stars: 4, sample: '| 春 | 夏 |' });
    expect((await rate(zhou, 0)).code).toBe(0);
    expect(await rated(zhou)).toMatchObject({ rating: null, rating_count: 0 });
    expect((await manager.raw('delScenarioCategory', { id: category })).status).toBe(422);
    await lin.call('delScenario', { id });
    expect(await found(zhou)).toEqual([]);
  });

  test('prompts are there from the start, and one’s own are one’s own', async () => {
    const count = async (type: number) =>
      (await new TestClient(server.baseURL).call('promptList', { type })).prompts.length;
    expect((await count(0)) + (await count(1))).toBeGreaterThanOrEqual(100);
    const own = { type: 0, prompt_json: { act: '我的', prompt: '写给 {{谁}} 的 {{信}}' } };
    const { id } = await lin.call('savePrompt', own);
    const { prompts } = await lin.call('promptList', { type: 0 });
    expect(prompts.find((each) => each.id === id)?.prompt_json.vars).toEqual(['谁', '信']);
    expect(
      (await zhou.call('promptList', { type: 0 })).prompts.some((each) => each.id === id),
    ).toBe(false);
    for (const name of ['topPrompt', 'hidePrompt'] as const)
      expect((await zhou.raw(name, { id, type: 0 })).status).toBe(404);
    expect((await zhou.raw('savePrompt', { ...own, id })).status).toBe(404);
    expect((await zhou.raw('delPrompt', { id })).status).toBe(404);
    const last = prompts.at(-1)!;
    expect(await lin.call('topPrompt', { id: last.id, type: 0 })).toEqual({ set: true });
    expect((await lin.call('promptList', { type: 0 })).prompts[0]).toMatchObject({
      id: last.id,
      top: true,
    });
    expect(await lin.call('topPrompt', { id: last.id, type: 0 })).toEqual({ set: false });
    await lin.call('delPrompt', { id });
  });
});
