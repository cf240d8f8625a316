import { type Handlers, Refusal } from '#server/http/handlers.ts';
import { createMinors, minorState } from './minor.service.ts';
import { end } from './minor.store.ts';

type Served = 'minorState' | 'startMinor' | 'endMinor' | 'resetMinor';

export const createMinorHandlers = (): Pick<Handlers, Served> => {
  const minors = createMinors();
  return {
    minorState: (_input, { db, user }) => minorState(db, user.id),

    startMinor: (input, { db, user }) => minors.start(db, user.id, input),

    endMinor: ({ code }, { db, user }) => minors.end(db, user.id, code),

    resetMinor: async ({ user_id: userId }, { db, noteAct }) => {
      if (!(await end(db, userId))) throw new Refusal('not_found', '这个账号不是未成年人模式');
      noteAct({ subject: `user:${userId}`, from: { minor: true }, to: { minor: false } });
      return {};
    },
  };
};
