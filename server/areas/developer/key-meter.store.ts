import { and, eq, or, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '#server/db/database.ts';
import { livingLock } from '#server/db/instance.ts';
import { statement } from '#server/db/statement.ts';
import { type Bound, apiJobs, apiRunning } from './developer.tables.ts';

/** A bound that has no room: calls at once, or what may be used in a while. */
export type FullBound = Bound | { per: 'at_once' };

const take = statement<{ full_bound: string | null }>(
  'api_call_take',
  `SELECT api_call_take($1::uuid, $2::bigint, $3::int, $4::bigint, $5::bigint, $6::float8) AS full_bound`,
);

/** Its process is gone; works go on in whichever process takes them over. */
const isDead = sql`${apiRunning.endedAt} IS NULL
  AND ${apiRunning.begunAt} < clock_timestamp() - interval '10 seconds'
  AND NOT EXISTS (SELECT FROM pg_locks
    WHERE objid = ${apiRunning.instanceId}::oid AND ${sql.raw(livingLock)})
  AND NOT EXISTS (SELECT FROM ${apiJobs} WHERE ${apiJobs.chargeId} = ${apiRunning.id})`;

const dropDead = async (db: Executor, keyId: number): Promise<boolean> => {
  const { rowCount } = await db.delete(apiRunning).where(and(eq(apiRunning.keyId, keyId), isDead));
  return (rowCount ?? 0) > 0;
};

/** Forgets calls that ended more than a minute ago, and gives back what dead processes had set aside. */
export const dropOldCalls = async (tx: Transaction): Promise<void> => {
  await tx.delete(apiRunning).where(or(sql`${apiRunning.expiresAt} < clock_timestamp()`, isDead));
};

/**
 * Sets aside what a call may use, or more of it, and nothing where a bound of its key has no room:
 * gives that bound. Calls of one key wait for each other here, whichever process they run in.
 */
export const takeRoom = async (
  db: Executor,
  call: {
    id: string;
    keyId: number;
    instance: number;
    tokens: number;
    taken: number;
    ttlMs: number;
  },
): Promise<FullBound | null> => {
  const { id, keyId, instance, tokens, taken, ttlMs } = call;
  const ask = async () =>
    (await take(db, [id, keyId, instance, tokens, taken, ttlMs]))[0]?.full_bound;
  let full = await ask();
  // A process may have died since the last minute began.
  if (full === 'at_once' && (await dropDead(db, keyId))) full = await ask();
  if (!full) return null;
  if (full === 'at_once') return { per: full };
  const [per, unit, most] = full.split(' ') as [Bound['per'], Bound['unit'], string];
  return { per, unit, most: Number(most) };
};

const roomFor = statement<{ room: number | null }>(
  'api_call_room',
  'SELECT api_call_room($1::uuid, $2::bigint)::float8 AS room',
);

/** Tokens of money that a call may take; nobody changes it until the transaction ends. */
export const roomOf = async (tx: Transaction, id: string, keyId: number): Promise<number> =>
  (await roomFor(tx, [id, keyId]))[0]?.room ?? Infinity;

const rooms = statement<{ per: Bound['per']; unit: Bound['unit']; most: number; room: number }>(
  'api_key_room',
  `SELECT per, unit, most::float8, room::float8 FROM api_key_room($1::bigint, NULL)`,
);

/** What is left of each of a key's bounds. */
export const roomsOf = (db: Executor, keyId: number) => rooms(db, [keyId]);
