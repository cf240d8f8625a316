import { count, desc, eq } from 'drizzle-orm';
import type { Executor } from '../../db/database.ts';
import { memos } from './memo.tables.ts';

export const pageSize = 20;

/** A page of memos, of one person or of all (null), newest first. */
export const memoPage = async (db: Executor, userId: number | null, page: number) => {
  const scope = userId === null ? undefined : eq(memos.userId, userId);
  const [counted] = await db.select({ total: count() }).from(memos).where(scope);
  const rows = await db
    .select()
    .from(memos)
    .where(scope)
    .orderBy(desc(memos.id))
    .limit(pageSize)
    .offset((page - 1) * pageSize);
  return { rows, total: counted?.total ?? 0 };
};

export const insertMemo = async (db: Executor, userId: number, text: string): Promise<number> => {
  const [row] = await db.insert(memos).values({ userId, text }).returning({ id: memos.id });
  if (!row) throw new Error('the memo was not stored');
  return row.id;
};
