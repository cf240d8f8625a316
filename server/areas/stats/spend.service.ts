import { sql } from 'drizzle-orm';
import type { Executor } from '../../db/database.ts';
import { upToDate, zone } from './roll-up.ts';

/** Tokens that were spent with each model in so many days, today with them. */
export const spentByModel = async (db: Executor, days: number): Promise<Map<string, number>> => {
  await upToDate(db);
  const { rows } = await db.execute<{ model: string; tokens: number }>(
    sql`SELECT model, sum(tokens)::float8 AS tokens FROM stat_models
      WHERE day > (now() AT TIME ZONE ${sql.raw(`'${zone}'`)})::date - ${days}::int GROUP BY model`,
  );
  return new Map(rows.map(({ model, tokens }) => [model, tokens]));
};
