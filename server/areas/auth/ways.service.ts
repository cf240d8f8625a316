import type { Out, Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import type { Executor } from '#server/db/database.ts';
import { type Context, type Identity, Refusal } from '#server/http/handlers.ts';
import { maskAddress } from '../contact/address.ts';
import { contactsOf, isMailSet, isPhoneSet } from '../contact/contact.service.ts';
import { lacksPhone } from '../contact/phone-rule.service.ts';
import type { AuthContext } from './auth-deps.ts';
import { credentialsOf, findUser, isConfirmed } from './auth.store.ts';
import * as codes from './code-sign-in.ts';
import { deviceName } from './device-name.ts';
import { createManageWays } from './manage-ways.ts';
import * as passkeys from './passkeys.ts';
import { hashPassword, passwordFault } from './password.ts';
import { requireLogin } from './proofs.ts';
import * as provider from './provider-sign-in.ts';
import * as store from './ways.store.ts';

/** Events that the account shows. */
const shownEvents = 20;

/** All ways to sign in besides the password, and what of them is a person's. */
export const createWays = (auth: AuthContext) => ({
  manage: createManageWays(auth),

  list: async (db: Executor): Promise<Out<'signInWays'>> => {
    const settings = await auth.contacts.settings();
    const rows = await store.listProviders(db);
    return {
      mail: isMailSet(settings),
      phone: isPhoneSet(settings),
      passkeys: settings.passkeys === 1,
      providers: rows
        .filter(({ enabled }) => enabled)
        .map(({ id, kind, name }) => ({ id, kind, name })),
    };
  },

  means: async (db: Executor, user: Identity): Promise<Out<'signInMeans'>> => {
    const bound = await contactsOf(db, user.id);
    const linked = await store.identitiesOf(db, user.id);
    const keys = await store.passkeysOf(db, user.id);
    const events = await store.eventsOf(db, user.id, shownEvents);
    return {
      account: (await findUser(db, user.id))?.account ?? '',
      has_password: (await credentialsOf(db, user.id)) !== null,
      phone_to_write: await lacksPhone(db, user.id),
      contacts: bound.map(({ kind, value, createdAt }) => ({
        kind,
        shown: maskAddress(kind, value),
        created_at: createdAt.toISOString(),
      })),
      identities: linked.map(({ createdAt, providerId, ...row }) => ({
        ...row,
        provider_id: providerId,
        created_at: createdAt.toISOString(),
      })),
      passkeys: keys.map(({ id, name, createdAt, usedAt }) => ({
        id,
        name,
        created_at: createdAt.toISOString(),
        used_at: usedAt?.toISOString() ?? null,
      })),
      events: events.map(({ kind, way, agent, createdAt }) => ({
        kind,
        way,
        device: deviceName(agent),
        created_at: createdAt.toISOString(),
      })),
    };
  },

  /** @throws Refusal proof_unsuitable, bad_input */
  setFirstPassword: async (
    { password, password2 }: Parsed<'setFirstPassword'>,
    { db, user, agent }: Context<Identity>,
  ): Promise<Out<'setFirstPassword'>> => {
    const account = (await findUser(db, user.id))?.account ?? '';
    if (password !== password2) throw new Refusal('bad_input', 'password2：两次输入的密码不一致！');
    const fault = passwordFault(password, account);
    if (fault) throw new Refusal('bad_input', `password：${fault}`);
    if (!(await isConfirmed(db, user.jti, limits.confirmedFor)))
      throw new Refusal('proof_unsuitable', '请退出后重新登录，10 分钟内再设密码');
    const passwordHash = await hashPassword(password, user);
    await auth.db.transaction(async (tx) => {
      await requireLogin(tx, user);
      const person = await store.lockPerson(tx, user.id);
      if (!person || person.passwordHash !== null)
        throw new Refusal('proof_unsuitable', '这个账号已经有密码，请用“修改密码”');
      await store.setPassword(tx, user.id, passwordHash);
      await store.insertEvent(tx, { userId: user.id, kind: 'password', agent });
    });
    return { account };
  },

  sendSignInCode: (input: Parsed<'sendSignInCode'>, context: Context) =>
    codes.sendSignInCode(auth, input, context),
  signInByCode: (input: Parsed<'signInByCode'>, context: Context) =>
    codes.signInByCode(auth, input, context),
  resetForgotten: (input: Parsed<'resetForgotten'>, context: Context) =>
    codes.resetForgotten(auth, input, context),
  sendBindCode: (input: Parsed<'sendBindCode'>, context: Context<Identity>) =>
    codes.sendBindCode(auth, input, context),
  bindContact: (input: Parsed<'bindContact'>, context: Context<Identity>) =>
    codes.bindContact(auth, input, context),
  unbindContact: (input: Parsed<'unbindContact'>, context: Context<Identity>) =>
    codes.unbindContact(auth, input, context),

  beginProvider: (id: number, context: Context) => provider.beginProvider(auth, id, context),
  linkProvider: (id: number, context: Context<Identity>) =>
    provider.linkProvider(auth, id, context),
  finishProvider: (input: Parsed<'finishProvider'>, context: Context) =>
    provider.finishProvider(auth, input, context),
  unlinkProvider: (id: number, context: Context<Identity>) =>
    provider.unlinkProvider(auth, id, context),

  passkeyQuestion: (context: Context) => passkeys.passkeyQuestion(auth, context),
  signInByPasskey: (input: Parsed<'signInByPasskey'>, context: Context) =>
    passkeys.signInByPasskey(auth, input, context),
  beginPasskey: (input: Parsed<'beginPasskey'>, context: Context<Identity>) =>
    passkeys.beginPasskey(auth, input, context),
  savePasskey: (input: Parsed<'savePasskey'>, context: Context<Identity>) =>
    passkeys.savePasskey(auth, input, context),
  removePasskey: (id: number, context: Context<Identity>) =>
    passkeys.removePasskey(auth, id, context),
  renamePasskey: async (
    db: Executor,
    userId: number,
    { id, name }: Parsed<'renamePasskey'>,
  ): Promise<void> => {
    const given = name.trim();
    if (given === '') throw new Refusal('bad_input', 'name：请填写名称');
    if (!(await store.renamePasskey(db, userId, id, given)))
      throw new Refusal('not_found', '没有这个通行密钥');
  },
});

export type Ways = ReturnType<typeof createWays>;
