import * as z from 'zod/mini';
import {
  call,
  confirmation,
  confirmCodes,
  dayOf,
  flag,
  id,
  monthOf,
  text,
  time,
  uuid,
  wholeNumber,
  many,
} from './call.ts';
import { limits } from './limits.ts';

/** How much a key may use in a while, by the clock of Beijing; a minute is the last sixty seconds. */
const keyBound = z.object({
  per: z.enum(['minute', 'day', 'week', 'month']),
  /** Tokens are those of prompts and answers as they are counted; yuan what is taken of the balance. */
  unit: z.enum(['requests', 'tokens', 'yuan']),
  amount: z.number().check(z.gt(0), z.lte(1_000_000_000_000)),
});
export type KeyBound = z.output<typeof keyBound>;

/** What is set of a key beside its name; all of it may be left out, and null takes a bound away. */
const keyWishes = {
  used_for: z.optional(text(200)),
  month_limit: z.optional(z.nullable(wholeNumber(1, 1_000_000_000_000))),
  limits: z.optional(z.array(keyBound).check(z.maxLength(12))),
  at_once: z.optional(z.nullable(wholeNumber(1, 1000))),
  call_tokens: z.optional(z.nullable(wholeNumber(64, limits.apiTokensRaised))),
  /** Keep requests and answers with the log of its calls. */
  log_bodies: z.optional(z.boolean()),
  expires_at: z.optional(z.nullable(text(40))),
};

const freshKey = z.object({
  id: z.int(),
  /** The key without the account's number. */
  api_key: z.string(),
  /** What goes into the header: the account's number, a dash, the key. */
  full_key: z.string(),
  created_at: time,
});

/** An API key as its owner sees it. */
export const apiKey = z.object({
  id: z.int(),
  /** The key without the account's number before it; as `mask` where it is not kept. */
  api_key: z.string(),
  /** Its first and last ten characters, as it is shown. */
  mask: z.string(),
  /** Whether `api_key` is all of it. */
  kept: z.boolean(),
  name: z.string(),
  used_for: z.string(),
  /** It opens nothing until it is switched on again. */
  paused: z.boolean(),
  /** Its bounds, with how much of each is left. */
  limits: z.array(z.object({ ...keyBound.shape, left: z.number() })),
  /** Calls that may run at a time; null: no limit of its own. */
  at_once: z.nullable(z.int()),
  /** Tokens of one call, prompt and answer together; null: as each model has it, 4096 as a rule. */
  call_tokens: z.nullable(z.int()),
  /** Whether requests and answers are kept with the log of its calls. */
  log_bodies: z.boolean(),
  /** Until when the secret before the last change works as well; null: it does not. */
  old_until: z.nullable(time),
  /** Tokens that it may spend in a month; null: no limit of its own. */
  month_limit: z.nullable(z.int()),
  /** Tokens that it spent this month. */
  month_used: z.int(),
  /** Models that it may use; empty: all. */
  models: z.array(z.string()),
  /** Addresses it may come from, such as 203.0.113.7 or 10.0.0.0/8; empty: all. */
  addresses: z.array(z.string()),
  expires_at: z.nullable(time),
  last_used_at: z.nullable(time),
  created_at: time,
});
export type ApiKey = z.output<typeof apiKey>;

/** What a key used of a model in a day, or over a month. */
export const apiUsage = z.object({
  /** The day, YYYY-MM-DD, by the clock of Beijing. */
  date: z.string(),
  time: z.string(),
  /** As the list of keys has it. */
  api_key: z.string(),
  key_id: z.int(),
  model: z.string(),
  count: z.int(),
  /** Tokens of prompts and answers as their models count them, and the sum of both. */
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  tokens: z.int(),
  raw_prompt_tokens: z.int(),
  raw_completion_tokens: z.int(),
  /** Tokens that were taken for them. */
  real_prompt_tokens: z.int(),
  real_completion_tokens: z.int(),
  deduct_tokens: z.int(),
  /** Of the prompts, read from a cache; of the answers, thought. */
  cached_tokens: z.int(),
  reasoning_tokens: z.int(),
  /** What was taken, in yuan at the full price of tokens. */
  yuan: z.number(),
});
export type ApiUsage = z.output<typeof apiUsage>;

/** A call of the public API as the log has it, 30 days. */
export const loggedCall = z.object({
  id: uuid,
  time,
  key_id: z.int(),
  /** What its key is called, or its mask. */
  key: z.string(),
  path: z.string(),
  model: z.string(),
  status: z.int(),
  /** Empty: it was answered. */
  failure: z.string(),
  /** Until the head of the answer and until its end, ms. */
  first_ms: z.int(),
  ms: z.int(),
  prompt_tokens: z.int(),
  cached_tokens: z.int(),
  completion_tokens: z.int(),
  reasoning_tokens: z.int(),
  deduct_tokens: z.int(),
  yuan: z.number(),
  /** Whether its request and answer are kept. */
  has_bodies: z.boolean(),
});
export type LoggedCall = z.output<typeof loggedCall>;

export const developerCalls = {
  apiKeys: call({
    method: 'GET',
    path: '/api/api/api_key',
    access: 'user',
    summary: '自己的 API-KEY',
    input: z.object({}),
    output: z.object({
      list: z.array(apiKey),
      userinfo: z.object({
        user_id: z.int(),
        name: z.string(),
        chatgpt_balance: z.int(),
        vip: z.int(),
        vip_expired_at: z.nullable(time),
        /** Whether the API may be used, and if not, what to do. */
        may_use: z.boolean(),
        hint: z.string(),
        /** Keys are given whole when they are made, and never again. */
        keys_shown_once: z.boolean(),
      }),
    }),
  }),
  genKey: call({
    method: 'POST',
    path: '/api/api/gen_key',
    access: 'user',
    idempotent: true,
    secrets: ['api_key', 'full_key'],
    confirm: 'recent',
    summary: '创建 API-KEY',
    input: z.object({
      ...confirmation,
      name: z._default(text(40), ''),
      models: z._default(z.array(text(100)).check(z.maxLength(100)), []),
      addresses: z._default(z.array(text(50)).check(z.maxLength(20)), []),
      ...keyWishes,
    }),
    output: freshKey,
    codes: [...confirmCodes, 'too_many_keys'],
  }),
  updateKey: call({
    method: 'PUT',
    path: '/api/api/update_key',
    access: 'user',
    confirm: 'recent',
    summary: '修改 API-KEY 的名字和限制，立刻生效；没有写的不变',
    input: z.object({
      ...confirmation,
      id,
      name: z.optional(text(40)),
      models: z.optional(z.array(text(100)).check(z.maxLength(100))),
      addresses: z.optional(z.array(text(50)).check(z.maxLength(20))),
      ...keyWishes,
    }),
    output: z.object({}),
    codes: [...confirmCodes],
  }),
  rotateKey: call({
    method: 'POST',
    path: '/api/api/rotate_key',
    access: 'user',
    idempotent: true,
    secrets: ['api_key', 'full_key'],
    confirm: 'recent',
    summary: '换一个新的 API-KEY，限制不变；旧的还能用所选的时间',
    input: z.object({
      ...confirmation,
      id,
      /** How long the old one works as well, hours; 0: it ends now. */
      grace_hours: z._default(wholeNumber(0, limits.keyGraceHours), 24),
    }),
    output: freshKey,
    codes: [...confirmCodes],
  }),
  pauseKey: call({
    method: 'POST',
    path: '/api/api/pause_key',
    access: 'user',
    summary: '停用 API-KEY，正在使用它的请求也立刻停止；或重新打开',
    input: z.object({ id, on: z.boolean() }),
    output: z.object({}),
  }),
  delKey: call({
    method: 'DELETE',
    path: '/api/api/del_key',
    access: 'user',
    summary: '删除 API-KEY；正在使用它的请求也立刻停止',
    input: z.object({
      /** As the list shows it, or whole. */
      api_key: z.optional(text(200)),
      id: z.optional(id),
    }),
    output: z.object({ deleted: z.boolean() }),
  }),
  keysShownOnce: call({
    method: 'POST',
    path: '/api/api/keys_shown_once',
    access: 'user',
    summary: '选择 API-KEY 只在创建时显示一次；打开时，已保存的立刻不再保存',
    input: z.object({ on: z.boolean() }),
    output: z.object({}),
  }),
  apiCallLog: call({
    method: 'GET',
    path: '/api/api/call_log',
    access: 'user',
    summary: '自己 30 天内的 API 调用，新的在前',
    input: z.object({
      key_id: z.optional(id),
      /** Those alone that failed. */
      failed: z.optional(flag),
      /** The last one of the page before. */
      before: z.optional(uuid),
    }),
    output: z.object({ list: z.array(loggedCall), more: z.boolean() }),
  }),
  apiCallBodies: call({
    method: 'GET',
    path: '/api/api/call_bodies',
    access: 'user',
    summary: '一次 API 调用的请求和回答，KEY 的主人选择保存时才有',
    input: z.object({ id: uuid }),
    output: z.object({ request: z.nullable(z.string()), answer: z.nullable(z.string()) }),
  }),
  clearCallLog: call({
    method: 'DELETE',
    path: '/api/api/call_log',
    access: 'user',
    writes: many,
    summary: '清空自己的 API 调用记录；用量与账目不变',
    input: z.object({}),
    output: z.object({}),
  }),
  apiUsage: call({
    method: 'GET',
    path: '/api/api/usage',
    access: 'user',
    summary: '一个月里每天的，或一天里每个模型的 API 用量',
    input: z.object({ month: z.optional(monthOf), day: z.optional(dayOf), key_id: z.optional(id) }),
    output: z.object({ list: z.array(apiUsage) }),
  }),
};
