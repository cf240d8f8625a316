import * as z from 'zod/mini';
import { call, listOf, page, time } from './call.ts';
import { named } from './text-fields.ts';

export const memo = z.object({ id: z.int(), text: z.string(), created_at: time });

export const memoCalls = {
  memoList: call({
    method: 'GET',
    path: '/api/memo_list',
    access: 'user',
    summary: '自己的便笺，新的在前',
    input: z.object({ page }),
    output: z.object(listOf(memo)),
    codes: ['account_disabled', 'login_required'],
  }),
  saveMemo: call({
    method: 'POST',
    path: '/api/save_memo',
    access: 'user',
    summary: '写一张便笺',
    input: z.object({ text: named(1, 200) }),
    output: z.object({ id: z.int() }),
    idempotent: true,
    codes: ['account_disabled', 'login_required'],
  }),
  countMemos: call({
    method: 'POST',
    path: '/api/count_memos',
    access: 'user',
    summary: '数一数自己的便笺，数好了通知',
    input: z.object({}),
    output: z.object({ request_id: z.string() }),
    idempotent: true,
    codes: ['account_disabled', 'login_required', 'too_many_jobs'],
  }),
  manageMemoList: call({
    method: 'GET',
    path: '/api/admin/memos',
    access: 'manager',
    summary: '管理：大家的便笺，新的在前',
    input: z.object({ page }),
    output: z.object(listOf(z.extend(memo, { user_id: z.int() }))),
  }),
};
