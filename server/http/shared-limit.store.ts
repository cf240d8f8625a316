import { sql } from 'drizzle-orm';
import type { Executor } from '../db/database.ts';
import { statement } from '../db/statement.ts';

export interface Count {
  key: string;
  /** What was counted since the last time; 0 only asks. */
  points: number;
  /** How long a count that begins now lasts, s. */
  duration: number;
}

export interface Counted {
  key: string;
  /** Of all processes together. */
  points: number;
  /** Until the count begins anew, s. */
  left: number;
}

const add = statement<{ key: string; points: number; left: number }>(
  'shared_counts_add',
  `INSERT INTO shared_counts AS known (key, points, ends)
     SELECT key, points, now() + duration * interval '1 second'
     FROM unnest($1::text[], $2::bigint[], $3::float8[]) AS new (key, points, duration)
     ORDER BY key
   ON CONFLICT (key) DO UPDATE SET
     points = excluded.points + CASE WHEN known.ends <= now() THEN 0 ELSE known.points END,
     ends = CASE WHEN known.ends <= now() THEN excluded.ends ELSE known.ends END
   RETURNING key, points::float8, extract(epoch FROM ends - now())::float8 AS left`,
);

/** Adds what was counted here to what all processes have counted. */
export const addCounts = (db: Executor, counts: readonly Count[]): Promise<Counted[]> =>
  add(db, [
    counts.map(({ key }) => key),
    counts.map(({ points }) => points),
    counts.map(({ duration }) => duration),
  ]);

export const removeOldCounts = async (db: Executor): Promise<void> => {
  await db.execute(sql`DELETE FROM shared_counts WHERE ends < now()`);
};
