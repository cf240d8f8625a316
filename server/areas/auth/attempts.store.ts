import { sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';

/** Counts one more by a key within so many ms; gives how many there were, and the ms that are left. */
export const countWithin = async (
  db: Executor,
  key: string,
  lasts: number,
): Promise<{ points: number; left: number }> => {
  const now = Date.now();
  const { rows } = await db.execute<{ points: number; expire: string }>(sql`
    INSERT INTO rate_limits AS l (key, points, expire)
    VALUES (${key}, 1, ${now + lasts})
    ON CONFLICT (key) DO UPDATE SET
      points = CASE WHEN l.expire > ${now} THEN l.points + 1 ELSE 1 END,
      expire = CASE WHEN l.expire > ${now} THEN l.expire ELSE excluded.expire END
    RETURNING points, expire`);
  const { points = 1, expire = now } = rows[0] ?? {};
  return { points, left: Number(expire) - now };
};
