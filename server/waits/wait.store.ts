import { and, eq, or, sql } from 'drizzle-orm';
import type { WaitKind, WaitRef } from '#contract/wait.ts';
import type { Executor } from '../db/database.ts';
import { pushDevices, watchedWaits } from '../db/schema.ts';

/** Of one person, most browsers; the oldest make room. */
const devicesAPerson = 20;

/**
 * Registers a browser. One that belonged to another login, and one that had this endpoint under
 * another number, lose what they watched: it was somebody else's, or another installation's.
 */
export const saveDevice = async (
  db: Executor,
  values: Pick<
    typeof pushDevices.$inferInsert,
    'device' | 'userId' | 'jti' | 'endpoint' | 'p256dh' | 'auth'
  >,
): Promise<void> => {
  const { device, userId, endpoint } = values;
  // Two browsers that name one endpoint at once: the later one has it.
  await db.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`push:${endpoint}`}, 0))`);
  await db.execute(sql`
    DELETE FROM push_devices WHERE (device = ${device} AND user_id <> ${userId})
      OR (endpoint = ${endpoint} AND device <> ${device})`);
  await db
    .insert(pushDevices)
    .values(values)
    .onConflictDoUpdate({ target: pushDevices.device, set: { ...values, seenAt: sql`now()` } });
  await db.execute(sql`
    DELETE FROM push_devices WHERE device IN (
      SELECT device FROM push_devices WHERE user_id = ${userId}
      ORDER BY seen_at DESC OFFSET ${devicesAPerson})`);
};

export const removeDevice = async (db: Executor, userId: number, device: string): Promise<void> => {
  await db
    .delete(pushDevices)
    .where(and(eq(pushDevices.device, device), eq(pushDevices.userId, userId)));
};

/** A push service says that nobody is there any more; one that was registered anew meanwhile stays. */
export const removeDead = async (db: Executor, device: string, endpoint: string): Promise<void> => {
  await db
    .delete(pushDevices)
    .where(and(eq(pushDevices.device, device), eq(pushDevices.endpoint, endpoint)));
};

/** Locks the browser's row for the transaction. */
export const hasDevice = async (db: Executor, userId: number, device: string): Promise<boolean> => {
  const rows = await db
    .select({ device: pushDevices.device })
    .from(pushDevices)
    .where(and(eq(pushDevices.device, device), eq(pushDevices.userId, userId)))
    .for('update');
  return rows.length > 0;
};

const same = ({ kind, id }: WaitRef) => and(eq(watchedWaits.kind, kind), eq(watchedWaits.ref, id))!;

/** From now on the browser watches these and nothing else. Each may come several times. */
export const watch = async (
  db: Executor,
  device: string,
  waits: readonly WaitRef[],
): Promise<void> => {
  const ofDevice = eq(watchedWaits.device, device);
  await db
    .delete(watchedWaits)
    .where(waits.length === 0 ? ofDevice : and(ofDevice, sql`NOT (${or(...waits.map(same))})`));
  if (waits.length > 0)
    await db
      .insert(watchedWaits)
      .values(waits.map(({ kind, id }) => ({ device, kind, ref: id })))
      .onConflictDoNothing();
};

export interface Claimed {
  device: string;
  kind: WaitKind;
  ref: string;
  /** This one counted. */
  attempts: number;
  userId: number;
  endpoint: string;
  p256dh: string;
  auth: string;
}

/**
 * Takes what browsers watch of these things, each for one process alone: what another process has
 * taken, or is to be tried later, is left out. Whoever takes them must `forget`, `release` or `putBack` them;
 * those of a process that dies are free again after a minute. Those of logins that have ended go.
 */
export const claim = async (db: Executor, waits: readonly WaitRef[]): Promise<Claimed[]> => {
  const { rows } = await db.execute<{
    device: string;
    kind: WaitKind;
    ref: string;
    attempts: number;
    user_id: string;
    endpoint: string;
    p256dh: string;
    auth: string;
  }>(sql`
    UPDATE watched_waits
    SET claimed_until = now() + interval '1 minute', attempts = watched_waits.attempts + 1
    FROM push_devices AS device
    JOIN logins ON logins.jti = device.jti AND revoked_at IS NULL AND expires_at > now()
    JOIN users ON users.id = device.user_id AND NOT users.disabled
    WHERE device.device = watched_waits.device
      AND (kind, ref) IN (
        SELECT * FROM unnest(${sql.param(waits.map(({ kind }) => kind))}::text[],
          ${sql.param(waits.map(({ id }) => id))}::text[]))
      AND (claimed_until IS NULL OR claimed_until < now())
    RETURNING watched_waits.device, kind, ref, attempts, device.user_id, endpoint, p256dh, auth`);
  return rows.map(({ user_id: userId, ...row }) => ({ ...row, userId: Number(userId) }));
};

/** The browsers of people whose logins hold. */
export const devicesOf = async (
  db: Executor,
  userIds: readonly number[],
): Promise<Pick<Claimed, 'device' | 'endpoint' | 'p256dh' | 'auth' | 'userId'>[]> => {
  const { rows } = await db.execute<{
    device: string;
    endpoint: string;
    p256dh: string;
    auth: string;
    user_id: number;
  }>(sql`
    SELECT device.device, device.endpoint, device.p256dh, device.auth, device.user_id::float8
    FROM push_devices AS device
    JOIN logins ON logins.jti = device.jti AND revoked_at IS NULL AND expires_at > now()
    JOIN users ON users.id = device.user_id AND NOT users.disabled
    WHERE device.user_id = ANY(${`{${userIds.join(',')}}`}::bigint[])`);
  return rows.map(({ user_id: userId, ...row }) => ({ ...row, userId }));
};

const rowOf = ({ device, kind, ref }: Claimed) =>
  and(eq(watchedWaits.device, device), eq(watchedWaits.kind, kind), eq(watchedWaits.ref, ref));

/** It is told, or there is nothing to tell. */
export const forget = async (db: Executor, claimed: Claimed): Promise<void> => {
  await db.delete(watchedWaits).where(rowOf(claimed));
};

/** It has not ended after all. */
export const release = async (db: Executor, claimed: Claimed): Promise<void> => {
  await db.update(watchedWaits).set({ claimedUntil: null, attempts: 0 }).where(rowOf(claimed));
};

/** @param seconds until it may be claimed again */
export const putBack = async (db: Executor, claimed: Claimed, seconds: number): Promise<void> => {
  await db
    .update(watchedWaits)
    .set({ claimedUntil: sql`now() + make_interval(secs => ${seconds})` })
    .where(rowOf(claimed));
};

export interface Watched {
  kind: WaitKind;
  id: string;
  userId: number;
}

/** What is watched and nobody is telling, so many in the order of people, behind one of them. */
export const unclaimed = async (
  db: Executor,
  behind: Watched | null,
  most: number,
): Promise<Watched[]> =>
  db
    .selectDistinct({
      kind: watchedWaits.kind,
      id: watchedWaits.ref,
      userId: pushDevices.userId,
    })
    .from(watchedWaits)
    .innerJoin(pushDevices, eq(pushDevices.device, watchedWaits.device))
    .where(
      and(
        sql`(claimed_until IS NULL OR claimed_until < now())`,
        behind === null
          ? undefined
          : sql`(user_id, kind, ref) > (${behind.userId}, ${behind.kind}, ${behind.id})`,
      ),
    )
    .orderBy(pushDevices.userId, watchedWaits.kind, watchedWaits.ref)
    .limit(most);

/** Browsers that were not seen for long or whose login has ended, and what nobody will hear of. */
export const removeOld = async (db: Executor): Promise<void> => {
  await db.execute(sql`
    DELETE FROM push_devices WHERE seen_at < now() - interval '90 days' OR NOT EXISTS (
      SELECT FROM logins
      WHERE logins.jti = push_devices.jti AND revoked_at IS NULL AND expires_at > now())`);
  await db.execute(sql`DELETE FROM watched_waits WHERE created_at < now() - interval '1 day'`);
};
