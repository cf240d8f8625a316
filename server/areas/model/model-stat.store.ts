import { lt, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { modelStats } from './model.tables.ts';

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

/** So many of the newest are looked at, and of one person with one model so many count. */
const looked = { newest: 50_000, ofPerson: 20 } as const;

/**
 * How models did in the last day: by the replies that were written here, and by what people's
 * devices told where there are none. When the first chunk came only those know: of each person the
 * middle counts once, so that nobody's figures are everybody's. What people stopped says nothing.
 */
export const healthOfDay = async (db: Executor): Promise<HealthRow[]> => {
  const ofDay = sql`created_at > now() - interval '1 day'`;
  const sumUp = (source: SQL) => sql`
    SELECT model, sum(count)::int AS count, sum(success)::int AS success,
      coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY first_time), 0)::int AS first_time,
      coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY time), 0)::int AS time
    FROM (
      SELECT model, user_id, count(*) AS count, count(*) FILTER (WHERE went) AS success,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY first_time) FILTER (WHERE went) AS first_time,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY time) FILTER (WHERE went) AS time
      FROM (
        SELECT *, row_number() OVER (PARTITION BY model, user_id ORDER BY id DESC) AS nth
        FROM (${source}) newest
      ) counted WHERE nth <= ${looked.ofPerson} GROUP BY model, user_id
    ) people GROUP BY model`;
  const { rows } = await db.execute<HealthRow>(sql`
    WITH own AS (${sumUp(sql`
      SELECT id, model, user_id, created_at, state = 'done' AS went, 0 AS first_time,
        extract(epoch FROM answered_at - created_at) * 1000 AS time
      FROM (SELECT id, model, user_id, created_at, answered_at, state FROM history
        ORDER BY id DESC LIMIT ${looked.newest}) replies
      WHERE ${ofDay} AND model <> '' AND state IN ('done', 'error')`)}),
    told AS (${sumUp(sql`
      SELECT id, model, user_id, created_at, state = 'success' AS went, first_time, time
      FROM (SELECT id, model, user_id, created_at, state, first_time, time FROM model_stats
        ORDER BY id DESC LIMIT ${looked.newest}) reports
      WHERE ${ofDay} AND state <> 'stop'`)})
    SELECT model, coalesce(own.count, told.count) AS count,
      coalesce(own.success, told.success) AS success, coalesce(told.first_time, 0) AS first_time,
      coalesce(own.time, told.time) AS time
    FROM own FULL JOIN told USING (model)`);
  return rows;
};

/** Forgets what was reported longer ago than people look back, 90 days. */
export const removeOldStats = async (db: Executor): Promise<void> => {
  await db.delete(modelStats).where(lt(modelStats.createdAt, sql`now() - interval '90 days'`));
};
