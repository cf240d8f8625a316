import { and, eq, isNull, sql } from 'drizzle-orm';
import type { NewsKind } from '#contract/forum.ts';
import type { Executor } from '#server/db/database.ts';
import { statement } from '#server/db/statement.ts';
import { suspendedText } from '#server/db/suspended.ts';
import { news } from './forum.tables.ts';

export interface NewNews {
  userId: number;
  kind: NewsKind;
  sessionId: number;
  historyId: number | null;
  actorId: number;
}

/** Tells somebody; gives its number, or null where it only counts on one that is unread yet. */
export const addNews = async (db: Executor, values: NewNews): Promise<number | null> => {
  const [row] = await db
    .insert(news)
    .values(values)
    .onConflictDoUpdate({
      target: [news.userId, news.sessionId, news.kind],
      targetWhere: sql`read_at IS NULL`,
      set: {
        count: sql`${news.count} + 1`,
        historyId: values.historyId,
        actorId: values.actorId,
        createdAt: sql`now()`,
      },
    })
    .returning({ id: news.id, count: news.count });
  return row?.count === 1 ? row.id : null;
};

export interface NewsRow {
  id: number;
  kind: NewsKind;
  user_id: number;
  uuid: string;
  history_id: number | null;
  title: string;
  actor_id: number;
  actor_name: string;
  avatar: string;
  count: number;
  /** The message as it is now; null: it is deleted, or there is none. */
  words: string | null;
  read: boolean;
  /** ms since 1970. */
  created_at: number;
}

// What is deleted, or private to others now, is not told any more; nor what they said in public who
// are disabled.
const told = `s.deleted_at IS NULL AND (f.session_id IS NOT NULL
  OR n.kind NOT IN ('reply', 'mention') OR NOT ${suspendedText('n.actor_id')})`;
const people = sql`FROM news n JOIN sessions s ON s.id = n.session_id JOIN users a ON a.id = n.actor_id
    LEFT JOIN friends f ON f.session_id = s.id`;
const readable = sql`${sql.raw(told)} AND (NOT s.private OR s.user_id = n.user_id
    OR f.low_user_id = n.user_id OR f.high_user_id = n.user_id)`;
const rows = sql`
  SELECT n.id::float8,
    CASE WHEN f.session_id IS NOT NULL AND n.kind = 'reply' THEN 'message' ELSE n.kind END AS kind,
    n.user_id::float8, s.uuid, h.id::float8 AS history_id, s.prompt AS title,
    n.actor_id::float8, a.user_name AS actor_name, a.avatar, n.count, left(h.human, 2000) AS words, n.read_at IS NOT NULL AS read,
    (extract(epoch FROM n.created_at) * 1000)::float8 AS created_at
  ${people} LEFT JOIN history h ON h.id = n.history_id AND h.session_id = n.session_id AND h.shown
  WHERE ${readable}`;

export const listNews = async (
  db: Executor,
  userId: number,
  { offset, limit }: { offset: number; limit: number },
): Promise<NewsRow[]> =>
  (
    await db.execute<NewsRow & Record<string, unknown>>(sql`${rows} AND n.user_id = ${userId}
      ORDER BY n.created_at DESC, n.id DESC OFFSET ${offset} LIMIT ${limit}`)
  ).rows;

export const findNews = async (db: Executor, ids: readonly number[]): Promise<NewsRow[]> =>
  (
    await db.execute<NewsRow & Record<string, unknown>>(
      sql`${rows} AND n.id = ANY(${`{${ids.join(',')}}`}::bigint[])`,
    )
  ).rows;

/** How many there are and how many of them are unread, counted no further than `most`. */
export const countNews = async (
  db: Executor,
  userId: number,
  most: number,
): Promise<{ total: number; unread: number }> => {
  const { rows: counted } = await db.execute<{ total: number; unread: number }>(sql`
    SELECT count(*)::int AS total, (count(*) FILTER (WHERE NOT read))::int AS unread
    FROM (SELECT n.read_at IS NOT NULL AS read ${people} WHERE ${readable} AND n.user_id = ${userId}
      LIMIT ${most}) mine`);
  return counted[0] ?? { total: 0, unread: 0 };
};

const unreadBy = statement<{ unread: number }>(
  'news_unread',
  `SELECT count(*)::int AS unread FROM (
     SELECT FROM news n JOIN sessions s ON s.id = n.session_id
       LEFT JOIN friends f ON f.session_id = s.id
     WHERE n.user_id = $1 AND n.read_at IS NULL AND ${told}
       AND (NOT s.private OR s.user_id = n.user_id
         OR f.low_user_id = n.user_id OR f.high_user_id = n.user_id)
     LIMIT 100) mine`,
  { shared: true },
);

/** How many are unread, counted to 100. */
export const countUnread = async (db: Executor, userId: number): Promise<number> =>
  (await unreadBy(db, [userId]))[0]?.unread ?? 0;

export const markRead = async (
  db: Executor,
  userId: number,
  sessionId: number | null,
): Promise<void> => {
  await db
    .update(news)
    .set({ readAt: sql`now()` })
    .where(
      and(
        eq(news.userId, userId),
        isNull(news.readAt),
        sessionId === null ? undefined : eq(news.sessionId, sessionId),
      ),
    );
};

/** Forgets what is older than 90 days. */
export const removeOldNews = async (db: Executor): Promise<void> => {
  await db.delete(news).where(sql`${news.createdAt} < now() - interval '90 days'`);
};
