import type { Executor } from '../../db/database.ts';
import type { Handlers } from '../../http/handlers.ts';
import { answerFriend } from './friend.service.ts';
import { createSessionService, requireSense, type SessionServiceDeps } from './session.service.ts';

export interface SessionDeps extends SessionServiceDeps {
  /** Makes a guest account and gives its id. */
  createGuest: (db: Executor, ip: string) => Promise<number>;
  /** Stops the reply that is being written in a session, if there is one. */
  stopSession: (sessionId: number) => Promise<void>;
}

type SessionHandlers = Pick<
  Handlers,
  | 'sessionList'
  | 'getSession'
  | 'newSession'
  | 'newFriend'
  | 'answerFriend'
  | 'searchMessages'
  | 'setSession'
  | 'deleteSession'
>;

export const createSessionHandlers = (deps: SessionDeps): SessionHandlers => {
  const service = createSessionService(deps);
  return {
    sessionList: (input, { db, user }) => service.list(db, input, user),

    getSession: (input, { db, user }) => service.get(db, input.uuid, user),

    newSession: async (input, { db, user, ip, issueToken }) => {
      requireSense(input, user);
      const userId = user?.id ?? (await deps.createGuest(db, ip));
      const session = await service.create(db, input, userId, user);
      if (!user) await issueToken(userId);
      return session;
    },

    newFriend: (input, { db, user }) => service.befriend(db, input.friend_user_id, user),

    answerFriend: async (input, { db, user }) => ({ state: await answerFriend(db, input, user) }),

    searchMessages: (input, { db, user }) => service.searchIn(db, input, user),

    setSession: async (input, { db, user }) => {
      await service.change(db, input, user);
      return { result: true };
    },

    deleteSession: async (input, { db, user, afterCommit }) => {
      const id = await service.remove(db, input.session_id, user);
      afterCommit(() => deps.stopSession(id));
      return {};
    },
  };
};
