import { inTransaction } from '#server/db/in-transaction.ts';
import { type ActNote, type Handlers, Refusal } from '#server/http/handlers.ts';
import type { AuthService } from './auth.service.ts';
import { requireLogin } from './proofs.ts';
import type { SecondFactor } from './second-factor.service.ts';

type AuthHandlers = Pick<
  Handlers,
  | 'login'
  | 'register'
  | 'logout'
  | 'authCheck'
  | 'captcha'
  | 'ticket'
  | 'userInfo'
  | 'newSignInSeen'
  | 'saveSettings'
  | 'totpState'
  | 'totpBegin'
  | 'totpEnable'
  | 'totpDisable'
  | 'totpRecovery'
>;

/** What opens the administration is watched by all who are in it. */
const switched = (user: { id: number }, on: boolean): ActNote => ({
  subject: `user:${user.id}`,
  from: { totp: on ? 0 : 1 },
  to: { totp: on ? 1 : 0 },
});

export const createAuthHandlers = (
  auth: AuthService,
  secondFactor: SecondFactor,
): AuthHandlers => ({
  login: auth.login,
  register: auth.register,
  logout: async (_input, context) => {
    await auth.logout(context);
    return {};
  },
  authCheck: (_input, { user }) => ({
    admin: user?.manager ?? false,
    owner: user?.owner ?? false,
  }),
  captcha: (_input, context) => auth.drawCaptcha(context),
  ticket: ({ history_id: historyId }, { db, user }) => auth.makeTicket(db, user.jti, historyId),
  userInfo: async (_input, { db, user }) => {
    const fresh = user.guest ? null : await auth.newSignIn(db, user.jti);
    return { ...(await auth.userView(db, user.id)), ...(fresh && { new_sign_in: fresh }) };
  },
  newSignInSeen: async (_input, { db, user }) => {
    await auth.noteTold(db, user.jti);
    return {};
  },
  saveSettings: (input, { db, user }) => auth.saveSettings(db, user.id, input),
  totpState: (_input, { db, user }) => secondFactor.state(db, user.id),
  totpBegin: (_input, { db, user }) => secondFactor.begin(db, user),
  totpEnable: async ({ code }, { db, user, log, keepAct }) => {
    const codes = await inTransaction(db, async (tx) => {
      await requireLogin(tx, user);
      if (user.manager) await keepAct(tx, switched(user, true));
      return secondFactor.enable(tx, user.id, code);
    });
    log.info({ event: 'second_factor_on', userId: user.id }, 'a second factor was switched on');
    return codes;
  },
  totpDisable: async ({ code }, { db, user, log, keepAct }) => {
    if (!(await auth.proveCode(db, user.id, code, user.jti))) throw new Refusal('totp_wrong');
    await inTransaction(db, async (tx) => {
      if (user.manager) await keepAct(tx, switched(user, false));
      await secondFactor.forget(tx, user.id);
    });
    log.info({ event: 'second_factor_off', userId: user.id }, 'a second factor was switched off');
    return {};
  },
  // Any of the new codes would switch it off: they are given for what switching off wants.
  totpRecovery: async ({ code }, { db, user }) => {
    await auth.requireCode(db, user, code);
    return secondFactor.renewRecovery(db, user.id);
  },
});
