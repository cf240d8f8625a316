import { and, count, eq, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '#server/db/database.ts';
import { trainingFiles, trainingProjects, trainingWatches } from './train.tables.ts';

export type WatchRow = typeof trainingWatches.$inferSelect;

export const insertWatch = async (
  db: Executor,
  { fileId, url, hash }: Pick<WatchRow, 'fileId' | 'url' | 'hash'>,
): Promise<void> => {
  await db
    .insert(trainingWatches)
    .values({ fileId, url, hash, nextAt: sql`now() + interval '1 day'` as never });
};

/** Addresses of a person that are read again. */
export const countLive = async (db: Executor, userId: number): Promise<number> => {
  const [row] = await db
    .select({ all: count() })
    .from(trainingWatches)
    .innerJoin(trainingFiles, eq(trainingFiles.id, trainingWatches.fileId))
    .innerJoin(trainingProjects, eq(trainingProjects.id, trainingFiles.projectId))
    .where(and(eq(trainingProjects.userId, userId), eq(trainingWatches.live, true)));
  return row?.all ?? 0;
};

export const watchesOf = async (db: Executor, projectId: number): Promise<WatchRow[]> => {
  const rows = await db
    .select({ watch: trainingWatches })
    .from(trainingWatches)
    .innerJoin(trainingFiles, eq(trainingFiles.id, trainingWatches.fileId))
    .where(eq(trainingFiles.projectId, projectId))
    .orderBy(trainingWatches.fileId);
  return rows.map(({ watch }) => watch);
};

export const findWatch = async (db: Executor, fileId: number): Promise<WatchRow | null> => {
  const [row] = await db.select().from(trainingWatches).where(eq(trainingWatches.fileId, fileId));
  return row ?? null;
};

export const changeWatch = async (
  db: Executor,
  fileId: number,
  change: Partial<Omit<WatchRow, 'fileId' | 'url'>>,
): Promise<void> => {
  await db.update(trainingWatches).set(change).where(eq(trainingWatches.fileId, fileId));
};

/** Takes addresses whose day is over, for whoever reads them now: nobody takes them twice. */
export const takeDue = (tx: Transaction, most: number): Promise<WatchRow[]> =>
  tx
    .update(trainingWatches)
    .set({ nextAt: sql`now() + interval '1 day'` })
    .where(
      sql`${trainingWatches.fileId} IN (
        SELECT file_id FROM training_watches WHERE live AND next_at <= now()
        ORDER BY next_at LIMIT ${most} FOR UPDATE SKIP LOCKED)`,
    )
    .returning();
