import type { Handlers } from '#server/http/handlers.ts';
import type { Ways } from './ways.service.ts';
import type { signInCalls } from '#contract/sign-in.ts';

export const createWaysHandlers = (ways: Ways): Pick<Handlers, keyof typeof signInCalls> => ({
  signInWays: (_input, { db }) => ways.list(db),
  sendSignInCode: ways.sendSignInCode,
  signInByCode: ways.signInByCode,
  resetForgotten: ways.resetForgotten,
  signInMeans: (_input, { db, user }) => ways.means(db, user),
  sendBindCode: ways.sendBindCode,
  bindContact: ways.bindContact,
  unbindContact: async (input, context) => {
    await ways.unbindContact(input, context);
    return {};
  },
  setFirstPassword: ways.setFirstPassword,
  beginProvider: ({ id }, context) => ways.beginProvider(id, context),
  linkProvider: ({ id }, context) => ways.linkProvider(id, context),
  finishProvider: ways.finishProvider,
  unlinkProvider: async ({ id }, context) => {
    await ways.unlinkProvider(id, context);
    return {};
  },
  passkeyQuestion: (_input, context) => ways.passkeyQuestion(context),
  signInByPasskey: ways.signInByPasskey,
  beginPasskey: ways.beginPasskey,
  savePasskey: async (input, context) => {
    await ways.savePasskey(input, context);
    return {};
  },
  renamePasskey: async (input, { db, user }) => {
    await ways.renamePasskey(db, user.id, input);
    return {};
  },
  removePasskey: async ({ id }, context) => {
    await ways.removePasskey(id, context);
    return {};
  },
  signInSettings: (_input, context) => ways.manage.state(context),
  saveSignIn: ways.manage.save,
  trySending: ways.manage.trySending,
  saveProvider: ways.manage.saveProvider,
  delProvider: ({ id }, context) => ways.manage.removeProvider(id, context),
});
