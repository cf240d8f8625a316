import { and, desc, eq, gt, max, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Parsed } from '#contract/calls.ts';
import { countUpTo } from '#server/db/count-up-to.ts';
import type { Executor } from '#server/db/database.ts';
import { users } from '#server/db/schema.ts';
import { ordered } from '#server/db/ordered.ts';
import { requireSortable } from '#server/sorting.ts';
import type { ManagerAct } from '#server/http/handlers.ts';
import { managerActs } from './stats.tables.ts';

export const insertAct = async (
  db: Executor,
  act: typeof managerActs.$inferInsert,
): Promise<void> => {
  await db.insert(managerActs).values(act);
};

/** Whether the log has had the same within an hour. */
export const isNoted = async (
  db: Executor,
  { userId, call, subject = '' }: ManagerAct,
): Promise<boolean> => {
  const rows = await db
    .select({ id: managerActs.id })
    .from(managerActs)
    .where(
      and(
        eq(managerActs.subject, subject),
        eq(managerActs.userId, userId),
        eq(managerActs.call, call),
        gt(managerActs.createdAt, sql`now() - interval '1 hour'`),
      ),
    )
    .limit(1);
  return rows.length > 0;
};

/** Each name once: the index is jumped through from one to the next. */
export const usedCalls = async (db: Executor): Promise<string[]> => {
  const { rows } = await db.execute<{ call: string }>(sql`
    WITH RECURSIVE used AS (
      SELECT min(call) AS call FROM manager_acts
      UNION ALL
      SELECT (SELECT min(m.call) FROM manager_acts m WHERE m.call > used.call) FROM used
      WHERE used.call IS NOT NULL
    ) SELECT call FROM used WHERE call IS NOT NULL`);
  return rows.map(({ call }) => call);
};

/** Who has a line in the log, looked for the same way. */
export const actors = async (db: Executor): Promise<{ user_id: number; user_name: string }[]> => {
  const { rows } = await db.execute<{ user_id: number; user_name: string }>(sql`
    WITH RECURSIVE used AS (
      SELECT min(user_id) AS id FROM manager_acts
      UNION ALL
      SELECT (SELECT min(m.user_id) FROM manager_acts m WHERE m.user_id > used.id) FROM used
      WHERE used.id IS NOT NULL
    ) SELECT u.id::integer AS user_id, u.user_name FROM used JOIN users u ON u.id = used.id ORDER BY u.id`);
  return rows;
};

/** Whom an act is about: the subject itself, or whose order or session that is. */
const personOf = sql`CASE
  WHEN ${managerActs.subject} ~ '^user:[0-9]{1,9}$' THEN substr(${managerActs.subject}, 6)::integer
  WHEN ${managerActs.subject} LIKE 'order:%' THEN
    (SELECT o.user_id FROM orders o WHERE o.number = substr(${managerActs.subject}, 7))
  WHEN ${managerActs.subject} ~ '^session:[0-9]{1,9}$' THEN
    (SELECT s.user_id FROM sessions s WHERE s.id = substr(${managerActs.subject}, 9)::integer)
  END`;
const people = alias(users, 'people');

export const pageOfActs = async (db: Executor, input: Parsed<'adminActList'>, size: number) => {
  const wanted = and(
    input.user_id === undefined ? undefined : eq(managerActs.userId, input.user_id),
    input.call === undefined ? undefined : eq(managerActs.call, input.call),
    input.subject === undefined ? undefined : eq(managerActs.subject, input.subject),
  );
  const total = await countUpTo(db, managerActs, wanted);
  requireSortable('adminActList', input, total);
  const rows = await db
    .select({ act: managerActs, userName: users.userName, person: people })
    .from(managerActs)
    .innerJoin(users, eq(users.id, managerActs.userId))
    .leftJoin(people, eq(people.id, personOf))
    .where(wanted)
    .orderBy(...ordered({ created_at: managerActs.createdAt }, input, desc(managerActs.id)))
    .offset((input.page - 1) * size)
    .limit(size);
  return { rows, total };
};

/** When each manager last did something. */
export const lastActs = async (db: Executor): Promise<Map<number, Date | null>> => {
  const rows = await db
    .select({ userId: managerActs.userId, at: max(managerActs.createdAt) })
    .from(managerActs)
    .where(sql`true`)
    .groupBy(managerActs.userId);
  return new Map(rows.map(({ userId, at }) => [userId, at]));
};
