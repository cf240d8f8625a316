import {
  createHash,
  createHmac,
  randomBytes,
  randomInt,
  randomUUID,
  timingSafeEqual,
} from 'node:crypto';
import type { Settings as PersonSettings, User } from '../../../contract/auth.ts';
import type { Out, Parsed } from '../../../contract/calls.ts';
import { limits } from '../../../contract/limits.ts';
import type { Database, Executor, Transaction } from '../../db/database.ts';
import { together } from '../../db/in-transaction.ts';
import { keptSecret } from '../../db/kept-secret.ts';
import { addressKey, isLocal, networkKey } from '../../http/rate-limit.ts';
import {
  type Authenticator,
  type Context,
  type Identified,
  type Identity,
  Refusal,
} from '../../http/handlers.ts';
import type { Settings } from '../../settings.ts';
import { createAttempts } from './attempts.ts';
import * as store from './auth.store.ts';
import { drawCaptcha, isProven, solveCaptcha } from './captcha.ts';
import { accountFault, nameFault, normalAccount, normalName } from './names.ts';
import { hashPassword, passwordFault, verifyPassword } from './password.ts';
import type { SecondFactor } from './second-factor.service.ts';
import { createTokens, loginSeconds } from './token.ts';

/** What was wrong: the account, its password, its code; it is disabled; or a signed-in person's password. */
type FailedProof = 'account' | 'password' | 'totp' | 'disabled' | 'confirm';

interface AuthDeps {
  db: Database;
  settings: Settings;
  /** Tokens of the account, from the ledger. */
  balances: (
    db: Executor,
    userId: number,
  ) => Promise<{ balance: number; vip: number; low: boolean }>;
  openWallet: (db: Executor, userId: number, tokens: number) => Promise<void>;
  /** Gives what a guest made to an account. */
  takeOver: (db: Executor, fromUserId: number, toUserId: number) => Promise<void>;
  secondFactor: Pick<SecondFactor, 'isOn' | 'prove'>;
  /** Counts a password or code that was not right, for whoever watches. */
  signInFailed: (reason: FailedProof) => void;
  /** Somebody registered, by somebody's link perhaps. */
  registered: (
    tx: Transaction,
    userId: number,
    invite: { code: string | undefined; network: string },
  ) => Promise<void>;
  /** @throws Refusal words_blocked */
  refuseBlocked: (db: Executor, text: string) => Promise<void>;
  /** Sessions made this calendar month, counted no further than `most`. */
  countThisMonth: (db: Executor, userId: number, most: number) => Promise<number>;
  unreadNews: (db: Executor, userId: number) => Promise<number>;
}

/** How long a ticket can be used, ms. */
const ticketLifetime = 60_000;

const hashOf = (ticket: string): Buffer => createHash('sha256').update(ticket).digest();

type SignedIn = Out<'login'>;

/** Accounts, guests, logins and what stands for them on the wire: tokens and tickets. */
export const createAuthService = async (deps: AuthDeps) => {
  const { db: database, settings } = deps;
  const attempts = createAttempts(database.$client, settings);
  const secret =
    settings.jwtSecret ||
    (await keptSecret(database, 'jwt', () => randomBytes(32).toString('base64url')));
  const tokens = createTokens(secret);

  /** What a browser keeps after it was used to sign in: proves just that, and opens nothing. */
  const deviceOf = (account: string, salt = randomBytes(12).toString('base64url')): string => {
    const proof = createHmac('sha256', secret).update(`device ${account} ${salt}`);
    return `${salt}.${proof.digest('base64url')}`;
  };
  const isDeviceOf = (account: string, device = ''): boolean => {
    const expected = Buffer.from(deviceOf(account, device.split('.', 1)[0]));
    const given = Buffer.from(device);
    return given.length === expected.length && timingSafeEqual(given, expected);
  };

  const identifyLogin = async (
    db: Executor,
    jti: string,
    userId?: number,
  ): Promise<Identified | null> => {
    const row = await store.findLogin(db, jti, settings.loginDays);
    if (!row || (userId !== undefined && row.id !== userId)) return null;
    const { disabled, ...person } = row;
    return { identity: { ...person, jti }, disabled };
  };

  const identify: Authenticator['identify'] = async (db, token) => {
    const claims = await tokens.read(token);
    if (!claims) return null;
    const identified = await identifyLogin(db, claims.jti, claims.userId);
    if (!identified || identified.disabled || !claims.aging) return identified;
    try {
      await store.prolongLogin(db, claims.jti, loginSeconds);
    } catch {
      // A database that cannot write, as on a full disk, must not end a login that still runs.
      return identified;
    }
    return { ...identified, refreshed: await tokens.sign(claims.userId, claims.jti) };
  };

  const whyEnded: Authenticator['whyEnded'] = async (db, token) => {
    const claims = await tokens.read(token);
    return claims && (await store.isTooOld(db, claims.jti, settings.loginDays))
      ? `这次登录已满 ${settings.loginDays} 天，为了安全，请重新登录`
      : '登录已失效，请重新登录';
  };

  const redeemTicket: Authenticator['redeemTicket'] = async (db, ticket, historyId) => {
    const jti = await store.takeTicket(db, hashOf(ticket), historyId);
    return jti === null ? null : identifyLogin(db, jti);
  };

  const issueToken: Authenticator['issueToken'] = async (db, userId, agent) => {
    const jti = randomUUID();
    const made = await store.insertLogin(db, { jti, userId, agent, seconds: loginSeconds });
    return made ? tokens.sign(userId, jti) : null;
  };

  /** The account's own view of itself. @throws Refusal not_found */
  const sameTime = (row: { vipExpiredAt: Date | null; vipEndSeen: Date | null }): boolean =>
    row.vipExpiredAt?.getTime() === row.vipEndSeen?.getTime();

  const userView = async (db: Executor, userId: number): Promise<User> => {
    const free = limits.freeSessionsAMonth;
    const [row, tokensLeft, made, unread] = await together([
      store.findUser(db, userId),
      deps.balances(db, userId),
      deps.countThisMonth(db, userId, free),
      deps.unreadNews(db, userId),
    ]);
    if (!row) throw new Refusal('not_found');
    const vipLeftMs = (row.vipExpiredAt?.getTime() ?? 0) - Date.now();
    const vip = vipLeftMs > 0;
    const ending = vip && vipLeftMs <= limits.vipEndTold && !sameTime(row);
    return {
      id: row.id,
      account: row.account ?? '',
      user_name: row.userName,
      nickname: row.userName,
      email: row.email,
      avatar: row.avatar,
      guest: row.guest,
      admin: row.manager,
      owner: row.owner,
      vip: vip ? 1 : 0,
      vip_expired_at: row.vipExpiredAt?.toISOString() ?? null,
      vip_ending: ending ? 1 : 0,
      setting: JSON.stringify(row.setting),
      session_private: row.sessionPrivate ? 1 : 0,
      session_blacklist: row.sessionBlacklist ? 1 : 0,
      chatgpt_balance: tokensLeft.balance,
      vip_balance: tokensLeft.vip,
      balance_low: tokensLeft.low ? 1 : 0,
      news_unread: unread,
      subscribe: row.subscribe,
      sessions_left: vip ? null : free - made,
    };
  };

  /** Hands a guest's sessions to the account that its visitor signed in to. */
  const takeOverGuest = async (
    db: Executor,
    visitor: Context['user'],
    userId: number,
  ): Promise<void> => {
    if (visitor?.guest && (await store.retireGuest(db, visitor.id, userId)))
      await deps.takeOver(db, visitor.id, userId);
  };

  const enter = async (db: Executor, userId: number, agent: string): Promise<SignedIn> => {
    const token = await issueToken(db, userId, agent);
    if (token === null) throw new Refusal('account_disabled');
    return { profile: await userView(db, userId), token };
  };

  /** One line for whoever watches; the account's name only as a digest. */
  const noteFailure = (
    { log, ip }: Pick<Context, 'log' | 'ip'>,
    account: string,
    found: { userId: number | null; reason: FailedProof },
  ): void => {
    deps.signInFailed(found.reason);
    const digest = createHmac('sha256', secret).update(`account ${account}`).digest('base64url');
    log.warn({ event: 'sign_in_failed', account: digest, ip, ...found }, 'a sign-in failed');
  };

  /**
   * Compares the password of somebody who is signed in, and notes with their login that it was
   * right. Gives its hash. @throws Refusal wrong_password, too_many
   */
  const provePassword = async (
    user: Identity,
    password: string,
    context: Pick<Context, 'log' | 'ip'>,
  ): Promise<string> => {
    const kept = await store.credentialsOf(database, user.id);
    const account = kept?.account ?? '';
    const proof = await attempts.beginProof(user.jti, account, context.ip);
    if (!(await verifyPassword(kept?.passwordHash ?? null, password)) || kept === null) {
      noteFailure(context, account, { userId: user.id, reason: 'confirm' });
      throw new Refusal('wrong_password');
    }
    await proof.succeeded();
    await store.confirmLogin(database, user.jti);
    return kept.passwordHash;
  };

  const confirm: Authenticator['confirm'] = async (how, password, context) => {
    if (password) {
      await provePassword(context.user, password, context);
      return;
    }
    const { confirmedFor } = limits;
    if (how === 'recent' && (await store.isConfirmed(database, context.user.jti, confirmedFor)))
      return;
    throw new Refusal('confirm_needed', undefined, { confirm: true });
  };

  /** Uses a code up, of which so many may be wrong. @throws Refusal too_many */
  const proveCode = async (
    db: Executor,
    userId: number,
    code: string,
    from: string | null,
  ): Promise<boolean> => {
    const tries = await attempts.beginCode(userId, from);
    const right = await deps.secondFactor.prove(db, userId, code);
    if (right) await tries.succeeded();
    return right;
  };

  const login = async (input: Parsed<'login'>, context: Context): Promise<SignedIn> => {
    const account = normalAccount(input.account);
    if (account === '') return { error: '用户名不能为空！' };
    if (input.password === '') return { error: '密码不能为空！' };
    const device = isDeviceOf(account, input.device) ? (input.device ?? null) : null;
    const attempt = await attempts.beginLogin(account, context.ip, device);
    if (attempt.needsCaptcha && !(await solveCaptcha(context.db, input))) {
      await attempt.takeBack();
      return {
        error: input.captcha ? '验证码不对或已过期，请重新输入' : '请输入验证码',
        captcha: true,
      };
    }
    const found = await store.findAccount(context.db, account);
    const right = await verifyPassword(found?.passwordHash ?? null, input.password);
    if (!found || !right) {
      const userId = found?.id ?? null;
      noteFailure(context, account, { userId, reason: found ? 'password' : 'account' });
      return { error: '用户名或密码不对', captcha: attempt.captchaNext };
    }
    if (await deps.secondFactor.isOn(context.db, found.id)) {
      if (!input.totp) {
        await attempt.takeBack();
        return { error: '请输入动态验证码', totp: true };
      }
      // Wrong codes count as wrong passwords do, so that nobody tries them all.
      if (!(await proveCode(context.db, found.id, input.totp, device))) {
        noteFailure(context, account, { userId: found.id, reason: 'totp' });
        return { error: '动态验证码不对', totp: true, captcha: attempt.captchaNext };
      }
    }
    await attempt.succeeded();
    if (found.disabled) {
      noteFailure(context, account, { userId: found.id, reason: 'disabled' });
      throw new Refusal('account_disabled');
    }
    return database.transaction(async (tx) => {
      await takeOverGuest(tx, context.user, found.id);
      return { ...(await enter(tx, found.id, context.agent)), device: deviceOf(account) };
    });
  };

  /** A network without saying which; empty where people cannot be told apart by their addresses. */
  const networkOf = (ip: string): string =>
    isLocal(addressKey(ip))
      ? ''
      : createHmac('sha256', secret)
          .update(`network ${networkKey(ip)}`)
          .digest('base64url');

  /** What is wrong with the form, in the order of its fields. */
  const registrationFault = (form: Parsed<'register'>): string | null => {
    const account = normalAccount(form.account);
    const name = normalName(form.name);
    if (account === '') return '用户名不能为空！';
    if (name === '') return '名称不能为空！';
    if (form.password === '') return '密码不能为空！';
    if (form.password2 === '') return '请再次输入一次密码！';
    if (form.password !== form.password2) return '两次输入的密码不一致！';
    return accountFault(account) ?? nameFault(name) ?? passwordFault(form.password, account);
  };

  const register = async (input: Parsed<'register'>, context: Context): Promise<SignedIn> => {
    const fault = registrationFault(input);
    if (fault) return { error: fault };
    await deps.refuseBlocked(context.db, normalName(input.name));
    const proven = await isProven(secret, input);
    const attempt = await attempts.beginRegistration(context.ip, { proven });
    if (attempt.needsCaptcha && !(await solveCaptcha(context.db, input))) {
      await attempt.takeBack();
      return {
        error: input.captcha ? '验证码不对或已过期，请重新输入' : '请输入验证码',
        captcha: true,
      };
    }
    const passwordHash = await hashPassword(input.password);
    const visitor = context.user?.guest ? await store.findUser(context.db, context.user.id) : null;
    const network = networkOf(context.ip);
    const signedIn = await database.transaction(async (tx) => {
      const userId = await store.insertUser(tx, {
        madeIn: network,
        account: normalAccount(input.account),
        userName: normalName(input.name),
        passwordHash,
        setting: visitor?.setting ?? {},
      });
      if (userId === null) return null;
      await deps.openWallet(tx, userId, settings.signupTokens);
      await takeOverGuest(tx, context.user, userId);
      await deps.registered(tx, userId, { code: input.invite, network });
      const device = deviceOf(normalAccount(input.account));
      return { ...(await enter(tx, userId, context.agent)), device };
    });
    if (signedIn) return signedIn;
    await attempt.takeBack();
    return { error: '这个用户名已被使用，请换一个', captcha: attempt.needsCaptcha };
  };

  return {
    identify,
    whyEnded,
    confirm,
    redeemTicket,
    issueToken,
    issueAgain: async (db: Executor, userId: number, agent: string) =>
      (await store.hasLogin(db, userId)) ? issueToken(db, userId, agent) : null,
    isSignedIn: async (db: Executor, jti: string) =>
      (await identifyLogin(db, jti))?.disabled === false,
    userView,
    networkOf,
    login,
    register,

    logout: async ({ db, user }: Context): Promise<void> => {
      if (user) await store.revokeLogin(db, user.jti);
    },

    provePassword,
    proveCode,

    drawCaptcha: (db: Executor) => drawCaptcha(db, secret),

    /** Makes an account for a visitor who has none, and gives its id. @throws Refusal too_many */
    createGuest: async (db: Executor, ip: string): Promise<number> => {
      await attempts.countGuest(db, ip);
      const userName = `访客${String(randomInt(10_000)).padStart(4, '0')}`;
      // Behind a proxy that nobody told of all would be one.
      const madeIn = networkOf(ip) || null;
      const userId = await store.insertUser(db, { userName, guest: true, madeIn });
      if (userId === null) throw new Error('a guest has no account that could be taken');
      return userId;
    },

    /** @param historyId the one reply whose stream it opens; left out: any one stream or download */
    makeTicket: async (db: Executor, jti: string, historyId?: number): Promise<Out<'ticket'>> => {
      const ticket = randomBytes(32).toString('base64url');
      const expiresAt = new Date(Date.now() + ticketLifetime);
      await store.insertTicket(db, { hash: hashOf(ticket), jti, expiresAt, historyId });
      return { ticket, expires_at: expiresAt.toISOString() };
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
  };
};

export type AuthService = Awaited<ReturnType<typeof createAuthService>>;
