import { describe, expect, test } from 'vitest';
import { limits } from '#contract/limits.ts';
import { TestClient } from '../support/client.ts';
import { stage } from '../support/stage.ts';
import { sendRaw } from '../support/world.ts';

const here = stage({ env: { RATE_LIMIT: '1000000', TRUST_PROXY: 'loopback' } });

const person = () => TestClient.register(here.server.baseURL);
const idOf = async (client: TestClient) => (await client.call('userInfo', {})).id;
type ListInput = Parameters<typeof listOf>[1];
const listOf = async (
  client: TestClient,
  input: {
    channel: 'public' | 'private' | 'favorites';
    query?: string;
    user_id?: number;
    model?: string;
    scenario_id?: number;
    page_size?: number;
  },
) => (await client.call('sessionList', input)).list;
const uuidsOf = async (client: TestClient, input: ListInput) =>
  (await listOf(client, input)).map(({ uuid }) => uuid);

/** A public session with a title and one answered message. */
const openTalk = async (client: TestClient, title: string) => {
  const made = await client.call('newSession', { type: 0 });
  const { rows } = await here.database.query<{ id: string }>(
    `INSERT INTO history (session_id, user_id, human, ai, model, state)
     SELECT id, user_id, $2, '好的', model, 'done' FROM sessions WHERE id = $1 RETURNING id`,
    [made.id, title],
  );
  await here.database.query('UPDATE sessions SET prompt = $2 WHERE id = $1', [made.id, title]);
  await client.call('setSession', { session_id: made.uuid, private: 0 });
  return { ...made, historyId: Number(rows[0]?.id) };
};
const mark = (userId: number, sessionId: number, historyId = 0, at = 'now()') =>
  here.database.query(
    `INSERT INTO favorites (user_id, session_id, history_id, created_at) VALUES ($1, $2, $3, ${at})`,
    [userId, sessionId, historyId],
  );

describe('favourites', () => {
  test('list the asker’s marked sessions, the newest mark first, as long as they may see them', async () => {
    const [owner, reader] = [await person(), await person()];
    const one = await openTalk(owner, '第一个公开的会话');
    const two = await openTalk(owner, '第二个公开的会话');
    const readerId = await idOf(reader);
    await mark(readerId, two.id, 0, `now() - interval '2 hours'`);
    await mark(readerId, one.id, one.historyId, `now() - interval '1 hour'`);
    expect(await uuidsOf(reader, { channel: 'favorites' })).toEqual([one.uuid, two.uuid]);
    await mark(readerId, two.id, two.historyId);
    expect(await uuidsOf(reader, { channel: 'favorites' })).toEqual([two.uuid, one.uuid]);
    expect(await uuidsOf(owner, { channel: 'favorites' })).toEqual([]);
    expect(await listOf(reader, { channel: 'public' })).toContainEqual(
      expect.objectContaining({ uuid: two.uuid, favorite: true }),
    );
    expect(await listOf(owner, { channel: 'public' })).toContainEqual(
      expect.objectContaining({ uuid: one.uuid, favorite: false }),
    );

    await owner.call('setSession', { session_id: one.uuid, private: 1 });
    expect(await uuidsOf(reader, { channel: 'favorites' })).toEqual([two.uuid]);
    await owner.call('setSession', { session_id: one.uuid, private: 0 });
    expect(await uuidsOf(reader, { channel: 'favorites' })).toHaveLength(2);
    await owner.call('deleteSession', { session_id: two.uuid });
    expect(await uuidsOf(reader, { channel: 'favorites' })).toEqual([one.uuid]);
    const answer = await sendRaw(new TestClient(here.server.baseURL), 'sessionList', {
      channel: 'favorites',
    });
    expect(answer.status).toBe(401);
  });

  test('a session and a message of it are marked each by itself', async () => {
    const me = await person();
    const { uuid, historyId } = await openTalk(me, '两颗星');
    const both = { session_id: uuid, history_id: historyId };
    await me.call('addToFavorites', { session_id: uuid });
    await me.call('addToFavorites', both);
    await me.call('removeFromFavorites', { session_id: uuid });
    expect(await listOf(me, { channel: 'favorites' })).toEqual([
      expect.objectContaining({
        uuid,
        favorite: historyId,
        match: expect.objectContaining({ history_id: historyId }),
      }),
    ]);
    await me.call('addToFavorites', { session_id: uuid });
    await me.call('removeFromFavorites', both);
    expect(await listOf(me, { channel: 'favorites' })).toEqual([
      expect.objectContaining({ uuid, favorite: true }),
    ]);
  });

  test('go with a guest into the account, and a like of both counts once', async () => {
    const owner = await person();
    const open = await openTalk(owner, '大家都喜欢的会话');
    const guest = new TestClient(here.server.baseURL);
    await guest.call('newSession', { type: 0 });
    const account = `fan${Date.now()}`;
    const fan = await TestClient.register(here.server.baseURL, account);
    for (const each of [guest, fan]) {
      const id = await idOf(each);
      await mark(id, open.id);
      await here.database.query('INSERT INTO likes (user_id, history_id) VALUES ($1, $2)', [
        id,
        open.historyId,
      ]);
    }
    await here.database.query('UPDATE history SET like_count = 1 WHERE id = $1', [open.historyId]);
    await here.database.query('UPDATE sessions SET like_count = 1 WHERE id = $1', [open.id]);
    const { token } = await guest.call('login', { account, password: 'password-1' });
    const signedIn = new TestClient(here.server.baseURL, token);
    expect(await uuidsOf(signedIn, { channel: 'favorites' })).toEqual([open.uuid]);
    expect(await signedIn.call('getSession', { uuid: open.uuid })).toMatchObject({
      like_count: 1,
      favorite: true,
    });
  });
});

describe('lists', () => {
  test('are narrowed by person, model, scenario and words, in every channel', async () => {
    const [owner, other] = [await person(), await person()];
    const ownerId = await idOf(owner);
    const { list: scenarios } = await owner.call('scenarioList', {});
    const scenario = scenarios[0]!;
    const made = await owner.call('newSession', { scenario_id: scenario.id, private: 0 });
    const sent = await owner.call('sendMessage', {
      session_id: made.uuid,
      msg: '关于场景的一个 Question',
    });
    await owner.read(made.uuid, sent.id);
    const plain = await openTalk(owner, '没有场景的一个问题');
    const foreign = await openTalk(other, '别人的一个问题');
    await mark(ownerId, made.id);
    await mark(ownerId, foreign.id);
    const { model } = await owner.call('getSession', { uuid: made.uuid });

    for (const channel of ['public', 'private', 'favorites'] as const) {
      const narrowed = await uuidsOf(owner, { channel, scenario_id: scenario.id });
      expect(narrowed, channel).toContain(made.uuid);
      expect(narrowed, channel).not.toContain(plain.uuid);
      const ofOwner = await uuidsOf(owner, { channel, user_id: ownerId, page_size: 50 });
      expect(ofOwner, channel).toContain(made.uuid);
      expect(ofOwner, channel).not.toContain(foreign.uuid);
      expect(await uuidsOf(owner, { channel, model, page_size: 50 }), channel).toContain(made.uuid);
      expect(await uuidsOf(owner, { channel, model: '没有的模型' }), channel).toEqual([]);
      expect(await uuidsOf(owner, { channel, query: '场景 question' }), channel).toContain(
        made.uuid,
      );
    }
    const detail = await other.call('getSession', { uuid: made.uuid });
    expect(detail).toMatchObject({
      scenario_id: scenario.id,
      scenario: { id: scenario.id, name: scenario.name, prompt: scenario.prompt },
      owner: false,
      writable: false,
      forkable: true,
      temporary: false,
      friend: null,
    });
    const after = await owner.call('scenarioList', { query: scenario.name });
    expect(after.list[0]?.session_count).toBe(scenario.session_count + 1);
  });

  test('show the newest pictures of what is shown, five at most', async () => {
    const owner = await person();
    const open = await openTalk(owner, '有图片的会话');
    const add = (urls: string[], shown = true) =>
      here.database.query(
        `INSERT INTO history (session_id, user_id, human, model, request, shown)
         SELECT $1, user_id, '看图', model, jsonb_build_object('images', $2::jsonb), $3
         FROM sessions WHERE id = $1`,
        [open.id, JSON.stringify(urls), shown],
      );
    await add(['/files/a.png', '/files/b.png', '/files/c.png', '/files/d.png']);
    await add(['/files/e.png', '/files/f.png']);
    await add(['/files/hidden.png'], false);
    await add([]);
    const [card] = await listOf(owner, { channel: 'private' });
    expect(card?.images).toEqual([
      '/files/e.png',
      '/files/f.png',
      '/files/a.png',
      '/files/b.png',
      '/files/c.png',
    ]);
    // The same of those that were drawn.
    await here.database.query('UPDATE sessions SET type = 1 WHERE id = $1', [open.id]);
    await here.database.query(
      `INSERT INTO images (user_id, session_id, history_id, key, width, height, size, model, prompt)
       SELECT user_id, session_id, id, shown::text || n, 1, 1, 1, '', ''
       FROM history, generate_series(1, 6) n
       WHERE session_id = $1 AND (id = $2 OR NOT shown) ORDER BY id, n`,
      [open.id, open.historyId],
    );
    expect((await listOf(owner, { channel: 'private' }))[0]?.images).toEqual(
      [6, 5, 4, 3, 2].map((n) => `/files/true${n}.png`),
    );
  });
});

describe('the public list', () => {
  test('has the newest few of each person before all others, on pages that add up', async () => {
    const [flood, honest] = [await person(), await person()];
    const buried = await openTalk(honest, '被埋住的会话');
    const floodId = await idOf(flood);
    await here.database.query(
      `INSERT INTO sessions (user_id, model, prompt, private, updated_at)
       SELECT $1, 'flood-model', '灌水 ' || n, false, now() + n * interval '1 ms'
       FROM generate_series(1, 1100) n`,
      [floodId],
    );
    const visitor = new TestClient(here.server.baseURL);
    const page = (number: number, more: { user_id?: number; query?: string } = {}) =>
      visitor.call('sessionList', { channel: 'public', page: number, page_size: 50, ...more });
    const first = await page(1);
    expect(first.list.slice(0, limits.openedAhead).map(({ prompt }) => prompt)).toEqual(
      Array.from({ length: limits.openedAhead }, (_, n) => `灌水 ${1100 - n}`),
    );
    expect(first.list.map(({ uuid }) => uuid)).toContain(buried.uuid);
    expect([first.total, first.page_count]).toEqual([1000, 20]);
    const all = [first];
    for (let number = 2; number <= 20; number += 1) all.push(await page(number));
    const shown = all.flatMap(({ list }) => list.map(({ uuid }) => uuid));
    expect([shown.length, new Set(shown).size]).toEqual([1000, 1000]);
    expect((await page(1, { query: '被埋住' })).list.map(({ uuid }) => uuid)).toEqual([
      buried.uuid,
    ]);
    expect((await page(1, { user_id: floodId })).total).toBe(1000);
  });

  test('takes so many of a person, a guest and a network in a day', async () => {
    const { person: most, guest: ofGuest, guests } = limits.openedADay;
    const busy = await person();
    const { uuid } = await busy.call('newSession', { type: 0 });
    for (let opened = 0; opened < most; opened += 1)
      await busy.call('newSession', { type: 0, private: 0 });
    for (const refused of [
      await busy.raw('newSession', { type: 0, private: 0 }),
      await busy.raw('newSession', { type: 2 }),
      await busy.raw('setSession', { session_id: uuid, private: 0 }),
    ])
      expect([refused.status, refused.message]).toEqual([429, expect.stringContaining('公开')]);
    // Who usually opens all goes on in private.
    await busy.call('saveSettings', { private_global: 0 });
    const next = await busy.call('newSession', { type: 0 });
    expect((await busy.call('getSession', { uuid: next.uuid })).private).toBe(1);

    const opens = async (client: TestClient, host: number) => {
      const from = { 'x-forwarded-for': `203.0.113.${host}` };
      return (await client.raw('newSession', { type: 0, private: 0 }, from)).status;
    };
    const codes: number[] = [];
    for (let host = 1; host <= guests / ofGuest + 1; host += 1) {
      const guest = new TestClient(here.server.baseURL);
      for (let opened = 0; opened <= ofGuest; opened += 1) codes.push(await opens(guest, host));
    }
    expect(codes.filter((code) => code === 200)).toHaveLength(guests);
    expect(codes.slice(0, ofGuest + 1)).toEqual([...Array<number>(ofGuest).fill(200), 429]);
    expect(await opens(await person(), 99)).toBe(200);
  });
});

describe('a temporary session', () => {
  test('is private, listed nowhere and cannot be opened to others', async () => {
    const owner = await person();
    await owner.call('saveSettings', { private_global: 0 });
    const made = await owner.call('newSession', { temporary: 1 });
    const detail = await owner.call('getSession', { uuid: made.uuid });
    expect(detail).toMatchObject({ temporary: true, private: 1, writable: true, forkable: false });
    expect(await uuidsOf(owner, { channel: 'private' })).not.toContain(made.uuid);
    await owner.call('saveSettings', { private_global: 1 });
    const opened = await owner.raw('setSession', { session_id: made.uuid, private: 0 });
    expect(opened.code).toBe(1434);
    const mixed = await sendRaw(owner, 'newSession', { temporary: 1, history_id: 1 });
    expect(mixed.status).toBe(422);
  });
});

describe('questions to people', () => {
  test('are public, written by whoever is registered and by no guest', async () => {
    const [asker, other, guest] = [
      await person(),
      await person(),
      new TestClient(here.server.baseURL),
    ];
    await guest.call('newSession', {});
    const made = await asker.call('newSession', { type: 2 });
    expect(await asker.call('getSession', { uuid: made.uuid })).toMatchObject({
      type: 2,
      model: '',
      private: 0,
      owner: true,
      writable: true,
      forkable: false,
    });
    expect(await other.call('getSession', { uuid: made.uuid })).toMatchObject({ writable: true });
    expect(await guest.call('getSession', { uuid: made.uuid })).toMatchObject({ writable: false });
    const visitor = new TestClient(here.server.baseURL);
    expect(await visitor.call('getSession', { uuid: made.uuid })).toMatchObject({
      writable: false,
    });
    for (const client of [guest, visitor]) {
      const refused = await client.raw('newSession', { type: 2 });
      expect(refused).toMatchObject({ code: 1001, data: { login_url: '/login' } });
    }
    expect(visitor.token, 'no guest for nothing').toBe('');
    const hidden = await asker.call('newSession', { type: 2, private: 1 });
    expect(await other.raw('getSession', { uuid: hidden.uuid })).toMatchObject({ code: 1432 });
    const model = await asker.raw('setSession', { session_id: made.uuid, model: 'builtin' });
    expect(model.code).toBe(1410);
  });

  test('are private where an administrator forces that', async () => {
    const forced = await person();
    await here.database.query('UPDATE users SET session_private = true WHERE id = $1', [
      await idOf(forced),
    ]);
    const made = await forced.call('newSession', { type: 2, private: 0 });
    expect(await forced.call('getSession', { uuid: made.uuid })).toMatchObject({
      private: 1,
      private_forced: true,
    });
  });
});

describe('two people', () => {
  test('have one private session, however many calls of both make it at once', async () => {
    const [one, other, third] = [await person(), await person(), await person()];
    const [oneId, otherId] = [await idOf(one), await idOf(other)];
    await here.database.query(`UPDATE users SET user_name = '小林' WHERE id = $1`, [oneId]);
    await here.database.query(`UPDATE users SET user_name = '小周' WHERE id = $1`, [otherId]);
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        index % 2 === 0
          ? one.call('newFriend', { friend_user_id: otherId })
          : other.call('newFriend', { friend_user_id: oneId }),
      ),
    );
    expect(new Set(made.map(({ uuid }) => uuid)).size).toBe(1);
    const { uuid } = made[0]!;
    const { rows } = await here.database.query(
      'SELECT 1 FROM sessions WHERE type = 2 AND user_id = ANY($1)',
      [[oneId, otherId]],
    );
    expect(rows).toHaveLength(1);
    // Whoever has a number alone learns no name by it.
    expect(await one.call('getSession', { uuid })).toMatchObject({
      friend: { id: otherId, name: `用户 ${otherId}`, state: 'new' },
      prompt: `用户 ${otherId}`,
      private: 1,
      writable: true,
    });
    for (const client of [one, other]) await openTalk(client, '大家都看得到的一个会话');
    expect(await one.call('getSession', { uuid })).toMatchObject({
      friend: { id: otherId, name: '小周', state: 'new' },
      prompt: '小周',
    });
    expect(await other.call('getSession', { uuid })).toMatchObject({
      friend: { id: oneId, name: '小林', state: 'new' },
      prompt: '小林',
      writable: true,
    });
    expect(await third.raw('getSession', { uuid })).toMatchObject({ code: 1432 });

    await here.database.query(
      `UPDATE sessions SET prompt = '你好', private = true WHERE uuid = $1`,
      [uuid],
    );
    for (const [client, name] of [
      [one, '小周'],
      [other, '小林'],
    ] as const) {
      const list = await listOf(client, { channel: 'private' });
      expect(list.map((each) => [each.uuid, each.prompt])).toContainEqual([uuid, name]);
    }
    expect(await uuidsOf(third, { channel: 'private' })).not.toContain(uuid);
    const opened = await one.raw('setSession', { session_id: uuid, private: 0 });
    const openedByOther = await other.raw('setSession', { session_id: uuid, private: 0 });
    expect(new Set([opened.code, openedByOther.code])).toEqual(new Set([1434, 404]));

    // The talk of two is none of those that a month has.
    const { sessions_left: left } = await one.call('userInfo', {});
    expect(left).toBe(limits.freeSessionsAMonth - 1);
    const owner = opened.code === 404 ? other : one;
    await owner.call('deleteSession', { session_id: uuid });
    const again = await one.call('newFriend', { friend_user_id: otherId });
    expect(again.uuid).not.toBe(uuid);
    expect(await other.call('newFriend', { friend_user_id: oneId })).toEqual(again);
  });

  test('are two registered people', async () => {
    const one = await person();
    const guest = new TestClient(here.server.baseURL);
    await guest.call('newSession', {});
    for (const id of [await idOf(one), await idOf(guest), 999_999_999]) {
      const answer = await sendRaw(one, 'newFriend', { friend_user_id: id });
      expect(answer.status).toBe(404);
      expect(answer.envelope?.message).toMatch(/没有这个人|不能和自己私聊/);
    }
  });
});

describe('taking a session over', () => {
  test('copies what is shown up to the message into one’s own', async () => {
    const [owner, reader] = [await person(), await person()];
    const open = await openTalk(owner, '从这里开始的会话');
    const rows = await here.database.query<{ id: string }>(
      `INSERT INTO history (session_id, user_id, human, ai, model, state, prev_id, shown, request,
         prompt_tokens, deduct_tokens, like_count)
       SELECT s.id, s.user_id, v.human, v.ai, s.model, v.state, $2::bigint, v.shown, v.request::jsonb, 9, 9, 3
       FROM sessions s, (VALUES
         (1, '被换掉的问题', '旧的回答', 'done', false, null),
         (2, '带图的问题', '第二个回答', 'done', true, '{"images":["/files/x.png"],"type":"chat-vision"}'),
         (3, '第三个问题', '第三个回答', 'stopped', true, null)
       ) v (n, human, ai, state, shown, request) WHERE s.id = $1 ORDER BY n RETURNING id`,
      [open.id, open.historyId],
    );
    const [hidden, second, third] = rows.rows.map(({ id }) => Number(id));
    await here.database.query('UPDATE history SET prev_id = $2 WHERE id = $1', [third, second]);

    const made = await reader.call('newSession', { history_id: second });
    const copied = await here.database.query<Record<string, unknown>>(
      `SELECT id::float8, prev_id::float8, human, ai, state, request, shown, user_id::float8,
         deduct_tokens::float8, like_count FROM history WHERE session_id = $1 ORDER BY id`,
      [made.id],
    );
    const readerId = await idOf(reader);
    const common = { shown: true, user_id: readerId, deduct_tokens: 0, like_count: 0 };
    expect(copied.rows).toMatchObject([
      { ...common, prev_id: 0, human: '从这里开始的会话', request: null },
      {
        ...common,
        prev_id: copied.rows[0]?.['id'],
        human: '带图的问题',
        ai: '第二个回答',
        request: { images: ['/files/x.png'], type: 'chat-vision' },
      },
    ]);
    expect(await reader.call('getSession', { uuid: made.uuid })).toMatchObject({
      owner: true,
      private: 1,
      prompt: '从这里开始的会话 ·续',
      reply_count: 2,
      summary: '第二个回答',
      images: ['/files/x.png'],
    });
    expect(await listOf(reader, { channel: 'private' })).toHaveLength(1);
    expect((await reader.call('userInfo', {})).sessions_left).toBe(127);

    const branch = await sendRaw(reader, 'newSession', { history_id: hidden });
    expect(branch.status).toBe(404);
    await owner.call('setSession', { session_id: open.uuid, private: 1 });
    const closed = await reader.raw('newSession', { history_id: second });
    expect(closed.code).toBe(1432);
    const own = await owner.call('newSession', { history_id: third });
    expect(await owner.call('getSession', { uuid: own.uuid })).toMatchObject({ reply_count: 3 });

    // What a visitor asks for with one request is written within it.
    const many = await here.database.query<{ id: string }>(
      `INSERT INTO history (session_id, user_id, human, ai, model, state, prev_id, shown)
       SELECT s.id, s.user_id, '问', '答', s.model, 'done', $2, true
       FROM sessions s, generate_series(1, 5000) WHERE s.id = $1 RETURNING id`,
      [open.id, third],
    );
    const last = Math.max(...many.rows.map(({ id }) => Number(id)));
    await owner.call('setSession', { session_id: open.uuid, private: 0 });
    const visitor = new TestClient(here.server.baseURL);
    const long = await visitor.raw('newSession', { history_id: last });
    expect([long.status, long.message]).toEqual([413, expect.stringContaining('太长')]);
  });

  test('a visitor gets an account for it; temporary and people’s sessions are refused', async () => {
    const owner = await person();
    const open = await openTalk(owner, '访客也能接着聊的会话');
    const visitor = new TestClient(here.server.baseURL);
    const made = await visitor.call('newSession', { history_id: open.historyId });
    expect(visitor.token).not.toBe('');
    expect(await visitor.call('getSession', { uuid: made.uuid })).toMatchObject({ owner: true });
    for (const change of [`temporary = true`, `temporary = false, type = 2`]) {
      await here.database.query(`UPDATE sessions SET ${change} WHERE id = $1`, [open.id]);
      const answer = await sendRaw(owner, 'newSession', { history_id: open.historyId });
      expect(answer.status, change).toBe(404);
    }
  });

  test('of 10,000 messages it takes as long as writing them; what is still being written stays behind', async () => {
    const owner = await person();
    const made = await owner.call('newSession', {});
    await here.database.query(
      `UPDATE sessions SET prompt = '很长的会话', private = false WHERE id = $1`,
      [made.id],
    );
    const written = performance.now();
    const { rows } = await here.database.query<{ id: string }>(
      `INSERT INTO history (session_id, user_id, human, ai, model, state, owner)
       SELECT $1, user_id, '第 ' || n || ' 个问题', repeat('一段回答。', 60), model,
         CASE WHEN n = 10000 THEN 'streaming' ELSE 'done' END, CASE WHEN n = 10000 THEN 999999 END
       FROM sessions, generate_series(1, 10000) n WHERE id = $1 RETURNING id`,
      [made.id],
    );
    const last = Math.max(...rows.map(({ id }) => Number(id)));
    const writing = performance.now() - written;
    const reader = await person();
    const began = performance.now();
    const fork = await reader.call('newSession', { history_id: last });
    expect(performance.now() - began).toBeLessThan(10 * writing);
    const copied = await here.database.query<{ count: number; chained: number }>(
      `SELECT count(*)::int, count(*) FILTER (WHERE prev_id = before)::int AS chained
       FROM (SELECT prev_id, lag(id, 1, 0::bigint) OVER (ORDER BY id) AS before
             FROM history WHERE session_id = $1) h`,
      [fork.id],
    );
    expect(copied.rows[0]).toEqual({ count: 9999, chained: 9999 });
  });
});

describe('templates, knowledge bases and notices', () => {
  test('templates come in categories and can be looked for', async () => {
    const visitor = new TestClient(here.server.baseURL);
    const { list: categories } = await visitor.call('scenarioCategory', {});
    expect(categories.length).toBeGreaterThanOrEqual(4);
    const all = await visitor.call('scenarioList', {});
    expect(all.total).toBeGreaterThanOrEqual(12);
    for (const each of all.list) expect(each.prompt, each.name).toContain('{{input}}');
    const some = await visitor.call('scenarioList', { category: String(categories[0]?.id) });
    expect(some.list.length).toBeGreaterThan(0);
    expect(new Set(some.list.map(({ category }) => category))).toEqual(
      new Set([categories[0]?.id]),
    );
    const found = await visitor.call('scenarioList', { query: '周报' });
    expect(found.list.map(({ name }) => name)).toContain('周报');
    expect((await visitor.call('scenarioList', { category: '没有' })).list).toEqual([]);
    const missing = await sendRaw(visitor, 'newSession', { scenario_id: 999_999 });
    expect(missing.status).toBe(404);
    expect(visitor.token, 'no guest for nothing').toBe('');
  });

  test('the month of free sessions is that of China', async () => {
    const client = await person();
    const left = async () => (await client.call('userInfo', {})).sessions_left;
    const { id } = await client.call('newSession', { type: 0 });
    const begun = (more: string) =>
      here.database.query(
        `UPDATE sessions SET created_at = date_trunc('month', now() AT TIME ZONE 'Asia/Shanghai')
           AT TIME ZONE 'Asia/Shanghai' + ${more} WHERE id = $1`,
        [id],
      );
    await begun(`interval '1 hour'`);
    expect(await left()).toBe(limits.freeSessionsAMonth - 1);
    await begun(`interval '-1 hour'`);
    expect(await left()).toBe(limits.freeSessionsAMonth);
  });

  test('a knowledge base is asked about by its key', async () => {
    const client = await person();
    const { list } = await client.call('embeddingList', {});
    expect(list).toContainEqual(
      expect.objectContaining({ key: 'help', name: '鹊桥使用帮助', built_in: true }),
    );
    const made = await client.call('newSession', { embedding: 'help' });
    expect(await client.call('getSession', { uuid: made.uuid })).toMatchObject({
      embedding_key: 'help',
      embedding_name: '鹊桥使用帮助',
    });
    expect(await client.raw('newSession', { embedding: 'nothing' })).toMatchObject({ code: 1415 });

    const tokens = async (question: string) =>
      (await client.call('passageTokens', { embedding_key: 'help', question })).tokens;
    expect(await tokens('余额不足怎么办')).toBeGreaterThan((await tokens('量子纠缠态')) + 50);
    const nowhere = { embedding_key: 'nothing', question: '余额' };
    expect(await client.raw('passageTokens', nowhere)).toMatchObject({ code: 1415 });
  });

  test('the newest notice is shown until it is read', async () => {
    const client = await person();
    expect(await client.call('noticeInfo', {})).toMatchObject({ list: [], unread: 0 });
    const { rows } = await here.database.query<{ id: string }>(
      `INSERT INTO notices (content) VALUES ('旧的公告'), ('**新的**公告') RETURNING id`,
    );
    const newest = Number(rows[1]?.id);
    expect(await client.call('noticeInfo', {})).toMatchObject({
      list: [{ id: newest, content: '**新的**公告' }],
    });
    await client.call('updateNotice', { notice_id: newest });
    await client.call('updateNotice', { notice_id: newest });
    expect(await client.call('noticeInfo', {})).toMatchObject({ list: [], unread: 0 });
    expect((await (await person()).call('noticeInfo', {})).list).toHaveLength(1);
    expect((await sendRaw(client, 'updateNotice', { notice_id: 999_999 })).status).toBe(404);
    await here.database.query('DELETE FROM notices');
  });
});

describe('one’s own list', () => {
  test('pinned sessions stand first, for oneself alone, and go with a guest into the account', async () => {
    const guest = new TestClient(here.server.baseURL);
    await guest.call('newSession', { type: 0 });
    const old = await openTalk(guest, '先说的');
    const late = await openTalk(guest, '后说的');
    await guest.call('setSession', { session_id: old.uuid, on_top: 1 });
    const mine = async (client: TestClient) =>
      (await listOf(client, { channel: 'private' })).filter(({ prompt }) => prompt !== '');
    expect((await mine(guest)).map(({ uuid }) => uuid)).toEqual([old.uuid, late.uuid]);
    const stranger = await person();
    const foreign = await sendRaw(stranger, 'setSession', { session_id: old.uuid, on_top: 1 });
    expect(foreign.envelope?.code).toBeGreaterThan(0);
    const account = `pins${Date.now()}`;
    await guest.call('register', {
      account,
      name: '置顶',
      password: 'password-1',
      password2: 'password-1',
    });
    const { token } = await guest.call('login', { account, password: 'password-1' });
    const signedIn = new TestClient(here.server.baseURL, token);
    expect((await mine(signedIn))[0]).toMatchObject({ uuid: old.uuid, on_top: true });
    await signedIn.call('setSession', { session_id: old.uuid, on_top: 0 });
    expect((await mine(signedIn))[0]).toMatchObject({ uuid: late.uuid, on_top: false });
  });

  test('is not narrowed to a person, and its owner names its sessions', async () => {
    const me = await person();
    const { uuid } = await openTalk(me, '旧名字');
    expect(await uuidsOf(me, { channel: 'private', user_id: 1 })).toEqual([uuid]);
    await me.call('setSession', { session_id: uuid, title: '  新名字  ' });
    expect((await listOf(me, { channel: 'private' }))[0]?.prompt).toBe('新名字');
    const stranger = await person();
    expect(
      (await sendRaw(stranger, 'setSession', { session_id: uuid, title: '别人的' })).status,
    ).toBe(404);
    expect((await sendRaw(me, 'setSession', { session_id: uuid, title: ' ' })).status).toBe(422);
  });
});
