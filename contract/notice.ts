import * as z from 'zod/mini';
import { call, id, time } from './call.ts';

export const notice = z.object({
  id: z.int(),
  /** Markdown. */
  content: z.string(),
  created_at: time,
  /** Address of the source code; empty: none. */
  code_url: z.string(),
  bucket_key: z.string(),
});
export type Notice = z.output<typeof notice>;

export const noticeCalls = {
  noticeInfo: call({
    method: 'GET',
    path: '/api/notice_info',
    access: 'guest',
    summary: '还没有读过的最新系统公告，至多一条',
    input: z.object({}),
    output: z.object({ list: z.array(notice) }),
    codes: ['account_disabled'],
  }),
  updateNotice: call({
    method: 'PUT',
    path: '/api/update_notice',
    access: 'guest',
    summary: '把公告记为已读',
    input: z.object({ notice_id: id }),
    output: z.object({}),
    codes: ['account_disabled'],
  }),
};
