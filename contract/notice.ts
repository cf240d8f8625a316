import * as z from 'zod/mini';
import { call, download, id, listOf, page, text, time, wholeNumber } from './call.ts';

export const notice = z.object({
  id: z.int(),
  /** Markdown. */
  content: z.string(),
  created_at: time,
  /** Where the source code is asked for; empty: none comes with it. */
  code_url: z.string(),
  /** Names the attached file; empty: none is attached. */
  bucket_key: z.string(),
  /** Bytes of it. */
  file_size: z.int(),
});
export type Notice = z.output<typeof notice>;

export const noticeCalls = {
  noticeInfo: call({
    method: 'GET',
    path: '/api/notice_info',
    access: 'public',
    summary: '还没有读过的最新系统公告，至多一条；访客总是得到最新的一条',
    input: z.object({}),
    output: z.object({
      list: z.array(notice),
      /** How many were not read; of a visitor all. */
      unread: z.int(),
    }),
  }),
  noticeList: call({
    method: 'GET',
    path: '/api/notice_list',
    access: 'public',
    summary: '公告，新的在前',
    input: z.object({ page, page_size: z._default(wholeNumber(1, 50), 10) }),
    output: z.object(
      listOf(
        z.extend(notice, {
          read: z.int(),
          view_count: z.int(),
        }),
      ),
    ),
  }),
  downloadSourceCode: call({
    method: 'GET',
    path: '/api/download_source_code',
    access: 'guest',
    summary: '公告所附源码的下载地址，没有订阅时为空；与它一起给出的许可证和第三方声明的地址',
    input: z.object({ id }),
    output: z.object({
      url: z.string(),
      /** Of the licence that the source code is under, and of the third-party notices; plain text. */
      license: z.string(),
      notices: z.string(),
    }),
  }),
  noticeFile: download({
    path: '/api/notice_file',
    access: 'guest',
    summary: '公告的附件（源码），订阅者可以下载；地址由 download_source_code 给出',
    input: z.object({ id, ticket: z.optional(text(100)) }),
    output: z.string(),
  }),
  updateNotice: call({
    method: 'PUT',
    path: '/api/update_notice',
    access: 'guest',
    summary: '把公告记为已读',
    input: z.object({ notice_id: id }),
    output: z.object({}),
  }),
};
