import { sql } from 'drizzle-orm';
import type { Executor, Transaction } from './database.ts';

/** @throws Error where the database does not answer */
export const ping = async (db: Executor): Promise<void> => {
  await db.execute(sql`SELECT 1`);
};

/** The database's clock, seconds since 1970. */
export const clockOf = async (db: Executor): Promise<number | undefined> => {
  const { rows } = await db.execute<{ now: number }>(
    sql`SELECT extract(epoch FROM clock_timestamp())::float8 AS now`,
  );
  return rows[0]?.now;
};

/** Takes an advisory lock until the transaction ends; false: somebody else has it. */
export const tryLock = async (tx: Transaction, lock: number | string): Promise<boolean> => {
  const number = typeof lock === 'string' ? sql`hashtext(${lock})` : sql`${lock}`;
  const { rows } = await tx.execute<{ mine: boolean }>(
    sql`SELECT pg_try_advisory_xact_lock(${number}) AS mine`,
  );
  return rows[0]?.mine === true;
};
