import { and, desc, eq, inArray, isNotNull, isNull, ne, not, or, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { friends, sessions, users } from '#server/db/schema.ts';
import { ordered } from '#server/db/ordered.ts';
import type { Sorting } from '#server/sorting.ts';

export interface ManageFilter {
  userId?: number;
  ref?: string;
  type?: number;
  model?: string;
  private?: boolean;
  deleted?: boolean;
  /** Without what other managers keep to themselves, for the manager of this number. */
  for?: number | undefined;
  /** Only these. */
  ids?: readonly number[];
  /** In the title, in lower case as far as ASCII goes. */
  titleWords?: readonly string[];
}

const columns = {
  id: sessions.id,
  uuid: sessions.uuid,
  type: sessions.type,
  userId: sessions.userId,
  userName: users.userName,
  model: sessions.model,
  prompt: sessions.prompt,
  summary: sessions.summary,
  private: sessions.private,
  deletedAt: sessions.deletedAt,
  replyCount: sessions.replyCount,
  likeCount: sessions.likeCount,
  createdAt: sessions.createdAt,
  updatedAt: sessions.updatedAt,
  lowUserId: friends.lowUserId,
  highUserId: friends.highUserId,
};

const conditions = (filter: ManageFilter): SQL | undefined =>
  and(
    filter.userId === undefined ? undefined : eq(sessions.userId, filter.userId),
    filter.ref === undefined
      ? undefined
      : filter.ref.includes('-')
        ? eq(sessions.uuid, filter.ref)
        : eq(sessions.id, Number(filter.ref)),
    filter.type === undefined ? undefined : eq(sessions.type, filter.type),
    filter.model === undefined ? undefined : eq(sessions.model, filter.model),
    filter.private === undefined ? undefined : eq(sessions.private, filter.private),
    filter.deleted === undefined
      ? undefined
      : filter.deleted
        ? isNotNull(sessions.deletedAt)
        : isNull(sessions.deletedAt),
    filter.for === undefined
      ? undefined
      : or(not(sessions.private), not(users.manager), eq(users.id, filter.for)),
    filter.ids === undefined ? undefined : inArray(sessions.id, [...filter.ids]),
    ...(filter.titleWords ?? []).map((word) => sql`strpos(lower(${sessions.prompt}), ${word}) > 0`),
  );

const sortColumns = {
  created_at: sessions.createdAt,
  reply_count: sessions.replyCount,
  like_count: sessions.likeCount,
};

/** Sessions of everybody, deleted ones included; the newest first where no other order is asked for. */
export const pageOfSessions = async (
  db: Executor,
  filter: ManageFilter,
  { offset, limit }: { offset: number; limit: number },
  sorting: Sorting<'adminSessionList'> = {},
) =>
  db
    .select(columns)
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoin(friends, eq(friends.sessionId, sessions.id))
    .where(conditions(filter))
    .orderBy(...ordered(sortColumns, sorting, desc(sessions.id)))
    .offset(offset)
    .limit(limit);

/** How many there are, counted no further than `most`. */
export const countSessions = async (
  db: Executor,
  filter: ManageFilter,
  most: number,
): Promise<number> => {
  const some = db
    .select({ id: sessions.id })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(conditions(filter))
    .limit(most)
    .as('some');
  const [row] = await db.select({ count: sql<number>`count(*)::int` }).from(some);
  return row?.count ?? 0;
};

/** Whether one of these people is a manager, and not the one of number `by`. */
export const isOtherManager = async (
  db: Executor,
  ids: readonly number[],
  by: number,
): Promise<boolean> => {
  const found = await db
    .select({ id: users.id })
    .from(users)
    .where(and(inArray(users.id, [...ids]), ne(users.id, by), users.manager))
    .limit(1);
  return found.length > 0;
};

/** How many sessions of a person others may read. */
export const countOpenOf = async (db: Executor, userId: number): Promise<number> => {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(sessions)
    .where(and(eq(sessions.userId, userId), eq(sessions.private, false)));
  return row?.count ?? 0;
};

/**
 * Makes all sessions of a person private for good; gives how many were not, or would not have
 * stayed so.
 */
export const hideSessionsOf = async (db: Executor, userId: number): Promise<number> => {
  const changed = await db
    .update(sessions)
    .set({ private: true, closedWithOwner: false })
    .where(
      and(eq(sessions.userId, userId), or(eq(sessions.private, false), sessions.closedWithOwner)),
    )
    .returning({ id: sessions.id });
  return changed.length;
};
