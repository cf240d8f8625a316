import { and, asc, desc, eq, isNull, isNotNull, ne, sql } from 'drizzle-orm';
import type { ReportReason } from '#contract/forum.ts';
import { limits } from '#contract/limits.ts';
import { countUpTo } from '#server/db/count-up-to.ts';
import { ordered } from '#server/db/ordered.ts';
import { requireSortable, type Sorting } from '#server/sorting.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { suspended } from '#server/db/suspended.ts';
import { sqlState, uniqueViolation } from '#server/db/failure.ts';
import { history, sessions } from '#server/db/schema.ts';
import {
  forumGroups,
  forumModels,
  forumReplies,
  forumVisits,
  messageEdits,
  messageImages,
  questionViews,
  reports,
} from './forum.tables.ts';

// ---- groups ------------------------------------------------------------------

export const listGroups = (db: Executor) =>
  db.select().from(forumGroups).orderBy(asc(forumGroups.sort), asc(forumGroups.id));

export const hasGroup = async (db: Executor, id: number): Promise<boolean> => {
  const rows = await db
    .select({ id: forumGroups.id })
    .from(forumGroups)
    .where(eq(forumGroups.id, id))
    .for('key share');
  return rows.length > 0;
};

/** Its number; null: there is none of that number, or another of that name. */
export const saveGroup = async (
  db: Executor,
  id: number | undefined,
  values: { name: string; color: string; sort: number },
): Promise<number | 'missing' | 'taken'> => {
  try {
    const rows =
      id === undefined
        ? await db.insert(forumGroups).values(values).returning({ id: forumGroups.id })
        : await db
            .update(forumGroups)
            .set(values)
            .where(eq(forumGroups.id, id))
            .returning({ id: forumGroups.id });
    return rows[0]?.id ?? 'missing';
  } catch (error) {
    if (sqlState(error) === uniqueViolation) return 'taken';
    throw error;
  }
};

/** Its questions go to the default group. False: there is none of that number. */
export const deleteGroup = async (tx: Transaction, id: number): Promise<boolean> => {
  const rows = await tx
    .delete(forumGroups)
    .where(and(eq(forumGroups.id, id), ne(forumGroups.id, limits.defaultGroup)))
    .returning({ id: forumGroups.id });
  if (rows.length === 0) return false;
  await tx.update(sessions).set({ groupId: limits.defaultGroup }).where(eq(sessions.groupId, id));
  return true;
};

// ---- questions -----------------------------------------------------------------

export const markSession = async (
  db: Executor,
  id: number,
  values: Partial<
    Pick<typeof sessions.$inferInsert, 'acceptedId' | 'essence' | 'pinned' | 'closed' | 'groupId'>
  >,
): Promise<void> => {
  if (Object.keys(values).length > 0)
    await db.update(sessions).set(values).where(eq(sessions.id, id));
};

/** Of a message of this session: whose it is, what it says, and whether it is the question itself. */
export const findAnswer = async (db: Executor, sessionId: number, id: number) => {
  const [row] = await db
    .select({
      id: history.id,
      userId: history.userId,
      human: history.human,
      title: history.title,
      ai: history.ai,
      isQuestion: sql<boolean>`${history.prevId} = 0`,
      suspended: sql<boolean>`${suspended(history.userId)}`,
    })
    .from(history)
    .where(and(eq(history.id, id), eq(history.sessionId, sessionId)));
  return row ?? null;
};

export const noteReply = async (
  db: Executor,
  { userId, sessionId, model }: { userId: number; sessionId: number; model: string },
): Promise<void> => {
  await db
    .insert(forumReplies)
    .values({ userId, sessionId })
    .onConflictDoUpdate({
      target: [forumReplies.userId, forumReplies.sessionId],
      set: { at: sql`now()` },
    });
  if (model !== '') await noteModel(db, sessionId, model);
};

export const noteModel = async (db: Executor, sessionId: number, model: string): Promise<void> => {
  await db
    .insert(forumModels)
    .values({ model, sessionId })
    .onConflictDoUpdate({
      target: [forumModels.model, forumModels.sessionId],
      set: { at: sql`now()` },
    });
};

/** A message is gone: its author and its model may have nothing else there. */
export const forgetReply = async (
  db: Executor,
  { id, userId, sessionId }: { id: number; userId: number; sessionId: number },
): Promise<void> => {
  await db.execute(sql`
    DELETE FROM forum_replies WHERE user_id = ${userId} AND session_id = ${sessionId}
      AND NOT EXISTS (SELECT FROM history h WHERE h.session_id = ${sessionId}
        AND h.user_id = ${userId} AND h.prev_id <> 0)`);
  await db.execute(sql`
    DELETE FROM forum_models m WHERE session_id = ${sessionId} AND NOT EXISTS (
      SELECT FROM history h WHERE h.session_id = ${sessionId} AND h.model = m.model)`);
  await db
    .update(sessions)
    .set({ acceptedId: null })
    .where(and(eq(sessions.id, sessionId), eq(sessions.acceptedId, id)));
};

/** What somebody looked at last, so many. */
const mostVisits = 200;

export const noteVisit = async (db: Executor, userId: number, sessionId: number): Promise<void> => {
  const [visit] = await db
    .insert(forumVisits)
    .values({ userId, sessionId })
    .onConflictDoUpdate({
      target: [forumVisits.userId, forumVisits.sessionId],
      set: { at: sql`now()` },
    })
    .returning({ first: sql<boolean>`xmax = 0` });
  if (visit?.first)
    await db
      .insert(questionViews)
      .values({ sessionId, people: 1 })
      .onConflictDoUpdate({
        target: questionViews.sessionId,
        set: { people: sql`${questionViews.people} + 1` },
      });
  await db.execute(sql`
    DELETE FROM forum_visits WHERE user_id = ${userId} AND at < (
      SELECT at FROM forum_visits WHERE user_id = ${userId}
      ORDER BY at DESC OFFSET ${mostVisits} LIMIT 1)`);
};

/** How many people have looked at a question. */
export const viewsOf = async (db: Executor, sessionId: number): Promise<number> => {
  const [row] = await db
    .select({ people: questionViews.people })
    .from(questionViews)
    .where(eq(questionViews.sessionId, sessionId));
  return row?.people ?? 0;
};

// ---- messages --------------------------------------------------------------------

/** What a message said before it was changed; of many changes the newest are kept. */
export const keepEdit = async (
  db: Executor,
  edit: { historyId: number; title: string; human: string },
  most: number,
): Promise<void> => {
  await db.insert(messageEdits).values(edit);
  await db.execute(sql`
    DELETE FROM message_edits WHERE history_id = ${edit.historyId} AND id <= (
      SELECT id FROM message_edits WHERE history_id = ${edit.historyId}
      ORDER BY id DESC OFFSET ${most} LIMIT 1)`);
};

export const listEdits = (db: Executor, historyId: number, most: number) =>
  db
    .select({
      title: messageEdits.title,
      human: messageEdits.human,
      createdAt: messageEdits.createdAt,
    })
    .from(messageEdits)
    .where(eq(messageEdits.historyId, historyId))
    .orderBy(desc(messageEdits.id))
    .limit(most);

/** The message shows these images: they stay as long as it does. */
export const keepImages = async (
  db: Executor,
  historyId: number,
  keys: readonly string[],
): Promise<void> => {
  if (keys.length > 0)
    await db
      .insert(messageImages)
      .values(keys.map((key) => ({ key, historyId })))
      .onConflictDoNothing();
};

// ---- reports -----------------------------------------------------------------------

/** So many that somebody made in the last day. */
export const reportsToday = async (db: Executor, userId: number): Promise<number> => {
  const { rows } = await db.execute<{ count: number }>(sql`
    SELECT count(*)::int FROM reports
    WHERE user_id = ${userId} AND created_at > now() - interval '1 day'`);
  return rows[0]?.count ?? 0;
};

/** A second one of the same thing by the same person changes nothing while the first is open. */
export const addReport = async (
  db: Executor,
  values: {
    userId: number;
    sessionId: number;
    historyId: number;
    reason: ReportReason;
    note: string;
    excerpt: string;
  },
): Promise<void> => {
  await db.insert(reports).values(values).onConflictDoNothing();
};

export interface ReportRow extends Record<string, unknown> {
  id: number;
  session_id: number;
  uuid: string;
  history_id: number;
  title: string;
  reason: ReportReason;
  note: string;
  excerpt: string;
  user_id: number;
  user_name: string;
  author_id: number;
  author_name: string;
  /** ms since 1970. */
  created_at: number;
  resolved_at: number | null;
  removed: boolean;
}

export const listReports = async (
  db: Executor,
  { open, ...sorting }: { open: boolean } & Sorting<'reportList'>,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ list: ReportRow[]; total: number }> => {
  const where = open ? isNull(reports.resolvedAt) : isNotNull(reports.resolvedAt);
  const total = await countUpTo(db, reports, where);
  requireSortable('reportList', sorting, total);
  const order = ordered({ created_at: sql`r.created_at` }, sorting, sql`r.id DESC`);
  const state = open ? sql`r.resolved_at IS NULL` : sql`r.resolved_at IS NOT NULL`;
  const { rows } = await db.execute<ReportRow>(sql`
    SELECT r.id::float8, r.session_id::float8, s.uuid, r.history_id::float8, s.prompt AS title,
      r.reason, r.note, r.excerpt, r.user_id::float8, u.user_name,
      coalesce(h.user_id, s.user_id)::float8 AS author_id, a.user_name AS author_name,
      (extract(epoch FROM r.created_at) * 1000)::float8 AS created_at,
      (extract(epoch FROM r.resolved_at) * 1000)::float8 AS resolved_at, r.removed
    FROM reports r JOIN sessions s ON s.id = r.session_id JOIN users u ON u.id = r.user_id
      LEFT JOIN history h ON h.id = r.history_id
      JOIN users a ON a.id = coalesce(h.user_id, s.user_id)
    WHERE ${state} ORDER BY ${sql.join(order, sql`, `)} OFFSET ${offset} LIMIT ${limit}`);
  return { list: rows, total };
};

export const findReport = async (db: Executor, id: number) => {
  const [row] = await db
    .select()
    .from(reports)
    .where(and(eq(reports.id, id), isNull(reports.resolvedAt)));
  return row ?? null;
};

/** All open reports of one thing are done with; gives who made them. */
export const resolveReports = async (
  tx: Transaction,
  thing: { sessionId: number; historyId: number },
  by: { userId: number; removed: boolean },
): Promise<number[]> => {
  const rows = await tx
    .update(reports)
    .set({ resolvedAt: sql`now()`, resolvedBy: by.userId, removed: by.removed })
    .where(
      and(
        eq(reports.sessionId, thing.sessionId),
        eq(reports.historyId, thing.historyId),
        isNull(reports.resolvedAt),
      ),
    )
    .returning({ userId: reports.userId });
  return rows.map(({ userId }) => userId);
};
