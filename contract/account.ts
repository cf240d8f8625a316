import * as z from 'zod/mini';
import { user } from './auth.ts';
import {
  call,
  confirmation,
  confirmCodes,
  download,
  flag,
  id,
  listOf,
  page,
  personName,
  text,
  time,
  upload,
  uuid,
  most,
} from './call.ts';
import { limits } from './limits.ts';

const password = text(limits.password.max * 4);

const device = z.object({
  id: z.string(),
  /** In words for people: the browser and the system. */
  name: z.string(),
  /** 1: the one that asks. */
  current: z.int(),
  created_at: time,
  /** To the day. */
  seen_at: time,
  /** 1: the account had not been used there before. */
  fresh: z.optional(z.int()),
});

const invitation = z.object({
  /** Of the link `/register?invite=…`; empty: there is none that can be used. */
  code: z.string(),
  expires_at: z.nullable(time),
  /** Tokens for each who registers. */
  tokens: z.int(),
  days: z.int(),
  /** All that came so far, and the tokens for them. */
  total: z.int(),
  total_tokens: z.int(),
  /** Of them those whose tokens come once they were active on some days. */
  waiting: z.int(),
});

export const accountCalls = {
  saveUser: call({
    method: 'POST',
    path: '/api/save_user',
    access: 'user',
    summary: '修改名称',
    input: z.object({ user_name: text(limits.name.max * 4) }),
    output: user,
    codes: ['words_blocked'],
  }),
  uploadAvatar: upload({
    path: '/api/upload_avatar',
    access: 'user',
    idempotent: true,
    summary: '上传头像，jpg 或 png',
    input: z.object({ ticket: z.optional(text(100)) }),
    output: z.object({ url: z.string(), avatar: z.string() }),
    maxBytes: limits.imageBytes,
    codes: ['upload_type', 'upload_unreadable', 'file_quota'],
  }),
  changePassword: call({
    method: 'POST',
    path: '/api/change_password',
    access: 'user',
    limit: 'credentials',
    summary: '修改密码；其他设备上的登录随即失效，API-KEY 也作废，除非 keep_keys 为 1',
    input: z.object({
      old_password: password,
      password,
      password2: password,
      keep_keys: z.optional(flag),
    }),
    output: z.object({ keys_removed: z.int() }),
    codes: ['wrong_password'],
  }),
  deviceList: call({
    method: 'GET',
    path: '/api/device_list',
    access: 'user',
    summary: '在哪些设备上登录着',
    input: z.object({}),
    output: z.object({ list: z.array(device) }),
  }),
  signOutDevice: call({
    method: 'POST',
    path: '/api/sign_out_device',
    access: 'user',
    summary: '让一个设备退出登录；不写 id 则让其他全部设备退出',
    input: z.object({ id: z.optional(uuid) }),
    output: z.object({}),
  }),
  sessionPrivate: call({
    method: 'POST',
    path: '/api/session_private',
    access: 'guest',
    writes: most,
    summary: '把自己的全部会话设为私有',
    input: z.object({}),
    output: z.object({ count: z.int() }),
  }),
  deleteAllSession: call({
    method: 'DELETE',
    path: '/api/delete_all_session',
    access: 'guest',
    writes: most,
    summary: '删除自己的全部会话',
    input: z.object({}),
    output: z.object({ count: z.int() }),
  }),
  inviteInfo: call({
    method: 'GET',
    path: '/api/invite_info',
    access: 'user',
    summary: '现在能用的邀请链接，与至今的成果',
    input: z.object({}),
    output: invitation,
  }),
  newInvite: call({
    method: 'POST',
    path: '/api/new_invite',
    access: 'user',
    summary: '一个新的邀请链接，三天有效',
    input: z.object({}),
    output: invitation,
    idempotent: true,
  }),
  inviteList: call({
    method: 'GET',
    path: '/api/invite_list',
    access: 'user',
    summary: '谁用自己的链接注册了',
    input: z.object({ page }),
    output: z.object(
      listOf(
        z.object({
          user_name: personName,
          tokens: z.int(),
          /** Its tokens come once they were active on three days; so many it were so far. */
          waiting: z.boolean(),
          active_days: z.int(),
          created_at: time,
        }),
      ),
    ),
  }),
  exportAccount: call({
    method: 'POST',
    path: '/api/export_account',
    access: 'user',
    summary: '把自己的全部数据整理成一个 zip',
    input: z.object({}),
    output: z.object({ request_id: z.string() }),
    idempotent: true,
    codes: ['too_many_jobs'],
  }),
  accountFiles: call({
    method: 'GET',
    path: '/api/account_files',
    access: 'user',
    summary: '整理好的数据，只有本人能下载，三天后删除',
    input: z.object({}),
    output: z.object({
      list: z.array(z.object({ id: z.int(), size: z.int(), created_at: time, expires_at: time })),
      /** 1: one is being put together. */
      running: z.int(),
    }),
  }),
  accountFile: download({
    path: '/api/account_file',
    access: 'user',
    summary: '下载整理好的数据',
    input: z.object({ id, ticket: z.optional(text(100)) }),
    output: z.string(),
  }),
  deleteAccount: call({
    method: 'POST',
    path: '/api/delete_account',
    access: 'user',
    writes: most,
    limit: 'credentials',
    confirm: 'always',
    summary: '注销账号：个人信息与会话立即删除，订单不具名地保留',
    input: z.object(confirmation),
    output: z.object({}),
    codes: [...confirmCodes, 'order_unsuitable'],
  }),
};
