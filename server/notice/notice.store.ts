import { and, desc, eq, gte } from 'drizzle-orm';
import type { Executor } from '../db/database.ts';
import { noticeReads, notices } from '../db/schema.ts';

export const newestNotice = async (db: Executor) => {
  const [row] = await db.select().from(notices).orderBy(desc(notices.id)).limit(1);
  return row ?? null;
};

export const noticeExists = async (db: Executor, id: number): Promise<boolean> => {
  const rows = await db.select({ id: notices.id }).from(notices).where(eq(notices.id, id));
  return rows.length > 0;
};

/** Whether somebody has read this notice or a newer one. */
export const hasRead = async (db: Executor, userId: number, id: number): Promise<boolean> => {
  const rows = await db
    .select({ id: noticeReads.noticeId })
    .from(noticeReads)
    .where(and(eq(noticeReads.userId, userId), gte(noticeReads.noticeId, id)))
    .limit(1);
  return rows.length > 0;
};

export const markRead = async (db: Executor, userId: number, noticeId: number): Promise<void> => {
  await db.insert(noticeReads).values({ userId, noticeId }).onConflictDoNothing();
};
