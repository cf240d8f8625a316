import { and, asc, desc, eq, isNull, lte, sql } from 'drizzle-orm';
import type { Executor } from '../db/database.ts';
import { history, likes, sessions, shares, users } from '../db/schema.ts';

export interface Link {
  key: string;
  createdAt: Date;
}

const link = { key: shares.key, createdAt: shares.createdAt };

export const findLink = async (db: Executor, sessionId: number): Promise<Link | null> => {
  const [row] = await db
    .select(link)
    .from(shares)
    .where(and(eq(shares.sessionId, sessionId), isNull(shares.revokedAt)));
  return row ?? null;
};

/** Makes a session's link, or brings the one that it has up to that message. */
export const putLink = async (
  db: Executor,
  values: { key: string; sessionId: number; userId: number; lastHistoryId: number },
): Promise<Link> => {
  const [row] = await db
    .insert(shares)
    .values(values)
    .onConflictDoUpdate({
      target: shares.sessionId,
      targetWhere: sql`revoked_at IS NULL`,
      set: { lastHistoryId: values.lastHistoryId, createdAt: sql`now()` },
    })
    .returning(link);
  if (!row) throw new Error('the link was not stored');
  return row;
};

export const revokeLinks = async (db: Executor, sessionId: number): Promise<void> => {
  await db
    .update(shares)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(shares.sessionId, sessionId), isNull(shares.revokedAt)));
};

/** Number of the newest message that is shown and not being written; null: none yet. */
export const lastShown = async (db: Executor, sessionId: number): Promise<number | null> => {
  const [row] = await db
    .select({ id: history.id })
    .from(history)
    .where(
      and(
        eq(history.sessionId, sessionId),
        eq(history.shown, true),
        sql`${history.state} <> 'streaming'`,
      ),
    )
    .orderBy(desc(history.id))
    .limit(1);
  return row?.id ?? null;
};

/** What a link leads to, as long as its owner may show it. */
export const findShared = async (db: Executor, key: string) => {
  const [row] = await db
    .select({
      sessionId: shares.sessionId,
      lastHistoryId: shares.lastHistoryId,
      createdAt: shares.createdAt,
      title: sessions.prompt,
      model: sessions.model,
      userName: users.userName,
    })
    .from(shares)
    .innerJoin(sessions, eq(sessions.id, shares.sessionId))
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(
      and(
        eq(shares.key, key),
        isNull(shares.revokedAt),
        isNull(sessions.deletedAt),
        eq(sessions.temporary, false),
        eq(users.disabled, false),
        eq(users.sessionPrivate, false),
        // Of sessions of people only public ones were ever shared.
        sql`(${sessions.type} = 0 OR (${sessions.type} = 2 AND NOT ${sessions.private}))`,
      ),
    );
  return row ?? null;
};

const shared = (sessionId: number, lastHistoryId: number) =>
  and(
    eq(history.sessionId, sessionId),
    eq(history.shown, true),
    lte(history.id, lastHistoryId),
    sql`${history.state} <> 'streaming'`,
  );

/** A page of the messages behind a link, oldest first; `liked` is one person's (0: a visitor). */
export const sharedMessages = (
  db: Executor,
  { sessionId, lastHistoryId }: { sessionId: number; lastHistoryId: number },
  userId: number,
  { offset, limit }: { offset: number; limit: number },
) =>
  db
    .select({
      id: history.id,
      human: history.human,
      request: history.request,
      title: history.title,
      ai: history.ai,
      reasoning: history.reasoning,
      type: history.type,
      model: history.model,
      state: history.state,
      errorCode: history.errorCode,
      errorMessage: history.errorMessage,
      userId: history.userId,
      userName: users.userName,
      createdAt: history.createdAt,
      editedAt: history.editedAt,
      likeCount: history.likeCount,
      liked: sql<boolean>`EXISTS (SELECT FROM ${likes}
        WHERE ${likes.historyId} = ${history.id} AND ${likes.userId} = ${userId})`,
    })
    .from(history)
    .innerJoin(users, eq(users.id, history.userId))
    .where(shared(sessionId, lastHistoryId))
    .orderBy(asc(history.id))
    .offset(offset)
    .limit(limit);

export type SharedMessage = Awaited<ReturnType<typeof sharedMessages>>[number];

/** How many messages are behind a link, counting no further than `most`. */
export const countShared = async (
  db: Executor,
  { sessionId, lastHistoryId }: { sessionId: number; lastHistoryId: number },
  most: number,
): Promise<number> => {
  const some = db
    .select({ one: sql`1` })
    .from(history)
    .where(shared(sessionId, lastHistoryId))
    .limit(most)
    .as('some');
  const [row] = await db.select({ count: sql<number>`count(*)::int` }).from(some);
  return row?.count ?? 0;
};
