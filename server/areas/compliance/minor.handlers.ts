import { type Handlers, Refusal } from '#server/http/handlers.ts';
import type { Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { createMinors, minorState } from './minor.service.ts';
import { end } from './minor.store.ts';

type Served = 'minorState' | 'startMinor' | 'endMinor' | 'resetMinor';

export const createMinorHandlers = (deps: {
  close: (db: Executor, userId: number) => Promise<unknown>;
  /** Closes what this person has ordered and not paid. */
  closeOrders: (userId: number) => Promise<unknown>;
}): Pick<Handlers, Served> => {
  const minors = createMinors();
  return {
    minorState: (_input, { db, user }) => minorState(db, user.id),

    startMinor: (input, { db, user, afterCommit }) =>
      inTransaction(db, async (tx) => {
        const state = await minors.start(tx, user.id, input);
        // What goes on in public would be public, too, and what is added to a public base.
        await deps.close(tx, user.id);
        // No minor pays, nor what was ordered before.
        afterCommit(async () => void (await deps.closeOrders(user.id)));
        return state;
      }),

    endMinor: ({ code }, { db, user }) => minors.end(db, user.id, code),

    resetMinor: async ({ user_id: userId }, { db, noteAct }) => {
      if (!(await end(db, userId))) throw new Refusal('not_found', '这个账号不是未成年人模式');
      noteAct({ subject: `user:${userId}`, from: { minor: true }, to: { minor: false } });
      return {};
    },
  };
};
