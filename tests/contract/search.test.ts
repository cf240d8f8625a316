import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { sessionMark } from '#server/areas/session/search-grams.ts';
import { indexQueued } from '#server/areas/session/search.service.ts';
import { connectDatabase } from '#server/db/connect.ts';
import { TestClient } from '../support/client.ts';
import { makeDatabase } from '../support/server.ts';
import { stage } from '../support/stage.ts';
import { sendRaw } from '../support/world.ts';

const here = stage({ env: { RATE_LIMIT: '1000000' } });

type Channel = 'public' | 'private' | 'favorites';
const person = () => TestClient.register(here.server.baseURL);
const idOf = async (client: TestClient) => (await client.call('userInfo', {})).id;
const search = async (client: TestClient, channel: Channel, query: string, more = {}) =>
  (await client.call('sessionList', { channel, query, ...more })).list;
const found = async (client: TestClient, channel: Channel, query: string, more = {}) =>
  (await search(client, channel, query, more)).map(({ uuid }) => uuid);

/** Waits until the index knows everything. */
const indexed = async () => {
  for (let left = 600; left > 0; left--) {
    const { rows } = await here.database.query(
      'SELECT FROM search_queue UNION ALL SELECT FROM search_sessions LIMIT 1',
    );
    if (rows.length === 0) return;
    await sleep(100);
  }
  throw new Error('the queue of the index is not worked off');
};
/** The same once while the message still waits for the index and once when it is in it. */
const twice = async (check: () => Promise<void>) => {
  await check();
  await indexed();
  await check();
};

/** A message with its answer, as if it had been written long ago. */
const add = async (sessionId: number, human: string, ai: string, shown = true) => {
  const { rows } = await here.database.query<{ id: string }>(
    `INSERT INTO history (session_id, user_id, human, ai, model, state, shown)
     SELECT id, user_id, $2, $3, model, 'done', $4 FROM sessions WHERE id = $1 RETURNING id`,
    [sessionId, human, ai, shown],
  );
  return Number(rows[0]?.id);
};

/** A session with a title and one message. */
const talk = async (client: TestClient, title: string) => {
  const made = await client.call('newSession', { type: 0 });
  await here.database.query('UPDATE sessions SET prompt = $2 WHERE id = $1', [made.id, title]);
  await add(made.id, title, '好的');
  return made;
};
const openTalk = async (client: TestClient, title: string) => {
  const made = await talk(client, title);
  await client.call('setSession', { session_id: made.uuid, private: 0 });
  return made;
};

describe('words in messages', () => {
  test('are found at once by whoever may read them, with what stands around them', async () => {
    const [owner, other] = [await person(), await person()];
    const open = await openTalk(owner, '公开的会话一号');
    const closed = await talk(owner, '私有的会话一号');
    const answer = `${'前面的话。'.repeat(30)}这里说到**紫薇斗数**的来历。${'后面的话。'.repeat(30)}`;
    const inOpen = await add(open.id, '随便问问', answer);
    const inClosed = await add(closed.id, '谁知道紫薇斗数', '不知道');
    await twice(async () => {
      for (const query of ['紫薇斗数', '紫薇', '斗', '薇斗 来历']) {
        expect(await found(other, 'public', query), query).toEqual([open.uuid]);
        expect(await found(other, 'private', query), query).toEqual([]);
      }
      expect(new Set(await found(owner, 'private', '紫薇斗数'))).toEqual(
        new Set([open.uuid, closed.uuid]),
      );
      expect(await found(owner, 'private', '紫薇 不知道')).toEqual([closed.uuid]);
      expect(await found(owner, 'private', '薇紫')).toEqual([]);
      expect(await found(owner, 'private', '紫薇 没有的词')).toEqual([]);
      const [card] = await search(other, 'public', '紫薇斗数');
      expect(card?.match?.history_id).toBe(inOpen);
      expect(card?.match?.snippet).toMatch(/^….*这里说到 紫薇斗数 的来历.*…$/);
      const own = await search(owner, 'private', '紫薇斗数');
      expect(own.map(({ match }) => match?.history_id)).toContain(inClosed);
    });
  });

  test('are found in whatever case and next to whatever signs', async () => {
    const owner = await person();
    const own = await talk(owner, '关于编程的会话');
    await add(own.id, '用 TypeScript 与 C++ 写 node.js 服务', '可以，snake_case 也行。第3章，😀笑');
    await twice(async () => {
      for (const query of [
        'typescript',
        'TYPESCRIPT',
        'c++',
        'node.js',
        'snake_case',
        '第3章',
        '😀笑',
        'ts',
        '。第',
      ]) {
        const expected = query === 'ts' ? [] : [own.uuid];
        expect(await found(owner, 'private', query), query).toEqual(expected);
      }
      for (const query of ['%', '_', '\\', "' OR 1=1 --", '100%']) {
        expect((await sendRaw(owner, 'sessionList', { channel: 'private', query })).status).toBe(
          200,
        );
      }
      expect(await found(owner, 'private', 'typescripts')).toEqual([]);
    });
  });

  test('of titles are found as well, and say so', async () => {
    const owner = await person();
    const own = await talk(owner, '一个普通的问题');
    await here.database.query(`UPDATE sessions SET prompt = '改过的独特标题' WHERE id = $1`, [
      own.id,
    ]);
    const [card] = await search(owner, 'private', '独特标题');
    expect(card).toMatchObject({
      uuid: own.uuid,
      match: { history_id: null, snippet: '改过的独特标题' },
    });
    const [plain] = (await owner.call('sessionList', { channel: 'private' })).list;
    expect(plain?.match).toBeNull();
  });

  test('are narrowed by the other filters and by the marked sessions', async () => {
    const [owner, reader] = [await person(), await person()];
    const [one, two] = [await openTalk(owner, '甲会话'), await openTalk(owner, '乙会话')];
    for (const { id } of [one, two]) await add(id, '都说到青花瓷', '是的');
    const readerId = await idOf(reader);
    await here.database.query('INSERT INTO favorites (user_id, session_id) VALUES ($1, $2)', [
      readerId,
      one.id,
    ]);
    await twice(async () => {
      expect(await found(reader, 'favorites', '青花瓷')).toEqual([one.uuid]);
      expect(await found(reader, 'favorites', '没有的词')).toEqual([]);
      const of = (user_id: number) => found(reader, 'public', '青花瓷', { user_id });
      expect(await of(await idOf(owner))).toHaveLength(2);
      expect(await of(readerId)).toEqual([]);
      expect(await found(reader, 'public', '青花瓷', { model: '没有' })).toEqual([]);
      expect(await found(reader, 'public', '青花瓷', { page: 2, page_size: 1 })).toHaveLength(1);
      expect(await found(reader, 'public', '青花瓷', { page: 3, page_size: 1 })).toEqual([]);
    });
  });
});

describe('the index follows', () => {
  test('edits, deletions and branches: only what is shown is found', async () => {
    const owner = await person();
    const own = await talk(owner, '会变的会话');
    const id = await add(own.id, '原来说的是鲸落', '好的');
    await indexed();
    await here.database.query(`UPDATE history SET human = '现在说的是星轨' WHERE id = $1`, [id]);
    await twice(async () => {
      expect(await found(owner, 'private', '鲸落')).toEqual([]);
      expect(await found(owner, 'private', '星轨')).toEqual([own.uuid]);
    });
    await here.database.query('UPDATE history SET shown = false WHERE id = $1', [id]);
    expect(await found(owner, 'private', '星轨')).toEqual([]);
    await here.database.query('UPDATE history SET shown = true WHERE id = $1', [id]);
    expect(await found(owner, 'private', '星轨')).toEqual([own.uuid]);
    await owner.call('deleteHistory', { session_id: own.uuid, id });
    await twice(async () => expect(await found(owner, 'private', '星轨')).toEqual([]));
    const { rows } = await here.database.query('SELECT 1 FROM search_fresh WHERE history_id = $1', [
      id,
    ]);
    expect(rows).toEqual([]);
  });

  test('a session being opened, closed, taken over and deleted', async () => {
    const [owner, other] = [await person(), await person()];
    const own = await talk(owner, '会公开的会话');
    const id = await add(own.id, '说到了凤凰花开', '是的');
    await indexed();
    expect(await found(other, 'public', '凤凰花开')).toEqual([]);
    await owner.call('setSession', { session_id: own.uuid, private: 0 });
    await twice(async () => expect(await found(other, 'public', '凤凰花开')).toEqual([own.uuid]));
    const fork = await other.call('newSession', { history_id: id });
    await twice(async () => expect(await found(other, 'private', '凤凰花开')).toEqual([fork.uuid]));
    await owner.call('setSession', { session_id: own.uuid, private: 1 });
    await twice(async () => expect(await found(other, 'public', '凤凰花开')).toEqual([]));
    await owner.call('deleteSession', { session_id: own.uuid });
    await twice(async () => expect(await found(owner, 'private', '凤凰花开')).toEqual([]));
  });

  test('a guest who registers', async () => {
    const guest = new TestClient(here.server.baseURL);
    const own = await talk(guest, '访客说到了雨花石');
    await indexed();
    const { token } = await guest.call('register', {
      account: `g${Date.now()}`,
      name: '不再是访客',
      password: 'password-1',
      password2: 'password-1',
    });
    const account = new TestClient(here.server.baseURL, token);
    await twice(async () => expect(await found(account, 'private', '雨花石')).toEqual([own.uuid]));
  });

  test('people’s private sessions are found by both and by nobody else', async () => {
    const [one, other, third] = [await person(), await person(), await person()];
    const made = await one.call('newFriend', { friend_user_id: await idOf(other) });
    await here.database.query(`UPDATE sessions SET prompt = '你好' WHERE id = $1`, [made.id]);
    await add(made.id, '我们去看油菜花', '');
    await twice(async () => {
      for (const client of [one, other])
        expect(await found(client, 'private', '油菜花')).toEqual([made.uuid]);
      for (const channel of ['private', 'public'] as const)
        expect(await found(third, channel, '油菜花')).toEqual([]);
    });
  });

  test('nothing of temporary sessions is in it', async () => {
    const owner = await person();
    const made = await owner.call('newSession', { temporary: 1 });
    await add(made.id, '不该找到的悄悄话', '');
    await twice(async () => expect(await found(owner, 'private', '悄悄话')).toEqual([]));
    const { total } = await owner.call('searchMessages', {
      session_id: made.uuid,
      query: '悄悄话',
    });
    expect(total).toBe(0);
  });
});

test('among a great many messages the index is as exact as among few', async () => {
  const owner = await person();
  const own = await talk(owner, '一本很厚的书');
  const { rows } = await here.database.query<{ id: number }>(
    `INSERT INTO history (session_id, user_id, human, ai, model, state)
     SELECT id, user_id, '第' || n || '页', CASE WHEN n % 400 = 7 THEN '这里画着蒲公英' ELSE '白纸' END,
       model, 'done' FROM sessions, generate_series(1, 1300) n WHERE id = $1 RETURNING id::int`,
    [own.id],
  );
  const ids = rows.map(({ id }) => id);
  const hits = async (query: string) =>
    (await owner.call('searchMessages', { session_id: own.uuid, query })).list.map(
      ({ history_id: id }) => id,
    );
  const expected = [1207, 807, 407, 7].map((page) => ids[page - 1]);
  await twice(async () => expect(await found(owner, 'private', '白纸')).toEqual([own.uuid]));
  // Most of them are in the postings, and not only in what is looked through one by one.
  const { rowCount } = await here.database.query(
    'SELECT 1 FROM search_fresh WHERE history_id = ANY($1)',
    [ids],
  );
  expect(rowCount).toBeLessThan(500);
  expect(await hits('蒲公英')).toEqual(expected);
  expect(await hits('第1207页')).toEqual([ids[1206]]);
  expect(await found(owner, 'private', '蒲公英')).toEqual([own.uuid]);
  await here.database.query(`UPDATE history SET ai = '又画着向日葵' WHERE id = $1`, [ids[6]]);
  await twice(async () => {
    expect(await hits('蒲公英')).toEqual(expected.slice(0, 3));
    expect(await hits('向日葵')).toEqual([ids[6]]);
  });
});

describe('within one session', () => {
  test('messages with the words come newest first, and only to whoever may read it', async () => {
    const [owner, other] = [await person(), await person()];
    const own = await talk(owner, '很长的会话');
    const ids: number[] = [];
    for (let at = 0; at < 25; at++) ids.push(await add(own.id, `第${at}次提到银杏`, '好的'));
    const inAnswer = await add(own.id, '别的', '答案里有银杏');
    await twice(async () => {
      const first = await owner.call('searchMessages', { session_id: own.uuid, query: '银杏' });
      expect(first).toMatchObject({ total: 26, page_count: 2, page_size: 20 });
      expect(first.list[0]).toMatchObject({ history_id: inAnswer, part: 'ai' });
      expect(first.list[1]).toMatchObject({ part: 'human', snippet: '第24次提到银杏' });
      const second = await owner.call('searchMessages', {
        session_id: own.uuid,
        query: '银杏',
        page: 2,
      });
      expect(second.list.map(({ history_id }) => history_id)).toEqual(ids.slice(0, 6).reverse());
      const none = await owner.call('searchMessages', { session_id: own.uuid, query: '杏银' });
      expect(none.list).toEqual([]);
    });
    const refused = await other.raw('searchMessages', { session_id: own.uuid, query: '银杏' });
    expect(refused.code).toBe(1432);
    const blank = await owner.call('searchMessages', { session_id: own.uuid, query: ' ' });
    expect(blank.total).toBe(0);
  });
});

test('what was there before the index was made gets into it', async () => {
  const owner = await person();
  const own = await talk(owner, '旧的会话');
  await add(own.id, '很久以前的琥珀', '');
  await indexed();
  await here.database.query('DELETE FROM search_fresh');
  await here.database.query('INSERT INTO search_queue (history_id) SELECT id FROM history');
  await here.database.query(`NOTIFY search_queue`);
  await twice(async () => expect(await found(owner, 'private', '琥珀')).toEqual([own.uuid]));
});

test('long messages are indexed few at a time', async () => {
  const databaseUrl = await makeDatabase();
  const warned = pino({ level: 'warn' });
  const { db, close } = await connectDatabase({ dataDir: '', databaseUrl }, warned);
  const rows = async (text: string) => (await db.$client.query<{ number: number }>(text)).rows;
  try {
    await rows(`INSERT INTO users (user_name, guest) VALUES ('长', true)`);
    await rows(
      `INSERT INTO sessions (user_id, model) SELECT id, 'm' FROM users WHERE user_name = '长'`,
    );
    await rows(`INSERT INTO history (session_id, user_id, model, state, human)
      SELECT s.id, user_id, model, 'done', (
        SELECT string_agg(chr(19968 + floor(20000 * random())::int), '')
        FROM generate_series(1, 50000 + n))
      FROM sessions s, generate_series(1, 10) n`);
    const waiting = `SELECT count(*)::int AS number FROM search_queue`;
    expect(await indexQueued(db, 50)).toBe(50);
    expect(await rows(waiting)).toEqual([{ number: 3 }]);
    while ((await indexQueued(db, 50)) === 50);
    expect(await rows(waiting)).toEqual([{ number: 0 }]);
  } finally {
    await close();
  }
});

test.each(['search_fresh', 'search_postings'])(
  'a message that cannot be put into %s is left out, and stops no others',
  async (table) => {
    const owner = await person();
    const own = await talk(owner, '一句话');
    const other = await talk(owner, '另一句话');
    await indexed();
    const index = 4_715_003;
    await here.database.query('SELECT pg_advisory_lock($1)', [index]);
    const bad = await add(own.id, '谁都放不进去的话', '');
    await here.database.query(`
      CREATE FUNCTION refuse_it() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'it cannot be'; END $$;
      CREATE TRIGGER refuse_it BEFORE INSERT ON ${table} FOR EACH ROW
        WHEN (NEW.${table === 'search_fresh' ? `history_id = ${bad}` : `gram = ${sessionMark(own.id)}`})
        EXECUTE FUNCTION refuse_it()`);
    try {
      // So many that they are merged.
      await here.database.query(
        `INSERT INTO history (session_id, user_id, human, ai, model, state)
         SELECT id, user_id, '鹅卵石 ' || n, '', model, 'done' FROM sessions, generate_series(1, 520) n
         WHERE id = $1`,
        [other.id],
      );
      await here.database.query('SELECT pg_advisory_unlock($1)', [index]);
      await here.database.query('NOTIFY search_queue');
      await indexed();
      await expect
        .poll(
          async () => {
            const { rows } = await here.database.query<{ left: number }>(
              `SELECT count(*)::int AS left FROM search_fresh`,
            );
            return rows[0]?.left;
          },
          { timeout: 60_000 },
        )
        .toBeLessThan(500);
      const { total } = await owner.call('searchMessages', {
        session_id: other.uuid,
        query: '鹅卵石',
      });
      expect(total).toBe(200);
    } finally {
      await here.database.query(`DROP TRIGGER refuse_it ON ${table}; DROP FUNCTION refuse_it()`);
    }
  },
);

test('closing all that somebody has open writes no row for each message', async () => {
  const [owner, reader] = [await person(), await person()];
  const own = [await openTalk(owner, '翡翠'), await openTalk(owner, '玛瑙')];
  await here.database.query(
    `INSERT INTO history (session_id, user_id, human, ai, model, state)
     SELECT id, user_id, '孔雀石 ' || n, '', model, 'done' FROM sessions, generate_series(1, 600) n
     WHERE id = ANY ($1)`,
    [own.map(({ id }) => id)],
  );
  const both = own.map(({ uuid }) => uuid).toReversed();
  await indexed();
  expect(await found(reader, 'public', '孔雀石')).toEqual(both);
  const index = 4_715_003;
  await here.database.query('SELECT pg_advisory_lock($1)', [index]);
  try {
    expect(await owner.call('sessionPrivate', {})).toEqual({ count: 2 });
    const { rows } = await here.database.query('SELECT FROM search_queue');
    expect(rows).toEqual([]);
    expect(await found(reader, 'public', '孔雀石')).toEqual([]);
  } finally {
    await here.database.query('SELECT pg_advisory_unlock($1)', [index]);
  }
  await indexed();
  expect(await found(owner, 'private', '孔雀石')).toEqual(both);
  expect(await found(reader, 'public', '孔雀石')).toEqual([]);
  await owner.call('setSession', { session_id: own[0]!.uuid, private: 0 });
  expect(await found(reader, 'public', '孔雀石')).toEqual([own[0]!.uuid]);
  await indexed();
  expect(await found(reader, 'public', '孔雀石')).toEqual([own[0]!.uuid]);
});

test('what one act adds by the hundred waits behind single messages, which are found meanwhile', async () => {
  const [owner, loud] = [await person(), await person()];
  const own = await talk(owner, '一句话');
  const long = await talk(loud, '一大堆');
  await indexed();
  const index = 4_715_003;
  await here.database.query('SELECT pg_advisory_lock($1)', [index]);
  try {
    await add(own.id, '谁见过夜明珠', '没有');
    await here.database.query(
      `INSERT INTO history (session_id, user_id, human, ai, model, state)
       SELECT id, user_id, '石头堆 ' || n, '', model, 'done' FROM sessions, generate_series(1, 301) n
       WHERE id = $1`,
      [long.id],
    );
    expect(await found(owner, 'private', '夜明珠')).toEqual([own.uuid]);
    const { rows } = await here.database.query<{ bulk: boolean }>(
      'SELECT bulk FROM search_queue ORDER BY bulk, id LIMIT 2',
    );
    expect(rows.map(({ bulk }) => bulk)).toEqual([false, true]);
    // A few that are very long wait with them, and whatever an import brings.
    const wait = async (letters: number, imported: boolean) => {
      const made = await talk(loud, '很长');
      const { rows: last } = await here.database.query<{ id: string }>(
        'SELECT max(id) AS id FROM search_queue',
      );
      await here.database.query('UPDATE sessions SET imported = $2 WHERE id = $1', [
        made.id,
        imported,
      ]);
      await here.database.query(
        `INSERT INTO history (session_id, user_id, human, ai, model, state)
         SELECT s.id, user_id, (SELECT string_agg(chr(19968 + floor(20000 * random())::int), '')
           FROM generate_series(1, $2 + 0 * n)), '', model, 'done'
         FROM sessions s, generate_series(1, 10) n WHERE s.id = $1`,
        [made.id, letters],
      );
      const { rows: queued } = await here.database.query<{ bulk: boolean }>(
        'SELECT DISTINCT bulk FROM search_queue WHERE id > $1',
        [last[0]?.id],
      );
      return queued.map(({ bulk }) => bulk);
    };
    expect(await wait(50_000, false)).toEqual([true]);
    expect(await wait(10, true)).toEqual([true]);
    expect(await wait(10, false)).toEqual([false]);
  } finally {
    await here.database.query('SELECT pg_advisory_unlock($1)', [index]);
  }
  await indexed();
  expect(await found(owner, 'private', '夜明珠')).toEqual([own.uuid]);
  expect(await found(loud, 'private', '石头堆')).toEqual([long.uuid]);
});

describe('hostile searches', () => {
  /** All of it begins like the word, which is compared at each place; the word itself stands nowhere. */
  const longText = 'baaa c ' + 'a'.repeat(1_999_000);
  const longWords = Array.from({ length: 8 }, (_, at) => 'b' + 'a'.repeat(16 + at)).join(' ');

  test('texts of two million letters cost little more than those of fifty thousand', async () => {
    const owner = await person();
    const talks = [];
    for (const text of [longText.slice(0, 50_000), longText]) {
      const made = await talk(owner, '长');
      for (let at = 0; at < 6; at += 1) await add(made.id, text, '好的');
      talks.push(made);
    }
    const took = async ({ uuid }: { uuid: string }) => {
      const begun = performance.now();
      await owner.call('searchMessages', { session_id: uuid, query: longWords });
      return performance.now() - begun;
    };
    await took(talks[0]!);
    const [short, long] = [await took(talks[0]!), await took(talks[1]!)];
    // Unbounded it is more than twenty times as much.
    expect(long).toBeLessThan(short * 8 + 200);
    await indexed();
  });

  test('of one person one runs at a time, and so many wait', async () => {
    const owner = await person();
    const { uuid } = await talk(owner, '桥');
    const asked = () => owner.raw('searchMessages', { session_id: uuid, query: '桥' });
    const answers = await Promise.all(Array.from({ length: 40 }, asked));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
    expect(await asked()).toMatchObject({ status: 200 });
  });
});
