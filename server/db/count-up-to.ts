import { sql, type SQL } from 'drizzle-orm';
import { limits } from '#contract/limits.ts';
import type { Executor } from './database.ts';

/** How many rows of a table there are that fit, counted no further than `limits.counted`. */
export const countUpTo = async (
  db: Executor,
  table: SQL | { getSQL: () => SQL },
  where: SQL | undefined,
): Promise<number> => {
  const { rows } = await db.execute<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM
      (SELECT 1 FROM ${table} ${where ? sql`WHERE ${where}` : sql``} LIMIT ${limits.counted}) counted`,
  );
  return rows[0]?.count ?? 0;
};
