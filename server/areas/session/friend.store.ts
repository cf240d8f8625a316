import { and, eq, gt, isNull, sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { friends, sessions, users } from '#server/db/schema.ts';

/** One of the two people of a session has had its messages up to this one before them. */
export const markSeen = async (
  db: Executor,
  sessionId: number,
  userId: number,
  upTo: number,
): Promise<void> => {
  await db
    .update(friends)
    .set({
      lowSeen: sql`CASE WHEN ${friends.lowUserId} = ${userId} THEN greatest(${friends.lowSeen}, ${upTo}) ELSE ${friends.lowSeen} END`,
      highSeen: sql`CASE WHEN ${friends.highUserId} = ${userId} THEN greatest(${friends.highSeen}, ${upTo}) ELSE ${friends.highSeen} END`,
    })
    .where(eq(friends.sessionId, sessionId));
};

/** A person for whom a private session can be made: registered and not disabled. */
export const findFriend = async (db: Executor, userId: number) => {
  const [row] = await db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.id, userId), eq(users.guest, false), eq(users.disabled, false)));
  return row ?? null;
};

/** The session of two people that is not deleted. */
export const findFriendSession = async (db: Executor, low: number, high: number) => {
  const [row] = await db
    .select({ id: sessions.id, uuid: sessions.uuid })
    .from(friends)
    .innerJoin(sessions, eq(sessions.id, friends.sessionId))
    .where(
      and(eq(friends.lowUserId, low), eq(friends.highUserId, high), isNull(sessions.deletedAt)),
    );
  return row ?? null;
};

/** Makes a session that of two people, in the place of a deleted one. */
export const setFriendSession = async (
  tx: Executor,
  low: number,
  high: number,
  sessionId: number,
): Promise<void> => {
  await tx
    .insert(friends)
    .values({ lowUserId: low, highUserId: high, sessionId })
    .onConflictDoUpdate({ target: [friends.lowUserId, friends.highUserId], set: { sessionId } });
};

/** How two people stand to each other; locked until the transaction ends where that is asked for. */
export const findFriends = async (db: Executor, sessionId: number, { lock = false } = {}) => {
  const query = db.select().from(friends).where(eq(friends.sessionId, sessionId));
  const [row] = await (lock ? query.for('update') : query);
  return row ?? null;
};

export type FriendRow = NonNullable<Awaited<ReturnType<typeof findFriends>>>;

export const updateFriends = async (
  db: Executor,
  sessionId: number,
  values: Partial<
    Pick<FriendRow, 'askedBy' | 'askedAt' | 'acceptedAt' | 'lowBlocks' | 'highBlocks'>
  >,
): Promise<void> => {
  await db.update(friends).set(values).where(eq(friends.sessionId, sessionId));
};

/**
 * In a talk of two nothing branches: what is not shown waits for the other one's consent.
 * Shows it behind what is shown; gives the texts in order.
 */
export const showWaiting = async (db: Executor, sessionId: number): Promise<string[]> => {
  const { rows } = await db.execute<{ human: string }>(sql`
    WITH waiting AS (
      SELECT id, lag(id) OVER (ORDER BY id) AS before FROM history
      WHERE session_id = ${sessionId} AND NOT shown
    ), arrived AS (
      UPDATE history SET shown = true, prev_id = coalesce(waiting.before,
        (SELECT max(id) FROM history WHERE session_id = ${sessionId} AND shown), 0)
      FROM waiting WHERE history.id = waiting.id RETURNING history.id, human
    )
    SELECT human FROM arrived ORDER BY id`);
  return rows.map(({ human }) => human);
};

/** People whom somebody wrote to in the last day and who have not accepted. */
export const openRequests = async (db: Executor, userId: number): Promise<number> => {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(friends)
    .where(
      and(
        eq(friends.askedBy, userId),
        isNull(friends.acceptedAt),
        gt(friends.askedAt, sql`now() - interval '1 day'`),
      ),
    );
  return row?.count ?? 0;
};

const between = (a: number, b: number) =>
  and(eq(friends.lowUserId, Math.min(a, b)), eq(friends.highUserId, Math.max(a, b)));

/** Whether two people have agreed to write to each other, and neither blocks the other one. */
export const areFriends = async (db: Executor, a: number, b: number): Promise<boolean> => {
  const [row] = await db.select().from(friends).where(between(a, b));
  return row !== undefined && row.acceptedAt !== null && !row.lowBlocks && !row.highBlocks;
};

/** Whether one person wants nothing of another one. */
export const blocksPerson = async (
  db: Executor,
  userId: number,
  other: number,
): Promise<boolean> => {
  const [row] = await db.select().from(friends).where(between(userId, other));
  return row !== undefined && (row.lowUserId === userId ? row.lowBlocks : row.highBlocks);
};

/** Makes whoever else is about to look for the session of these two wait for this transaction. */
export const lockPeople = async (tx: Executor, low: number, high: number): Promise<void> => {
  await tx.execute(
    sql`SELECT pg_advisory_xact_lock(hashtextextended(${`friends ${low} ${high}`}, 0))`,
  );
};
