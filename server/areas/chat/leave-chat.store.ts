import { sql } from 'drizzle-orm';
import type { Transaction } from '#server/db/database.ts';

/** What of a message goes with its person, in whosever session it is; `human` besides. */
export const emptied = {
  ai: `''`,
  reasoning: `''`,
  thought_ms: '0',
  title: `''`,
  parts: `'[]'`,
  request: 'NULL',
  sources: 'NULL',
  tools: 'NULL',
  error_message: `''`,
} as const;

/** A message that is not emptied yet. */
export const hasWords = `(human <> '' OR ${Object.entries(emptied)
  .map(([column, value]) => `${column} IS DISTINCT FROM ${value}`)
  .join(' OR ')})`;

const changes = Object.entries(emptied)
  .map(([column, value]) => `${column} = ${value}`)
  .join(', ');

/** Ends a reply without a word of it. False: it is no longer this owner's, or has ended already. */
export const emptyReply = async (tx: Transaction, owner: number, id: number): Promise<boolean> => {
  const { rowCount } = await tx.execute(sql`
    UPDATE history SET human = '', ${sql.raw(changes)}, state = 'stopped', error_code = '',
      owner = NULL, hold_id = NULL, answered_at = now()
    WHERE id = ${id} AND owner = ${owner} AND state = 'streaming'`);
  return rowCount === 1;
};

/** Empties messages of these sessions, at most so many; gives how many there were. */
export const emptyMessages = async (
  tx: Transaction,
  sessions: readonly number[],
  most: number,
): Promise<number> => {
  const { rowCount } = await tx.execute(sql`
    UPDATE history SET human = '', ${sql.raw(changes)}
    WHERE id IN (SELECT id FROM history
      WHERE session_id = ANY (${`{${sessions.join(',')}}`}::bigint[]) AND ${sql.raw(hasWords)}
      LIMIT ${most})`);
  return rowCount ?? 0;
};

/** What this transaction empties waits for the index behind others' messages. */
export const indexedLast = async (tx: Transaction): Promise<void> => {
  await tx.execute(sql`SELECT set_config('queqiao.bulk', 'on', true)`);
};
