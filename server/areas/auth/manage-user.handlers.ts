import type { Handlers } from '#server/http/handlers.ts';
import * as groups from './people-group.service.ts';
import type { ManageUserDeps } from './manage-user.service.ts';
import * as users from './manage-user.service.ts';

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

export const createManageUserHandlers = (deps: ManageUserDeps): ManageUserHandlers => ({
  adminUserList: (input, { db }) => users.userPage(db, input),
  adminUserInfo: (input, { db }) => users.userInfo(db, input.user_id),
  adminUserLedger: (input, { db }) => users.userLedger(deps, db, input),
  updateUser: async (input, { db, user, noteAct }) => {
    await users.updateUser(deps, db, input, user, noteAct);
    return {};
  },
  peopleGroups: (_input, { db }) => groups.listPeopleGroups(db),
  savePeopleGroup: (input, { db, user, noteAct }) =>
    groups.savePeopleGroup(db, input, user, noteAct),
  delPeopleGroup: async ({ id }, { db, user, noteAct }) => {
    await groups.removePeopleGroup(db, id, user, noteAct);
    return {};
  },
  updateTokens: (input, { db, user, noteAct }) =>
    users.updateTokens(deps, db, input, user, noteAct),
  activatedAbility: async (input, { db, user, noteAct }) => {
    await users.activateAbility(deps, db, input, user, noteAct);
    return {};
  },
  updateUserSession: (input, { db, user, noteAct }) =>
    users.updatePrivacy(deps, db, input, user, noteAct),
  resetPassword: (input, { db, user, noteAct }) =>
    users.resetPassword(deps, db, input, user, noteAct),
  signOutUser: (input, { db, user, noteAct }) => users.signOut(db, input.user_id, user, noteAct),
  managerList: (_input, { db }) => users.managerList(deps, db),
  setManager: async (input, { db, user, noteAct }) => {
    await users.setManager(deps, db, input, user, noteAct);
    return {};
  },
});
