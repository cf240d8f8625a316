import { sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';

interface Row extends Record<string, unknown> {
  active: boolean;
  code: string;
  from_minute: number;
  to_minute: number;
  minutes: number;
  used: number;
}

const today = sql`(now() AT TIME ZONE 'Asia/Shanghai')::date`;

export const rowOf = async (db: Executor, userId: number): Promise<Row | null> => {
  const { rows } = await db.execute<Row>(sql`
    SELECT active, code, from_minute, to_minute, minutes,
      CASE WHEN used_on = ${today} THEN floor(used_seconds / 60) ELSE 0 END AS used
    FROM minors WHERE user_id = ${userId}`);
  return rows[0] ?? null;
};

/** Switches it on, or changes its hours. */
export const start = async (
  db: Executor,
  userId: number,
  { hash, from, to, minutes }: { hash: string; from: number; to: number; minutes: number },
): Promise<void> => {
  await db.execute(sql`
    INSERT INTO minors (user_id, active, code, from_minute, to_minute, minutes)
    VALUES (${userId}, true, ${hash}, ${from}, ${to}, ${minutes})
    ON CONFLICT (user_id) DO UPDATE SET active = true, code = excluded.code,
      from_minute = excluded.from_minute, to_minute = excluded.to_minute, minutes = excluded.minutes`);
};

/** False: it was not on. */
export const end = async (db: Executor, userId: number): Promise<boolean> => {
  const { rows } = await db.execute(
    sql`UPDATE minors SET active = false WHERE user_id = ${userId} AND active RETURNING user_id`,
  );
  return rows.length > 0;
};

/** A pause as long as this is not counted as use, seconds. */
const pauseSeconds = 180;

/** Whose use it is: an account's, or that of a browser in which it was used. */
export type Minor = { userId: number } | { device: string };

/** Counts a call as use; gives what was used and what is allowed. Undefined: it is not on. */
export const countUse = async (db: Executor, minor: Minor) => {
  const who =
    'userId' in minor ? sql`user_id = ${minor.userId}` : sql`device = ${minor.device}::uuid`;
  const { rows } = await db.execute<{
    used: number;
    minutes: number;
    now: number;
    from: number;
    to: number;
    device: string;
  }>(sql`
    UPDATE minors SET seen_at = now(), used_on = ${today},
      used_seconds = CASE WHEN used_on = ${today} THEN used_seconds ELSE 0 END
        + CASE WHEN now() - seen_at < make_interval(secs => ${pauseSeconds})
          THEN extract(epoch FROM now() - seen_at) ELSE 0 END
    FROM compliance
    WHERE ${who} AND active AND compliance.settings ->> 'minors' = '1'
    RETURNING device, used_seconds AS used, minutes, from_minute AS "from", to_minute AS "to",
      extract(hour FROM now() AT TIME ZONE 'Asia/Shanghai')::int * 60
        + extract(minute FROM now() AT TIME ZONE 'Asia/Shanghai')::int AS now`);
  return rows[0];
};
