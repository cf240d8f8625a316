import * as z from 'zod/mini';
import { call, flag, id, listOf, page, sessionRef, text, time, uuid, wholeNumber } from './call.ts';

export const sessionTypes = { chat: 0, image: 1, people: 2, video: 4 } as const;

export const session = z.object({
  id: z.int(),
  uuid: z.string(),
  type: z.int(),
  model: z.string(),
  user_id: z.int(),
  user_name: z.string(),
  /** The title: the first question, empty before it. */
  prompt: z.string(),
  /** The beginning of the newest reply as plain text. */
  summary: z.string(),
  private: z.int(),
  reply_count: z.int(),
  like_count: z.int(),
  created_at: time,
  updated_at: time,
});
export type Session = z.output<typeof session>;

export const sessionDetail = z.extend(session, {
  /** The asker owns it. */
  owner: z.boolean(),
  /** The send box is shown: the asker may write. */
  writable: z.boolean(),
  /** The owner's membership tag. */
  owner_vip: z.boolean(),
  /** An administrator forces the owner's sessions to be private. */
  private_forced: z.boolean(),
});
export type SessionDetail = z.output<typeof sessionDetail>;

export const channel = z.enum(['public', 'private', 'favorites']);
export type Channel = z.output<typeof channel>;

export const sessionCalls = {
  sessionList: call({
    method: 'GET',
    path: '/api/session_list',
    access: 'public',
    summary: '会话列表。private 与 favorites 需要令牌',
    input: z.object({
      channel: z._default(channel, 'public'),
      page,
      page_size: z._default(wholeNumber(1, 50), 20),
      user_id: z.optional(id),
      scenario_id: z.optional(id),
      query: z.optional(text(200)),
      model: z.optional(text(100)),
    }),
    output: z.object({ ...listOf(session), models: z.array(z.string()) }),
    codes: ['account_disabled'],
  }),
  getSession: call({
    method: 'GET',
    path: '/api/get_session',
    access: 'public',
    summary: '一个会话',
    input: z.object({ uuid: sessionRef, history_id: z.optional(id) }),
    output: sessionDetail,
    codes: ['private_session', 'session_deleted', 'account_disabled'],
  }),
  newSession: call({
    method: 'POST',
    path: '/api/new_session',
    access: 'public',
    idempotent: true,
    summary: '新建会话。没有令牌时先建一个访客账号，令牌在响应头里',
    input: z.object({
      type: z._default(
        z.pipe(wholeNumber(0, 4), z.literal(0, { error: '目前只能新建聊天会话（type 0）' })),
        0,
      ),
      model: z.optional(text(100)),
      private: z.optional(flag),
    }),
    output: z.object({ uuid, id: z.int() }),
    codes: [
      'login_required',
      'monthly_limit',
      'model_unavailable',
      'account_disabled',
      'sessions_forbidden',
    ],
  }),
  setSession: call({
    method: 'POST',
    path: '/api/set_session',
    access: 'guest',
    summary: '更改会话：私有与否，或（还没有消息时）模型',
    inQuery: ['session_id'],
    input: z
      .object({
        session_id: sessionRef,
        private: z.optional(flag),
        model: z.optional(text(100)),
      })
      .check(
        z.refine((value) => value.private !== undefined || value.model !== undefined, {
          path: ['private'],
          error: '请给出 private 或 model',
        }),
      ),
    output: z.object({ result: z.boolean() }),
    codes: [
      'login_required',
      'model_locked',
      'model_unavailable',
      'private_forced',
      'private_global_off',
      'session_deleted',
      'account_disabled',
    ],
  }),
  deleteSession: call({
    method: 'DELETE',
    path: '/api/delete_session',
    access: 'guest',
    summary: '删除会话',
    input: z.object({ session_id: sessionRef }),
    output: z.object({}),
    codes: ['session_deleted', 'account_disabled'],
  }),
};
