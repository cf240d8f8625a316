import type { Executor } from '#server/db/database.ts';
import * as store from './market.store.ts';

/** What a person has of the market: apps they may download, and what they said of apps. */
export const appsOfPerson = async (db: Executor, userId: number) => ({
  purchases: (await store.purchasesOf(db, userId)).map((row) => ({
    app: row.title,
    order: row.order,
    created_at: row.createdAt.toISOString(),
    revoked_at: row.revokedAt?.toISOString() ?? null,
  })),
  comments: (await store.commentsBy(db, userId)).map(({ title, comment }) => ({
    app: title,
    rating: comment.rating / 2,
    comment_content: comment.content,
    created_at: comment.createdAt.toISOString(),
  })),
});
