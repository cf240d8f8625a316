import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { FastifyBaseLogger } from 'fastify';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { StartupError } from './startup-error.ts';

// Beside this file in the source, beside main.js in the bundle (scripts/build-server.mjs).
const folder = new URL('./migrations/', import.meta.url);

/** Any number will do that nothing else in the database locks. */
const migrationLock = 4_715_001;
/** How often a server asks whether another one has made the schema, ms. */
const lockAskedMs = 150;

interface Migration {
  version: number;
  name: string;
  text: string;
  checksum: string;
}

const readMigrations = async (): Promise<Migration[]> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      const version = Number(/^(\d{4})-[a-z0-9-]+\.sql$/.exec(name)?.[1]);
      if (!Number.isInteger(version)) throw new Error(`a migration has no number: ${name}`);
      // A checkout on Windows may have changed the line ends.
      const text = (await readFile(new URL(name, folder), 'utf8')).replaceAll('\r\n', '\n');
      const checksum = createHash('sha256').update(text).digest('hex');
      return { version, name, text, checksum };
    }),
  );
};

/** A file whose statements each commit by themselves, as CREATE INDEX CONCURRENTLY wants it. */
const ownCommits = '-- no transaction\n';

const apply = async (client: pg.Client, { version, name, text, checksum }: Migration) => {
  const record = () =>
    client.query('INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)', [
      version,
      name,
      checksum,
    ]);
  if (text.startsWith(ownCommits)) {
    for (const statement of text.slice(ownCommits.length).split(/;\s*\n/))
      if (statement.trim() !== '') await client.query(statement);
    await record();
    return;
  }
  await client.query('BEGIN');
  try {
    await client.query(text);
    await record();
    await client.query('COMMIT');
  } catch (error) {
    // A connection that broke has rolled it back.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
};

/** The versions that were applied. @throws StartupError where they do not fit these files */
const appliedVersions = async (
  client: pg.ClientBase,
  migrations: readonly Migration[],
): Promise<ReadonlySet<number>> => {
  const { rows } = await client.query<{ version: number; name: string; checksum: string }>(
    'SELECT version, name, checksum FROM schema_migrations ORDER BY version',
  );
  const byVersion = new Map(migrations.map((each) => [each.version, each]));
  for (const row of rows) {
    const file = byVersion.get(row.version);
    if (!file)
      throw new StartupError(
        `数据库比程序新：它已执行过本程序没有的迁移 ${row.name}。请使用更新的版本启动。`,
      );
    if (file.checksum !== row.checksum)
      throw new StartupError(
        `迁移 ${file.name} 在执行之后被改动过。已执行的迁移不能再改：请恢复原文件，把改动写成新的迁移。`,
      );
  }
  return new Set(rows.map((row) => row.version));
};

const hasTable = async (client: pg.ClientBase): Promise<boolean> => {
  const { rows } = await client.query<{ there: boolean }>(
    `SELECT to_regclass('schema_migrations') IS NOT NULL AS there`,
  );
  return rows[0]?.there ?? false;
};

const requireTable = async (client: pg.Client): Promise<void> => {
  // Asked first: a database whose disk is full refuses even IF NOT EXISTS.
  if (await hasTable(client)) return;
  await client.query(
    `CREATE TABLE schema_migrations (
       version integer PRIMARY KEY,
       name text NOT NULL,
       checksum text NOT NULL,
       at timestamptz NOT NULL DEFAULT now()
     )`,
  );
};

/** The names of the files that the next start applies. @throws StartupError as `migrate` */
export const pendingMigrations = async (client: pg.ClientBase): Promise<string[]> => {
  const migrations = await readMigrations();
  const applied = (await hasTable(client))
    ? await appliedVersions(client, migrations)
    : new Set<number>();
  return migrations.filter(({ version }) => !applied.has(version)).map(({ name }) => name);
};

export interface MigrateOptions {
  /** Only these versions, for tables as they were once. */
  only?: ReadonlySet<number>;
  /**
   * Copies a database that holds something before its schema changes, and gives the copy's file;
   * '': none is wanted.
   */
  copy?: () => Promise<string>;
}

/**
 * Asks again and again instead of waiting within one statement: an index that is made CONCURRENTLY
 * waits for all statements that are open, and those for the lock, so that both would hang.
 */
const lock = async (client: pg.Client): Promise<void> => {
  const ask = async () => {
    const { rows } = await client.query<{ had: boolean }>(
      'SELECT pg_try_advisory_lock($1) AS had',
      [migrationLock],
    );
    return rows[0]?.had === true;
  };
  while (!(await ask())) await sleep(lockAskedMs);
};

/**
 * Brings the database to the newest schema: each file of migrations/ in order, once, in its own
 * transaction. Servers that start at the same moment wait for one another. Gives the names of the
 * files that were applied now.
 * @throws StartupError when an applied file was changed, the database is newer than this program,
 *   or a file cannot be applied; those before it stay applied
 */
export const migrate = async (
  client: pg.Client,
  log: Pick<FastifyBaseLogger, 'info'>,
  { only, copy }: MigrateOptions = {},
): Promise<string[]> => {
  const migrations = await readMigrations();
  await lock(client);
  try {
    await requireTable(client);
    const applied = await appliedVersions(client, migrations);
    const pending = migrations.filter(
      ({ version }) => !applied.has(version) && only?.has(version) !== false,
    );
    const kept = applied.size > 0 && pending.length > 0 ? ((await copy?.()) ?? '') : '';
    for (const [at, migration] of pending.entries()) {
      try {
        await apply(client, migration);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        const back = kept
          ? `要回到更新之前，用原来的版本执行 npm run restore -- ${kept} --replace。`
          : '';
        throw new StartupError(
          `数据库的迁移 ${migration.name} 没有成功：${reason}。它前面的 ${at} 个已经完成。${back}`,
        );
      }
      // A new database makes them all: a line of each would bury what its owner has to read.
      if (applied.size > 0)
        log.info(
          { migration: migration.name },
          'the schema of the database was brought up to date',
        );
    }
    if (applied.size === 0 && pending.length > 0)
      log.info({ migrations: pending.length }, 'the schema of a new database was made');
    return pending.map(({ name }) => name);
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [migrationLock]).catch(() => undefined);
  }
};
