import type { Waiter } from '../fair-queue.ts';
import type { Executor } from './database.ts';
import { statement } from './statement.ts';
import { type AnyColumn, eq, inArray, type SQL, sql } from 'drizzle-orm';

/**
 * Who somebody is where people are counted, of a row `u` of users: an account is a person, and all
 * guests of a network are one, as anybody may have as many guests as they like. A guest whose network
 * nobody knows, as behind a proxy that was not told of, is one by themselves.
 */
export const personOf = `CASE WHEN u.guest THEN coalesce('guests ' || u.made_in, 'guest ' || u.id)
  ELSE u.id::text END`;

/**
 * Keeps others from making more of what is counted of this person, until the transaction ends. Rows
 * that only name the person, such as those of their money, do not wait for it.
 */
export const lockOwner = async (tx: Executor, userId: number): Promise<void> => {
  await tx.execute(sql`SELECT 1 FROM users WHERE id = ${userId} FOR NO KEY UPDATE`);
};

const waiterOfRow = statement<Waiter>(
  'waiter_of',
  `SELECT u.guest, ${personOf} AS person FROM users u WHERE u.id = $1`,
);

/** As whom somebody waits in queues, where nothing but their number is known. */
export const waiterOf = async (db: Executor, userId: number): Promise<Waiter> =>
  (await waiterOfRow(db, [userId]))[0] ?? { person: String(userId), guest: true };

const ofNetwork = 'guests ';

/** Of a guest: the network whose guests are one person; null where it is not known. */
export const networkOf = (person: string): string | null =>
  person.startsWith(ofNetwork) ? person.slice(ofNetwork.length) : null;

/** Whose things are summed up: one account's, those of a network's guests, or of all guests. */
export type Owners = { userId: number } | { network: string } | 'guests';

/** Rows whose owner, a column with the number of an account, is one of these. */
export const ownedBy = (owner: AnyColumn, owners: Owners): SQL => {
  if (owners === 'guests') return inArray(owner, sql`(SELECT id FROM users WHERE guest)`);
  return 'userId' in owners
    ? eq(owner, owners.userId)
    : inArray(owner, sql`(SELECT id FROM users WHERE guest AND made_in = ${owners.network})`);
};
