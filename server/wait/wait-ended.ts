import { sql } from 'drizzle-orm';
import type { WaitKind } from '../../contract/wait.ts';
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
