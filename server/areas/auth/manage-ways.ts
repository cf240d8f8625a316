import type { Out, Parsed } from '#contract/calls.ts';
import type { SignInSettings } from '#contract/sign-in.ts';
import { usualSignIn } from '#contract/sign-in.ts';
import type { Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { type Context, type Identity, Refusal } from '#server/http/handlers.ts';
import {
  readSettings,
  requireAddress,
  sealedAs,
  writeSettings,
} from '../contact/contact.service.ts';
import type { AuthContext } from './auth-deps.ts';
import { providerSecret, redirectUrl } from './provider-sign-in.ts';
import * as store from './ways.store.ts';

const mostProviders = 20;

const settingNames = Object.keys(usualSignIn) as (keyof SignInSettings)[];
const settingsIn = (all: SignInSettings): SignInSettings =>
  Object.fromEntries(settingNames.map((name) => [name, all[name]])) as unknown as SignInSettings;

/** What is missing before it can be switched on, in Chinese; null: nothing. */
const missingIn = (after: SignInSettings, has: { mail: boolean; sms: boolean }): string | null => {
  if (after.mail_enabled === 1) {
    if (after.smtp_host === '') return 'smtp_host：打开邮件之前，请填写 SMTP 的主机';
    if (after.smtp_user === '' && after.mail_from === '') return 'mail_from：请填写发件人';
    if (/[\r\n]/.test(after.mail_from)) return 'mail_from：发件人只能是一行';
  }
  if (after.sms_provider !== '') {
    if (after.sms_key_id === '') return 'sms_key_id：请填写短信服务的密钥编号';
    if (!has.sms) return 'sms_secret：请填写短信服务的密钥';
    if (after.sms_sign === '') return 'sms_sign：请填写短信签名';
    if (after.sms_template === '') return 'sms_template：请填写短信模板';
    if (after.sms_provider === 'tencent' && after.sms_app === '')
      return 'sms_app：请填写 SmsSdkAppId';
  }
  if (after.phone_to_write === 1 && after.sms_provider === '')
    return 'phone_to_write：要求绑定手机号之前，请先设置短信';
  return null;
};

/** What owners set: whoever sets where codes go, or who vouches for whom, could enter as anybody. */
export const createManageWays = (auth: AuthContext) => {
  const state = async (db: Executor, origin: string): Promise<Out<'signInSettings'>> => {
    const settings = await readSettings(db);
    const people = await store.peopleOfProviders(db);
    return {
      settings: settingsIn(settings),
      has_smtp_password: settings.smtpPassword !== null,
      has_sms_secret: settings.smsSecret !== null,
      mails: await auth.contacts.sentToday('mail'),
      messages: await auth.contacts.sentToday('phone'),
      providers: (await store.listProviders(db)).map((row) => ({
        id: row.id,
        kind: row.kind,
        name: row.name,
        issuer: row.issuer,
        client_id: row.clientId,
        agent_id: row.agentId,
        scope: row.scope,
        enabled: row.enabled ? (1 as const) : (0 as const),
        has_secret: row.clientSecret !== null,
        redirect_url: redirectUrl(origin, row.id),
        people: people.get(row.id) ?? 0,
      })),
    };
  };

  return {
    state: ({ db, origin }: Context<Identity>) => state(db, origin),

    /** @throws Refusal bad_input */
    save: (
      { smtp_password: smtp, sms_secret: sms, ...change }: Parsed<'saveSignIn'>,
      { db, origin, noteAct }: Context<Identity>,
    ) =>
      inTransaction(db, async (tx) => {
        const before = await readSettings(tx);
        const missing = missingIn(
          { ...settingsIn(before), ...change },
          {
            mail: before.smtpPassword !== null || Boolean(smtp),
            sms: before.smsSecret !== null || Boolean(sms),
          },
        );
        if (missing) throw new Refusal('bad_input', missing);
        await writeSettings(tx, change, {
          ...(smtp ? { smtpPassword: auth.keys.seal(smtp, sealedAs.mail) } : {}),
          ...(sms ? { smsSecret: auth.keys.seal(sms, sealedAs.phone) } : {}),
        });
        const after = await state(tx, origin);
        noteAct({ subject: 'sign_in', from: settingsIn(before), to: after.settings });
        return after;
      }),

    trySending: async (
      { kind, to }: Parsed<'trySending'>,
      { noteAct }: Context<Identity>,
    ): Promise<Out<'trySending'>> => {
      const told = await auth.contacts.trySending(kind, requireAddress(kind, to));
      noteAct({ subject: 'sign_in', to: { kind, said: told.said } });
      return told;
    },

    /** @throws Refusal bad_input, not_found, manage_unsuitable */
    saveProvider: (
      { id, client_secret: secret, ...given }: Parsed<'saveProvider'>,
      { db, origin, noteAct }: Context<Identity>,
    ) =>
      inTransaction(db, async (tx) => {
        if (given.kind === 'oidc' && given.issuer === '')
          throw new Refusal('bad_input', 'issuer：请填写颁发者的地址');
        if (given.kind === 'wecom' && given.agent_id === '')
          throw new Refusal('bad_input', 'agent_id：请填写应用的 AgentId');
        const before = id === undefined ? null : await store.findProvider(tx, id);
        if (id !== undefined && !before) throw new Refusal('not_found', '没有这个服务');
        // The secret is sealed for its kind, and what people linked belongs to it.
        if (before && before.kind !== given.kind)
          throw new Refusal('manage_unsuitable', '种类不能更改，请另外添加一个');
        if (!before && (await store.listProviders(tx)).length >= mostProviders)
          throw new Refusal('manage_unsuitable', `最多 ${mostProviders} 个服务`);
        if (given.kind !== 'oidc' && !secret && !before?.clientSecret)
          throw new Refusal('bad_input', 'client_secret：请填写密钥');
        const kept = await store.putProvider(tx, id, {
          kind: given.kind,
          name: given.name.trim(),
          issuer: given.issuer.replace(/\/+$/, given.kind === 'oidc' ? '$&' : ''),
          clientId: given.client_id.trim(),
          agentId: given.agent_id.trim(),
          scope: given.scope.trim(),
          enabled: given.enabled === 1,
          ...(secret ? { clientSecret: auth.keys.seal(secret, providerSecret(given.kind)) } : {}),
        });
        noteAct({
          subject: `sign_in_provider:${kept}`,
          from: before && {
            name: before.name,
            issuer: before.issuer,
            client_id: before.clientId,
            enabled: before.enabled,
          },
          to: {
            name: given.name,
            issuer: given.issuer,
            client_id: given.client_id,
            enabled: given.enabled === 1,
          },
        });
        return state(tx, origin);
      }),

    /** @throws Refusal not_found, manage_unsuitable */
    removeProvider: (id: number, { db, origin, noteAct }: Context<Identity>) =>
      inTransaction(db, async (tx) => {
        const before = await store.findProvider(tx, id);
        if (!before) throw new Refusal('not_found', '没有这个服务');
        const alone = await store.dependOn(tx, id);
        if (alone > 0)
          throw new Refusal(
            'manage_unsuitable',
            `有 ${alone} 人只能用它登录，删除之后他们进不来；可以先停用`,
          );
        await store.removeProvider(tx, id);
        noteAct({ subject: `sign_in_provider:${id}`, from: { name: before.name } });
        return state(tx, origin);
      }),
  };
};
