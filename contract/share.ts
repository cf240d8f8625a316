import * as z from 'zod/mini';
import { call, listOf, page, sessionRef, text, time, personName } from './call.ts';
import { message } from './chat.ts';

const shareKey = text(64).check(z.regex(/^[\w-]{16,64}$/));

export const shareCalls = {
  shareSession: call({
    method: 'POST',
    path: '/api/share_session',
    access: 'guest',
    summary: '为自己的会话创建分享链接，链接里是此刻为止的消息；已有链接时更新到此刻',
    input: z.object({ session_id: sessionRef }),
    output: z.object({ key: z.string(), created_at: time }),
    codes: ['not_owner', 'private_session', 'private_forced', 'session_deleted'],
  }),
  shareInfo: call({
    method: 'GET',
    path: '/api/share_info',
    access: 'guest',
    summary: '会话现在的分享链接',
    input: z.object({ session_id: sessionRef }),
    output: z.object({ key: z.nullable(z.string()), created_at: z.nullable(time) }),
    codes: ['not_owner', 'private_session', 'session_deleted'],
  }),
  unshareSession: call({
    method: 'DELETE',
    path: '/api/share_session',
    access: 'guest',
    summary: '停止分享',
    input: z.object({ session_id: sessionRef }),
    output: z.object({}),
    codes: ['not_owner', 'private_session', 'session_deleted'],
  }),
  sharedSession: call({
    method: 'GET',
    path: '/api/shared_session',
    access: 'public',
    summary: '分享链接里的会话，旧的在前。已停止分享、会话已删除或不再公开时为 404',
    input: z.object({ key: shareKey, page }),
    output: z.object({
      title: z.string(),
      user_name: personName,
      model: z.string(),
      created_at: time,
      ...listOf(message),
    }),
  }),
};
