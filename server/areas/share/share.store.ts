import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { history, sessions, shares, users } from '#server/db/schema.ts';

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

/** All links of a person. */
export const revokeLinksOf = async (db: Executor, userId: number): Promise<void> => {
  await db
    .update(shares)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(shares.userId, userId), isNull(shares.revokedAt)));
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
        sql`(${sessions.type} <> 2 OR NOT ${sessions.private})`,
      ),
    );
  return row ?? null;
};
