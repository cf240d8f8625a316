import * as z from 'zod/mini';
import { agreedTo } from './agreement.ts';
import {
  call,
  confirmation,
  confirmCodes,
  decimal,
  flag,
  id,
  offlineCall,
  text,
  time,
  wholeNumber,
} from './call.ts';
import { limits } from './limits.ts';

/** The settings a person saves (document 1 §3). Sliders keep the specification's whole numbers. */
export const settings = z.object({
  /** 1–20; sent to the model as a tenth of it. */
  temperature: z.optional(wholeNumber(1, 20)),
  /** 0–10; sent to the model as a fifth of it. */
  presence_penalty: z.optional(wholeNumber(0, 10)),
  frequency_penalty: z.optional(wholeNumber(0, 10)),
  /** Earlier question-and-answer pairs that go with a question. */
  max_history: z.optional(wholeNumber(0, 10)),
  at_ai_max_history: z.optional(wholeNumber(1, 10)),
  /** 0.5–2; more becomes 1 (document 1 §5). */
  audio_speed: z.optional(
    z.pipe(
      decimal(0.5, 1000),
      z.transform((value) => (value > 2 ? 1 : value)),
    ),
  ),
  audio_voice: z.optional(text(100)),
  /** 1: Enter makes a new line and Ctrl+Enter sends. */
  disable_enter: z.optional(flag),
  /** A switch's 0 is light, its 1 dark; it comes back as it was saved. */
  dark_style: z.optional(z.union([z.enum(['system', 'light', 'dark']), flag])),
  translate: z.optional(flag),
  /** 1: new sessions are private unless their owner opens them; 0: new sessions are public. */
  private_global: z.optional(flag),
  default_chat_model: z.optional(text(100)),
  default_image_model: z.optional(text(100)),
  default_audio_model: z.optional(text(100)),
  show_token_usage: z.optional(flag),
  /** 0: no model is told of tools. */
  tools: z.optional(flag),
  /** 0: what is older is not condensed by itself where a conversation fills its model's window. */
  condense: z.optional(flag),
  /** How the page looks, for the next sign-in elsewhere. */
  theme: z.optional(z.enum(['wechat', 'telegram'])),
  /** A colour by name or as `#rrggbb`; empty: the theme's own. */
  theme_color: z.optional(
    z.string().check(z.regex(/^(|blue|green|purple|red|orange|#[\da-f]{6})$/)),
  ),
  /** Size of text, percent of the browser's own. */
  text_size: z.optional(z.union([z.literal(90), z.literal(100), z.literal(115), z.literal(130)])),
  /** Widest content, px. */
  max_width: z.optional(z.union([z.literal(960), z.literal(1080), z.literal(1200)])),
});
export type Settings = z.output<typeof settings>;

export const user = z.object({
  id: z.int(),
  /** Empty for a guest. */
  account: z.string(),
  user_name: z.string(),
  nickname: z.string(),
  email: z.string(),
  /** Address of the avatar; empty: the page draws one. */
  avatar: z.string(),
  guest: z.boolean(),
  admin: z.boolean(),
  /** A manager of the first rank. */
  owner: z.boolean(),
  vip: z.int(),
  vip_expired_at: z.nullable(time),
  /** 1: it ends within a week, and that was not seen yet. */
  vip_ending: z.int(),
  /** JSON text of `settings`. */
  setting: z.string(),
  session_private: z.int(),
  session_blacklist: z.int(),
  /** Tokens that can be spent from the balance. */
  chatgpt_balance: z.int(),
  /** What is left of the VIP's tokens of this month. */
  vip_balance: z.int(),
  /** 1: a tenth or less is left of what there was after the last tokens came, and nobody was told. */
  balance_low: z.int(),
  /** What others did that was not read yet, counted to 100. */
  news_unread: z.int(),
  subscribe: z.int(),
  /** Free sessions left this month; null: no limit. */
  sessions_left: z.nullable(z.int()),
  /** The newest login from a browser that was not used for this account before, which this login was not told of yet. */
  new_sign_in: z.optional(z.object({ name: z.string(), created_at: time })),
});
export type User = z.output<typeof user>;

export const signedIn = z.object({
  /** A refusal, to be shown in a dialog titled 提示. */
  error: z.optional(z.string()),
  /** A captcha is wanted with the next try. */
  captcha: z.optional(z.boolean()),
  /** A code of an authenticator app is wanted with the next try. */
  totp: z.optional(z.boolean()),
  profile: z.optional(user),
  token: z.optional(z.string()),
  /** To be kept by the browser and sent with the next login: others' wrong tries then cost it nothing. */
  device: z.optional(z.string()),
});

export const captchaAnswer = {
  captcha: z.optional(text(16)),
  captchaid: z.optional(text(64)),
  /** The proof of work that came with the captcha, solved: more is allowed with it. */
  pow: z.optional(text(2000)),
};

/** As a form sends it: what is left out is blank, and what is far too long is cut where that is still seen. */
const typed = (max: number) =>
  z.pipe(
    z.pipe(
      z.nullish(z.string()),
      z.transform((value) => (value ?? '').slice(0, max * 5)),
    ),
    z.string(),
  );

/** Each signs in once in place of a code, where the phone is lost. */
const recoveryCodes = z.object({ recovery_codes: z.array(z.string()) });

export const authCalls = {
  login: call({
    method: 'POST',
    path: '/api/user/login',
    access: 'public',
    forDisabled: true,
    limit: 'credentials',
    summary: '登录。失败时 data.error 说明原因',
    input: z.object({
      account: typed(limits.account.max),
      password: typed(limits.password.max),
      /** A code of an authenticator app, or a recovery code, where the account asks for one. */
      totp: z.optional(text(40)),
      /** From an earlier login of this account on this device. */
      device: z.optional(text(200)),
      ...captchaAnswer,
    }),
    output: signedIn,
    codes: ['account_disabled'],
  }),
  register: call({
    method: 'POST',
    path: '/api/user/register',
    access: 'public',
    forDisabled: true,
    limit: 'credentials',
    summary: '注册。带访客令牌时，访客的会话归入新账号',
    input: z.object({
      account: typed(limits.account.max),
      name: typed(limits.name.max),
      password: typed(limits.password.max),
      password2: typed(limits.password.max),
      /** Of somebody's link. */
      invite: z.optional(text(64)),
      /** Where this site asks for it: what they agree to, see `agreements`. */
      agreed: z.optional(agreedTo),
      ...captchaAnswer,
    }),
    output: signedIn,
    codes: ['words_blocked'],
  }),
  logout: call({
    method: 'POST',
    path: '/api/logout',
    access: 'public',
    forDisabled: true,
    summary: '退出登录，令牌即刻失效',
    input: z.object({}),
    output: z.object({}),
    effect: 'none',
  }),
  totpState: call({
    method: 'GET',
    path: '/api/totp',
    access: 'user',
    summary: '自己的动态验证码开了没有，还剩几个恢复码',
    input: z.object({}),
    output: z.object({ enabled: z.boolean(), recovery_left: z.int() }),
  }),
  totpBegin: call({
    method: 'POST',
    path: '/api/totp_begin',
    access: 'user',
    confirm: 'recent',
    summary: '为自己的动态验证码做一个新的密钥，确认之后才生效',
    input: z.object(confirmation),
    output: z.object({ secret: z.string(), url: z.string(), svg: z.string() }),
    codes: [...confirmCodes, 'totp_unsuitable'],
    effect: 'none',
  }),
  totpEnable: call({
    method: 'POST',
    path: '/api/totp_enable',
    access: 'user',
    limit: 'credentials',
    confirm: 'recent',
    summary: '打开动态验证码：用一个验证码确认，给出只显示一次的恢复码',
    input: z.object({ code: text(10), ...confirmation }),
    output: recoveryCodes,
    codes: [...confirmCodes, 'totp_unsuitable', 'totp_wrong'],
  }),
  totpDisable: call({
    method: 'POST',
    path: '/api/totp_disable',
    access: 'user',
    limit: 'credentials',
    confirm: 'recent',
    summary: '关掉动态验证码：用一个验证码或恢复码',
    input: z.object({ code: text(40), ...confirmation }),
    output: z.object({}),
    codes: [...confirmCodes, 'totp_unsuitable', 'totp_wrong'],
  }),
  totpRecovery: call({
    method: 'POST',
    path: '/api/totp_recovery',
    access: 'user',
    limit: 'credentials',
    confirm: 'recent',
    summary: '换一套新的恢复码，只显示这一次；旧的都作废。要一个验证码或恢复码',
    input: z.object({ code: text(40), ...confirmation }),
    output: recoveryCodes,
    codes: [...confirmCodes, 'totp_unsuitable', 'totp_wrong'],
  }),
  authCheck: call({
    method: 'GET',
    path: '/api/auth_check',
    access: 'public',
    summary: '当前账号是否管理员',
    input: z.object({}),
    output: z.object({ admin: z.boolean(), owner: z.boolean() }),
  }),
  captcha: call({
    method: 'GET',
    path: '/api/captcha',
    access: 'public',
    forDisabled: true,
    limit: 'credentials',
    summary: '一张新的验证码图片',
    input: z.object({}),
    output: z.object({
      captchaid: z.string(),
      svg: z.string(),
      /** A task for the computer (altcha): its solution goes along as `pow`, base64 of its JSON. */
      pow: z.object({
        algorithm: z.string(),
        challenge: z.string(),
        maxnumber: z.int(),
        salt: z.string(),
        signature: z.string(),
      }),
    }),
  }),
  ticket: call({
    method: 'POST',
    path: '/api/ticket',
    access: 'guest',
    summary:
      '一张 60 秒内有效、只能用一次的票，供不能带请求头的地址使用；给了 history_id，就只能读这一条回复',
    input: z.object({ history_id: z.optional(id) }),
    output: z.object({ ticket: z.string(), expires_at: time }),
    effect: 'none',
  }),
  userInfo: call({
    method: 'GET',
    path: '/api/user_info',
    access: 'guest',
    summary: '当前账号的资料、余额与设置',
    input: z.object({}),
    output: user,
  }),
  newSignInSeen: call({
    method: 'POST',
    path: '/api/new_sign_in_seen',
    access: 'user',
    summary: '别处新登录的提醒已经看到，这次登录不再提醒',
    input: z.object({}),
    output: z.object({}),
  }),
  saveSettings: offlineCall({
    method: 'POST',
    path: '/api/save_settings',
    access: 'guest',
    summary: '保存设置，只改给出的各项',
    input: settings,
    output: z.object({ setting: z.string() }),
  }),
};
