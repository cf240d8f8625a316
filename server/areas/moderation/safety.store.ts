import { and, count, desc, eq, sql } from 'drizzle-orm';
import { type Safety, usualSafety } from '#contract/safety.ts';
import type { Executor } from '#server/db/database.ts';
import { users } from '#server/db/schema.ts';
import { safety, safetyCases, safetyDays } from './moderation.tables.ts';

export const readSafety = async (
  db: Executor,
): Promise<{ settings: Safety; secret: Buffer | null }> => {
  const [row] = await db.select().from(safety);
  return { settings: { ...usualSafety, ...row?.settings }, secret: row?.secret ?? null };
};

/** @param secret undefined: it stays as it is; null: there is none any more */
export const writeSafety = async (
  db: Executor,
  change: Partial<Safety>,
  secret: Buffer | null | undefined,
): Promise<void> => {
  await db.update(safety).set({
    settings: sql`${safety.settings} || ${JSON.stringify(change)}::jsonb`,
    ...(secret === undefined ? {} : { secret }),
  });
};

export const insertCase = async (
  db: Executor,
  row: Omit<typeof safetyCases.$inferInsert, 'ip'>,
): Promise<void> => {
  // What is judged may be drawn or written long after it was asked for, by another process.
  const lastIp = sql<string>`coalesce((SELECT r.ip FROM records r WHERE r.user_id = ${row.userId}
    ORDER BY r.at DESC LIMIT 1), '')`;
  await db.insert(safetyCases).values({ ...row, ip: lastIp });
};

/** What checks of one kind did since it was last written. */
export interface Counted {
  checks: number;
  characters: number;
  reviews: number;
  refusals: number;
  failures: number;
  ms: number;
}

export const addToDay = async (db: Executor, by: string, more: Counted): Promise<void> => {
  const { checks, characters, reviews, refusals, failures, ms } = more;
  await db.execute(sql`
    INSERT INTO safety_days AS d (day, by, checks, characters, reviews, refusals, failures, ms)
    VALUES ((now() AT TIME ZONE 'Asia/Shanghai')::date, ${by}, ${checks}, ${characters}, ${reviews},
      ${refusals}, ${failures}, ${ms})
    ON CONFLICT (day, by) DO UPDATE SET checks = d.checks + excluded.checks,
      characters = d.characters + excluded.characters, reviews = d.reviews + excluded.reviews,
      refusals = d.refusals + excluded.refusals, failures = d.failures + excluded.failures,
      ms = d.ms + excluded.ms`);
};

export const lastDays = (db: Executor) =>
  db
    .select()
    .from(safetyDays)
    .where(sql`${safetyDays.day} > now() - interval '30 days'`)
    .orderBy(desc(safetyDays.day), safetyDays.by);

/** Which cases; left out: whosever they are, from wherever. */
interface Which {
  userId?: number | undefined;
  ip?: string | undefined;
  open: boolean;
}

const casesOf = ({ userId, ip, open }: Which) =>
  and(
    userId === undefined ? undefined : eq(safetyCases.userId, userId),
    ip === undefined ? undefined : eq(safetyCases.ip, ip),
    open ? eq(safetyCases.state, 'open') : undefined,
  );

export const casePage = (db: Executor, asked: Which & { offset: number; limit: number }) =>
  db
    .select({
      row: safetyCases,
      userName: users.userName,
      times: sql<number>`(SELECT count(*)::int FROM safety_cases t
        WHERE t.user_id = ${safetyCases.userId} AND t.created_at > now() - interval '30 days')`,
      ipTimes: sql<number>`(SELECT count(*)::int FROM safety_cases t WHERE ${safetyCases.ip} <> ''
        AND t.ip = ${safetyCases.ip} AND t.ip <> '' AND t.created_at > now() - interval '30 days')`,
    })
    .from(safetyCases)
    .leftJoin(users, eq(users.id, safetyCases.userId))
    .where(casesOf(asked))
    .orderBy(
      ...(asked.open ? [sql`${safetyCases.appealedAt} ASC NULLS LAST`] : []),
      desc(safetyCases.id),
    )
    .offset(asked.offset)
    .limit(asked.limit);

export const countCases = async (db: Executor, which: Which): Promise<number> => {
  const [row] = await db.select({ n: count() }).from(safetyCases).where(casesOf(which));
  return row?.n ?? 0;
};

/** False: there is none that is open. */
export const decideCase = async (
  db: Executor,
  id: number,
  state: 'allowed' | 'confirmed',
  by: number,
): Promise<boolean> => {
  const rows = await db
    .update(safetyCases)
    .set({ state, decidedBy: by, decidedAt: sql`now()` })
    .where(and(eq(safetyCases.id, id), eq(safetyCases.state, 'open')))
    .returning({ id: safetyCases.id });
  return rows.length > 0;
};

/** Its person appeals once, before or after it was confirmed: it is open again. False: they cannot. */
export const appealCase = async (
  db: Executor,
  id: number,
  userId: number,
  appeal: string,
): Promise<boolean> => {
  const rows = await db
    .update(safetyCases)
    .set({ appeal, appealedAt: sql`now()`, state: 'open' })
    .where(
      and(
        eq(safetyCases.id, id),
        eq(safetyCases.userId, userId),
        eq(safetyCases.appeal, ''),
        sql`${safetyCases.state} <> 'allowed'`,
      ),
    )
    .returning({ id: safetyCases.id });
  return rows.length > 0;
};

/** Cases are kept for as long as complaints about them may come: half a year. */
export const removeOldCases = async (db: Executor): Promise<void> => {
  await db.execute(sql`DELETE FROM safety_cases WHERE created_at < now() - interval '6 months'`);
};
