import { and, desc, eq, lte, sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { namedIn, showsWhere } from '#server/db/shown.ts';
import { noticeReads, notices } from './notice.tables.ts';

/** What has not been published yet is not there for people. */
const published = () => lte(notices.publishAt, sql`now()`);

export const newestNotice = async (db: Executor) => {
  const [row] = await db
    .select()
    .from(notices)
    .where(published())
    .orderBy(desc(notices.publishAt), desc(notices.id))
    .limit(1);
  return row ?? null;
};

export const noticeExists = async (db: Executor, id: number): Promise<boolean> => {
  const rows = await db
    .select({ id: notices.id })
    .from(notices)
    .where(and(eq(notices.id, id), published()));
  return rows.length > 0;
};

export const markRead = async (db: Executor, userId: number, noticeId: number): Promise<void> => {
  await db.insert(noticeReads).values({ userId, noticeId }).onConflictDoNothing();
};

export type NoticeRow = typeof notices.$inferSelect;

export const findNotice = async (db: Executor, id: number): Promise<NoticeRow | null> => {
  const [row] = await db
    .select()
    .from(notices)
    .where(and(eq(notices.id, id), published()));
  return row ?? null;
};

const readers = sql<number>`greatest(${notices.viewCount},
  (SELECT count(*)::int FROM notice_reads r WHERE r.notice_id = ${notices.id}))`;

export const noticePage = async (
  db: Executor,
  { offset, limit }: { offset: number; limit: number },
) => {
  const list = await db
    .select({ notice: notices, readers })
    .from(notices)
    .where(published())
    .orderBy(desc(notices.publishAt), desc(notices.id))
    .offset(offset)
    .limit(limit);
  const [counted] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(notices)
    .where(published());
  return { list, total: counted?.count ?? 0 };
};

/** How many were published after this moment; null: ever. */
export const countAfter = async (db: Executor, moment: Date | null): Promise<number> => {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(notices)
    .where(
      and(
        published(),
        // Dates have whole milliseconds here, and the database's own more.
        moment
          ? sql`date_trunc('milliseconds', ${notices.publishAt}) > ${moment.toISOString()}::timestamptz`
          : undefined,
      ),
    );
  return row?.count ?? 0;
};

/**
 * When the newest notice that somebody has read was published; null: they have read none. One that
 * was written before it and published after it is still new.
 */
export const newestRead = async (db: Executor, userId: number): Promise<Date | null> => {
  const [row] = await db
    .select({ at: notices.publishAt })
    .from(noticeReads)
    .innerJoin(notices, eq(notices.id, noticeReads.noticeId))
    .where(eq(noticeReads.userId, userId))
    .orderBy(desc(notices.publishAt))
    .limit(1);
  return row?.at ?? null;
};

export const shownByNotices = showsWhere(
  namedIn(sql`concat_ws(' ', content, code_url)`, sql`notices`),
);

type NoticeValues = Partial<typeof notices.$inferInsert> & { content: string };

const wanted = (query: string | undefined) =>
  query ? sql`strpos(lower(${notices.content}), ${query.toLowerCase()}) > 0` : undefined;

/** Notices with what managers see of them, newest first. */
export const pageOfNotices = async (
  db: Executor,
  query: string | undefined,
  { offset, limit }: { offset: number; limit: number },
) => {
  const rows = await db
    .select({
      notice: notices,
      readers,
      published: sql<boolean>`${notices.publishAt} <= now()`,
    })
    .from(notices)
    .where(wanted(query))
    .orderBy(desc(notices.id))
    .offset(offset)
    .limit(limit);
  const [counted] = await db
    .select({ total: sql<number>`count(*)::int` })
    .from(notices)
    .where(wanted(query));
  return { rows, total: counted?.total ?? 0 };
};

export const insertNotice = async (db: Executor, values: NoticeValues): Promise<number> => {
  const [made] = await db.insert(notices).values(values).returning({ id: notices.id });
  if (!made) throw new Error('the notice was not stored');
  return made.id;
};

export const lockNotice = async (db: Executor, id: number): Promise<NoticeRow | undefined> => {
  const [row] = await db.select().from(notices).where(eq(notices.id, id)).for('update');
  return row;
};

export const changeNotice = async (
  db: Executor,
  id: number,
  values: NoticeValues,
): Promise<void> => {
  await db.update(notices).set(values).where(eq(notices.id, id));
};

/** Gives what it was; undefined: there is none. */
export const removeNotice = async (db: Executor, id: number): Promise<NoticeRow | undefined> => {
  await db.execute(sql`DELETE FROM notice_reads WHERE notice_id = ${id}`);
  const [gone] = await db.delete(notices).where(eq(notices.id, id)).returning();
  return gone;
};
