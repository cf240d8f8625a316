import { and, desc, eq, or, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../db/database.ts';
import { livingLock } from '../db/instance.ts';
import { idempotency } from '../db/schema.ts';
import { statement } from '../db/statement.ts';
import { storableJson } from '../storable.ts';

export interface Key {
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
/** Its process ended before there was an answer: nobody will give one. */
const orphaned = sql`${idempotency.claimedBy} IS NOT NULL AND NOT EXISTS (
  SELECT FROM pg_locks WHERE objid = ${idempotency.claimedBy}::oid AND ${sql.raw(livingLock)})`;
const expired = sql`${idempotency.createdAt} < now() - ${sql.raw(lifetime)}`;

const keep = statement(
  'idempotency_keep',
  `WITH kept AS (
     INSERT INTO idempotency (user_id, call, key, request_hash, answer, token_user_id)
     VALUES ($1, $2, $3, $4, $5::jsonb, $6)
     ON CONFLICT (user_id, call, key) DO UPDATE SET request_hash = excluded.request_hash,
       answer = excluded.answer, token_user_id = excluded.token_user_id, created_at = now()
     WHERE idempotency.created_at < now() - ${lifetime}
     RETURNING 1
   )
   -- The commit may be on its way already: where the key is taken there must be an error.
   SELECT 1 / count(*) FROM kept`,
);

/**
 * Keeps what a request with this key is answered, and waits for another transaction that is about
 * to. Fails when the key has an answer already.
 */
export const keepAnswer = async (
  tx: Transaction,
  { userId, call, key }: Key,
  { requestHash, answer, tokenUserId }: KeptAnswer,
): Promise<void> => {
  await keep(tx, [userId, call, key, requestHash, storableJson(answer ?? null), tokenUserId]);
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

/**
 * Takes a key before its request is worked on; false: it is taken already. What was begun and never
 * answered counts as long as the process lives that began it.
 * @param claimedBy the number of this process
 */
export const claimKey = async (
  db: Executor,
  { userId, call, key }: Key,
  { requestHash, claimedBy }: { requestHash: Buffer; claimedBy: number },
): Promise<boolean> => {
  await db
    .delete(idempotency)
    .where(
      and(
        eq(idempotency.userId, userId),
        eq(idempotency.call, call),
        eq(idempotency.key, key),
        or(expired, orphaned),
      ),
    );
  const { rowCount } = await db
    .insert(idempotency)
    .values({ userId, call, key, requestHash, answer: null, claimedBy })
    .onConflictDoNothing();
  return (rowCount ?? 0) > 0;
};

/**
 * How a claimed key ends: with an answer, with one that is not kept, or free for another try. Those
 * that are bounded are kept while no newer ones of the person need the room.
 */
export type ClaimEnd = { answer: unknown; bounded?: true } | 'not kept' | 'failed';

/** Bytes of a person's bounded answers that are kept, and how many more come before the oldest go. */
const room = { most: 200 * 1024 * 1024, slack: 4 * 1024 * 1024 };
/** By person: bytes that this process kept since it last looked. */
const since = new Map<number, number>();

/** The oldest answers go; their keys stay, so that nothing is done and paid a second time. */
const dropOldest = statement(
  'idempotency_drop_oldest',
  `WITH aged AS (
     SELECT call, key, sum(bytes) OVER (ORDER BY created_at DESC, call, key) AS total
     FROM idempotency WHERE user_id = $1 AND bytes > 0
   ), old AS (
     SELECT i.call, i.key FROM idempotency i JOIN aged USING (call, key)
     WHERE i.user_id = $1 AND aged.total > ${room.most} FOR UPDATE OF i SKIP LOCKED
   )
   UPDATE idempotency i SET answer = NULL, bytes = 0 FROM old
   WHERE i.user_id = $1 AND i.call = old.call AND i.key = old.key`,
);

const boundKept = async (db: Executor, userId: number, bytes: number): Promise<void> => {
  const sum = (since.get(userId) ?? 0) + bytes;
  if (sum < room.slack) return void since.set(userId, sum);
  since.delete(userId);
  await dropOldest(db, [userId]);
};

/** Ends a claim, unless it was another process's meanwhile. */
export const endClaim = async (
  db: Executor,
  { userId, call, key }: Key,
  { end, claimedBy }: { end: ClaimEnd; claimedBy: number },
): Promise<void> => {
  const own = and(
    eq(idempotency.claimedBy, claimedBy),
    eq(idempotency.userId, userId),
    eq(idempotency.call, call),
    eq(idempotency.key, key),
  );
  if (end === 'failed') return void (await db.delete(idempotency).where(own));
  const done = db.update(idempotency);
  if (end === 'not kept') return void (await done.set({ claimedBy: null }).where(own));
  const answer = storableJson(end.answer ?? null);
  const bytes = end.bounded ? Buffer.byteLength(answer) : 0;
  await done.set({ claimedBy: null, answer: sql`${answer}::jsonb`, bytes }).where(own);
  if (bytes > 0) await boundKept(db, userId, bytes);
};

export const removeExpiredAnswers = async (db: Executor): Promise<void> => {
  await db.delete(idempotency).where(expired);
};
