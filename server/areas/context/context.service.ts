import type { SessionContext } from '#contract/context.ts';
import { limits } from '#contract/limits.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Database, Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { createKeyLimit } from '#server/http/rate-limit.ts';
import * as chat from '../chat/conversation.ts';
import { maxPromptOf } from '../chat/reply-plan.ts';
import type { PromptService } from '../prompt/prompt.service.ts';
import { anySession, writableSession, writeRefusal } from '../session/session.service.ts';
import type { SessionRow } from '../session/session.service.ts';
import { condenseOld } from './condensing.ts';
import { condensesItself, type ViewDeps, viewContext } from './context-view.ts';

export interface ContextDeps extends ViewDeps {
  db: Database;
  prompts: Pick<PromptService, 'ask'>;
}

/** Of a conversation that could not be condensed by itself this is tried again after so long, ms. */
const restMs = 10 * 60_000;

/** Calls of one person in a minute: each reads a whole conversation. */
const limitCalls = createKeyLimit(120, 60, 'looks at what a model reads');

const requireKept = (session: SessionRow): void => {
  if (session.type !== sessionTypes.chat || session.temporary)
    throw new Refusal('session_unsuitable');
};

/** The session of somebody who may write in it, if it is one that is condensed. */
const ownSession = async (executor: Executor, ref: string, user: Identity): Promise<SessionRow> => {
  const session = await anySession(executor, ref);
  if (!session) throw new Refusal('not_found');
  const refusal = writeRefusal(session, user);
  if (refusal) throw new Refusal(refusal);
  requireKept(session);
  return session;
};

const ownLocked = async (tx: Transaction, ref: string, user: Identity): Promise<SessionRow> => {
  const session = await writableSession(tx, ref, user);
  requireKept(session);
  return session;
};

/** What a model reads of a long conversation: how much, and what is condensed of it. */
export const createContextService = (deps: ContextDeps) => {
  const { db, models } = deps;
  /** When sessions may be condensed again by themselves, of those that failed here. */
  const resting = new Map<number, number>();

  return {
    async look(executor: Executor, ref: string, user: Identity): Promise<SessionContext> {
      await limitCalls(user.person);
      return viewContext(deps, executor, await ownSession(executor, ref, user));
    },

    /** Has the model read from the earliest exchange on that fits, or its last few again. */
    read(executor: Executor, ref: string, on: boolean, user: Identity): Promise<SessionContext> {
      return inTransaction(executor, async (tx) => {
        await limitCalls(user.person);
        const session = await ownLocked(tx, ref, user);
        let readFrom: number | null = null;
        if (on) {
          const model = await models.find(tx, session.model, user);
          const room = maxPromptOf(model) * limits.context.full;
          const summary = await chat.readSummary(tx, session.id);
          const sizes = await chat.exchangeSizes(tx, session.id, summary?.upTo ?? 0);
          let left = room - (summary?.text.length ?? 0);
          const fitting = sizes.filter(({ chars }) => (left -= chars) >= 0);
          readFrom = fitting.at(-1)?.id ?? sizes[0]?.id ?? null;
        }
        await chat.setReadFrom(tx, session.id, readFrom);
        return viewContext(deps, tx, { ...session, readFrom });
      });
    },

    edit(executor: Executor, ref: string, text: string, user: Identity): Promise<SessionContext> {
      return inTransaction(executor, async (tx) => {
        await limitCalls(user.person);
        const session = await ownLocked(tx, ref, user);
        await chat.editSummary(tx, session.id, text.trim());
        return viewContext(deps, tx, session);
      });
    },

    /**
     * Condenses what does not fit: piece by piece, each stored with its charge, so that what was
     * paid for is there, and one that fails leaves the talk as it was.
     * @throws Refusal balance, engine_failed, session_busy, model_unavailable
     */
    async condense(
      ref: string,
      user: Identity,
    ): Promise<{ deduct_tokens: number; context: SessionContext }> {
      await limitCalls(user.person);
      const session = await ownSession(db, ref, user);
      if (!(await chat.takeCondensing(db, session.id)))
        throw new Refusal('session_busy', '正在浓缩，请稍等');
      let spent: number;
      try {
        spent = await condenseOld(deps, session, user, { auto: false });
      } finally {
        await chat.endCondensing(db, session.id);
      }
      resting.delete(session.id);
      const now = (await anySession(db, session.uuid)) ?? session;
      return { deduct_tokens: spent, context: await viewContext(deps, db, now) };
    },

    /**
     * A reply ended. Where what its model read fills the window, what is older is condensed by
     * itself, as a press does it, so that nothing has to be left out of the next question.
     * @param read UTF-16 units of the prompt and the reply
     */
    async afterReply(
      reply: { sessionId: number; sessionUuid: string; userId: number; window: number },
      read: number,
    ): Promise<void> {
      const { sessionId: id } = reply;
      if (read <= reply.window * limits.context.full) return;
      if ((resting.get(id) ?? 0) > Date.now() || !(await chat.takeCondensing(db, id))) return;
      try {
        const session = await anySession(db, reply.sessionUuid);
        // Whoever owns a conversation pays for it, and nobody else does.
        if (session?.userId !== reply.userId || session.deletedAt || !condensesItself(session))
          return;
        requireKept(session);
        const { used, window } = await viewContext(deps, db, session);
        if (used > window * limits.context.full)
          await condenseOld(
            deps,
            session,
            { id: reply.userId, guest: session.ownerGuest },
            { auto: true },
          );
        resting.delete(id);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        for (const [each, until] of resting) if (until <= Date.now()) resting.delete(each);
        resting.set(id, Date.now() + restMs);
      } finally {
        await chat.endCondensing(db, id);
      }
    },
  };
};
