import type { Handlers } from '../../http/handlers.ts';
import type { AuthService } from './auth.service.ts';

type AuthHandlers = Pick<
  Handlers,
  'login' | 'register' | 'logout' | 'authCheck' | 'captcha' | 'ticket' | 'userInfo' | 'saveSettings'
>;

export const createAuthHandlers = (auth: AuthService): AuthHandlers => ({
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
  ticket: (_input, { db, user }) => auth.makeTicket(db, user.jti),
  userInfo: (_input, { db, user }) => auth.userView(db, user.id),
  saveSettings: (input, { db, user }) => auth.saveSettings(db, user.id, input),
});
