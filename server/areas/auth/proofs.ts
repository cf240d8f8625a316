import { limits } from '#contract/limits.ts';
import type { Executor } from '#server/db/database.ts';
import { type Authenticator, type Context, type Identity, Refusal } from '#server/http/handlers.ts';
import type { AuthContext, FailedProof } from './auth-deps.ts';
import * as store from './auth.store.ts';
import { verifyPassword } from './password.ts';
import { isRecoveryCode } from './second-factor.service.ts';

/** One line for whoever watches; the account's name only as a digest. */
export const noteFailure = (
  { signInFailed, marks }: AuthContext,
  { log, ip }: Pick<Context, 'log' | 'ip'>,
  account: string,
  found: { userId: number | null; reason: FailedProof },
): void => {
  signInFailed(found.reason);
  log.warn(
    { event: 'sign_in_failed', account: marks.digestOf(account), ip, ...found },
    'a sign-in failed',
  );
};

/**
 * Compares the password of somebody who is signed in, and notes with their login that it was
 * right. Gives its hash. @throws Refusal wrong_password, too_many
 */
export const provePassword = async (
  auth: AuthContext,
  user: Identity,
  password: string,
  context: Pick<Context, 'log' | 'ip'>,
): Promise<string> => {
  const kept = await store.credentialsOf(auth.db, user.id);
  const account = kept?.account ?? '';
  const proof = await auth.attempts.beginProof(user.jti, account, context.ip);
  if (!(await verifyPassword(kept?.passwordHash ?? null, password, user)) || kept === null) {
    noteFailure(auth, context, account, { userId: user.id, reason: 'confirm' });
    throw new Refusal('wrong_password');
  }
  await proof.succeeded();
  await store.confirmLogin(auth.db, user.jti);
  return kept.passwordHash;
};

/** See `Authenticator`. */
export const confirm = async (
  auth: AuthContext,
  ...[how, password, context]: Parameters<Authenticator['confirm']>
): Promise<void> => {
  if (password) {
    await provePassword(auth, context.user, password, context);
    return;
  }
  const { confirmedFor } = limits;
  const recent = await store.isConfirmed(auth.db, context.user.jti, confirmedFor);
  if (how === 'recent' && recent) return;
  // Who has no password proves it by having signed in just now.
  if ((await store.credentialsOf(auth.db, context.user.id)) === null) {
    if (recent) return;
    throw new Refusal(
      'wrong_password',
      '这个账号还没有密码：请退出后重新登录，10 分钟内再做这一步',
    );
  }
  throw new Refusal('confirm_needed', undefined, { confirm: true });
};

/**
 * That whoever is given a new way in is still signed in: a login that ends, as with the password, takes
 * those along that were there, and this one is there by then or not made. @throws Refusal unauthorized
 */
export const requireLogin = async (tx: Executor, user: Identity): Promise<void> => {
  if (!(await store.holdLogin(tx, user)))
    throw new Refusal('unauthorized', '登录已失效，请重新登录');
};

/**
 * Uses a code up, of which so many may be wrong. Recovery codes are too long to be guessed, and are
 * what is left to an owner while somebody guesses the others: they are not counted.
 * @throws Refusal too_many
 */
export const proveCode = async (
  { attempts, secondFactor }: AuthContext,
  db: Executor,
  userId: number,
  code: string,
  from: string | null,
): Promise<boolean> => {
  if (isRecoveryCode(code)) return secondFactor.prove(db, userId, code);
  const tries = await attempts.beginCode(userId, from);
  const right = await secondFactor.prove(db, userId, code);
  if (right) await tries.succeeded();
  return right;
};

/**
 * Where a second factor is on, a code of it is used up before what would make it needless.
 * @throws Refusal totp_wrong, too_many
 */
export const requireCode = async (
  auth: AuthContext,
  db: Executor,
  { id, jti }: Identity,
  code: string,
): Promise<void> => {
  if ((await auth.secondFactor.isOn(db, id)) && !(await proveCode(auth, db, id, code, jti)))
    throw new Refusal('totp_wrong');
};
