import { count, desc, eq, gte } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { imageKeywords } from './prompt.tables.ts';

export type KeywordRow = typeof imageKeywords.$inferSelect;

/** Below it are the numbers of the words that come with the program. */
export const firstOwn = 1_000_000;

/** What managers added or changed, newest first. */
export const keywordRows = (db: Executor): Promise<KeywordRow[]> =>
  db.select().from(imageKeywords).orderBy(desc(imageKeywords.id));

export const countOwn = async (db: Executor): Promise<number> => {
  const [row] = await db
    .select({ count: count() })
    .from(imageKeywords)
    .where(gte(imageKeywords.id, firstOwn));
  return row?.count ?? 0;
};

/** One after the other, so that no word comes in twice. */
export const lockKeywords = async (db: Executor): Promise<void> => {
  await db.execute('LOCK TABLE image_keywords IN SHARE ROW EXCLUSIVE MODE');
};

export const addKeyword = async (
  db: Executor,
  values: typeof imageKeywords.$inferInsert,
): Promise<number> => {
  const [row] = await db.insert(imageKeywords).values(values).returning({ id: imageKeywords.id });
  if (!row) throw new Error('the keyword was not stored');
  return row.id;
};

export const putKeyword = async (
  db: Executor,
  values: typeof imageKeywords.$inferInsert & { id: number },
): Promise<void> => {
  const { id: _id, ...set } = values;
  await db
    .insert(imageKeywords)
    .values(values)
    .onConflictDoUpdate({ target: imageKeywords.id, set });
};

export const dropKeyword = async (db: Executor, id: number): Promise<void> => {
  await db.delete(imageKeywords).where(eq(imageKeywords.id, id));
};
