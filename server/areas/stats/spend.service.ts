import { sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { upToDate, zone } from './roll-up.store.ts';

/** Tokens that were spent at each channel in so many days, today with them. */
export const spentByChannel = async (db: Executor, days: number): Promise<Map<number, number>> => {
  await upToDate(db);
  const { rows } = await db.execute<{ channel: number; tokens: number }>(
    sql`SELECT channel_id::float8 AS channel, sum(tokens)::float8 AS tokens FROM stat_channels
      WHERE day > (now() AT TIME ZONE ${sql.raw(`'${zone}'`)})::date - ${days}::int
      GROUP BY channel_id`,
  );
  return new Map(rows.map(({ channel, tokens }) => [channel, tokens]));
};
