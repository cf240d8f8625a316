import { sql } from 'drizzle-orm';
import type { WaitKind } from '#contract/wait.ts';
import type { Executor } from '../db/database.ts';

/** NOTIFY channel: something that is waited for has ended. The payload is `kind:id`. */
export const waitEndedChannel = 'wait_ended';

/**
 * SQL that tells all processes that something has ended, once the transaction that ended it is
 * committed: whoever watches it from afar is then told. Nothing is said where nobody watches it.
 * @param id an expression of type text
 */
export const tellEndedSql = (kind: WaitKind, id: string): string =>
  `SELECT pg_notify('${waitEndedChannel}', '${kind}:' || ${id})
   WHERE EXISTS (SELECT FROM watched_waits WHERE kind = '${kind}' AND ref = ${id})`;

export const tellEnded = async (db: Executor, kind: WaitKind, id: string): Promise<void> => {
  await db.execute(sql`WITH ended AS (SELECT ${id}::text AS ref)
    ${sql.raw(tellEndedSql(kind, '(SELECT ref FROM ended)'))}`);
};

/**
 * Tells every browser of people of what they did not wait for, once the transaction is committed:
 * once each, and again later where a push service does not answer.
 */
export const tellUnasked = async (
  db: Executor,
  kind: WaitKind,
  news: readonly { userId: number; id: string }[],
): Promise<void> => {
  for (const { userId, id } of news) {
    await db.execute(sql`INSERT INTO watched_waits (device, kind, ref)
      SELECT device, ${kind}, ${id} FROM push_devices WHERE user_id = ${userId}
      ON CONFLICT DO NOTHING`);
    await tellEnded(db, kind, id);
  }
};
