import type { Handlers } from '#server/http/handlers.ts';
import { makeLink, readLink, revokeLink, sharedSession } from './share.service.ts';

type ShareHandlers = Pick<
  Handlers,
  'shareSession' | 'shareInfo' | 'unshareSession' | 'sharedSession'
>;

export const createShareHandlers = (): ShareHandlers => ({
  shareSession: (input, { db, user }) => makeLink(db, input.session_id, user),

  shareInfo: (input, { db, user }) => readLink(db, input.session_id, user),

  unshareSession: async (input, { db, user }) => {
    await revokeLink(db, input.session_id, user);
    return {};
  },

  sharedSession: (input, { db, user }) => sharedSession(db, input, user),
});
