import { and, desc, eq, lt, or, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../db/database.ts';
import { idempotency } from '../db/schema.ts';

interface Key {
  /** The account, or 0 for a visitor without one. */
  userId: number;
  call: string;
  key: string;
}

export interface KeptAnswer {
  requestHash: Buffer;
  answer: unknown;
  tokenUserId: number | null;
}

const expired = sql`${idempotency.createdAt} < now() - interval '24 hours'`;

/**
 * Makes the key's row for this transaction; waits while another transaction holds it.
 * Gives false when the key has an answer already.
 */
export const claimKey = async (
  tx: Transaction,
  { userId, call, key }: Key,
  requestHash: Buffer,
): Promise<boolean> => {
  const claimed = await tx
    .insert(idempotency)
    .values({ userId, call, key, requestHash })
    .onConflictDoUpdate({
      target: [idempotency.userId, idempotency.call, idempotency.key],
      set: { requestHash, answer: null, tokenUserId: null, createdAt: sql`now()` },
      setWhere: expired,
    })
    .returning({ key: idempotency.key });
  return claimed.length > 0;
};

export const keepAnswer = async (
  tx: Transaction,
  { userId, call, key }: Key,
  answer: unknown,
  tokenUserId: number | null,
): Promise<void> => {
  await tx
    .update(idempotency)
    .set({ answer, tokenUserId })
    .where(
      and(eq(idempotency.userId, userId), eq(idempotency.call, call), eq(idempotency.key, key)),
    );
};

/**
 * What the key was answered. A guest made by the first request may repeat it with or without the
 * token that the answer gave, so an answer for visitors counts for the guest it made, too.
 */
export const findAnswer = async (
  db: Executor,
  { userId, call, key }: Key,
): Promise<KeptAnswer | null> => {
  const [row] = await db
    .select({
      requestHash: idempotency.requestHash,
      answer: idempotency.answer,
      tokenUserId: idempotency.tokenUserId,
    })
    .from(idempotency)
    .where(
      and(
        eq(idempotency.call, call),
        eq(idempotency.key, key),
        or(
          eq(idempotency.userId, userId),
          and(eq(idempotency.userId, 0), eq(idempotency.tokenUserId, userId)),
        ),
        sql`NOT (${expired})`,
      ),
    )
    .orderBy(desc(idempotency.userId))
    .limit(1);
  return row ?? null;
};

export const removeExpiredAnswers = async (db: Executor): Promise<void> => {
  await db.delete(idempotency).where(lt(idempotency.createdAt, sql`now() - interval '24 hours'`));
};
