import { sql } from 'drizzle-orm';
import type { Executor, Transaction } from '#server/db/database.ts';
import { tryLock } from '#server/db/questions.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { statChannels, statDays, statMarks, statSpent, statSteps } from './stats.tables.ts';

/**
 * Figures and charts are read from what is counted here, in steps of five minutes, so that they do
 * not grow slower with the messages. What came in the last quarter of an hour is counted anew each
 * time: a transaction that ends late is not missed.
 */
const sources = {
  user: `SELECT created_at, 1::bigint AS value FROM users WHERE NOT guest`,
  session: `SELECT created_at, 1::bigint AS value FROM sessions`,
  history: `SELECT created_at, 1::bigint AS value FROM history`,
  // Each time a model was asked, by a screen or by a program, answered or not.
  request: `SELECT created_at, 1::bigint AS value FROM model_uses`,
  image: `SELECT created_at, 1::bigint AS value FROM images`,
  // Those that somebody paid, on the day when they did; what was given is none.
  order: `SELECT paid_at AS created_at, 1::bigint AS value FROM orders
    WHERE paid_at IS NOT NULL AND provider <> ''`,
  tokens: `SELECT created_at, deduct_tokens AS value FROM consumptions`,
} as const;

/** The people live by this clock: their days begin at its midnight. */
export const zone = 'Asia/Shanghai';

const lock = 'queqiao roll-up';
/** What changed so long before is counted anew. */
const again = `interval '15 minutes'`;

/** Counts all that came since the last time; everything with `whole`. */
export const rollUp = async (tx: Transaction, whole = false): Promise<void> => {
  if (!(await tryLock(tx, lock))) return;
  const { rows } = await tx.execute<{ start: string }>(
    sql`SELECT coalesce((SELECT date_bin('5 minutes', until - ${sql.raw(again)}, '2000-01-01Z')
        FROM stat_marks WHERE name = 'all' AND NOT ${whole}), '-infinity')::text AS start`,
  );
  const start = rows[0]?.start ?? '-infinity';
  for (const [metric, source] of Object.entries(sources)) {
    await tx.execute(sql`DELETE FROM ${statSteps} WHERE metric = ${metric} AND at >= ${start}`);
    await tx.execute(
      sql`INSERT INTO stat_steps (metric, at, value)
        SELECT ${metric}, date_bin('5 minutes', created_at, '2000-01-01Z'), sum(value)
        FROM (${sql.raw(source)}) source WHERE created_at >= ${start} GROUP BY 2`,
    );
  }
  const day = sql`(created_at AT TIME ZONE ${sql.raw(`'${zone}'`)})::date`;
  const firstDay = sql`(CASE WHEN ${start} = '-infinity' THEN '-infinity'::date
    ELSE (${start}::timestamptz AT TIME ZONE ${sql.raw(`'${zone}'`)})::date END)`;
  await tx.execute(sql`DELETE FROM ${statDays} WHERE day >= ${firstDay}`);
  await tx.execute(
    sql`INSERT INTO ${statDays} (metric, day, value)
      SELECT metric, (at AT TIME ZONE ${sql.raw(`'${zone}'`)})::date, sum(value) FROM ${statSteps}
      WHERE at >= ${firstDay}::timestamp AT TIME ZONE ${sql.raw(`'${zone}'`)} GROUP BY 1, 2`,
  );
  await tx.execute(sql`DELETE FROM ${statSpent} WHERE day >= ${firstDay}`);
  await tx.execute(
    sql`INSERT INTO stat_spent (day, user_id, tokens)
      SELECT ${day}, user_id, sum(deduct_tokens) FROM consumptions
      WHERE created_at >= ${start}::timestamptz - interval '1 day' AND ${day} >= ${firstDay}
      GROUP BY 1, 2`,
  );
  await tx.execute(sql`DELETE FROM ${statChannels} WHERE day >= ${firstDay}`);
  await tx.execute(
    sql`INSERT INTO stat_channels (day, channel_id, tokens)
      SELECT ${day}, channel_id, sum(deduct_tokens) FROM model_uses
      WHERE created_at >= ${start}::timestamptz - interval '1 day' AND ${day} >= ${firstDay}
        AND channel_id IS NOT NULL
      GROUP BY 1, 2`,
  );
  await tx.execute(
    sql`INSERT INTO ${statMarks} (name, until) VALUES ('all', now())
      ON CONFLICT (name) DO UPDATE SET until = excluded.until`,
  );
};

/** How old what is shown may be, s. */
const oldest = 5;

/** Counts first what came since, where that is a while ago. */
export const upToDate = async (db: Executor): Promise<void> => {
  const { rows } = await db.execute<{ fresh: boolean }>(
    sql`SELECT EXISTS (SELECT FROM stat_marks WHERE name = 'all'
      AND until > now() - make_interval(secs => ${oldest})) AS fresh`,
  );
  if (!rows[0]?.fresh) await inTransaction(db, (tx) => rollUp(tx));
};
