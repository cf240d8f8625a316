import { eq, sql } from 'drizzle-orm';
import { limits } from '#contract/limits.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { history, users } from '#server/db/schema.ts';
import { heavyPage, pageOf } from '#server/paging.ts';
import { marksOf, measureMessages, orderOf } from './chat.store.ts';

/** A message of a session, and the addresses of its images. */
const columns = {
  id: history.id,
  sessionId: history.sessionId,
  type: history.type,
  title: history.title,
  userId: history.userId,
  userName: users.userName,
  human: history.human,
  ai: history.ai,
  reasoning: history.reasoning,
  model: history.model,
  state: history.state,
  errorMessage: history.errorMessage,
  promptTokens: history.promptTokens,
  completionTokens: history.completionTokens,
  deductTokens: history.deductTokens,
  likeCount: history.likeCount,
  shown: history.shown,
  request: history.request,
  drawn: sql<string[]>`ARRAY(SELECT '/files/' || i.key || '.png' FROM images i
    WHERE i.history_id = ${history.id} AND i.deleted_at IS NULL AND i.key <> '' ORDER BY i.id)`,
  createdAt: history.createdAt,
  editedAt: history.editedAt,
};

/** Messages of a session, those on other branches included, with the marks of whoever looks. */
export const pageOfMessages = async (
  db: Executor,
  sessionId: number,
  managerId: number,
  { newestFirst, page, size }: { newestFirst: boolean; page: number; size: number },
) => {
  const ofSession = eq(history.sessionId, sessionId);
  const { total, weights } = await measureMessages(db, ofSession, {
    newestFirst,
    most: Number.MAX_SAFE_INTEGER,
    reach: page * size,
  });
  const { window, pages } = heavyPage(weights, total, {
    page,
    size,
    most: limits.historyPageBytes,
  });
  const rows = await db
    .select({ ...columns, ...marksOf(managerId) })
    .from(history)
    .innerJoin(users, eq(users.id, history.userId))
    .where(ofSession)
    .orderBy(...orderOf({ newestFirst }))
    .offset(window.offset)
    .limit(window.limit);
  return { rows, told: { ...pageOf(total, page, size), page_count: pages } };
};

export const wholeText = async (tx: Transaction, id: number) => {
  const [row] = await tx
    .select({ human: history.human, ai: history.ai, reasoning: history.reasoning })
    .from(history)
    .where(eq(history.id, id));
  return row;
};

/** Rewrites a message or its reply; what is left out stays. */
export const rewrite = async (
  tx: Transaction,
  id: number,
  { human, ai, reasoning }: { human?: string; ai?: string; reasoning?: string },
): Promise<void> => {
  await tx
    .update(history)
    .set({
      ...(human === undefined ? {} : { human }),
      // A reply that was rewritten is plain: in what order it once came is of no use any more.
      ...(ai === undefined
        ? {}
        : {
            ai,
            parts: reasoning ? [reasoning.length, ai.length] : [0, ai.length],
          }),
      editedAt: sql`now()`,
    })
    .where(eq(history.id, id));
};
