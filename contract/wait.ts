import * as z from 'zod/mini';
import { call, text, uuid } from './call.ts';

/**
 * Something that ends later and that people want to hear of: a reply (its history_id), a job (its
 * uuid), a payment (the order's number). News (their number), the end of a membership that comes
 * (its time, ms since 1970) and an invoice (its number) come unasked.
 */
export const waitKind = z.enum(['answer', 'job', 'order', 'news', 'membership', 'invoice']);
export type WaitKind = z.output<typeof waitKind>;

export const waitRef = z.object({ kind: waitKind, id: text(64) });
export type WaitRef = z.output<typeof waitRef>;

/** How it stands. `gone`: deleted, stopped by oneself, or never one's own: nothing to tell. */
export const waitState = z.enum(['pending', 'done', 'failed', 'gone']);

/** What a notification says; the same over polling and Web Push. */
export const waitResult = z.object({
  kind: waitKind,
  id: z.string(),
  state: waitState,
  title: z.string(),
  body: z.string(),
  /** Where its click leads: a path of this page. */
  url: z.string(),
});
export type WaitResult = z.output<typeof waitResult>;

export const waitCalls = {
  waitStatus: call({
    method: 'POST',
    path: '/api/wait_status',
    access: 'guest',
    summary: '等待中的事情各自怎样了',
    input: z.object({ waits: z.array(waitRef).check(z.maxLength(50)) }),
    output: z.object({ results: z.array(waitResult) }),
    effect: 'none',
  }),
  pushKey: call({
    method: 'GET',
    path: '/api/push_key',
    access: 'guest',
    summary: '浏览器推送（Web Push）的公钥',
    input: z.object({}),
    output: z.object({ key: z.string() }),
  }),
  pushSubscribe: call({
    method: 'POST',
    path: '/api/push_subscribe',
    access: 'guest',
    summary: '这个浏览器愿意接收推送',
    input: z.object({
      endpoint: text(2000),
      keys: z.object({ p256dh: text(200), auth: text(100) }),
      /** Number of this browser, made by it once. */
      device: uuid,
    }),
    output: z.object({}),
    codes: ['address_unreachable'],
  }),
  pushUnsubscribe: call({
    method: 'POST',
    path: '/api/push_unsubscribe',
    access: 'guest',
    summary: '这个浏览器不再接收推送',
    input: z.object({ device: uuid }),
    output: z.object({}),
  }),
  watchWaits: call({
    method: 'POST',
    path: '/api/watch_waits',
    access: 'guest',
    summary: '页面不在眼前了：这些事情一结束就推送到这个浏览器。空的列表：不用推送了',
    input: z.object({ device: uuid, waits: z.array(waitRef).check(z.maxLength(50)) }),
    output: z.object({}),
  }),
};
