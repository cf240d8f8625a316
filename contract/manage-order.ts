import { bounds } from './bounds.ts';
import * as z from 'zod/mini';
import {
  call,
  flag,
  id,
  listOf,
  page,
  slowCall,
  sortedBy,
  text,
  time,
  wholeNumber,
} from './call.ts';
import { orderTypes } from './kinds.ts';
import { invoice, orderState } from './payment.ts';
import { sorts } from './sorts.ts';

const adminOrder = z.object({
  id: z.int(),
  user_id: z.int(),
  user_name: z.string(),
  title: z.string(),
  /** Cents. */
  amount: z.int(),
  refunded_amount: z.int(),
  /** Tokens in millions. */
  trade_value: z.number(),
  /** The number; one that begins with SYS is a system adjustment. */
  order_id: z.string(),
  /** What the payment service calls the payment. */
  out_order_id: z.string(),
  paid_success: z.int(),
  state: orderState,
  provider: z.string(),
  paid_at: z.nullable(time),
  remarks: z.string(),
  created_at: time,
  type: z.int(),
  /** When its person asked for the money back and waits for an answer; what was answered then. */
  refund_asked_at: z.nullable(time),
  refund_wish: z.string(),
  refund_answer: z.string(),
});
export type AdminOrder = z.output<typeof adminOrder>;

const adminInvoice = z.extend(invoice, {
  user_id: z.int(),
  user_name: z.string(),
  /** Cents that went back after it was asked for: one that was issued is to be written anew. */
  refunded_amount: z.int(),
});
export type AdminInvoice = z.output<typeof adminInvoice>;

const difference = z.object({
  id: z.int(),
  provider: z.string(),
  number: z.string(),
  kind: z.string(),
  detail: z.string(),
  created_at: time,
  resolved_at: z.nullable(time),
  note: z.string(),
});
export type Difference = z.output<typeof difference>;

const number = text(64).check(z.minLength(1));

export const manageOrderCalls = {
  adminOrderList: call({
    method: 'POST',
    path: '/api/admin/order_list',
    access: 'manager',
    summary: '管理：订单；给出订单号时不看别的条件',
    input: z.object({
      page,
      orderId: z.optional(text(64)),
      /** From and to: days of China, both whole, or times, also in ms since 1970. */
      timeRange: z.optional(
        z.nullable(
          z
            .array(z.union([text(40), wholeNumber(1_000_000_000_000, 9_999_999_999_999)]))
            .check(z.maxLength(2)),
        ),
      ),
      /** `refund`: whose money was asked for. Also a kind of `orderTypes`, by its number; 0: all. */
      type: z._default(
        z.union([
          z.enum(['all', 'paid', 'gifted', 'wechat', 'alipay', 'sandbox', 'refund']),
          wholeNumber(0, orderTypes.app),
        ]),
        'all',
      ),
      userId: z.optional(z.nullable(z.union([id, z.literal('')]))),
      ...sortedBy(sorts.adminOrderList),
    }),
    output: z.object({
      ...listOf(adminOrder),
      /** What was paid on each day of the last 30 that has orders, cents. */
      days: z.array(z.object({ day: z.string(), orders: z.int(), amount: z.int() })),
    }),
    effect: 'none',
    logged: false,
  }),
  adminOrderInfo: call({
    method: 'GET',
    path: '/api/admin/order_info',
    access: 'manager',
    summary: '管理：一个订单的经过',
    input: z.object({ order_id: number }),
    output: z.object({
      order: adminOrder,
      events: z.array(
        z.object({
          event: z.string(),
          state: z.string(),
          detail: z.string(),
          manager_id: z.nullable(z.int()),
          created_at: time,
        }),
      ),
      refunds: z.array(
        z.object({
          number: z.string(),
          amount: z.int(),
          reason: z.string(),
          state: z.string(),
          created_at: time,
        }),
      ),
    }),
  }),
  setOrder: call({
    method: 'POST',
    path: '/api/admin/set_order',
    access: 'manager',
    summary: '管理：改订单的备注',
    input: z.object({ order_id: number, remarks: text(bounds.order.remarks.max) }),
    output: z.object({}),
  }),
  closeOrder: slowCall({
    method: 'POST',
    path: '/api/admin/close_order',
    access: 'manager',
    summary: '管理：关闭一个还没有付款的订单',
    input: z.object({ order_id: number }),
    output: z.object({}),
    codes: ['order_unsuitable', 'payment_unavailable'],
  }),
  refundOrder: slowCall({
    method: 'POST',
    path: '/api/admin/refund_order',
    access: 'manager',
    summary: '管理：退款（分）；forgive 为 1 时，已花掉的也退',
    input: z.object({
      order_id: number,
      amount: wholeNumber(1, 100_000_000),
      reason: text(bounds.order.reason.max).check(z.minLength(1)),
      forgive: z._default(flag, 0),
    }),
    output: z.object({ state: z.string() }),
    codes: ['order_unsuitable', 'balance', 'payment_unavailable'],
    idempotent: true,
  }),
  rejectRefund: call({
    method: 'POST',
    path: '/api/admin/reject_refund',
    access: 'manager',
    summary: '管理：不同意一个退款申请，说明原因',
    input: z.object({
      order_id: number,
      reason: text(bounds.order.reason.max).check(z.minLength(1)),
    }),
    output: z.object({}),
  }),
  adminInvoiceList: call({
    method: 'GET',
    path: '/api/admin/invoice_list',
    access: 'manager',
    summary: '管理：发票申请',
    input: z.object({ page, state: z.optional(z.enum(['requested', 'issued', 'rejected'])) }),
    output: z.object(listOf(adminInvoice)),
  }),
  handleInvoice: call({
    method: 'POST',
    path: '/api/admin/handle_invoice',
    access: 'manager',
    summary: '管理：开出或退回发票申请',
    input: z.object({
      id,
      state: z.enum(['issued', 'rejected']),
      remark: z._default(text(500), ''),
    }),
    output: z.object({}),
  }),
  differenceList: call({
    method: 'GET',
    path: '/api/admin/difference_list',
    access: 'manager',
    summary: '管理：对账的差异；open 为 1 时只有没处理的',
    input: z.object({ page, open: z._default(flag, 1) }),
    output: z.object(listOf(difference)),
  }),
  resolveDifference: call({
    method: 'POST',
    path: '/api/admin/resolve_difference',
    access: 'manager',
    summary: '管理：处理一条对账差异，写下怎么处理的',
    input: z.object({ id, note: text(bounds.difference.max).check(z.minLength(1)) }),
    output: z.object({}),
  }),
};
