import { lt, sql } from 'drizzle-orm';
import type { Executor } from '../../db/database.ts';
import { modelStats } from '../../db/schema.ts';

export const insertStat = async (
  db: Executor,
  stat: Omit<typeof modelStats.$inferInsert, 'id' | 'createdAt'>,
): Promise<void> => {
  await db.insert(modelStats).values(stat);
};

export interface HealthRow extends Record<string, unknown> {
  model: string;
  count: number;
  success: number;
  first_time: number;
  time: number;
}

/** What was reported in the last day, by model; what people stopped themselves says nothing. */
export const healthOfDay = async (db: Executor): Promise<HealthRow[]> => {
  const { rows } = await db.execute<HealthRow>(sql`
    SELECT model, count(*)::int AS count, (count(*) FILTER (WHERE state = 'success'))::int AS success,
      coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY first_time)
        FILTER (WHERE state = 'success'), 0)::int AS first_time,
      coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY time)
        FILTER (WHERE state = 'success'), 0)::int AS time
    FROM model_stats
    WHERE created_at > now() - interval '1 day' AND state <> 'stop'
    GROUP BY model`);
  return rows;
};

/** Forgets what was reported longer ago than people look back, 90 days. */
export const removeOldStats = async (db: Executor): Promise<void> => {
  await db.delete(modelStats).where(lt(modelStats.createdAt, sql`now() - interval '90 days'`));
};
