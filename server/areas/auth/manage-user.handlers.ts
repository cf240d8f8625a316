import type { Handlers } from '#server/http/handlers.ts';
import { createManageUserService, type ManageUserDeps } from './manage-user.service.ts';

type ManageUserHandlers = Pick<
  Handlers,
  | 'adminUserList'
  | 'adminUserInfo'
  | 'adminUserLedger'
  | 'updateUser'
  | 'updateTokens'
  | 'activatedAbility'
  | 'updateUserSession'
  | 'resetPassword'
  | 'signOutUser'
  | 'managerList'
  | 'setManager'
>;

export const createManageUserHandlers = (deps: ManageUserDeps): ManageUserHandlers => {
  const service = createManageUserService(deps);
  return {
    adminUserList: (input, { db }) => service.list(db, input),
    adminUserInfo: (input, { db }) => service.one(db, input.user_id),
    adminUserLedger: (input, { db }) => service.ledger(db, input),
    updateUser: async (input, { db, user, noteAct }) => {
      await service.update(db, input, user, noteAct);
      return {};
    },
    updateTokens: (input, { db, user, noteAct }) => service.tokens(db, input, user, noteAct),
    activatedAbility: async (input, { db, user, noteAct }) => {
      await service.ability(db, input, user, noteAct);
      return {};
    },
    updateUserSession: (input, { db, user, noteAct }) => service.privacy(db, input, user, noteAct),
    resetPassword: (input, { db, user, noteAct }) =>
      service.resetPassword(db, input, user, noteAct),
    signOutUser: (input, { db, user, noteAct }) =>
      service.signOut(db, input.user_id, user, noteAct),
    managerList: (_input, { db }) => service.managers(db),
    setManager: async (input, { db, user, noteAct }) => {
      await service.setManager(db, input, user, noteAct);
      return {};
    },
  };
};
