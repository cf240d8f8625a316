import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { migrate } from '#server/db/migrate.ts';
import { hashPassword } from '#server/areas/auth/password.ts';
import { TestClient } from '../support/client.ts';
import { scratchFolder } from '../support/scratch.ts';
import { releases } from './releases.ts';
import { makeDatabase, makeEmptyDatabase, startServer } from '../support/server.ts';

/** Databases of earlier versions, brought up to date by processes that are killed meanwhile. */

const folder = path.join(import.meta.dirname, '../../server/db/migrations');
const versions = readdirSync(folder).map((name) => Number(name.slice(0, 4)));
const silent = pino({ level: 'silent' });
const clients: pg.Client[] = [];
afterAll(() => Promise.all(clients.map((client) => client.end())));

const open = async (connectionString: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  clients.push(client);
  return client;
};

/** A database as a release left it whose last migration was this one, with one person in it. */
const databaseOf = async (last: number) => {
  const databaseUrl = await makeEmptyDatabase();
  const client = await open(databaseUrl);
  const only = new Set(versions.filter((version) => version <= last));
  await migrate(client, silent, { only });
  await client.query(
    `INSERT INTO users (account, user_name, password_hash) VALUES ('early', '早先的人', 'no hash')`,
  );
  return { databaseUrl, client };
};

const environment = (databaseUrl: string, dataDir: string, more: Record<string, string> = {}) => ({
  PATH: process.env['PATH'],
  DATABASE_URL: databaseUrl,
  DATA_DIR: dataDir,
  LOCAL_MODELS: 'off',
  ...more,
});

const spawnMigration = (databaseUrl: string, dataDir: string): ChildProcess =>
  spawn(process.execPath, ['dist/server/migrate-main.js'], {
    env: environment(databaseUrl, dataDir, { UPGRADE_BACKUP: 'off' }),
    stdio: 'ignore',
  });

const appliedIn = async (client: pg.Client): Promise<number> =>
  (await client.query<{ count: number }>('SELECT count(*)::int AS count FROM schema_migrations'))
    .rows[0]!.count;

/** Columns, indexes and constraints, sorted. */
const schemaOf = async (client: pg.Client): Promise<string[]> => {
  const { rows } = await client.query<{ line: string }>(
    `SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' ||
         coalesce(column_default, '') AS line
       FROM information_schema.columns WHERE table_schema = 'public'
     UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
     UNION ALL SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
       WHERE connamespace = 'public'::regnamespace
     ORDER BY 1`,
  );
  return rows.map(({ line }) => line);
};

/** What the first release left behind, with people and their words in it. */
const firstDatabase = async () => {
  const databaseUrl = await makeEmptyDatabase();
  const client = await open(databaseUrl);
  await migrate(client, silent, { only: new Set(releases[0]) });
  await client.query(readFileSync(path.join(import.meta.dirname, 'first-release.sql'), 'utf8'));
  return { databaseUrl, client };
};

/** Somebody comes while a release serves, and is answered. */
const comesAt = async (client: pg.Client, release: number): Promise<void> => {
  await client.query(
    `WITH person AS (INSERT INTO users (account, user_name, password_hash)
       VALUES ('of-' || $1, $1 || ' 版的人', 'no hash') RETURNING id),
     talk AS (INSERT INTO sessions (user_id, model, prompt)
       SELECT id, 'm', '第 ' || $1 || ' 版' FROM person RETURNING id, user_id)
     INSERT INTO history (session_id, user_id, human, ai, model, state)
       SELECT id, user_id, '问 ' || $1, '答 ' || $1, 'm', 'done' FROM talk`,
    [String(release)],
  );
};

/** A message speaks to somebody, and its news say it, as both were written then: with their words. */
const namesSomebody = (client: pg.Client) =>
  client.query(
    `WITH said AS (INSERT INTO history (session_id, user_id, human, ai, model, state, request)
       SELECT id, user_id, '在吗', '', 'm', 'done', '{"at_user": {"id": 1, "name": "早先的名字"}}'
       FROM sessions WHERE prompt = '公开的会话' RETURNING id, session_id, user_id)
     INSERT INTO news (user_id, kind, session_id, history_id, actor_id, excerpt)
       SELECT user_id, 'mention', session_id, id, user_id, '在吗' FROM said`,
  );

const password = 'a-password-of-old';

/** What somebody of the first release finds who comes back. */
const comesBack = async (databaseUrl: string, client: pg.Client) => {
  await client.query('UPDATE users SET password_hash = $1 WHERE account IS NOT NULL', [
    await hashPassword(password),
  ]);
  const server = await startServer({ databaseUrl, dataDir: scratchFolder('upgrade') });
  try {
    const person = new TestClient(server.baseURL);
    await person.login('early', password);
    const { list } = await person.call('sessionList', { channel: 'private' });
    expect(list.map(({ prompt }) => prompt).sort()).toEqual(['公开的会话', '月亮有多远']);
    const talk = await person.call('historyList', {
      session_id: list.find(({ prompt }) => prompt === '月亮有多远')!.uuid,
    });
    expect(talk.list.map(({ ai }) => ai)).toContain('月亮离地球约三十八万公里。');
    // The hold of a reply whose process is gone comes back, less what was written.
    await expect
      .poll(async () => (await person.call('userInfo', {})).chatgpt_balance, { timeout: 30_000 })
      .toBeGreaterThan(1_900);
    const { rows } = await client.query(`SELECT user_id FROM wallets WHERE balance <> (
      SELECT coalesce(sum(amount), 0) FROM ledger
      WHERE ledger.user_id = wallets.user_id AND pot = 'balance')`);
    expect(rows).toEqual([]);
  } finally {
    await server.stop();
  }
};

test('a database that went along with every release is as one that is new, and nobody lost a word', async () => {
  const { databaseUrl, client } = await firstDatabase();
  const applied = new Set<number>();
  for (const [at, release] of releases.entries()) {
    if (release.includes(491)) await namesSomebody(client);
    for (const version of release) applied.add(version);
    await migrate(client, silent, { only: applied });
    expect(await appliedIn(client)).toBe(applied.size);
    await comesAt(client, at);
  }
  await migrate(client, silent);
  const { rows: named } = await client.query(
    `SELECT request -> 'at_user' AS who, excerpt FROM news JOIN history ON history.id = history_id`,
  );
  expect(named).toEqual([{ who: { id: 1, name: '' }, excerpt: '' }]);
  const { rows: kept } = await client.query(
    `SELECT human, ai FROM history JOIN sessions ON sessions.id = session_id
     WHERE prompt LIKE '第 %' AND private ORDER BY history.id`,
  );
  expect(kept).toEqual(releases.map((_, at) => ({ human: `问 ${at}`, ai: `答 ${at}` })));
  expect(await schemaOf(client)).toEqual(await schemaOf(await open(await makeDatabase())));
  await comesBack(databaseUrl, client);
});

/** Migrations between two kills; with HEAVY each is killed, which takes a start for each. */
const heavy = process.env['HEAVY'] !== undefined;
const apart = heavy ? 1 : 8;

test(
  'an upgrade that is killed again and again ends as one that nobody disturbed',
  async () => {
    const { databaseUrl, client } = await firstDatabase();
    const dataDir = scratchFolder('upgrade');
    let kills = 0;
    for (let applied = await appliedIn(client); applied < versions.length;) {
      const child = spawnMigration(databaseUrl, dataDir);
      const gone = once(child, 'exit');
      while (child.exitCode === null && (await appliedIn(client)) < applied + apart) await sleep(2);
      if (child.kill('SIGKILL')) kills += 1;
      await gone;
      const now = await appliedIn(client);
      expect(now, 'every process gets on').toBeGreaterThan(applied);
      applied = now;
    }
    expect(kills).toBeGreaterThan(2);
    expect(await schemaOf(client)).toEqual(await schemaOf(await open(await makeDatabase())));
    await comesBack(databaseUrl, client);
  },
  heavy ? 1_200_000 : 60_000,
);

test('a start copies the database before it changes it, and the copy leads back', async () => {
  const { databaseUrl, client } = await databaseOf(150);
  const before = await schemaOf(client);
  const dataDir = scratchFolder('upgrade');
  const server = await startServer({ databaseUrl, dataDir });
  await server.stop();
  expect(await appliedIn(client)).toBe(versions.length);
  const [copy, ...more] = readdirSync(path.join(dataDir, 'backups'));
  expect(more).toEqual([]);
  expect(copy).toMatch(/-before-upgrade\.tar\.gz$/);
  expect(server.log()).toContain(copy);
  const again = await startServer({ databaseUrl, dataDir });
  await again.stop();
  expect(readdirSync(path.join(dataDir, 'backups')), 'nothing changes: no copy').toHaveLength(1);

  const emptied = await makeEmptyDatabase();
  await promisify(execFile)(
    process.execPath,
    ['dist/server/restore-main.js', '--restore', path.join(dataDir, 'backups', copy!)],
    { env: environment(emptied, scratchFolder('restored')) },
  );
  const back = await open(emptied);
  expect(await schemaOf(back)).toEqual(before);
  const { rows } = await back.query(`SELECT 1 FROM users WHERE user_name = '早先的人'`);
  expect(rows).toHaveLength(1);
});

test('without room for the copy nothing is changed', async () => {
  const { databaseUrl, client } = await databaseOf(150);
  const applied = await appliedIn(client);
  const failed = await promisify(execFile)(process.execPath, ['dist/server/migrate-main.js'], {
    env: environment(databaseUrl, '/dev/null/nowhere'),
  }).catch((error: { stderr: string }) => error);
  expect(failed.stderr).toMatch(/备份没有成功.*UPGRADE_BACKUP=off/);
  expect(await appliedIn(client)).toBe(applied);
});

test('a migration that fails says which, what was done before it, and how to go back', async () => {
  const { client } = await databaseOf(150);
  const applied = await appliedIn(client);
  // Somebody made by hand what a later one makes.
  await client.query('CREATE TABLE shared_counts ()');
  const failing = migrate(client, silent, { copy: () => Promise.resolve('/backups/a.tar.gz') });
  const message = await failing.then(String, (error: Error) => error.message);
  const [, file = '', done] =
    /^数据库的迁移 (\d{4}-\S+\.sql) 没有成功：.*shared_counts.*它前面的 (\d+) 个已经完成。/.exec(
      message,
    ) ?? [];
  expect(message).toContain('用原来的版本执行 npm run restore -- /backups/a.tar.gz --replace');
  expect(await appliedIn(client)).toBe(applied + Number(done));
  expect(versions.filter((version) => version < Number(file.slice(0, 4)))).toHaveLength(
    applied + Number(done),
  );
  await client.query('DROP TABLE shared_counts');
  await migrate(client, silent);
  expect(await appliedIn(client)).toBe(versions.length);
});
