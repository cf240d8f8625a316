import type { ExtractTablesWithRelations } from 'drizzle-orm';
import { drizzle, type NodePgDatabase, type NodePgQueryResultHKT } from 'drizzle-orm/node-postgres';
import type { PgTransaction } from 'drizzle-orm/pg-core';
import type pg from 'pg';

/** Without the tables' relations: each transaction would build a reader of its own for every table. */
type Relations = Record<string, never>;

export type Database = NodePgDatabase<Relations> & { $client: pg.Pool };
export type Transaction = PgTransaction<
  NodePgQueryResultHKT,
  Relations,
  ExtractTablesWithRelations<Relations>
>;
/** The pool or an open transaction; `transaction()` on the latter makes a savepoint. */
export type Executor = Database | Transaction;

export const openDatabase = (pool: pg.Pool): Database => drizzle(pool);
