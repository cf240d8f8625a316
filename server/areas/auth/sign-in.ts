import type { Out, Parsed } from '#contract/calls.ts';
import type { SignInWay } from '#contract/sign-in.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { type Context, Refusal } from '#server/http/handlers.ts';
import type { AuthContext, FailedProof } from './auth-deps.ts';
import { keepAgreed, missingAgreements } from '../compliance/agreement.service.ts';
import * as store from './auth.store.ts';
import { isProven, solveCaptcha } from './captcha.ts';
import { accountFault, nameFault, normalAccount, normalName } from './names.ts';
import { hashPassword, passwordFault, strangerAt, verifyPassword } from './password.ts';
import { noteFailure, proveCode } from './proofs.ts';
import { userView } from './user-view.ts';
import { insertEvent } from './ways.store.ts';

type SignedIn = Out<'login'>;

/** Hands a guest's sessions to the account that its visitor signed in to. */
export const takeOverGuest = async (
  { takeOver }: AuthContext,
  db: Executor,
  visitor: Context['user'],
  userId: number,
): Promise<void> => {
  if (visitor?.guest && (await store.retireGuest(db, visitor.id, userId)))
    await takeOver(db, visitor.id, userId);
};

/** Locks what entering an account touches, its own row last; gives the password that stands, by its hash. */
const holdEntered = async (
  auth: AuthContext,
  tx: Transaction,
  visitor: Context['user'],
  userId: number,
): Promise<string | null> => {
  await auth.lockEntered(tx, visitor?.guest ? visitor.id : null, userId);
  return store.holdPassword(tx, userId);
};

/** @throws Refusal account_disabled */
export const enter = async (
  auth: AuthContext,
  db: Executor,
  {
    userId,
    agent,
    way,
    ip,
    fresh = false,
  }: { userId: number; agent: string; way: SignInWay; ip: string; fresh?: boolean },
): Promise<SignedIn> => {
  const network = auth.marks.networkOf(ip);
  const token = await auth.issueToken(db, userId, agent, { fresh, network });
  if (token === null) throw new Refusal('account_disabled');
  await insertEvent(db, { userId, kind: 'sign_in', way, agent });
  return { profile: await userView(auth, db, userId), token };
};

export const captchaWanted = ({ captcha }: { captcha?: string | undefined }) => ({
  error: captcha ? '验证码不对或已过期，请重新输入' : '请输入验证码',
  captcha: true,
});

/** @throws Refusal account_disabled, too_many */
export const login = async (
  auth: AuthContext,
  input: Parsed<'login'>,
  context: Context,
): Promise<SignedIn> => {
  const { db: database, attempts, marks } = auth;
  const account = normalAccount(input.account);
  if (account === '') return { error: '用户名不能为空！' };
  if (input.password === '') return { error: '密码不能为空！' };
  const device = marks.isDeviceOf(account, input.device) ? (input.device ?? null) : null;
  const attempt = await attempts.beginLogin(account, context.ip, device);
  if (attempt.needsCaptcha && !(await solveCaptcha(context.db, input))) {
    await attempt.takeBack();
    return captchaWanted(input);
  }
  const found = await store.findAccount(context.db, account);
  // Who was in the account from this device does not stand behind those who try passwords.
  const who = device === null ? strangerAt(context.ip) : { person: account, guest: false };
  const right = await verifyPassword(found?.passwordHash ?? null, input.password, who).catch(
    async (error: unknown) => {
      await attempt.takeBack();
      throw error;
    },
  );
  if (!found || !right) {
    const userId = found?.id ?? null;
    noteFailure(auth, context, account, { userId, reason: found ? 'password' : 'account' });
    return { error: '用户名或密码不对', captcha: attempt.captchaNext };
  }
  if (await auth.secondFactor.isOn(context.db, found.id)) {
    if (!input.totp) {
      await attempt.takeBack();
      return { error: '请输入动态验证码', totp: true };
    }
    // Wrong codes count as wrong passwords do, so that nobody tries them all.
    if (!(await proveCode(auth, context.db, found.id, input.totp, device))) {
      noteFailure(auth, context, account, { userId: found.id, reason: 'totp' });
      return { error: '动态验证码不对', totp: true, captcha: attempt.captchaNext };
    }
  }
  await attempt.succeeded();
  if (found.disabled) {
    noteFailure(auth, context, account, { userId: found.id, reason: 'disabled' });
    throw new Refusal('account_disabled');
  }
  return database.transaction(async (tx) => {
    // Comparing takes a while, a second factor longer.
    if ((await holdEntered(auth, tx, context.user, found.id)) !== found.passwordHash)
      return { error: '密码刚刚改过，请用新密码登录' };
    await takeOverGuest(auth, tx, context.user, found.id);
    const entered = {
      userId: found.id,
      agent: context.agent,
      ip: context.ip,
      way: 'password' as const,
      fresh: device === null,
    };
    return { ...(await enter(auth, tx, entered)), device: marks.deviceOf(account) };
  });
};

/**
 * Lets somebody in whose first proof was not the password: asks for the second where one is set, and
 * uses the first up. @throws Refusal account_disabled, too_many
 * @param first.used whether it was not used by another request meanwhile
 * @param first.both it proves two things by itself, as a passkey does
 */
export const admit = async (
  auth: AuthContext,
  found: { userId: number; account: string | null; disabled: boolean },
  first: { way: SignInWay; used: (tx: Transaction) => Promise<boolean>; both?: boolean },
  given: { totp?: string | undefined; device?: string | undefined; devices?: string | undefined },
  context: Context,
): Promise<SignedIn> => {
  const { marks } = auth;
  const { userId } = found;
  const account = found.account ?? '';
  const fails = (reason: FailedProof) => noteFailure(auth, context, account, { userId, reason });
  if (found.disabled) {
    fails('disabled');
    throw new Refusal('account_disabled');
  }
  const known = [given.device, ...(given.devices?.split(' ') ?? [])].find((each) =>
    marks.isDeviceOf(account, each),
  );
  if (!first.both && (await auth.secondFactor.isOn(context.db, userId))) {
    if (!given.totp) return { error: '请输入动态验证码', totp: true };
    if (!(await proveCode(auth, context.db, userId, given.totp, known ?? null))) {
      fails('totp');
      return { error: '动态验证码不对', totp: true };
    }
  }
  return auth.db.transaction(async (tx) => {
    // A new password takes ways in away: either before they are used here, or what came in by them too.
    await holdEntered(auth, tx, context.user, userId);
    if (!(await first.used(tx))) return { error: '这个验证已经用过，请重新来一次' };
    await takeOverGuest(auth, tx, context.user, userId);
    const signedIn = await enter(auth, tx, {
      userId,
      agent: context.agent,
      ip: context.ip,
      way: first.way,
      fresh: known === undefined,
    });
    return { ...signedIn, ...(account === '' ? {} : { device: marks.deviceOf(account) }) };
  });
};

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

/** @throws Refusal words_blocked, too_many */
export const register = async (
  auth: AuthContext,
  input: Parsed<'register'>,
  context: Context,
): Promise<SignedIn> => {
  const { db: database, attempts, marks, settings } = auth;
  const fault = registrationFault(input);
  if (fault) return { error: fault };
  const shut = await auth.whyNoAccount(context.db, input.invite);
  if (shut) return { error: shut };
  const missing = await missingAgreements(context.db, input.agreed);
  if (missing) return { error: missing };
  await auth.refuseBlocked(context.db, normalName(input.name));
  const proven = await isProven(auth.secret, input);
  const attempt = await attempts.beginRegistration(context.ip, { proven });
  if (attempt.needsCaptcha && !(await solveCaptcha(context.db, input))) {
    await attempt.takeBack();
    return captchaWanted(input);
  }
  const passwordHash = await hashPassword(input.password, strangerAt(context.ip));
  const visitor = context.user?.guest ? await store.findUser(context.db, context.user.id) : null;
  const network = marks.networkOf(context.ip);
  const provider = marks.providerOf(context.ip);
  const signedIn = await database.transaction(async (tx) => {
    const userId = await store.insertUser(tx, {
      madeIn: network,
      madeInProvider: provider,
      account: normalAccount(input.account),
      userName: normalName(input.name),
      passwordHash,
      setting: visitor?.setting ?? {},
    });
    if (userId === null) return null;
    await auth.openWallet(tx, userId, settings.signupTokens);
    await takeOverGuest(auth, tx, context.user, userId);
    await keepAgreed(tx, userId, input.agreed);
    await auth.registered(tx, userId, { code: input.invite, network, provider });
    const device = marks.deviceOf(normalAccount(input.account));
    const { agent, ip } = context;
    const entered = { userId, agent, ip, way: 'register' as const };
    return { ...(await enter(auth, tx, entered)), device };
  });
  if (signedIn) return signedIn;
  await attempt.takeBack();
  return { error: '这个用户名已被使用，请换一个', captcha: attempt.needsCaptcha };
};
