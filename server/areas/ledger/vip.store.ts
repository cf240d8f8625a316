import { eq, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '#server/db/database.ts';
import { users } from '#server/db/schema.ts';

export interface MemberRow {
  activatedAt: Date | null;
  expiredAt: Date | null;
  subscribe: number;
  /** The database's clock, whole milliseconds as dates have them here. */
  now: Date;
}

const columns = {
  activatedAt: users.vipActivatedAt,
  expiredAt: users.vipExpiredAt,
  subscribe: users.subscribe,
  now: sql<Date>`date_trunc('milliseconds', now())`.mapWith(users.createdAt),
};

export const lockMember = async (tx: Transaction, userId: number): Promise<MemberRow | null> => {
  const [row] = await tx
    .select(columns)
    .from(users)
    .where(eq(users.id, userId))
    .for('no key update');
  return row ?? null;
};

export const readMember = async (db: Executor, userId: number): Promise<MemberRow | null> => {
  const [row] = await db.select(columns).from(users).where(eq(users.id, userId));
  return row ?? null;
};

export const saveVip = async (
  tx: Transaction,
  userId: number,
  { activatedAt, expiredAt }: Pick<MemberRow, 'activatedAt' | 'expiredAt'>,
): Promise<void> => {
  await tx
    .update(users)
    .set({ vipActivatedAt: activatedAt, vipExpiredAt: expiredAt })
    .where(eq(users.id, userId));
};

/**
 * Takes those whose membership ends within so many ms and who were not told of that end yet: each
 * but once, whichever process asks.
 */
export const takeEnding = async (
  tx: Transaction,
  withinMs: number,
  most: number,
): Promise<{ userId: number; end: Date }[]> => {
  const rows = await tx
    .update(users)
    .set({ vipEndTold: users.vipExpiredAt })
    .where(
      sql`${users.id} IN (
        SELECT id FROM users WHERE vip_expired_at > now()
          AND vip_expired_at <= now() + ${withinMs}::float8 * interval '1 millisecond'
          AND vip_end_told IS DISTINCT FROM vip_expired_at AND NOT disabled
        ORDER BY vip_expired_at LIMIT ${most} FOR UPDATE SKIP LOCKED)`,
    )
    .returning({ userId: users.id, end: users.vipExpiredAt });
  return rows.flatMap(({ userId, end }) => (end ? [{ userId, end }] : []));
};

export const noteEndSeen = async (db: Executor, userId: number): Promise<void> => {
  await db.update(users).set({ vipEndSeen: users.vipExpiredAt }).where(eq(users.id, userId));
};

export const saveSubscribe = async (tx: Executor, userId: number, level: number): Promise<void> => {
  await tx.update(users).set({ subscribe: level }).where(eq(users.id, userId));
};
