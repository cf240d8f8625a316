import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { StartupError } from './startup-error.ts';

// Beside this file in the source, beside main.js in the bundle (scripts/build-server.mjs).
const folder = new URL('./migrations/', import.meta.url);

/** Any number will do that nothing else in the database locks. */
const migrationLock = 4_715_001;

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

/**
 * Brings the database to the newest schema: each file of migrations/ in order, once, in its own
 * transaction. Servers that start at the same moment wait for one another. With `only`: those of
 * these versions, for tables as they were once.
 * Throws StartupError when an applied file was changed or the database is newer than this program.
 */
export const migrate = async (
  client: pg.Client,
  log: FastifyBaseLogger,
  only?: ReadonlySet<number>,
): Promise<void> => {
  const migrations = await readMigrations();
  await client.query('SELECT pg_advisory_lock($1)', [migrationLock]);
  try {
    const { rows: tables } = await client.query<{ name: string | null }>(
      `SELECT to_regclass('schema_migrations') AS name`,
    );
    // Asked first: a database whose disk is full refuses even IF NOT EXISTS.
    if (tables[0]?.name === null) {
      await client.query(
        `CREATE TABLE schema_migrations (
           version integer PRIMARY KEY,
           name text NOT NULL,
           checksum text NOT NULL,
           at timestamptz NOT NULL DEFAULT now()
         )`,
      );
    }
    const { rows } = await client.query<{ version: number; name: string; checksum: string }>(
      'SELECT version, name, checksum FROM schema_migrations ORDER BY version',
    );
    const byVersion = new Map(migrations.map((each) => [each.version, each]));
    const applied = new Set(rows.map((row) => row.version));
    for (const row of rows) {
      const file = byVersion.get(row.version);
      if (!file) {
        throw new StartupError(
          `数据库比程序新：它已执行过本程序没有的迁移 ${row.name}。请使用更新的版本启动。`,
        );
      }
      if (file.checksum !== row.checksum) {
        throw new StartupError(
          `迁移 ${file.name} 在执行之后被改动过。已执行的迁移不能再改：请恢复原文件，把改动写成新的迁移。`,
        );
      }
    }
    for (const { version, name, text, checksum } of migrations) {
      if (applied.has(version) || only?.has(version) === false) continue;
      await client.query('BEGIN');
      try {
        await client.query(text);
        await client.query(
          'INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)',
          [version, name, checksum],
        );
        await client.query('COMMIT');
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      }
      log.info({ migration: name }, '数据库结构已更新');
    }
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [migrationLock]);
  }
};
