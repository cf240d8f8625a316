import * as z from 'zod/mini';
import {
  call,
  flag,
  id,
  listOf,
  page,
  sessionRef,
  sortedBy,
  text,
  time,
  upload,
  wholeNumber,
} from './call.ts';
import { limits } from './limits.ts';
import { sorts } from './sorts.ts';

const adminSession = z.object({
  id: z.int(),
  uuid: z.string(),
  type: z.int(),
  user_id: z.int(),
  user_name: z.string(),
  model: z.string(),
  prompt: z.string(),
  summary: z.string(),
  private: z.int(),
  /** 1: it was deleted, by its owner or by a manager. */
  deleted: z.int(),
  deleted_at: z.nullable(time),
  reply_count: z.int(),
  like_count: z.int(),
  created_at: time,
  updated_at: time,
  /** With `query`: where the words were found. */
  match: z.nullable(z.object({ history_id: z.nullable(z.int()), snippet: z.string() })),
});
export type AdminSession = z.output<typeof adminSession>;

const adminMessage = z.object({
  id: z.int(),
  session_id: z.int(),
  type: z.int(),
  user_id: z.int(),
  user_name: z.string(),
  /** Of a question to people; empty: none. */
  title: z.string(),
  human: z.string(),
  /** Of a message to people: its plain text. */
  content: z.string(),
  ai: z.string(),
  reasoning: z.string(),
  model: z.string(),
  state: z.string(),
  error_message: z.string(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  deduct_tokens: z.int(),
  like_count: z.int(),
  /** Whether the manager likes it, or has it among their favourites. */
  liked: z.boolean(),
  in_favorites: z.boolean(),
  /** 0: it is on a branch that is not shown. */
  shown: z.int(),
  /** Addresses of its images. */
  images: z.array(z.string()),
  created_at: time,
  edited_at: z.nullable(time),
});
export type AdminMessage = z.output<typeof adminMessage>;

export const manageSessionCalls = {
  adminSessionList: call({
    method: 'GET',
    path: '/api/admin/session_list',
    access: 'manager',
    summary: '管理：所有会话，删除了的也在内；query 在标题与消息里查找',
    input: z.object({
      page,
      page_size: z._default(wholeNumber(1, 100), 10),
      user_id: z.optional(id),
      uuid: z.optional(sessionRef),
      query: z.optional(text(200)),
      type: z.optional(wholeNumber(0, 100)),
      model: z.optional(text(100)),
      private: z.optional(flag),
      deleted: z.optional(flag),
      ...sortedBy(sorts.adminSessionList),
    }),
    output: z.object(listOf(adminSession)),
  }),
  adminHistoryList: call({
    method: 'GET',
    path: '/api/admin/history_list',
    access: 'manager',
    summary: '管理：一个会话的消息；newest 为 1 时新的在前',
    input: z.object({ session_id: sessionRef, newest: z._default(flag, 0), page }),
    output: z.object({ ...listOf(adminMessage), session: adminSession }),
  }),
  adminDeleteSession: call({
    method: 'DELETE',
    path: '/api/admin/delete_session',
    access: 'manager',
    summary: '管理：删除会话',
    input: z.object({ session_id: sessionRef }),
    output: z.object({}),
    codes: ['manage_unsuitable', 'session_deleted'],
  }),
  adminDeleteHistory: call({
    method: 'DELETE',
    path: '/api/admin/delete_history',
    access: 'manager',
    summary: '管理：删除一条消息',
    input: z.object({ history_id: id }),
    output: z.object({}),
    codes: ['manage_unsuitable', 'session_busy'],
  }),
  adminUpdateHistory: call({
    method: 'POST',
    path: '/api/admin/update_history',
    access: 'manager',
    summary: '管理：更改一条消息的提问与回复',
    input: z.object({
      id,
      human: z.optional(text(limits.defaultMaxPrompt)),
      ai: z.optional(text(1_000_000)),
    }),
    output: z.object({}),
    codes: ['manage_unsuitable', 'session_busy'],
    maxBytes: 4 * 1024 * 1024,
  }),
  adminSetSession: call({
    method: 'POST',
    path: '/api/admin/set_session',
    access: 'manager',
    summary: '管理：把会话设为私有或公开',
    inQuery: ['session_id'],
    input: z.object({ session_id: sessionRef, private: flag }),
    output: z.object({}),
    codes: ['manage_unsuitable', 'private_forced', 'session_deleted'],
  }),
  adminUpload: upload({
    path: '/api/admin/upload',
    access: 'manager',
    summary:
      '管理：上传任何文件，得到可以放进公告与说明里的地址。jpg 与 png 显示为图片（至多 4 MB），其余只供下载',
    input: z.object({ ticket: z.optional(text(100)) }),
    output: z.object({ url: z.string() }),
    codes: ['upload_unreadable', 'file_quota'],
    maxBytes: limits.managerFileBytes,
  }),
};
