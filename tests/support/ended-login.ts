import pg from 'pg';
import { expect } from 'vitest';
import { onDatabase } from './api-user.ts';
import type { TestServer } from './server.ts';

/**
 * Does something while a statement of another connection has changed rows and is not committed: it is,
 * as soon as what is done waits for them, or is over without.
 */
export const amid = async <T>(
  server: Pick<TestServer, 'databaseUrl'>,
  [statement, params]: [string, unknown[]],
  act: () => Promise<T>,
): Promise<T> => {
  const holder = new pg.Client({ connectionString: server.databaseUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(statement, params);
    let over = false;
    const acting = act().finally(() => (over = true));
    const waits = `SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await expect
      .poll(async () => over || (await onDatabase(server, waits)).length > 0, { timeout: 10_000 })
      .toBe(true);
    await holder.query('COMMIT');
    return await acting;
  } finally {
    await holder.end();
  }
};

/** Does something by a login that is ended at that moment, as by a new password elsewhere. */
export const amidEnd = <T>(
  server: Pick<TestServer, 'databaseUrl'>,
  userId: number,
  act: () => Promise<T>,
): Promise<T> =>
  amid(server, ['UPDATE logins SET revoked_at = now() WHERE user_id = $1', [userId]], act);
