import { randomBytes, randomInt } from 'node:crypto';
import type { Settings as PersonSettings } from '#contract/auth.ts';
import type { Out, Parsed } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { keptSecret } from '#server/db/kept-secret.ts';
import type { Authenticator, Context, Identity } from '#server/http/handlers.ts';
import { createContacts } from '../contact/contact.service.ts';
import type { AuthContext, AuthDeps } from './auth-deps.ts';
import * as store from './auth.store.ts';
import { drawCaptcha } from './captcha.ts';
import { createCaptchaQueue } from './captcha-queue.ts';
import { deviceName } from './device-name.ts';
import { createLoginAttempts } from './login-attempts.ts';
import { createLogins } from './logins.ts';
import { createMarks } from './marks.ts';
import { hashPassword } from './password.ts';
import { confirm, proveCode, provePassword, requireCode } from './proofs.ts';
import { createRegistrationAttempts } from './registration-attempts.ts';
import { login, register } from './sign-in.ts';
import { userView } from './user-view.ts';
import { createWays } from './ways.service.ts';

/** Accounts, guests, logins and what stands for them on the wire. */
export const createAuthService = async (deps: AuthDeps) => {
  const { db: database, settings } = deps;
  const attempts = {
    ...createLoginAttempts(database.$client),
    ...createRegistrationAttempts(database.$client, settings),
  };
  const secret =
    settings.jwtSecret ||
    (await keptSecret(database, 'jwt', () => randomBytes(32).toString('base64url')));
  const marks = createMarks(secret);
  const logins = createLogins(secret, settings.loginDays);
  const inTurn = createCaptchaQueue();
  const contacts = createContacts({ db: database, keys: deps.keys, secret, log: deps.log });
  const auth: AuthContext = {
    ...deps,
    secret,
    marks,
    contacts,
    attempts,
    issueToken: logins.issueToken,
  };

  return {
    ...logins,
    networkOf: marks.networkOf,
    providerOf: marks.providerOf,
    deleteKeysOf: deps.deleteKeysOf,
    userView: (db: Executor, userId: number) => userView(deps, db, userId),

    /** The newest login from a new device that this one was not told of; null: none. */
    newSignIn: async (db: Executor, jti: string) => {
      const row = await store.newSignIn(db, jti);
      return row && { name: deviceName(row.agent), created_at: row.createdAt.toISOString() };
    },
    noteTold: store.noteTold,
    login: (input: Parsed<'login'>, context: Context) => login(auth, input, context),
    register: (input: Parsed<'register'>, context: Context) => register(auth, input, context),

    logout: async ({ db, user }: Context): Promise<void> => {
      if (user) await store.revokeLogin(db, user.jti);
    },

    confirm: (...proof: Parameters<Authenticator['confirm']>) => confirm(auth, ...proof),
    provePassword: (user: Identity, password: string, context: Pick<Context, 'log' | 'ip'>) =>
      provePassword(auth, user, password, context),
    proveCode: (db: Executor, userId: number, code: string, from: string | null) =>
      proveCode(auth, db, userId, code, from),
    requireCode: (db: Executor, user: Identity, code: string) => requireCode(auth, db, user, code),

    drawCaptcha: (context: Context) => inTurn(context, () => drawCaptcha(context.db, secret)),

    /** Makes an account for a visitor who has none, and gives its id. @throws Refusal too_many, login_required */
    createGuest: async (db: Executor, ip: string): Promise<number> => {
      await deps.requireGuests(db);
      await attempts.countGuest(db, ip);
      const userName = `访客${String(randomInt(10_000)).padStart(4, '0')}`;
      // Behind a proxy that nobody told of all would be one.
      const madeIn = marks.networkOf(ip) || null;
      const userId = await store.insertUser(db, { userName, guest: true, madeIn });
      if (userId === null) throw new Error('a guest has no account that could be taken');
      return userId;
    },

    saveSettings: async (
      db: Executor,
      userId: number,
      changes: PersonSettings,
    ): Promise<Out<'saveSettings'>> => ({
      setting: JSON.stringify(await store.mergeSettings(db, userId, changes)),
    }),

    /**
     * Makes the account `admin` where nobody governs yet. Gives its password when it was made up
     * here and must be told to whoever starts the server; null otherwise.
     */
    ensureManager: async (): Promise<string | null> => {
      if (await store.hasManager(database)) return null;
      const password = settings.adminPassword || randomBytes(12).toString('base64url');
      const passwordHash = await hashPassword(password);
      const made = await database.transaction(async (tx) => {
        const userId = await store.insertUser(tx, {
          account: 'admin',
          userName: '管理员',
          passwordHash,
          manager: true,
          owner: true,
        });
        if (userId !== null) await deps.openWallet(tx, userId, settings.signupTokens);
        return userId !== null;
      });
      return made && !settings.adminPassword ? password : null;
    },

    removeExpired: store.removeExpired,

    /** The ways to sign in besides the password. */
    ways: createWays(auth),
  };
};

export type AuthService = Awaited<ReturnType<typeof createAuthService>>;
