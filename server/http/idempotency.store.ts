import { and, desc, eq, or, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../db/database.ts';
import { idempotency } from '../db/schema.ts';
import { statement } from '../db/statement.ts';

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

const lifetime = `interval '24 hours'`;
const expired = sql`${idempotency.createdAt} < now() - ${sql.raw(lifetime)}`;

const claim = statement(
  'idempotency_claim',
  `INSERT INTO idempotency (user_id, call, key, request_hash) VALUES ($1, $2, $3, $4)
   ON CONFLICT (user_id, call, key) DO UPDATE SET request_hash = excluded.request_hash,
     answer = NULL, token_user_id = NULL, created_at = now()
   WHERE idempotency.created_at < now() - ${lifetime}
   RETURNING 1`,
);

/**
 * Makes the key's row for this transaction; waits while another transaction holds it.
 * Gives false when the key has an answer already.
 */
export const claimKey = async (
  tx: Transaction,
  { userId, call, key }: Key,
  requestHash: Buffer,
): Promise<boolean> => (await claim(tx, [userId, call, key, requestHash])).length > 0;

const keep = statement(
  'idempotency_keep',
  `UPDATE idempotency SET answer = $4::jsonb, token_user_id = $5
   WHERE user_id = $1 AND call = $2 AND key = $3`,
);

export const keepAnswer = async (
  tx: Transaction,
  { userId, call, key }: Key,
  answer: unknown,
  tokenUserId: number | null,
): Promise<void> => {
  await keep(tx, [userId, call, key, JSON.stringify(answer ?? null), tokenUserId]);
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
  await db.delete(idempotency).where(expired);
};
