import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import sharp from 'sharp';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Area, Kit } from '#server/area.ts';
import { createLeaving } from '#server/areas/account/leaving.ts';
import { createAreas } from '#server/areas/list.ts';
import { connectDatabase } from '#server/db/connect.ts';
import type { Held } from '#server/db/held.ts';
import { readSettings } from '#server/settings.ts';
import { TestClient } from '../support/client.ts';
import { describeTables, fillTables, tablesWith } from '../support/every-table.ts';
import { startMockOpenAi } from '../support/mock-openai.ts';
import { makeDatabase, startServer, type TestServer } from '../support/server.ts';
import { sendRaw } from '../support/world.ts';

const password = 'password-1';
/** What areas say of themselves needs nothing of a server. */
const anything: unknown = new Proxy(() => undefined, {
  get: () => anything,
  apply: () => anything,
});
const kit = new Proxy({ settings: readSettings({}) } as Kit, {
  get: (has, name) => (name in has ? has[name as keyof Kit] : anything),
});
const areas: readonly Area[] = createAreas(kit);
const held = areas.flatMap((area): readonly Held[] => area.holds ?? []);
/** Columns with a person's number that no reference tells of. */
const unreferenced = ['token_user_id', 'user_id'];

let server: TestServer;
let client: pg.Client;
beforeAll(async () => {
  server = await startServer({ env: { ASSISTANT_RATE: '0', FILE_QUOTA_MB: '64' } });
  client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await server.stop();
});

const upload = async (
  person: TestClient,
  place: string,
  data: Buffer,
  name: string,
  id?: number,
) => {
  const form = new FormData();
  if (id !== undefined) form.set('model_id', String(id));
  form.set('file', new Blob([new Uint8Array(data)]), name);
  const answer = await fetch(`${server.baseURL}/api/${place}`, {
    method: 'POST',
    headers: person.headers(),
    body: form,
  });
  return ((await answer.json()) as { data: Record<string, unknown> }).data;
};

/** A public knowledge base with a file that was learned. */
const makeBase = async (person: TestClient, key: string, said: string) => {
  const { model: base } = await person.call('newTrainModel', {
    name: '公开的资料',
    key,
    type: 0,
    private: 0,
  });
  await upload(person, 'train/upload_file', Buffer.from(said), '资料.txt', base.id);
  const files = () => person.call('trainFileList', { model_id: base.id });
  await expect.poll(async () => (await files()).list[0]?.status, { timeout: 30_000 }).toBe(1);
  return { id: base.id, url: (await files()).list[0]!.url };
};

test('what is written while an account is emptied waits, and is refused once it is', async () => {
  const person = await TestClient.register(server.baseURL);
  const { id } = await person.call('userInfo', {});
  const session = await person.call('newSession', { type: 0 });
  const writer = new pg.Client({ connectionString: server.databaseUrl });
  await writer.connect();
  const { rows } = await writer.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await client.query('BEGIN');
  await client.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [id]);
  const written = writer
    .query('INSERT INTO pins (user_id, session_id) VALUES ($1, $2)', [id, session.id])
    .then(
      () => 'written',
      ({ code }: { code: string }) => code,
    );
  await expect
    .poll(async () => {
      const waiting = 'SELECT FROM pg_locks WHERE pid = $1 AND NOT granted';
      return (await client.query(waiting, [rows[0]?.pid])).rowCount;
    })
    .toBe(1);
  await client.query('UPDATE users SET deleted_at = now(), erased_at = now() WHERE id = $1', [id]);
  await client.query('COMMIT');
  expect(await written).toBe('QG001');
  await writer.end();
});

test('every column with a person’s number stands in the list of what is a person’s, once', async () => {
  const listed = held.flatMap(({ table, of }) => of.map((column) => `${table}.${column}`));
  const found: string[] = [];
  for (const [name, { columns, references }] of await describeTables(client))
    for (const column of columns)
      if (references.get(column.name) === 'users' || unreferenced.includes(column.name))
        found.push(`${name}.${column.name}`);
  expect(listed.filter((each) => each !== 'users.id').sort()).toEqual(found.sort());
});

test('what is a person’s is found without reading what is others’', async () => {
  // Few rows each, or of the last minutes alone.
  const small = new Set([
    'provider_flows',
    'passkey_questions',
    'downloads',
    'scenarios',
    'reports',
  ]);
  for (const table of ['prompt_templates', 'app_downloads', 'api_keys']) small.add(table);
  const all = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  const others = new RegExp(
    `Seq Scan on (${all.rows
      .map(({ name }) => name)
      .filter((name) => !small.has(name))
      .join('|')})\\b`,
  );
  await client.query('BEGIN; SET LOCAL enable_seqscan = off');
  for (const { table, of, where, end } of held) {
    if (end !== 'delete' && end.keep !== undefined) continue;
    const rows = where ?? of.map((column) => `${column} = $person`).join(' OR ');
    const { rows: plan } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT FROM ${table} WHERE ${rows.replaceAll('$person', '42::bigint')}`,
    );
    expect(plan.map((line) => line['QUERY PLAN']).join('\n'), table).not.toMatch(others);
  }
  await client.query('ROLLBACK');
});

test('an account that ends leaves nothing of its person in any table, file or answer', async () => {
  const mark = 'zhimakaimen';
  const key = `open_${Date.now()}`;
  const person = await TestClient.register(server.baseURL);
  const other = await TestClient.register(server.baseURL);
  const visitor = new TestClient(server.baseURL);
  const { id: userId } = await person.call('userInfo', {});
  const files = path.join(server.dataDir, 'files');
  const stored = () =>
    existsSync(files)
      ? readdirSync(files, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
      : [];
  const before = stored().length;

  const picture = await sharp({
    create: { width: 64, height: 64, channels: 3, background: '#2563eb' },
  })
    .png()
    .toBuffer();
  const { uuid } = await person.ask(`我的秘密是${mark}`);
  const { image } = (await upload(person, 'image/upload', picture, `${mark}.png`)) as {
    image: { url: string };
  };
  const base = await makeBase(person, key, `${mark}的花园里有一棵紫藤，每年四月开花。`);
  const ask = { embedding_key: key, question: '紫藤几月开花' };
  expect((await visitor.call('askKnowledge', ask)).list.length).toBeGreaterThan(0);
  expect((await fetch(server.baseURL + base.url)).status).toBe(200);
  const talk = await other.call('newFriend', { friend_user_id: userId });
  await other.call('sendMessage', { session_id: talk.uuid, msg: '你好，可以认识一下吗' });
  await person.call('answerFriend', { session_id: talk.uuid, act: 'accept' });
  const said = await person.call('sendMessage', { session_id: talk.uuid, msg: mark });
  await person.call('updateMessage', {
    session_id: talk.uuid,
    id: said.id,
    content: `${mark}，改过`,
  });

  const session = await client.query('SELECT id FROM sessions WHERE uuid = $1', [uuid]);
  const provider = await client.query(
    `INSERT INTO sign_in_providers (kind, name, client_id) VALUES ('oidc', '某某', 'x') RETURNING id`,
  );
  const faults = await fillTables(client, {
    userId,
    mark,
    people: unreferenced,
    // The server's own, and what it can have only one of.
    leaveOut:
      `instances backups backup_plan compliance sign_in_settings sign_in_providers safety safety_days setup schema_migrations secrets captchas rate_limits wallets search_fresh
      search_postings search_queue search_sessions friends models channels stat_days stat_marks stat_channels
      stat_steps forum_groups notices blocked_words image_keywords scenario_categories apps
      app_versions people_groups channel_health channel_lines channel_running model_channels payment_bills sandbox_trades forum_models
      manager_acts orders invoices order_events refunds payment_differences invoice_orders
      app_purchases app_downloads ledger holds invited stat_spent usage_days app_comments
      app_reports model_uses labels unmarked_downloads records consents agreements api_usage api_jobs notice_reads
      api_key_limits api_running tickets training_keys_used
      users`.split(/\s+/),
    known: new Map<string, unknown>([
      ['sessions', (session.rows[0] as { id: number }).id],
      ['users', userId],
      ['scenario_categories', 1],
      ['sign_in_providers', (provider.rows[0] as { id: number }).id],
    ]),
  });
  expect(faults).toEqual([]);
  expect((await tablesWith(client, mark)).length).toBeGreaterThan(25);

  const done = await person.raw('deleteAccount', { password });
  expect(done.code, server.log().slice(-3000)).toBe(0);
  expect(await tablesWith(client, mark)).toEqual([]);
  // Who never was a member has no end of a membership either.
  const ended = await client.query('SELECT vip_expired_at FROM users WHERE id = $1', [userId]);
  expect(ended.rows).toEqual([{ vip_expired_at: null }]);
  for (const { table, of, where, end } of held) {
    if (end !== 'delete' || where !== undefined) continue;
    const condition = of.map((column) => `${column} = ${userId}`).join(' OR ');
    const { rows } = await client.query(`SELECT FROM ${table} WHERE ${condition}`);
    expect(rows, table).toEqual([]);
  }
  expect(stored().length).toBe(before);
  expect((await visitor.raw('askKnowledge', ask)).code).toBe(1415);
  for (const url of [base.url, image.url])
    expect((await fetch(server.baseURL + url)).status, url).toBe(404);
  const seen = await other.call('historyList', { session_id: talk.uuid });
  expect(JSON.stringify(seen)).not.toContain(mark);
  expect(JSON.stringify(seen)).toContain('你好，可以认识一下吗');
  // Nothing comes back, whatever writes it.
  await expect(
    client.query('INSERT INTO likes (user_id, history_id) VALUES ($1, $2)', [userId, said.id]),
  ).rejects.toThrow('ended');
  await expect(
    client.query(`UPDATE users SET user_name = 'back' WHERE id = $1`, [userId]),
  ).rejects.toThrow('ended');
});

test('an account of very many messages is emptied in parts, which last', async () => {
  const person = await TestClient.register(server.baseURL);
  const { id: userId } = await person.call('userInfo', {});
  const [kept, deleted] = [
    await person.call('newSession', { type: 0 }),
    await person.call('newSession', { type: 0 }),
  ];
  await person.call('deleteSession', { session_id: deleted.uuid });
  await client.query(
    `INSERT INTO history (session_id, user_id, human, model, state)
     SELECT ($1::bigint[])[1 + g % 2], $2, '一句话', 'x', 'done' FROM generate_series(1, 22000) g`,
    [[kept.id, deleted.id], userId],
  );
  // Somebody else may read a few at a time, and the house goes down after the first part.
  await client.query(`
    CREATE SEQUENCE parts;
    CREATE FUNCTION only_parts() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF (SELECT count(*) FROM changed) > 10000 THEN RAISE EXCEPTION 'too long'; END IF;
      IF EXISTS (SELECT FROM changed) AND nextval('parts') = 2 THEN RAISE EXCEPTION 'down'; END IF;
      RETURN NULL; END $$;
    CREATE TRIGGER only_parts AFTER UPDATE ON history REFERENCING NEW TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION only_parts()`);
  await client.query(
    `UPDATE users SET disabled = true, deleted_at = now() - interval '1 hour' WHERE id = $1`,
    [userId],
  );
  const connection = await connectDatabase(
    { dataDir: '', databaseUrl: server.databaseUrl },
    pino({ level: 'silent' }),
  );
  const state = async () => {
    const { rows } = await client.query<{ left: number; erased: boolean }>(
      `SELECT erased_at IS NOT NULL AS erased, (SELECT count(*)::int FROM history
         WHERE user_id = u.id AND human <> '') AS left FROM users u WHERE id = $1`,
      [userId],
    );
    return rows[0];
  };
  // The index waits as well.
  const index = 4_715_003;
  await client.query('SELECT pg_advisory_lock($1)', [index]);
  try {
    const goOn = () =>
      createLeaving({
        db: connection.db,
        log: pino({ level: 'silent' }),
        held: () => held,
        leave: () => [],
        endJobs: async () => async () => undefined,
      }).finishOthers();
    await goOn();
    expect(await state()).toEqual({ left: 12_000, erased: false });
    const { rows } = await client.query(
      `SELECT FROM search_queue q JOIN history h ON h.id = q.history_id
       WHERE h.user_id = $1 AND h.human = '' AND NOT q.bulk`,
      [userId],
    );
    expect(rows).toEqual([]);
    await goOn();
    expect(await state()).toEqual({ left: 0, erased: true });
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [index]);
    await client.query('DROP TRIGGER only_parts ON history');
    await connection.close();
  }
});

test('whoever goes on writing while the account ends is neither in its way nor heard', async () => {
  for (let round = 0; round < 3; round += 1) {
    const person = await TestClient.register(server.baseURL);
    const { id: userId } = await person.call('userInfo', {});
    const { uuid } = await person.call('newSession', { type: 0 });
    const statuses = new Set<number>();
    const over = new AbortController();
    const write = async (
      act: () => Promise<{ status: number; envelope: { code: number } | null }>,
    ) => {
      while (!over.signal.aborted) statuses.add((await act()).status);
    };
    const writing = [
      write(() => sendRaw(person, 'saveUser', { user_name: '写个不停' })),
      write(() => sendRaw(person, 'newSession', { type: 0 })),
      write(() => sendRaw(person, 'sendMessage', { session_id: uuid, msg: '还在写的一句话' })),
      write(() => sendRaw(person, 'setSession', { session_id: uuid, prompt: '还在改的标题' })),
      write(() => sendRaw(person, 'saveSettings', { temperature: 7 })),
      write(() => sendRaw(person, 'uploadImage', {})),
    ];
    await new Promise((resolve) => setTimeout(resolve, 150));
    const done = await person.raw('deleteAccount', { password });
    over.abort();
    await Promise.all(writing);
    expect(done.code, server.log().slice(-3000)).toBe(0);
    expect([...statuses].filter((status) => status >= 500)).toEqual([]);
    const { rows } = await client.query(
      `SELECT user_name, setting::text AS setting,
         (SELECT count(*)::int FROM files WHERE user_id = u.id) AS files,
         (SELECT count(*)::int FROM sessions WHERE user_id = u.id AND deleted_at IS NULL) AS open,
         (SELECT count(*)::int FROM history WHERE user_id = u.id AND human || ai <> '') AS said
       FROM users u WHERE id = $1`,
      [userId],
    );
    expect(rows).toEqual([{ user_name: '已注销用户', setting: '{}', files: 0, open: 0, said: 0 }]);
  }
  expect(server.log()).not.toMatch(/deadlock/i);
});

test('an account that ends while answers are written for it, and under its question, leaves nothing open', async () => {
  const service = await startMockOpenAi();
  const place = await startServer({
    databaseUrl: await makeDatabase(),
    env: {
      OPENAI_BASE_URL: service.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: 'mock-chat',
    },
  });
  const database = new pg.Client({ connectionString: place.databaseUrl });
  await database.connect();
  try {
    const [gone, other] = [
      await TestClient.register(place.baseURL),
      await TestClient.register(place.baseURL),
    ];
    const slow = (id: string) => `[[bench tokens=4000 rate=100 id=${id}]]`;
    const { id: mine } = await gone.ask(slow('mine'), { model: 'mock-chat' });
    const { uuid } = await gone.call('newSession', { type: 2, private: 0 });
    await gone.call('sendMessage', { session_id: uuid, title: '桥有多老', msg: '有谁知道？' });
    const { id: theirs } = await other.call('sendMessage', {
      session_id: uuid,
      msg: slow('theirs'),
      ai: 'mock-chat',
    });
    const rowOf = async (id: number) => {
      const { rows } = await database.query<{ state: string; owner: number; said: string }>(
        'SELECT state, owner, human || ai AS said FROM history WHERE id = $1',
        [id],
      );
      return rows[0]!;
    };
    await expect.poll(async () => (await rowOf(mine)).said.length).toBeGreaterThan(100);
    await gone.call('deleteAccount', { password });
    // So a process that died left it, whose last words came after the account was emptied.
    await database.query('BEGIN; ALTER TABLE history DISABLE TRIGGER refuse_the_gone');
    const { rows: left } = await database.query<{ id: string }>(
      `INSERT INTO history (session_id, user_id, human, ai, model, state, owner)
       SELECT session_id, user_id, '', '迟到的话', model, 'streaming', 999999 FROM history
       WHERE id = $1 RETURNING id`,
      [mine],
    );
    await database.query('ALTER TABLE history ENABLE TRIGGER refuse_the_gone; COMMIT');
    const late = Number(left[0]?.id);
    const over = { timeout: 30_000 };
    for (const id of [mine, late])
      await expect.poll(() => rowOf(id), over).toMatchObject({ owner: null, said: '' });
    await other.call('stopStream', { history_id: theirs });
    await expect.poll(() => rowOf(theirs), over).toMatchObject({ state: 'stopped', owner: null });
    const { rows: open } = await database.query(`SELECT FROM holds WHERE state = 'open'`);
    expect(open).toEqual([]);
    expect(place.log()).not.toContain('could not be stored');
  } finally {
    await database.end();
    await place.stop();
    await service.close();
  }
});

test('a base that is made private closes the addresses of its files', async () => {
  const person = await TestClient.register(server.baseURL);
  const { id, url } = await makeBase(person, `closing_${Date.now()}`, '银杏在十一月变黄。');
  const status = async (address: string) => (await fetch(server.baseURL + address)).status;
  expect(await status(url)).toBe(200);
  await person.call('setTrainModel', { model_id: id, private: 1 });
  expect(await status(url)).toBe(404);
  const [file] = (await person.call('trainFileList', { model_id: id })).list;
  expect(file?.url).not.toBe(url);
  expect(await status(file!.url)).toBe(200);
  await person.call('setTrainModel', { model_id: id, private: 0 });
  expect(await status(url)).toBe(404);
});
