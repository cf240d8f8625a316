import { and, asc, eq, isNull, sql } from 'drizzle-orm';
import { batched } from '#server/db/batched.ts';
import type { Database, Executor, Transaction } from '#server/db/database.ts';
import { users } from '#server/db/schema.ts';
import { statement } from '#server/db/statement.ts';
import { apiJobs, apiKeys, apiUsage } from './developer.tables.ts';
import type { EndedCall } from './ended-calls.store.ts';

export type KeyRow = typeof apiKeys.$inferSelect;

/** The day that it is in Beijing. */
export const today = `(now() AT TIME ZONE 'Asia/Shanghai')::date`;
const thisMonth = `date_trunc('month', now() AT TIME ZONE 'Asia/Shanghai')::date`;

/** NOTIFY with the number of a key that is valid no more. */
export const goneChannel = 'api_key_gone';

export interface Holder {
  key_id: number;
  models: string[];
  addresses: string[];
  month_limit: number | null;
  call_tokens: number | null;
  /** Units of its bounds. */
  bounds: string[];
  at_once: number | null;
  paused: boolean;
  log_bodies: boolean;
  expired: boolean;
  user_id: number;
  user_name: string;
  guest: boolean;
  manager: boolean;
  disabled: boolean;
  session_private: boolean;
  session_blacklist: boolean;
  /** What the person's group pays of each price. */
  group_factor: number;
}

const holderFields = `k.id::float8 AS key_id, k.models, k.addresses, k.month_limit::float8,
     k.call_tokens, k.at_once, k.paused, k.log_bodies, coalesce(k.expires_at <= now(), false) AS expired,
     ARRAY(SELECT l.unit FROM api_key_limits l WHERE l.key_id = k.id) AS bounds,
     u.id::float8 AS user_id, u.user_name, u.guest, u.manager, u.disabled, u.session_private,
     u.session_blacklist,
     coalesce((SELECT g.factor FROM people_groups g WHERE g.id = u.people_group), 1) AS group_factor`;

const holdersOf = statement<Holder & { n: number }>(
  'api_key_holders',
  `SELECT asked.n::int, ${holderFields}
   FROM unnest($1::bytea[], $2::bigint[]) WITH ORDINALITY AS asked (hash, user_id, n)
   JOIN api_keys k ON k.user_id = asked.user_id
     AND (k.hash = asked.hash OR (k.old_hash = asked.hash AND k.old_until > now()))
   JOIN users u ON u.id = k.user_id`,
  { shared: true },
);

const holderById = statement<Holder & Record<string, unknown>>(
  'api_key_holder_by_id',
  `SELECT ${holderFields} FROM api_keys k JOIN users u ON u.id = k.user_id
   WHERE k.id = $1 AND k.hash IS NOT NULL`,
  { shared: true },
);

/** Whose key this is; null: it was deleted. */
export const holderOfKey = async (db: Executor, keyId: number): Promise<Holder | null> =>
  (await holderById(db, [keyId]))[0] ?? null;

/** Keys that are looked up in one statement. */
const mostTogether = 64;

/** Whose key has this hash, if that account is the one with this number. */
export const findHolder: (
  db: Database,
  key: { hash: Buffer; userId: number },
) => Promise<Holder | null> = batched(async (db, keys) => {
  const rows = await holdersOf(db, [
    keys.map(({ hash }) => hash),
    keys.map(({ userId }) => userId),
  ]);
  const found = new Map(rows.map((row) => [row.n, row]));
  return keys.map((_, at) => found.get(at + 1) ?? null);
}, mostTogether);

const paidBy = statement<{ paid: boolean }>(
  'api_paid',
  `SELECT u.manager OR u.subscribe > 0 OR coalesce(u.vip_expired_at > now(), false)
     OR EXISTS (SELECT 1 FROM orders o WHERE o.user_id = u.id AND o.state = 'paid'
       AND o.provider <> '' AND (o.tokens > 0 OR o.kind = 'vip'))
     -- A membership that is over and was given, or bought when orders were not kept.
     OR (u.vip_activated_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM orders o
       WHERE o.user_id = u.id AND o.state = 'refunded' AND o.kind = 'vip'))
     OR EXISTS (SELECT 1 FROM orders o JOIN order_events e ON e.order_id = o.id
       WHERE o.user_id = u.id AND o.kind = 'adjust' AND o.tokens > 0
         AND e.manager_id IS NOT NULL) AS paid
   FROM users u WHERE u.id = $1`,
  { shared: true },
);

/** Whether a person ever paid and was not paid back, has a membership, or was given tokens by a manager. */
export const hasPaid = async (db: Executor, userId: number): Promise<boolean> =>
  (await paidBy(db, [userId]))[0]?.paid === true;

/** Those of these keys that are valid no more, or whose account is disabled. */
export const goneKeys = async (db: Executor, ids: readonly number[]): Promise<number[]> => {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT k.id FROM ${apiKeys} k JOIN ${users} u ON u.id = k.user_id
    WHERE k.id = ANY (${sql.param(`{${ids.join(',')}}`)}::bigint[])
      AND (k.deleted_at IS NOT NULL OR k.paused OR u.disabled OR k.expires_at <= now())`);
  return rows.map((row) => Number(row.id));
};

export const noteUse = async (db: Executor, keyId: number): Promise<void> => {
  await db
    .update(apiKeys)
    .set({ lastUsedAt: sql`now()` })
    .where(eq(apiKeys.id, keyId));
};

/** A person's keys, oldest first, with what each spent this month. */
export const keysOf = async (
  db: Executor,
  userId: number,
): Promise<(KeyRow & { monthUsed: number })[]> => {
  const used = sql<string>`coalesce((SELECT sum(deduct_prompt + deduct_completion)
    FROM ${apiUsage} WHERE key_id = ${apiKeys.id} AND day >= ${sql.raw(thisMonth)}), 0)`;
  const rows = await db
    .select({ key: apiKeys, used })
    .from(apiKeys)
    .where(and(eq(apiKeys.userId, userId), isNull(apiKeys.deletedAt)))
    .orderBy(asc(apiKeys.id));
  return rows.map(({ key, used: monthUsed }) => ({ ...key, monthUsed: Number(monthUsed) }));
};

/** Whether a person's keys are shown once alone. */
export const shownOnce = async (db: Executor, userId: number): Promise<boolean> => {
  const [row] = await db
    .select({ once: users.apiKeysOnce })
    .from(users)
    .where(eq(users.id, userId));
  return row?.once === true;
};

/** Chooses it; what is kept of a person's keys is forgotten then. */
export const setShownOnce = async (tx: Transaction, userId: number, on: boolean): Promise<void> => {
  await tx.update(users).set({ apiKeysOnce: on }).where(eq(users.id, userId));
  if (on) await tx.update(apiKeys).set({ sealed: null }).where(eq(apiKeys.userId, userId));
};

export const insertKey = async (
  db: Executor,
  key: typeof apiKeys.$inferInsert,
): Promise<{ id: number; createdAt: Date }> => {
  const [row] = await db
    .insert(apiKeys)
    .values(key)
    .returning({ id: apiKeys.id, createdAt: apiKeys.createdAt });
  if (!row) throw new Error('the key was not stored');
  return row;
};

/** Changes what is given of a key. */
export const updateKey = async (
  db: Executor,
  id: number,
  set: { [K in keyof typeof apiKeys.$inferInsert]?: (typeof apiKeys.$inferInsert)[K] | undefined },
): Promise<void> => {
  const given = Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined));
  if (Object.keys(given).length === 0) return;
  await db.update(apiKeys).set(given).where(eq(apiKeys.id, id));
};

/** Tells all processes that a key, or a secret of it, opens nothing any more. */
export const tellGone = async (db: Executor, id: number): Promise<void> => {
  await db.execute(sql`SELECT pg_notify(${goneChannel}, ${String(id)})`);
};

/** Deletes a key of a person and tells all processes. */
export const deleteKey = async (db: Executor, userId: number, id: number): Promise<boolean> => {
  const { rowCount } = await db
    .update(apiKeys)
    .set({ hash: null, oldHash: null, sealed: null, deletedAt: sql`now()` })
    .where(and(eq(apiKeys.id, id), eq(apiKeys.userId, userId), isNull(apiKeys.deletedAt)));
  if ((rowCount ?? 0) === 0) return false;
  await tellGone(db, id);
  return true;
};

/** Deletes all keys of a person and tells all processes; gives how many. */
export const deleteKeysOf = async (db: Executor, userId: number): Promise<number> => {
  const keys = await db
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(and(eq(apiKeys.userId, userId), isNull(apiKeys.deletedAt)));
  for (const { id } of keys) await deleteKey(db, userId, id);
  return keys.length;
};

export const monthUsed = async (db: Executor, keyId: number): Promise<number> => {
  const { rows } = await db.execute<{ used: string }>(sql`
    SELECT coalesce(sum(deduct_prompt + deduct_completion), 0)::text AS used FROM ${apiUsage}
    WHERE key_id = ${keyId} AND day >= ${sql.raw(thisMonth)}`);
  return Number(rows[0]?.used ?? 0);
};

/** What a person's keys used from one day to another (YYYY-MM-DD, both with), newest day first. */
export const usageBetween = (
  db: Executor,
  userId: number,
  range: { from: string; to: string; keyId?: number },
) =>
  db
    .select({ usage: apiUsage, mask: apiKeys.mask })
    .from(apiUsage)
    .innerJoin(apiKeys, eq(apiKeys.id, apiUsage.keyId))
    .where(
      and(
        eq(apiUsage.userId, userId),
        sql`${apiUsage.day} BETWEEN ${range.from}::date AND ${range.to}::date`,
        range.keyId === undefined ? undefined : eq(apiUsage.keyId, range.keyId),
      ),
    )
    .orderBy(sql`${apiUsage.day} DESC`, apiUsage.model, apiUsage.keyId);

export const insertJob = async (
  db: Executor,
  job: Omit<typeof apiJobs.$inferInsert, 'createdAt'>,
): Promise<void> => {
  await db.insert(apiJobs).values(job);
};

/** Takes out the works that have ended, or went with their account, with what each took. */
export const takeEndedJobs = async (tx: Transaction): Promise<EndedCall[]> => {
  const { rows } = await tx.execute<{
    charge_id: string;
    key_id: string;
    user_id: string;
    model: string;
    done: boolean;
    taken: string;
  }>(sql`
    DELETE FROM ${apiJobs} a
    WHERE EXISTS (SELECT 1 FROM jobs j WHERE j.uuid = a.job_uuid AND j.finished_at IS NOT NULL)
      OR a.created_at < now() - interval '1 day'
    RETURNING a.charge_id, a.key_id, a.user_id, a.model,
      coalesce((SELECT j.state = 'done' FROM jobs j WHERE j.uuid = a.job_uuid), false) AS done,
      coalesce((SELECT j.deduct_tokens FROM jobs j WHERE j.uuid = a.job_uuid), 0)::text AS taken`);
  return rows.map((row) => ({
    id: row.charge_id,
    keyId: Number(row.key_id),
    userId: Number(row.user_id),
    model: row.done ? row.model : null,
    promptTokens: 0,
    completionTokens: 0,
    deductPrompt: 0,
    deductCompletion: row.done ? Number(row.taken) : 0,
  }));
};
