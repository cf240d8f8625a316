import type { Out, Parsed } from '#contract/calls.ts';
import { sessionTypes } from '#contract/kinds.ts';
import { limits } from '#contract/limits.ts';
import type { Transaction, Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { type Handlers, type Identity, Refusal } from '#server/http/handlers.ts';
import { manageOne, requirePowerOver } from '../session/manage-session.service.ts';
import { anySession } from '../session/session.service.ts';
import { findMessage } from './chat.store.ts';
import * as store from './manage-message.store.ts';
import { removeMessage, renewCard } from './removal.service.ts';
import { noMessage } from './reply.service.ts';

/** All messages of any session, those on other branches included. */
const list = async (
  db: Executor,
  input: Parsed<'adminHistoryList'>,
  manager: Identity,
): Promise<Out<'adminHistoryList'>> => {
  const session = await manageOne(db, input.session_id, manager);
  const size = limits.historyPageSize;
  const { rows, told } = await store.pageOfMessages(db, session.id, manager.id, {
    newestFirst: input.newest === 1,
    page: input.page,
    size,
  });
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
    ...told,
  };
};

/** A message whose reply is not being written. */
const quiet = async (tx: Transaction, id: number) => {
  const message = await findMessage(tx, id);
  if (!message) throw noMessage();
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

export const createManageMessageHandlers = (deps: {
  cancelJobs: (historyId: number) => Promise<void>;
}): Pick<Handlers, 'adminHistoryList' | 'adminDeleteHistory' | 'adminUpdateHistory'> => ({
  adminHistoryList: (input, { db, user }) => list(db, input, user),

  adminDeleteHistory: async ({ history_id: id }, { db, user, noteAct, afterCommit }) => {
    await inTransaction(db, async (tx) => {
      const message = await quiet(tx, id);
      const session = await sessionOf(tx, message, user);
      const text = await store.wholeText(tx, id);
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
      const before = await store.wholeText(tx, id);
      noteAct({
        subject: `session:${message.sessionId}`,
        from: {
          ...(human === undefined ? {} : { human: before?.human }),
          ...(ai === undefined ? {} : { ai: before?.ai }),
        },
        to: { human, ai },
      });
      await store.rewrite(tx, id, { human, ai, reasoning: before?.reasoning });
      await renewCard(tx, session, message);
    });
    return {};
  },
});
