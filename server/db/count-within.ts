import { sql } from 'drizzle-orm';
import type { Executor } from './database.ts';

/** Counts more by a key within so many ms; gives how many there were, and the ms that are left. */
export const countWithin = async (
  db: Executor,
  key: string,
  lasts: number,
  more = 1,
): Promise<{ points: number; left: number }> => {
  const now = Date.now();
  const { rows } = await db.execute<{ points: number; expire: string }>(sql`
    INSERT INTO rate_limits AS l (key, points, expire)
    VALUES (${key}, ${more}::int, ${now + lasts})
    ON CONFLICT (key) DO UPDATE SET
      points = CASE WHEN l.expire > ${now} THEN l.points + excluded.points ELSE excluded.points END,
      expire = CASE WHEN l.expire > ${now} THEN l.expire ELSE excluded.expire END
    RETURNING points, expire`);
  const { points = more, expire = now } = rows[0] ?? {};
  return { points, left: Number(expire) - now };
};
