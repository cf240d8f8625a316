import { sql } from 'drizzle-orm';
import type { ChartRange, Ranked } from '#contract/stats.ts';
import type { Executor } from '#server/db/database.ts';
import { zone } from './roll-up.store.ts';

const inZone = sql.raw(`'${zone}'`);
const today = sql`(now() AT TIME ZONE ${inZone})::date`;
const midnight = sql`date_trunc('day', now(), ${inZone})`;

export interface SummaryRow {
  metric: string;
  total: number;
  today: number;
  yesterday: number;
}

/** What was counted in all, since midnight, and on the day before until this hour. */
export const summary = async (db: Executor): Promise<SummaryRow[]> => {
  const { rows } = await db.execute<{ [K in keyof SummaryRow]: SummaryRow[K] }>(
    sql`SELECT metric, sum(value)::float8 AS total,
        coalesce(sum(value) FILTER (WHERE day >= ${today}), 0)::float8 AS today,
        coalesce((SELECT sum(s.value) FROM stat_steps s WHERE s.metric = d.metric
          AND s.at >= ${midnight} - interval '1 day' AND s.at < now() - interval '1 day'), 0)::float8
          AS yesterday
      FROM stat_days d GROUP BY metric`,
  );
  return rows;
};

export const countMembers = async (db: Executor): Promise<number> => {
  const { rows } = await db.execute<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM users WHERE vip_expired_at > now()`,
  );
  return rows[0]?.count ?? 0;
};

/** Those who spent most since so many days ago (0: today); null: ever. */
export const ranking = async (
  db: Executor,
  days: number | null,
  most: number,
): Promise<Ranked[]> => {
  const since = days === null ? sql`'-infinity'::date` : sql`${today} - ${days}::int`;
  const { rows } = await db.execute<{
    user_id: number;
    user_name: string;
    tokens: number;
    created_at: Date;
  }>(
    sql`SELECT r.user_id::float8, u.user_name, r.tokens::float8, u.created_at
      FROM (SELECT user_id, sum(tokens) AS tokens FROM stat_spent WHERE day >= ${since}
        GROUP BY user_id ORDER BY 2 DESC, 1 LIMIT ${most}) r
      JOIN users u ON u.id = r.user_id WHERE r.tokens > 0 ORDER BY r.tokens DESC, r.user_id`,
  );
  return rows.map((row) => ({
    user_id: row.user_id,
    user: { user_name: row.user_name },
    deduct_tokens: row.tokens,
    created_at: new Date(row.created_at).toISOString(),
  }));
};

/** How far a range reaches back, and how wide its steps are. */
const ranges: Readonly<Record<ChartRange, { back: string; step: string }>> = {
  '1h': { back: '1 hour', step: '5 minutes' },
  '3h': { back: '3 hours', step: '5 minutes' },
  '12h': { back: '12 hours', step: '30 minutes' },
  '1d': { back: '1 day', step: '1 hour' },
  '1w': { back: '7 days', step: '1 day' },
  '1m': { back: '1 month', step: '1 day' },
  '3m': { back: '3 months', step: '1 day' },
};

interface Point extends Record<string, unknown> {
  days: string;
  value: number;
}

const chartOfDays = async (db: Executor, metric: string, back: string): Promise<Point[]> => {
  const { rows } = await db.execute<Point>(
    sql`SELECT to_char(s.at, 'YYYY-MM-DD') AS days, coalesce(d.value, 0)::float8 AS value
      FROM generate_series(
        date_trunc('day', (now() - ${sql.raw(`interval '${back}'`)}) AT TIME ZONE ${inZone}),
        now() AT TIME ZONE ${inZone}, interval '1 day') s (at)
      LEFT JOIN stat_days d ON d.metric = ${metric} AND d.day = s.at::date ORDER BY s.at`,
  );
  return rows;
};

/** A metric step by step, those without anything included. */
export const chart = async (db: Executor, metric: string, range: ChartRange): Promise<Point[]> => {
  const { back, step } = ranges[range];
  if (step === '1 day') return chartOfDays(db, metric, back);
  const width = sql.raw(`interval '${step}'`);
  const { rows } = await db.execute<Point>(
    sql`SELECT to_char(s.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS days,
        coalesce(sum(t.value), 0)::float8 AS value
      FROM generate_series(date_bin(${width}, now() - ${sql.raw(`interval '${back}'`)}, '2000-01-01Z'),
        now(), ${width}) s (at)
      LEFT JOIN stat_steps t ON t.metric = ${metric} AND t.at >= s.at AND t.at < s.at + ${width}
      GROUP BY s.at ORDER BY s.at`,
  );
  return rows;
};

interface StatRow extends Record<string, unknown> {
  model: string;
  time_point: string;
  request_count: number;
  error_count: number;
  tokens: number;
  first_time: number;
  success_time: number;
  error_time: number;
  user_count: number;
}

/**
 * Each model step by step; without a step over the whole time. How often, by whom and for how much
 * is counted here, from what was used; how long it took only people's devices know, and they are
 * asked only where something of that kind was counted: a failure of theirs alone, such as a line
 * that broke, is none of the model's.
 */
export const modelFigures = async (
  db: Executor,
  from: Date,
  to: Date,
  step: string | null,
): Promise<StatRow[]> => {
  const point =
    step === null
      ? sql`''`
      : sql`to_char(date_bin(${sql.raw(`'${step}'`)}, created_at, '2000-01-01Z') AT TIME ZONE 'UTC',
          'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
  const inTime = sql`created_at >= ${from} AND created_at < ${to}`;
  const { rows } = await db.execute<StatRow>(
    sql`WITH used AS (
      SELECT model, ${point} AS time_point, count(*)::int AS request_count,
        count(*) FILTER (WHERE failed)::int AS error_count,
        sum(deduct_tokens)::float8 AS tokens, count(DISTINCT user_id)::int AS user_count
      FROM model_uses WHERE ${inTime} GROUP BY 1, 2
    ), told AS (
      SELECT model, ${point} AS time_point,
        round(avg(first_time) FILTER (WHERE state = 'success'))::int AS first_time,
        round(avg("time") FILTER (WHERE state = 'success'))::int AS success_time,
        round(avg("time") FILTER (WHERE state = 'error'))::int AS error_time
      FROM model_stats WHERE ${inTime} GROUP BY 1, 2
    )
    SELECT used.*,
      CASE WHEN request_count > error_count THEN coalesce(first_time, 0) ELSE 0 END AS first_time,
      CASE WHEN request_count > error_count THEN coalesce(success_time, 0) ELSE 0 END AS success_time,
      CASE WHEN error_count > 0 THEN coalesce(error_time, 0) ELSE 0 END AS error_time
    FROM used LEFT JOIN told USING (model, time_point)
    ORDER BY time_point, request_count DESC, model LIMIT 5000`,
  );
  return rows;
};

export const modelUsers = async (db: Executor, from: Date, to: Date) => {
  const { rows } = await db.execute<{
    model: string;
    user_id: number;
    user_name: string;
    request_count: number;
    error_count: number;
  }>(
    sql`SELECT s.model, s.user_id::float8, u.user_name, count(*)::int AS request_count,
        count(*) FILTER (WHERE s.failed)::int AS error_count
      FROM model_uses s JOIN users u ON u.id = s.user_id
      WHERE s.created_at >= ${from} AND s.created_at < ${to}
      GROUP BY s.model, s.user_id, u.user_name ORDER BY request_count DESC, s.user_id LIMIT 50`,
  );
  return rows;
};

/** Tokens by channel in so many days, today with them. */
export const channelSpending = async (db: Executor, days: number) => {
  const { rows } = await db.execute<{ channel: number; tokens: number }>(
    sql`SELECT channel_id::float8 AS channel, sum(tokens)::float8 AS tokens FROM stat_channels
      WHERE day > (now() AT TIME ZONE ${sql.raw(`'${zone}'`)})::date - ${days}::int
      GROUP BY channel_id`,
  );
  return rows;
};
