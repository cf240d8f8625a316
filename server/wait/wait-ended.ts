import { sql } from 'drizzle-orm';
import type { WaitKind } from '../../contract/wait.ts';
import type { Executor } from '../db/database.ts';

/** NOTIFY channel: something that may be waited for has ended. The payload is `kind:id`. */
export const waitEndedChannel = 'wait_ended';

/**
 * Tells all processes that something has ended, once the transaction that ended it is committed:
 * whoever watches it from afar is then told.
 */
export const tellEnded = async (db: Executor, kind: WaitKind, id: string): Promise<void> => {
  await db.execute(sql`SELECT pg_notify(${waitEndedChannel}, ${`${kind}:${id}`})`);
};
