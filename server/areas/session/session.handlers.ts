import type { Executor } from '#server/db/database.ts';
import type { Handlers } from '#server/http/handlers.ts';
import { askerOf } from '#server/http/rate-limit.ts';
import { answerFriend } from './friend.service.ts';
import { befriend, createSession, requireSense } from './new-session.service.ts';
import { changeSession, removeSession } from './session-change.service.ts';
import type { SessionServiceDeps } from './session-deps.ts';
import { inSearchTurn } from './search-turns.ts';
import { searchMessagesOf, sessionList } from './session-list.service.ts';
import { sessionDetail } from './session-view.ts';

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

export const createSessionHandlers = (deps: SessionDeps): SessionHandlers => ({
  sessionList: (input, { db, user, ip }) =>
    inSearchTurn(input.query, askerOf(user, ip), () => sessionList(deps, db, input, user)),

  getSession: (input, { db, user }) => sessionDetail(deps, db, input.uuid, user),

  newSession: async (input, { db, user, ip, issueToken }) => {
    requireSense(input, user);
    const userId = user?.id ?? (await deps.createGuest(db, ip));
    const session = await createSession(deps, db, input, { userId, user });
    if (!user) await issueToken(userId);
    return session;
  },

  newFriend: (input, { db, user }) => befriend(db, input.friend_user_id, user),

  answerFriend: async (input, { db, user }) => ({ state: await answerFriend(db, input, user) }),

  searchMessages: (input, { db, user, ip }) =>
    inSearchTurn(input.query, askerOf(user, ip), () => searchMessagesOf(db, input, user)),

  setSession: async (input, { db, user }) => {
    await changeSession(deps, db, input, user);
    return { result: true };
  },

  deleteSession: async (input, { db, user, afterCommit }) => {
    const id = await removeSession(db, input.session_id, user);
    afterCommit(() => deps.stopSession(id));
    return {};
  },
});
