import { bounds } from './bounds.ts';
import * as z from 'zod/mini';
import { call, flag, id, listOf, moment, page, sortedBy, text, time, wholeNumber } from './call.ts';
import { sorts } from './sorts.ts';

/** An account as managers see it (document 3 §3). */
const adminUser = z.object({
  user_id: z.int(),
  account: z.string(),
  user_name: z.string(),
  email: z.string(),
  avatar: z.string(),
  guest: z.int(),
  session_blacklist: z.int(),
  session_private: z.int(),
  disabled: z.int(),
  chatgpt_balance: z.int(),
  vip: z.int(),
  vip_expired_at: z.nullable(time),
  vip_balance: z.int(),
  subscribe: z.int(),
  rank: z.enum(['', 'manager', 'owner']),
  /** Of those of people_groups; null: none. */
  people_group: z.nullable(z.int()),
  created_at: time,
});
export type AdminUser = z.output<typeof adminUser>;

const ledgerLine = z.object({
  id: z.int(),
  pot: z.string(),
  kind: z.string(),
  amount: z.int(),
  reference: z.string(),
  remark: z.string(),
  created_at: time,
});
export type LedgerLine = z.output<typeof ledgerLine>;

const tokensMost = 100_000_000_000;

export const manageUserCalls = {
  adminUserList: call({
    method: 'GET',
    path: '/api/admin/user_list',
    access: 'manager',
    summary: '管理：用户，新的在前；query 查用户名与名称',
    input: z.object({
      page,
      page_size: z._default(wholeNumber(1, 100), 10),
      query: z.optional(text(100)),
      user_id: z.optional(id),
      people_group: z.optional(id),
      kind: z.optional(z.enum(['account', 'guest', 'vip', 'subscriber', 'disabled', 'manager'])),
      ...sortedBy(sorts.adminUserList),
    }),
    output: z.object(listOf(adminUser)),
  }),
  adminUserInfo: call({
    method: 'GET',
    path: '/api/admin/user_info',
    access: 'manager',
    summary: '管理：一个人的资料与用量',
    input: z.object({ user_id: id }),
    output: z.object({
      user: adminUser,
      figures: z.object({
        session_count: z.int(),
        history_count: z.int(),
        image_count: z.int(),
        /** Tokens spent today, in 30 days and in all. */
        today_tokens: z.int(),
        month_tokens: z.int(),
        total_tokens: z.int(),
        /** Of all that is stored for the person: uploads, images, training files. */
        file_bytes: z.int(),
        login_count: z.int(),
        last_seen_at: z.nullable(time),
      }),
      /** The last 30 days, those without a spend left out. */
      days: z.array(z.object({ days: z.string(), tokens: z.int() })),
    }),
  }),
  adminUserLedger: call({
    method: 'GET',
    path: '/api/admin/user_ledger',
    access: 'manager',
    summary: '管理：一个人的账本，新的在前',
    input: z.object({ user_id: id, page, ...sortedBy(sorts.adminUserLedger) }),
    output: z.object(listOf(ledgerLine)),
  }),
  updateUser: call({
    method: 'POST',
    path: '/api/admin/update_user',
    access: 'manager',
    summary: '管理：禁止新建会话、禁用或启用账号、修改名称、换用户组',
    input: z.object({
      user_id: id,
      session_blacklist: z.optional(flag),
      disabled: z.optional(flag),
      user_name: z.optional(text(40)),
      /** Null: none. */
      people_group: z.optional(z.nullable(id)),
    }),
    output: z.object({}),
    codes: ['manage_unsuitable', 'words_blocked'],
  }),
  updateTokens: call({
    method: 'POST',
    path: '/api/admin/update_tokens',
    access: 'manager',
    summary: '管理：增加（add 为 1）或扣除余额，附备注',
    input: z.object({
      user_id: id,
      tokens: wholeNumber(1, tokensMost),
      add: z._default(flag, 1),
      remarks: z._default(text(bounds.person.remarks.max), ''),
    }),
    output: z.object({ chatgpt_balance: z.int() }),
    codes: ['balance', 'manage_unsuitable'],
    idempotent: true,
  }),
  activatedAbility: call({
    method: 'POST',
    path: '/api/admin/activated_ability',
    access: 'manager',
    summary: '管理：会员到期时间、源码订阅等级与赠送的余额',
    input: z.object({
      user_id: id,
      /** ISO 8601; null or empty: no membership; left out: as it is. */
      vip_expired_at: z.optional(z.nullable(moment)),
      subscribe: z.optional(wholeNumber(0, 2)),
      /** Tokens on top. */
      gift: z.optional(wholeNumber(0, tokensMost)),
      remarks: z._default(text(bounds.person.remarks.max), ''),
    }),
    output: z.object({}),
    codes: ['manage_unsuitable'],
    idempotent: true,
  }),
  updateUserSession: call({
    method: 'POST',
    path: '/api/admin/update_user_session',
    access: 'manager',
    summary: '管理：强制私有，或把已有的会话都设为私有',
    input: z.object({
      user_id: id,
      session_private: z.optional(flag),
      /** 1: all of the person's sessions become private now. */
      history_private: z.optional(flag),
    }),
    output: z.object({ changed: z.int() }),
  }),
  resetPassword: call({
    method: 'POST',
    path: '/api/admin/reset_password',
    access: 'manager',
    summary: '管理：重设密码；不给出时做一个，只显示这一次',
    input: z.object({ user_id: id, password: z.optional(text(200)) }),
    output: z.object({ password: z.string() }),
    codes: ['manage_unsuitable'],
  }),
  signOutUser: call({
    method: 'POST',
    path: '/api/admin/sign_out_user',
    access: 'manager',
    summary: '管理：让一个人的所有设备退出登录',
    input: z.object({ user_id: id }),
    output: z.object({ ended: z.int() }),
    codes: ['manage_unsuitable'],
  }),
};
