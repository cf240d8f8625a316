import { and, eq, gt, gte, inArray, isNull, lt, notExists, or, sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { history, sessions, shares } from '#server/db/schema.ts';
import { statement } from '#server/db/statement.ts';

const madeThisMonth = statement<{ count: number }>(
  'sessions_this_month',
  `SELECT count(*)::int FROM (
     SELECT FROM sessions s WHERE s.user_id = $1 AND NOT s.imported
       AND s.created_at >= date_trunc('month', now() AT TIME ZONE 'Asia/Shanghai')
         AT TIME ZONE 'Asia/Shanghai'
       AND NOT EXISTS (SELECT FROM friends f WHERE f.session_id = s.id)
     LIMIT $2) month`,
  { shared: true },
);

/**
 * Sessions made this calendar month of China, deleted ones included, but not those that were imported
 * or are a talk with a friend; counts no further than `most`.
 */
export const countThisMonth = async (db: Executor, userId: number, most: number): Promise<number> =>
  (await madeThisMonth(db, [userId, most]))[0]?.count ?? 0;

const monthOf = sql<string>`to_char(${sessions.createdAt} AT TIME ZONE 'Asia/Shanghai', 'YYYY-MM')`;

/** How many sessions a person began in each month of China, YYYY-MM; deleted ones count, too. */
export const sessionsByMonth = async (
  db: Executor,
  userId: number,
  from: Date,
  to: Date,
): Promise<Map<string, number>> => {
  const rows = await db
    .select({ month: monthOf, count: sql<number>`count(*)::int` })
    .from(sessions)
    .where(
      and(eq(sessions.userId, userId), gte(sessions.createdAt, from), lt(sessions.createdAt, to)),
    )
    .groupBy(sql`1`);
  return new Map(rows.map(({ month, count }) => [month, count]));
};

/** A talk with a friend belongs to both, and goes with neither. */
const oneself = (userId: number) =>
  and(
    eq(sessions.userId, userId),
    notExists(sql`(SELECT FROM friends f WHERE f.session_id = ${sessions.id})`),
  );

const ownAlone = (userId: number) => and(oneself(userId), isNull(sessions.deletedAt));

export const makeAllPrivate = async (db: Executor, userId: number): Promise<number> => {
  const rows = await db
    .update(sessions)
    .set({ private: true, closedWithOwner: false })
    .where(and(ownAlone(userId), or(eq(sessions.private, false), sessions.closedWithOwner)))
    .returning({ id: sessions.id });
  return rows.length;
};

/** Numbers of what a person has alone, deleted or not, behind one. */
export const allIdsOf = async (
  db: Executor,
  userId: number,
  after: number,
  limit: number,
): Promise<number[]> => {
  const rows = await db
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(oneself(userId), gt(sessions.id, after)))
    .orderBy(sessions.id)
    .limit(limit);
  return rows.map(({ id }) => id);
};

/** Deletes all of a person's sessions, or these of them; gives their numbers. */
export const deleteAllOf = async (
  db: Executor,
  userId: number,
  ids?: readonly number[],
): Promise<number[]> => {
  const rows = await db
    .update(sessions)
    .set({ deletedAt: sql`now()` })
    .where(and(ownAlone(userId), ids && inArray(sessions.id, [...ids])))
    .returning({ id: sessions.id });
  return rows.map(({ id }) => id);
};

/** Those among them in which something is being made now. */
export const busyAmong = async (db: Executor, ids: readonly number[]): Promise<number[]> => {
  const { rows } = await db.execute<{ id: number }>(sql`
    SELECT id::float8 FROM unnest(${`{${ids.join(',')}}`}::bigint[]) AS id
    WHERE EXISTS (SELECT FROM history h WHERE h.session_id = id AND h.state = 'streaming')
       OR EXISTS (SELECT FROM jobs j WHERE j.session_id = id AND j.finished_at IS NULL)`);
  return rows.map(({ id }) => id);
};

/** Numbers of what a person has, oldest first, behind one. */
export const sessionIdsOf = async (
  db: Executor,
  userId: number,
  after: number,
  limit: number,
): Promise<{ id: number; uuid: string }[]> =>
  db
    .select({ id: sessions.id, uuid: sessions.uuid })
    .from(sessions)
    .where(
      and(
        eq(sessions.userId, userId),
        isNull(sessions.deletedAt),
        eq(sessions.temporary, false),
        gt(sessions.id, after),
      ),
    )
    .orderBy(sessions.id)
    .limit(limit);

/**
 * Empties temporary sessions that are a day old. They stay as deleted ones, for they count in the
 * month in which they were made.
 */
export const removeTemporary = async (db: Executor): Promise<void> => {
  await db.execute(sql`
    WITH over AS (
      UPDATE sessions SET deleted_at = now()
      WHERE temporary AND deleted_at IS NULL AND created_at < now() - interval '1 day'
        AND NOT EXISTS (SELECT FROM history h WHERE h.session_id = sessions.id AND h.state = 'streaming')
      RETURNING id
    )
    DELETE FROM history USING over WHERE history.session_id = over.id`);
};

/** Keeps a person's sessions from all others until the transaction ends. */
export const lockSessions = async (tx: Executor, userId: number): Promise<void> => {
  await tx
    .select({ id: sessions.id })
    .from(sessions)
    .where(eq(sessions.userId, userId))
    .orderBy(sessions.id)
    .for('no key update');
};

/** Gives a guest's sessions, marks and links to the account that takes the guest over. */
export const moveSessions = async (
  db: Executor,
  fromUserId: number,
  toUserId: number,
): Promise<void> => {
  const moved = await db
    .update(sessions)
    .set({ userId: toUserId })
    .where(eq(sessions.userId, fromUserId))
    .returning({ id: sessions.id });
  const ids = moved.map((session) => session.id);
  if (ids.length > 0) {
    await db.update(history).set({ userId: toUserId }).where(inArray(history.sessionId, ids));
    await db.update(shares).set({ userId: toUserId }).where(inArray(shares.sessionId, ids));
  }
  await db.execute(sql`
    WITH gone AS (DELETE FROM favorites WHERE user_id = ${fromUserId} RETURNING *),
      pinned AS (DELETE FROM pins WHERE user_id = ${fromUserId} RETURNING *),
      kept_pins AS (INSERT INTO pins (user_id, session_id, created_at)
        SELECT ${toUserId}, session_id, created_at FROM pinned ON CONFLICT DO NOTHING)
    INSERT INTO favorites (user_id, session_id, history_id, created_at)
      SELECT ${toUserId}, session_id, history_id, created_at FROM gone ON CONFLICT DO NOTHING`);
  // What the guest liked counts from now on, once where the account liked it, too.
  await db.execute(sql`
    WITH gone AS (DELETE FROM likes WHERE user_id = ${fromUserId} RETURNING history_id, created_at),
    kept AS (
      INSERT INTO likes (user_id, history_id, created_at)
        SELECT ${toUserId}, history_id, created_at FROM gone ON CONFLICT DO NOTHING
        RETURNING history_id
    ), liked AS (
      UPDATE history SET like_count = like_count + 1 WHERE id IN (SELECT history_id FROM kept)
      RETURNING session_id
    )
    UPDATE sessions SET like_count = like_count + liked.likes
    FROM (SELECT session_id, count(*) AS likes FROM liked GROUP BY session_id) liked
    WHERE sessions.id = liked.session_id`);
};
