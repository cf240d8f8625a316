import * as z from 'zod/mini';
import { captchaAnswer, signedIn } from './auth.ts';
import {
  call,
  confirmation,
  confirmCodes,
  flag,
  id,
  text,
  time,
  uuid,
  wholeNumber,
} from './call.ts';
import { limits } from './limits.ts';

/**
 * Ways to sign in besides the password: by a code to a mail address or a phone number, by an account
 * elsewhere, by a passkey. All are off until an owner sets them.
 */
export const contactKind = z.enum(['mail', 'phone']);
export type ContactKind = z.output<typeof contactKind>;

export const providerKind = z.enum(['oidc', 'wecom', 'feishu', 'dingtalk', 'wechat']);
export type ProviderKind = z.output<typeof providerKind>;

/** How somebody came in. */
export const signInWay = z.enum(['password', 'register', 'mail', 'phone', 'provider', 'passkey']);
export type SignInWay = z.output<typeof signInWay>;

const host = text(200).check(z.regex(/^[\w.:[\]-]*$/, '应为主机名，不带 https://'));
/** An address of a service; empty: the usual one. */
const endpoint = text(200).check(z.regex(/^$|^https?:\/\/[^\s?#]+$/, '应为 https:// 开头的地址'));

const settingFields = {
  mail_enabled: flag,
  smtp_host: host,
  smtp_port: wholeNumber(1, 65_535),
  /** 1: encrypted from the start (465); 0: by STARTTLS, which is then required but on this machine. */
  smtp_secure: flag,
  smtp_user: text(200),
  /** Such as `鹊桥 <no-reply@example.com>`. */
  mail_from: text(200),
  /** Letters in a day, all people together. */
  mail_daily: wholeNumber(1, 1_000_000),
  sms_provider: z.enum(['', 'aliyun', 'tencent']),
  sms_key_id: text(200),
  /** Of 腾讯云: SmsSdkAppId. */
  sms_app: text(100),
  sms_sign: text(100),
  sms_template: text(100),
  sms_region: text(60),
  sms_endpoint: endpoint,
  sms_daily: wholeNumber(1, 1_000_000),
  /** Nobody writes in public without a bound phone number. */
  phone_to_write: flag,
  passkeys: flag,
  /** Who comes from an account elsewhere for the first time is given an account here. */
  provider_register: flag,
};
const stored = z.object(settingFields);
export type SignInSettings = z.output<typeof stored>;

export const usualSignIn: SignInSettings = {
  mail_enabled: 0,
  smtp_host: '',
  smtp_port: 465,
  smtp_secure: 1,
  smtp_user: '',
  mail_from: '',
  mail_daily: 2000,
  sms_provider: '',
  sms_key_id: '',
  sms_app: '',
  sms_sign: '',
  sms_template: '',
  sms_region: 'ap-guangzhou',
  sms_endpoint: '',
  sms_daily: 500,
  phone_to_write: 0,
  passkeys: 0,
  provider_register: 0,
};

const provider = z.object({
  id: z.int(),
  kind: providerKind,
  name: z.string(),
  issuer: z.string(),
  client_id: z.string(),
  /** Of 企业微信. */
  agent_id: z.string(),
  scope: z.string(),
  enabled: flag,
  has_secret: z.boolean(),
  /** What the provider has to know as the address that it leads back to. */
  redirect_url: z.string(),
  people: z.int(),
});
export type ManagedProvider = z.output<typeof provider>;

const state = z.object({
  settings: stored,
  /** Secrets that are kept; they are never told. */
  has_smtp_password: z.boolean(),
  has_sms_secret: z.boolean(),
  providers: z.array(provider),
  /** Sent today. */
  mails: z.int(),
  messages: z.int(),
});
export type SignInState = z.output<typeof state>;

/** What was asked for is under way, or why it is not. */
const codeAsked = z.object({
  error: z.optional(z.string()),
  captcha: z.optional(z.boolean()),
  /** Goes along with the code. The same for an address that nobody has. */
  code_id: z.optional(z.string()),
});

const to = text(254);
const code = text(12);
const totp = z.optional(text(40));
/** JSON, as the browser's keeper of passkeys gives it. */
const passkeyAnswer = text(16_000);
const begun = z.object({ url: z.string(), state: z.string(), secret: z.string() });
const challenge = z.object({ id: z.string(), options: z.string() });

/** What earlier logins on this device gave, of any accounts, with spaces between them. */
const devices = z.optional(text(1200));

export const signInCalls = {
  signInWays: call({
    method: 'GET',
    path: '/api/sign_in_ways',
    access: 'public',
    forDisabled: true,
    summary: '除了密码，这里还能怎样登录',
    input: z.object({}),
    output: z.object({
      mail: z.boolean(),
      phone: z.boolean(),
      passkeys: z.boolean(),
      providers: z.array(z.object({ id: z.int(), kind: providerKind, name: z.string() })),
    }),
  }),
  sendSignInCode: call({
    method: 'POST',
    path: '/api/send_sign_in_code',
    access: 'public',
    forDisabled: true,
    limit: 'credentials',
    summary:
      '向绑定的邮箱或手机号发验证码，用来登录或重置密码。有没有人绑定它，回答都一样；总要图片验证码',
    input: z.object({
      kind: contactKind,
      to,
      purpose: z.enum(['sign_in', 'reset']),
      devices,
      ...captchaAnswer,
    }),
    output: codeAsked,
    effect: 'none',
  }),
  signInByCode: call({
    method: 'POST',
    path: '/api/sign_in_by_code',
    access: 'public',
    forDisabled: true,
    limit: 'credentials',
    summary: '用邮箱或手机号的验证码登录；开了动态验证码的还要它',
    input: z.object({ kind: contactKind, to, code_id: uuid, code, totp, devices }),
    output: signedIn,
    codes: ['account_disabled'],
  }),
  resetForgotten: call({
    method: 'POST',
    path: '/api/reset_forgotten',
    access: 'public',
    forDisabled: true,
    limit: 'credentials',
    summary:
      '忘记密码：用验证码设一个新的。全部登录随之失效，API-KEY 也是，除非要保留；近 30 天里比这个邮箱或手机号后绑定的也解除',
    input: z.object({
      kind: contactKind,
      to,
      code_id: uuid,
      code,
      totp,
      password: text(limits.password.max * 4),
      password2: text(limits.password.max * 4),
      keep_keys: z._default(flag, 0),
    }),
    output: z.object({
      error: z.optional(z.string()),
      totp: z.optional(z.boolean()),
      /** What one signs in with. */
      account: z.optional(z.string()),
      /** What was bound lately and is no longer, in words. */
      unbound: z.optional(z.array(z.string())),
    }),
    effect: 'none',
  }),
  signInMeans: call({
    method: 'GET',
    path: '/api/sign_in_means',
    access: 'user',
    summary:
      '自己能怎样登录：绑定的邮箱与手机号（中间遮住）、别处的账号、通行密钥，以及最近的登录与更改',
    input: z.object({}),
    output: z.object({
      account: z.string(),
      has_password: z.boolean(),
      /** Somebody without a bound phone may not write in public. */
      phone_to_write: z.boolean(),
      contacts: z.array(z.object({ kind: contactKind, shown: z.string(), created_at: time })),
      identities: z.array(
        z.object({
          id: z.int(),
          provider_id: z.int(),
          name: z.string(),
          /** What the account is called there; empty: it did not say. */
          label: z.string(),
          created_at: time,
        }),
      ),
      passkeys: z.array(
        z.object({
          id: z.int(),
          name: z.string(),
          created_at: time,
          used_at: z.nullable(time),
        }),
      ),
      events: z.array(
        z.object({ kind: z.string(), way: z.string(), device: z.string(), created_at: time }),
      ),
    }),
  }),
  sendBindCode: call({
    method: 'POST',
    path: '/api/send_bind_code',
    access: 'user',
    limit: 'credentials',
    summary: '发验证码：绑定邮箱或手机号，或（old 为 1）证明现在绑定的是自己的；总要图片验证码',
    input: z.object({
      kind: contactKind,
      to: z._default(to, ''),
      old: z._default(flag, 0),
      ...captchaAnswer,
    }),
    output: codeAsked,
    effect: 'none',
    codes: ['proof_unsuitable'],
  }),
  bindContact: call({
    method: 'POST',
    path: '/api/bind_contact',
    access: 'user',
    limit: 'credentials',
    summary: '绑定或更换邮箱、手机号：用它收到的验证码，再用旧的收到的验证码或密码证明是本人',
    input: z.object({
      kind: contactKind,
      to,
      code_id: uuid,
      code,
      old_code_id: z.optional(uuid),
      old_code: z.optional(code),
      ...confirmation,
    }),
    output: z.object({ shown: z.string() }),
    codes: [...confirmCodes, 'proof_unsuitable'],
  }),
  unbindContact: call({
    method: 'POST',
    path: '/api/unbind_contact',
    access: 'user',
    limit: 'credentials',
    confirm: 'recent',
    summary: '解除绑定的邮箱或手机号；没有别的登录方式时不行',
    input: z.object({ kind: contactKind, ...confirmation }),
    output: z.object({}),
    codes: [...confirmCodes, 'proof_unsuitable'],
  }),
  setFirstPassword: call({
    method: 'POST',
    path: '/api/set_first_password',
    access: 'user',
    limit: 'credentials',
    summary: '还没有密码的账号设一个；要在 10 分钟内登录过',
    input: z.object({
      password: text(limits.password.max * 4),
      password2: text(limits.password.max * 4),
    }),
    output: z.object({ account: z.string() }),
    codes: [...confirmCodes, 'proof_unsuitable'],
  }),
  beginProvider: call({
    method: 'POST',
    path: '/api/begin_provider',
    access: 'public',
    forDisabled: true,
    limit: 'credentials',
    summary: '开始用别处的账号登录：给出要去的地址',
    input: z.object({ id }),
    output: begun,
    effect: 'none',
  }),
  linkProvider: call({
    method: 'POST',
    path: '/api/link_provider',
    access: 'user',
    limit: 'credentials',
    confirm: 'recent',
    summary: '开始把别处的账号关联到自己的账号：给出要去的地址',
    input: z.object({ id, ...confirmation }),
    output: begun,
    effect: 'none',
    codes: confirmCodes,
  }),
  finishProvider: call({
    method: 'POST',
    path: '/api/finish_provider',
    access: 'public',
    forDisabled: true,
    limit: 'credentials',
    summary: '从别处回来：用带回来的内容登录或关联',
    input: z.object({
      id,
      /** What stands behind the question mark of the address that one was led back to. */
      query: text(8000),
      /** What this browser was given at the beginning. */
      secret: text(100),
      totp,
      device: z.optional(text(200)),
      devices,
    }),
    output: z.extend(signedIn, { linked: z.optional(z.boolean()) }),
    codes: ['account_disabled'],
  }),
  unlinkProvider: call({
    method: 'POST',
    path: '/api/unlink_provider',
    access: 'user',
    limit: 'credentials',
    confirm: 'recent',
    summary: '解除与别处账号的关联；没有别的登录方式时不行',
    input: z.object({ id, ...confirmation }),
    output: z.object({}),
    codes: [...confirmCodes, 'proof_unsuitable'],
  }),
  passkeyQuestion: call({
    method: 'POST',
    path: '/api/passkey_question',
    access: 'public',
    forDisabled: true,
    limit: 'credentials',
    summary: '用通行密钥登录：给浏览器的问题',
    input: z.object({}),
    output: challenge,
    effect: 'none',
    codes: ['proof_unsuitable'],
  }),
  signInByPasskey: call({
    method: 'POST',
    path: '/api/sign_in_by_passkey',
    access: 'public',
    forDisabled: true,
    limit: 'credentials',
    summary: '用通行密钥登录，不用写用户名；它同时算两步验证',
    input: z.object({ id: uuid, response: passkeyAnswer, devices }),
    output: signedIn,
    codes: ['account_disabled', 'proof_unsuitable'],
  }),
  beginPasskey: call({
    method: 'POST',
    path: '/api/begin_passkey',
    access: 'user',
    limit: 'credentials',
    confirm: 'recent',
    summary: '添加通行密钥：给浏览器的问题。打开了动态验证码的，要一个验证码或恢复码',
    input: z.object({ code: z._default(text(40), ''), ...confirmation }),
    output: challenge,
    effect: 'none',
    codes: [...confirmCodes, 'proof_unsuitable', 'totp_wrong'],
  }),
  savePasskey: call({
    method: 'POST',
    path: '/api/save_passkey',
    access: 'user',
    limit: 'credentials',
    summary: '添加通行密钥：浏览器的回答',
    input: z.object({ id: uuid, name: text(40), response: passkeyAnswer }),
    output: z.object({}),
    codes: ['proof_unsuitable'],
  }),
  renamePasskey: call({
    method: 'POST',
    path: '/api/rename_passkey',
    access: 'user',
    summary: '给通行密钥换个名称',
    input: z.object({ id, name: text(40).check(z.minLength(1)) }),
    output: z.object({}),
  }),
  removePasskey: call({
    method: 'POST',
    path: '/api/remove_passkey',
    access: 'user',
    limit: 'credentials',
    confirm: 'recent',
    summary: '删除一个通行密钥；没有别的登录方式时不行',
    input: z.object({ id, ...confirmation }),
    output: z.object({}),
    codes: [...confirmCodes, 'proof_unsuitable'],
  }),
  signInSettings: call({
    method: 'GET',
    path: '/api/admin/sign_in',
    access: 'owner',
    summary: '管理：登录方式的设置',
    input: z.object({}),
    output: state,
  }),
  saveSignIn: call({
    method: 'POST',
    path: '/api/admin/save_sign_in',
    access: 'owner',
    summary: '管理：更改登录方式的设置；没有写的不变，空的密码也不变',
    input: z.extend(z.partial(stored), {
      smtp_password: z.optional(text(500)),
      sms_secret: z.optional(text(500)),
    }),
    output: state,
    codes: ['manage_unsuitable'],
  }),
  trySending: call({
    method: 'POST',
    path: '/api/admin/try_sending',
    access: 'owner',
    limit: 'credentials',
    summary: '管理：发一封试的邮件或一条试的短信，并说服务怎样回答',
    input: z.object({ kind: contactKind, to }),
    output: z.object({ ok: z.boolean(), said: z.string() }),
    effect: 'none',
    codes: ['manage_unsuitable'],
  }),
  saveProvider: call({
    method: 'POST',
    path: '/api/admin/save_provider',
    access: 'owner',
    summary: '管理：添加或更改一个可以用来登录的服务；没有 id 为添加，空的密钥不变',
    input: z.object({
      id: z.optional(id),
      kind: providerKind,
      name: text(30).check(z.minLength(1)),
      issuer: z._default(endpoint, ''),
      client_id: text(200).check(z.minLength(1)),
      client_secret: z.optional(text(500)),
      agent_id: z._default(text(100), ''),
      scope: z._default(text(200), ''),
      enabled: z._default(flag, 1),
    }),
    output: state,
    codes: ['manage_unsuitable'],
  }),
  delProvider: call({
    method: 'POST',
    path: '/api/admin/del_provider',
    access: 'owner',
    summary: '管理：删除一个可以用来登录的服务，关联也随之解除；有人只能用它登录时不行',
    input: z.object({ id }),
    output: state,
    codes: ['manage_unsuitable'],
  }),
};
