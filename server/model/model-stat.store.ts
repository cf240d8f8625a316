import { lt, sql } from 'drizzle-orm';
import type { Executor } from '../db/database.ts';
import { modelStats } from '../db/schema.ts';

export const insertStat = async (
  db: Executor,
  stat: Omit<typeof modelStats.$inferInsert, 'id' | 'createdAt'>,
): Promise<void> => {
  await db.insert(modelStats).values(stat);
};

/** Forgets what was reported longer ago than people look back, 90 days. */
export const removeOldStats = async (db: Executor): Promise<void> => {
  await db.delete(modelStats).where(lt(modelStats.createdAt, sql`now() - interval '90 days'`));
};
