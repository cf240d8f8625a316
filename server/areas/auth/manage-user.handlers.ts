import type { Handlers } from '#server/http/handlers.ts';
import * as groups from './people-group.service.ts';
import { createManageUserService, type ManageUserDeps } from './manage-user.service.ts';

type ManageUserHandlers = Pick<
  Handlers,
  | 'adminUserList'
  | 'adminUserInfo'
  | 'adminUserLedger'
  | 'updateUser'
  | 'peopleGroups'
  | 'savePeopleGroup'
  | 'delPeopleGroup'
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
    peopleGroups: (_input, { db }) => groups.listPeopleGroups(db),
    savePeopleGroup: (input, { db, user, noteAct }) =>
      groups.savePeopleGroup(db, input, user, noteAct),
    delPeopleGroup: async ({ id }, { db, user, noteAct }) => {
      await groups.removePeopleGroup(db, id, user, noteAct);
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
