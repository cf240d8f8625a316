import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as schema from '#server/db/schema.ts';
import { areaTables } from '../support/area-tables.ts';
import { startServer, type TestServer } from '../support/server.ts';

const tables = [...(Object.values(schema) as PgTable[]), ...(await areaTables())];

let server: TestServer;
let client: pg.Client;
beforeAll(async () => {
  server = await startServer();
  client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await server.stop();
});

interface Column {
  name: string;
  type: string;
  nullable: boolean;
  hasDefault: boolean;
}

const byName = (a: Column, b: Column) => a.name.localeCompare(b.name);

test('the tables that the program knows are those that the migrations make', async () => {
  for (const table of tables) {
    const { name, columns } = getTableConfig(table);
    const { rows } = await client.query<{
      column_name: string;
      type: string;
      is_nullable: string;
      column_default: string | null;
      is_identity: string;
    }>(
      `SELECT column_name, format_type(atttypid, NULL) AS type, is_nullable, column_default, is_identity
         FROM information_schema.columns
         JOIN pg_attribute ON attrelid = table_name::regclass AND attname = column_name
         WHERE table_schema = 'public' AND table_name = $1`,
      [name],
    );
    const inDatabase = rows.map((row): Column => ({
      name: row.column_name,
      type: row.type,
      nullable: row.is_nullable === 'YES',
      hasDefault: row.column_default !== null || row.is_identity === 'YES',
    }));
    const inProgram = columns.map((column): Column => ({
      name: column.name,
      type: column.getSQLType(),
      nullable: !column.notNull,
      hasDefault: column.hasDefault,
    }));
    expect(inProgram.sort(byName), name).toEqual(inDatabase.sort(byName));
  }
});

test('every table belongs to the program or to the parts it uses', async () => {
  const { rows } = await client.query<{ table_name: string }>(
    `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  const known = tables.map((table) => getTableConfig(table).name);
  const others = rows.map((row) => row.table_name).filter((name) => !known.includes(name));
  // What scripts/demo put there, what 合规 writes by statements of its own, rate-limiter-flexible's, the list of the migrations that were applied, and what is limited.
  expect(others.sort()).toEqual([
    'backup_plan',
    'demo_things',
    'minors',
    'rate_limits',
    'records',
    'schema_migrations',
    'shared_counts',
  ]);
});
