import { and, desc, eq, sql } from 'drizzle-orm';
import type { Settings } from '#contract/auth.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { knownName } from '#server/db/known-name.ts';
import { history, users } from '#server/db/schema.ts';
import { statement } from '#server/db/statement.ts';
import { conditions, type NewMessage } from './chat.store.ts';

export const countWaiting = (db: Executor, sessionId: number): Promise<number> =>
  db.$count(history, and(eq(history.sessionId, sessionId), eq(history.shown, false)));

/** Inserts a message of a talk of two that is shown once the other one accepts. */
export const insertWaiting = async (
  tx: Transaction,
  message: Pick<NewMessage, 'id' | 'sessionId' | 'userId' | 'human' | 'request'>,
): Promise<void> => {
  await tx
    .insert(history)
    .overridingSystemValue()
    .values({ ...message, model: '', shown: false });
};

const names = statement<{ id: number; name: string }>(
  'people_names',
  `SELECT u.id::float8, ${knownName(
    'u',
    `u.id = $2 OR EXISTS (SELECT FROM friends f
       WHERE f.low_user_id = least(u.id, $2) AND f.high_user_id = greatest(u.id, $2)
         AND (f.accepted_at IS NOT NULL OR f.asked_by = u.id))`,
  )} AS name
   FROM users u WHERE u.id = ANY($1::bigint[])`,
  { shared: true },
);

/** People's names, of those whom there are, as one person knows them. @param viewer 0: a visitor */
export const namesOf = async (
  db: Executor,
  ids: readonly number[],
  viewer: number,
): Promise<Map<number, string>> =>
  new Map((await names(db, [ids, viewer])).map(({ id, name }) => [id, name]));

/** Whether somebody wrote what everybody can read in a session. */
export const wroteIn = async (
  db: Executor,
  sessionId: number,
  userId: number,
): Promise<boolean> => {
  const rows = await db
    .select({ id: history.id })
    .from(history)
    .where(and(conditions({ sessionId, forStrangers: true }), eq(history.userId, userId)))
    .limit(1);
  return rows.length > 0;
};

/** Who wrote in a session or asked in it, and whose name stands in a text behind an @; a few at most. */
export const namedPeople = (
  db: Executor,
  sessionId: number,
  text: string,
): Promise<{ id: number; name: string }[]> =>
  db
    .selectDistinct({ id: users.id, name: users.userName })
    .from(history)
    .innerJoin(users, eq(users.id, history.userId))
    .where(
      and(
        conditions({ sessionId, forStrangers: true }),
        sql`strpos(lower(${text.replaceAll('＠', '@')}), '@' || lower(${users.userName})) > 0`,
      ),
    )
    .limit(20);

/** What was said in a session of people, newest first, as far as it is written. */
export const talk = (
  db: Executor,
  sessionId: number,
  { before, limit }: { before?: number | undefined; limit: number },
) =>
  db
    .select({
      human: history.human,
      request: history.request,
      userId: history.userId,
      userName: users.userName,
      ai: sql<string>`CASE WHEN ${history.state} = 'streaming' THEN '' ELSE ${history.ai} END`,
    })
    .from(history)
    .innerJoin(users, eq(users.id, history.userId))
    .where(conditions({ sessionId, before }))
    .orderBy(desc(history.id))
    .limit(limit);

export const settingOf = async (db: Executor, userId: number): Promise<Settings> => {
  const rows = await db.select({ setting: users.setting }).from(users).where(eq(users.id, userId));
  return rows[0]?.setting ?? {};
};
