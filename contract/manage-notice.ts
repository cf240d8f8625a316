import * as z from 'zod/mini';
import { limits } from './limits.ts';
import { call, id, listOf, moment, page, text, time, upload, wholeNumber } from './call.ts';

const adminNotice = z.object({
  id: z.int(),
  /** Markdown. */
  content: z.string(),
  code_url: z.string(),
  bucket_key: z.string(),
  file_name: z.string(),
  /** Bytes. */
  file_size: z.int(),
  /** How many people have read it. */
  view_count: z.int(),
  created_at: time,
  /** From when people see it. */
  publish_at: time,
  /** 1: people see it already. */
  published: z.int(),
});
export type AdminNotice = z.output<typeof adminNotice>;

export const manageNoticeCalls = {
  adminNoticeList: call({
    method: 'GET',
    path: '/api/admin/notice_list',
    access: 'manager',
    summary: '管理：公告，新的在前',
    input: z.object({
      page,
      page_size: z._default(wholeNumber(1, 100), 15),
      query: z.optional(text(200)),
    }),
    output: z.object(listOf(adminNotice)),
  }),
  saveNotice: upload({
    path: '/api/admin/save_notice',
    access: 'manager',
    summary: '管理：发布或更改公告；可以带一个附件，可以定时',
    fieldsInBody: true,
    input: z.object({
      notice: text(100_000).check(z.regex(/\S/, '不能为空')),
      id: z.optional(id),
      /** ISO 8601; left out: now. */
      publish_at: z.optional(moment),
      /** 1: the attachment goes. */
      remove_file: z.optional(text(1)),
    }),
    output: z.object({ id: z.int() }),
    codes: ['manage_unsuitable', 'file_quota'],
    maxBytes: limits.managerFileBytes,
    idempotent: true,
  }),
  delNotice: call({
    method: 'POST',
    path: '/api/admin/del_notice',
    access: 'manager',
    summary: '管理：删除公告',
    input: z.object({ id }),
    output: z.object({}),
  }),
};
