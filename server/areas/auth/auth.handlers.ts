import { type Handlers, Refusal } from '../../http/handlers.ts';
import type { AuthService } from './auth.service.ts';
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
  | 'saveSettings'
  | 'totpState'
  | 'totpBegin'
  | 'totpEnable'
  | 'totpDisable'
  | 'totpRecovery'
>;

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
  captcha: (_input, { db }) => auth.drawCaptcha(db),
  ticket: ({ history_id: historyId }, { db, user }) => auth.makeTicket(db, user.jti, historyId),
  userInfo: (_input, { db, user }) => auth.userView(db, user.id),
  saveSettings: (input, { db, user }) => auth.saveSettings(db, user.id, input),
  totpState: (_input, { db, user }) => secondFactor.state(db, user.id),
  totpBegin: (_input, { db, user }) => secondFactor.begin(db, user),
  totpEnable: async ({ code }, { db, user, log }) => {
    const codes = await secondFactor.enable(db, user.id, code);
    log.info({ event: 'second_factor_on', userId: user.id }, 'a second factor was switched on');
    return codes;
  },
  totpDisable: async ({ code }, { db, user, log }) => {
    if (!(await auth.proveCode(db, user.id, code, user.jti))) throw new Refusal('totp_wrong');
    await secondFactor.forget(db, user.id);
    log.info({ event: 'second_factor_off', userId: user.id }, 'a second factor was switched off');
    return {};
  },
  totpRecovery: (_input, { db, user }) => secondFactor.renewRecovery(db, user.id),
});
