import { chinaDay } from '#common/china-time.ts';
import { sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';

interface DayTotal extends Record<string, unknown> {
  day: string;
  orders: number;
  amount: number;
}

/** What was ordered and paid on each day of China from `daysAgo` on that has orders, in their order. */
const totalsSince = async (db: Executor, daysAgo: number): Promise<DayTotal[]> => {
  const { rows } = await db.execute<DayTotal>(
    sql`SELECT to_char(day, 'YYYY-MM-DD') AS day, orders, amount FROM
      (SELECT (created_at AT TIME ZONE 'Asia/Shanghai')::date AS day, count(*)::int AS orders,
        coalesce(sum(amount - refunded_amount) FILTER (WHERE paid_at IS NOT NULL), 0)::float8
          AS amount
      FROM orders WHERE created_at >= date_trunc('day', now(), 'Asia/Shanghai')
        - ${daysAgo}::int * interval '1 day' GROUP BY 1) days ORDER BY 1`,
  );
  return rows;
};

/** How long the totals of days that are over are kept: only refunds change them, ms. */
const totalsKept = 60_000;

/**
 * The totals of the last 30 days: today's as they are, those before no older than a minute. Each
 * page of orders shows them, and a month has many orders.
 */
export const createDailyTotals = () => {
  let kept: { until: number; day: string; days: DayTotal[] } | null = null;
  return async (db: Executor): Promise<DayTotal[]> => {
    const now = Date.now();
    const day = chinaDay(now);
    if (kept && kept.day === day && now < kept.until)
      return [...kept.days, ...(await totalsSince(db, 0)).filter((total) => total.day === day)];
    const days = await totalsSince(db, 29);
    kept = { until: now + totalsKept, day, days: days.filter((total) => total.day < day) };
    return days;
  };
};
