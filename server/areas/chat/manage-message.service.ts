import { asc, desc, eq, sql } from 'drizzle-orm';
import type { Out, Parsed } from '#contract/calls.ts';
import { sessionTypes } from '#contract/kinds.ts';
import { limits } from '#contract/limits.ts';
import type { Transaction, Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { history, users } from '#server/db/schema.ts';
import { type Handlers, type Identity, Refusal } from '#server/http/handlers.ts';
import { manageOne, requirePowerOver } from '../session/manage-session.service.ts';
import { anySession } from '../session/session.service.ts';
import { findMessage, marksOf } from './chat.store.ts';
import { removeMessage, renewCard } from './removal.service.ts';

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

/** All messages of any session, those on other branches included. */
const list = async (
  db: Executor,
  input: Parsed<'adminHistoryList'>,
  manager: Identity,
): Promise<Out<'adminHistoryList'>> => {
  const session = await manageOne(db, input.session_id, manager);
  const size = limits.historyPageSize;
  const ofSession = eq(history.sessionId, session.id);
  const rows = await db
    .select({ ...columns, ...marksOf(manager.id) })
    .from(history)
    .innerJoin(users, eq(users.id, history.userId))
    .where(ofSession)
    .orderBy(input.newest === 1 ? desc(history.id) : asc(history.id))
    .offset((input.page - 1) * size)
    .limit(size);
  const [counted] = await db
    .select({ total: sql<number>`count(*)::int` })
    .from(history)
    .where(ofSession);
  const total = counted?.total ?? 0;
  return {
    session,
    list: rows.map((row) => ({
      id: row.id,
      session_id: row.sessionId,
      type: row.type,
      user_id: row.userId,
      user_name: row.userName,
      title: row.title,
      human: row.human,
      content: session.type === sessionTypes.people ? row.human : '',
      ai: row.ai,
      reasoning: row.reasoning,
      model: row.model,
      state: row.state,
      error_message: row.errorMessage,
      prompt_tokens: row.promptTokens,
      completion_tokens: row.completionTokens,
      deduct_tokens: row.deductTokens,
      like_count: row.likeCount,
      liked: row.liked,
      in_favorites: row.inFavorites,
      shown: row.shown ? 1 : 0,
      images: [...(row.request?.images ?? []), ...row.drawn],
      created_at: row.createdAt.toISOString(),
      edited_at: row.editedAt?.toISOString() ?? null,
    })),
    page: input.page,
    page_count: Math.ceil(total / size),
    page_size: size,
    total,
  };
};

/** A message whose reply is not being written. */
const quiet = async (tx: Transaction, id: number) => {
  const message = await findMessage(tx, id);
  if (!message) throw new Refusal('not_found', '没有这条消息');
  if (message.state === 'streaming') throw new Refusal('session_busy');
  return message;
};

/** Its session. @throws Refusal manage_unsuitable where either is another manager's */
const sessionOf = async (
  tx: Transaction,
  { sessionId, userId }: { sessionId: number; userId: number },
  by: Identity,
) => {
  const session = await anySession(tx, String(sessionId));
  if (!session) throw new Refusal('not_found');
  await requirePowerOver(tx, [session.userId, userId], by);
  return session;
};

const wholeText = async (tx: Transaction, id: number) => {
  const [row] = await tx
    .select({ human: history.human, ai: history.ai, reasoning: history.reasoning })
    .from(history)
    .where(eq(history.id, id));
  return row;
};

export const createManageMessageHandlers = (deps: {
  cancelJobs: (historyId: number) => Promise<void>;
}): Pick<Handlers, 'adminHistoryList' | 'adminDeleteHistory' | 'adminUpdateHistory'> => ({
  adminHistoryList: (input, { db, user }) => list(db, input, user),

  adminDeleteHistory: async ({ history_id: id }, { db, user, noteAct, afterCommit }) => {
    await inTransaction(db, async (tx) => {
      const message = await quiet(tx, id);
      const session = await sessionOf(tx, message, user);
      const text = await wholeText(tx, id);
      noteAct({
        subject: `session:${message.sessionId}`,
        from: { user_id: message.userId, human: text?.human, ai: text?.ai },
      });
      await removeMessage(tx, session, message);
    });
    afterCommit(() => deps.cancelJobs(id));
    return {};
  },

  adminUpdateHistory: async ({ id, human, ai }, { db, user, noteAct }) => {
    await inTransaction(db, async (tx) => {
      const message = await quiet(tx, id);
      const session = await sessionOf(tx, message, user);
      const before = await wholeText(tx, id);
      noteAct({
        subject: `session:${message.sessionId}`,
        from: {
          ...(human === undefined ? {} : { human: before?.human }),
          ...(ai === undefined ? {} : { ai: before?.ai }),
        },
        to: { human, ai },
      });
      await tx
        .update(history)
        .set({
          ...(human === undefined ? {} : { human }),
          // A reply that was rewritten is plain: in what order it once came is of no use any more.
          ...(ai === undefined
            ? {}
            : {
                ai,
                parts: before?.reasoning ? [before.reasoning.length, ai.length] : [0, ai.length],
              }),
          editedAt: sql`now()`,
        })
        .where(eq(history.id, id));
      await renewCard(tx, session, message);
    });
    return {};
  },
});
