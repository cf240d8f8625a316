import * as z from 'zod/mini';
import { call, flag, id, listOf, page, text, time } from './call.ts';

export const safetyServices = ['', 'aliyun', 'tencent', 'netease'] as const;

const fields = {
  /** What people write to models, and what models answer, is checked. */
  text_in: flag,
  text_out: flag,
  /** Pictures that models draw. */
  pictures: flag,
  /** Pictures that people upload. */
  pictures_in: flag,
  /** Blocked words count there, too. */
  words: flag,
  service: z.enum(safetyServices),
  key_id: text(200),
  /** BusinessId, BizType or Service, as the service calls it; empty: its usual one. */
  business: text(100),
  /** The same for pictures. */
  business_pictures: text(100),
  /** Where the service is; empty: its public address. */
  address: text(300),
  /** A model that judges; empty: none does. */
  judge: text(100),
  /** What is doubtful goes on and is looked at, or is refused. */
  doubtful: z.enum(['pass', 'refuse']),
  /** The same of what could not be checked. */
  unchecked: z.enum(['pass', 'refuse']),
};
const stored = z.object(fields);
export type Safety = z.output<typeof stored>;

export const usualSafety: Safety = {
  text_in: 0,
  text_out: 0,
  pictures: 0,
  pictures_in: 0,
  words: 1,
  service: '',
  key_id: '',
  business: '',
  business_pictures: '',
  address: '',
  judge: '',
  doubtful: 'pass',
  unchecked: 'pass',
};

const safetyCase = z.object({
  id: z.int(),
  created_at: time,
  way: z.enum(['in', 'out']),
  kind: z.enum(['text', 'picture']),
  level: z.enum(['review', 'refuse']),
  reason: z.string(),
  state: z.enum(['open', 'allowed', 'confirmed']),
  appeal: z.string(),
  appealed_at: z.nullable(time),
  decided_at: z.nullable(time),
});
export type SafetyCase = z.output<typeof safetyCase>;

const state = z.object({
  settings: stored,
  /** A secret is kept; it is never told. */
  has_secret: z.boolean(),
  /** The last days, newest first. */
  days: z.array(
    z.object({
      day: z.string(),
      by: z.string(),
      checks: z.int(),
      characters: z.int(),
      reviews: z.int(),
      refusals: z.int(),
      failures: z.int(),
      /** Of one check. */
      mean_ms: z.number(),
    }),
  ),
});

export const safetyCalls = {
  safetyState: call({
    method: 'GET',
    path: '/api/admin/safety',
    access: 'manager',
    summary: '管理：内容安全检查的设置，以及近 30 天的次数、字数、用时',
    input: z.object({}),
    output: state,
  }),
  saveSafety: call({
    method: 'POST',
    path: '/api/admin/save_safety',
    access: 'manager',
    summary: '管理：更改内容安全检查；没有写的不变，密钥只写不读',
    input: z.extend(z.partial(stored), { secret: z.optional(text(500)) }),
    output: state,
    codes: ['manage_unsuitable'],
  }),
  safetyCaseList: call({
    method: 'GET',
    path: '/api/admin/safety_case_list',
    access: 'manager',
    summary: '管理：检查没有通过的和要人看的，申诉的在前；可以只看一个人或一个地址的',
    input: z.object({
      page,
      open: z._default(flag, 1),
      /** Of one person, or of one address, alone. */
      user_id: z.optional(id),
      ip: z.optional(text(64)),
    }),
    output: z.object(
      listOf(
        z.extend(safetyCase, {
          user_id: z.int(),
          user_name: z.string(),
          by: z.string(),
          excerpt: z.string(),
          /** Cases of this person in the last 30 days. */
          times: z.int(),
          /** Where they acted from last; empty: no records are kept. */
          ip: z.string(),
          /** Cases from there in the last 30 days, of whomever. */
          ip_times: z.int(),
        }),
      ),
    ),
  }),
  decideSafetyCase: call({
    method: 'POST',
    path: '/api/admin/decide_safety_case',
    access: 'manager',
    summary: '管理：看过一条：没有问题，或确认违规',
    input: z.object({ id, state: z.enum(['allowed', 'confirmed']) }),
    output: z.object({}),
  }),
  ownSafetyCases: call({
    method: 'GET',
    path: '/api/safety_cases',
    access: 'user',
    summary: '自己没有通过检查的内容，新的在前，可以申诉',
    input: z.object({ page }),
    output: z.object(listOf(safetyCase)),
  }),
  appealSafetyCase: call({
    method: 'POST',
    path: '/api/appeal_safety_case',
    access: 'user',
    summary: '对一条检查结果申诉一次',
    input: z.object({ id, appeal: z.string().check(z.trim(), z.minLength(2), z.maxLength(500)) }),
    output: z.object({}),
  }),
};
