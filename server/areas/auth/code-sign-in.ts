import type { Out, Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import type { ContactKind } from '#contract/sign-in.ts';
import { type Context, type Identity, Refusal } from '#server/http/handlers.ts';
import { addressFault, maskAddress, normalAddress } from '../contact/address.ts';
import type { KnownPlace } from '../contact/code-limits.ts';
import * as contact from '../contact/contact.service.ts';
import type { AuthContext } from './auth-deps.ts';
import { wasEnteredFrom } from './auth.store.ts';
import { solveCaptcha } from './captcha.ts';
import { contactWords, dropLatelyBound } from './lately-bound.ts';
import { requireAnotherWay } from './other-ways.ts';
import { hashPassword, passwordFault, strangerAt } from './password.ts';
import { confirm, noteFailure, proveCode, requireLogin } from './proofs.ts';
import { admit, captchaWanted } from './sign-in.ts';
import * as store from './ways.store.ts';

const wrongCode = '验证码不对或已过期，请再看一看，或重新获取';

/** Where a code is asked for, if the account behind its address was entered from there before. */
const knownPlace = async (
  { marks }: AuthContext,
  owner: { userId: number; account: string } | null,
  devices: string | undefined,
  { db, ip }: Context,
): Promise<KnownPlace | null> => {
  // Asked for nobody, too: how long it takes would tell.
  const near = await wasEnteredFrom(db, owner?.userId ?? 0, marks.networkOf(ip));
  if (!owner) return null;
  const own = devices?.split(' ').some((device) => marks.isDeviceOf(owner.account, device));
  return own ? 'device' : near ? 'network' : null;
};

/** Sends a code to whoever has bound an address; says the same where nobody has. @throws Refusal too_many */
export const sendSignInCode = async (
  auth: AuthContext,
  input: Parsed<'sendSignInCode'>,
  context: Context,
): Promise<Out<'sendSignInCode'>> => {
  const { contacts } = auth;
  const { kind, purpose } = input;
  if (!contact.isSet(await contacts.settings(), kind)) return { error: '这里没有打开这种登录方式' };
  const value = normalAddress(kind, input.to);
  if (value === null) return { error: addressFault(kind) };
  if (!(await solveCaptcha(context.db, input))) return captchaWanted(input);
  const owner = await contact.ownerOf(context.db, kind, value);
  const userId = owner && !owner.disabled ? owner.userId : null;
  const place = await knownPlace(auth, owner, input.devices, context);
  const asked = { kind, value, purpose, userId, askedBy: null, ip: context.ip, place };
  return { code_id: await contacts.ask(asked) };
};

/** The person whom a code and its address stand for. @throws Refusal too_many */
const proved = async (
  auth: AuthContext,
  input: { kind: ContactKind; to: string; code_id: string; code: string },
  purpose: 'sign_in' | 'reset',
  context: Context,
) => {
  const { kind, code, code_id: id } = input;
  const value = normalAddress(kind, input.to);
  if (value === null || !contact.isSet(await auth.contacts.settings(), kind)) return null;
  const userId = await auth.contacts.prove({ kind, value, purpose, id, code, ip: context.ip });
  const owner = userId === null ? null : await contact.ownerOf(context.db, kind, value);
  if (owner && owner.userId === userId) return owner;
  noteFailure(auth, context, value, { userId, reason: 'code' });
  return null;
};

/** @throws Refusal account_disabled, too_many */
export const signInByCode = async (
  auth: AuthContext,
  input: Parsed<'signInByCode'>,
  context: Context,
): Promise<Out<'signInByCode'>> => {
  const owner = await proved(auth, input, 'sign_in', context);
  if (!owner) return { error: wrongCode };
  const used = (tx: Parameters<typeof auth.contacts.use>[0]) =>
    auth.contacts.use(tx, input.code_id);
  return admit(auth, owner, { way: input.kind, used }, input, context);
};

const resetLetter = (account: string, { gone, still }: { gone: string[]; still: string[] }) =>
  [
    `账号 ${account} 的密码刚刚用验证码重置，全部设备都退出了登录。`,
    ...(gone.length > 0
      ? [
          `最近 ${limits.latelyBoundDays} 天内绑定的${gone.join('、')}已解除；是您自己绑定的，请登录后再绑定一次。`,
        ]
      : []),
    ...(still.length > 0
      ? [`还能登录这个账号的有${still.join('、')}；不是您的，请登录后在“账户 → 安全”里解除。`]
      : []),
    '不是您本人的操作，请马上再重置一次，并检查绑定的邮箱与手机号。',
  ].join('\n\n');

/**
 * A new password by a code; all logins end, and ways in that were added lately.
 * @throws Refusal too_many
 */
export const resetForgotten = async (
  auth: AuthContext,
  input: Parsed<'resetForgotten'>,
  context: Context,
): Promise<Out<'resetForgotten'>> => {
  if (input.password !== input.password2) return { error: '两次输入的密码不一致！' };
  const fault = passwordFault(input.password);
  if (fault) return { error: fault };
  const owner = await proved(auth, input, 'reset', context);
  if (!owner || owner.disabled) return { error: wrongCode };
  const { userId, account } = owner;
  const common = passwordFault(input.password, account);
  if (common) return { error: common };
  if (await auth.secondFactor.isOn(context.db, userId)) {
    if (!input.totp) return { error: '请输入动态验证码', totp: true };
    if (!(await proveCode(auth, context.db, userId, input.totp, null))) {
      noteFailure(auth, context, account, { userId, reason: 'totp' });
      return { error: '动态验证码不对', totp: true };
    }
  }
  const passwordHash = await hashPassword(input.password, strangerAt(context.ip));
  const bound = await auth.db.transaction(async (tx) => {
    if (!(await auth.contacts.use(tx, input.code_id))) return null;
    await store.setPassword(tx, userId, passwordHash);
    await store.endLogins(tx, userId);
    await contact.dropCodesOf(tx, userId);
    await store.dropPasskeysOf(tx, userId);
    if (input.keep_keys !== 1) await auth.deleteKeysOf(tx, userId);
    const { agent } = context;
    await store.insertEvent(tx, { userId, kind: 'reset', way: input.kind, agent });
    return dropLatelyBound(tx, userId, { by: input.kind, agent });
  });
  if (!bound) return { error: wrongCode };
  context.log.info({ event: 'password_reset', userId, way: input.kind }, 'a password was reset');
  await auth.contacts.tell(userId, '鹊桥：您的密码已重置', `${resetLetter(account, bound)}\n`);
  if (bound.mail !== null)
    auth.contacts.write(
      bound.mail,
      '鹊桥：您的邮箱已解除绑定',
      `账号 ${account} 的密码刚刚重置，最近绑定的这个邮箱随之解除。\n\n是您自己的账号，请登录后再绑定一次。\n`,
    );
  return { account, ...(bound.gone.length > 0 && { unbound: bound.gone }) };
};

/** @throws Refusal proof_unsuitable, too_many */
export const sendBindCode = async (
  auth: AuthContext,
  input: Parsed<'sendBindCode'>,
  context: Context<Identity>,
): Promise<Out<'sendBindCode'>> => {
  const { kind } = input;
  const { user, ip } = context;
  if (!contact.isSet(await auth.contacts.settings(), kind))
    throw new Refusal('proof_unsuitable', `这里没有打开${contactWords[kind]}`);
  const old = input.old === 1 ? await contact.contactOf(context.db, user.id, kind) : null;
  if (input.old === 1 && old === null)
    throw new Refusal('proof_unsuitable', `还没有绑定${contactWords[kind]}`);
  const value = old ?? normalAddress(kind, input.to);
  if (value === null) return { error: addressFault(kind) };
  if (!(await solveCaptcha(context.db, input))) return captchaWanted(input);
  const purpose = old === null ? ('bind' as const) : ('old' as const);
  // Whoever changes what is bound is signed in, and the old address is theirs.
  const place = old === null ? null : ('device' as const);
  const asked = { kind, value, purpose, userId: user.id, askedBy: user.id, ip, place };
  return { code_id: await auth.contacts.ask(asked) };
};

/**
 * That it is they who change what is bound: by what the old address received, or the password. What
 * is bound for the first time asks no more than other rights do. Gives the old code to use up.
 */
const proveChange = async (
  auth: AuthContext,
  input: Parsed<'bindContact'>,
  old: string | null,
  context: Context<Identity>,
): Promise<string | null> => {
  const { kind, old_code: code, old_code_id: id } = input;
  if (old !== null && code && id) {
    const tried = { kind, value: old, purpose: 'old' as const, id, code, ip: context.ip };
    if ((await auth.contacts.prove(tried)) === context.user.id) return id;
    throw new Refusal('proof_unsuitable', `old_code：${wrongCode}`);
  }
  await confirm(auth, old === null ? 'recent' : 'always', input.password, context);
  return null;
};

/** @throws Refusal proof_unsuitable, confirm_needed, wrong_password, bad_input, too_many */
export const bindContact = async (
  auth: AuthContext,
  input: Parsed<'bindContact'>,
  context: Context<Identity>,
): Promise<Out<'bindContact'>> => {
  const { kind, code, code_id: id } = input;
  const { user, ip, agent } = context;
  const value = contact.requireAddress(kind, input.to);
  const old = await contact.contactOf(context.db, user.id, kind);
  const oldCode = await proveChange(auth, input, old, context);
  const tried = { kind, value, purpose: 'bind' as const, id, code, ip };
  if ((await auth.contacts.prove(tried)) !== user.id)
    throw new Refusal('proof_unsuitable', `code：${wrongCode}`);
  await auth.db.transaction(async (tx) => {
    await requireLogin(tx, user);
    if (!(await auth.contacts.use(tx, id)) || (oldCode && !(await auth.contacts.use(tx, oldCode))))
      throw new Refusal('proof_unsuitable', `code：${wrongCode}`);
    if (!(await contact.putContact(tx, user.id, kind, value)))
      throw new Refusal(
        'proof_unsuitable',
        `to：这个${contactWords[kind]}已经绑定在别的账号上，请先在那里解除`,
      );
    // Codes that went to the old one are worth nothing any more.
    await contact.dropCodesOf(tx, user.id);
    if (kind === 'mail') await contact.showMail(tx, user.id, value);
    await store.insertEvent(tx, { userId: user.id, kind: 'bind', way: kind, agent });
  });
  const shown = maskAddress(kind, value);
  if (old !== null && old !== value && kind === 'mail')
    auth.contacts.write(
      old,
      '鹊桥：您的邮箱已更换',
      `您的账号改绑到了 ${shown}。\n\n不是您本人的操作，请马上修改密码。\n`,
    );
  return { shown };
};

/** @throws Refusal proof_unsuitable, not_found */
export const unbindContact = async (
  auth: AuthContext,
  { kind }: Parsed<'unbindContact'>,
  { user, agent }: Context<Identity>,
): Promise<void> => {
  await auth.db.transaction(async (tx) => {
    await requireAnotherWay(tx, user.id, { contact: kind });
    if (!(await contact.removeContact(tx, user.id, kind)))
      throw new Refusal('not_found', `还没有绑定${contactWords[kind]}`);
    await contact.dropCodesOf(tx, user.id);
    if (kind === 'mail') await contact.showMail(tx, user.id, '');
    await store.insertEvent(tx, { userId: user.id, kind: 'unbind', way: kind, agent });
  });
};
