import { and, eq, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '#server/db/database.ts';
import { favorites, history, likes, sessions } from '#server/db/schema.ts';

/** Keeps the session, and so its messages, from being changed until the transaction ends. */
export const lockSession = async (tx: Transaction, sessionId: number): Promise<void> => {
  await tx
    .select({ id: sessions.id })
    .from(sessions)
    .where(eq(sessions.id, sessionId))
    .for('no key update');
};

/**
 * Likes the message, or takes the like back; gives what holds then. A guest's like is a mark of their
 * own: there are as many guests as somebody likes, so that it counts for nothing.
 * @param wanted undefined: the other of what holds now
 */
export const setLike = async (
  tx: Transaction,
  mark: { user: { id: number; guest: boolean }; sessionId: number; historyId: number },
  wanted: boolean | undefined,
): Promise<{ liked: boolean; likeCount: number }> => {
  const { user, sessionId, historyId } = mark;
  const userId = user.id;
  const own = and(eq(likes.historyId, historyId), eq(likes.userId, userId));
  const added =
    wanted === false
      ? []
      : await tx
          .insert(likes)
          .values({ userId, historyId })
          .onConflictDoNothing()
          .returning({ historyId: likes.historyId });
  const liked = wanted ?? added.length > 0;
  const removed = liked
    ? []
    : await tx.delete(likes).where(own).returning({ historyId: likes.historyId });
  const change = user.guest ? 0 : added.length - removed.length;
  await tx
    .update(sessions)
    .set({ likeCount: sql`greatest(0, ${sessions.likeCount} + ${change})` })
    .where(eq(sessions.id, sessionId));
  const rows = await tx
    .update(history)
    .set({ likeCount: sql`greatest(0, ${history.likeCount} + ${change})` })
    .where(eq(history.id, historyId))
    .returning({ likeCount: history.likeCount });
  return { liked, likeCount: rows[0]?.likeCount ?? 0 };
};

/** @param historyId 0: the session as a whole */
export const addFavorite = async (
  tx: Transaction,
  mark: { userId: number; sessionId: number; historyId: number },
): Promise<void> => {
  await tx.insert(favorites).values(mark).onConflictDoNothing();
};

/** @param historyId 0: the session as a whole. False when there was none. */
export const removeFavorite = async (
  db: Executor,
  { userId, sessionId, historyId }: { userId: number; sessionId: number; historyId: number },
): Promise<boolean> => {
  const rows = await db
    .delete(favorites)
    .where(
      and(
        eq(favorites.userId, userId),
        eq(favorites.sessionId, sessionId),
        eq(favorites.historyId, historyId),
      ),
    )
    .returning({ historyId: favorites.historyId });
  return rows.length > 0;
};

/** Nobody has the message among the favourites any more. */
export const forgetFavorites = async (tx: Transaction, historyId: number): Promise<void> => {
  await tx.delete(favorites).where(eq(favorites.historyId, historyId));
};
