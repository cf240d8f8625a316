import { bounds } from './bounds.ts';
import * as z from 'zod/mini';
import { call, flag, listOf, page, slowCall, text, time, wholeNumber } from './call.ts';

export const providerName = z.enum(['sandbox', 'wechat', 'alipay']);
export type ProviderName = z.output<typeof providerName>;

export const orderState = z.enum(['created', 'paid', 'closed', 'refunded']);
export type OrderState = z.output<typeof orderState>;

/** An order as its owner sees it (document 3 §3). */
export const order = z.object({
  id: z.int(),
  /** The number to ask with, one number under the names that clients know it by. */
  order_id: z.string(),
  out_order_id: z.string(),
  trade_no: z.string(),
  type: z.int(),
  title: z.string(),
  /** Cents. */
  amount: z.int(),
  refunded_amount: z.int(),
  /** Tokens in millions. */
  trade_value: z.number(),
  paid_success: z.int(),
  /** 0 not paid, 1 paid, 2 closed, 3 refunded. */
  status: z.int(),
  state: orderState,
  /** Text of the QR code; empty once it can no longer be paid. */
  url: z.string(),
  /** Empty: nothing was to be paid for it. */
  provider: z.union([providerName, z.literal('')]),
  /** What the payment service calls the payment. */
  transaction_id: z.string(),
  remarks: z.string(),
  created_at: time,
  expires_at: time,
  paid_at: z.nullable(time),
  /** Asked for an invoice: how that stands; empty: not asked for. */
  invoice: z.enum(['', 'requested', 'issued', 'rejected']),
  /** Whether its money may be asked for, was asked for, or was refused; empty: neither. */
  refund: z.enum(['', 'open', 'requested', 'rejected']),
  /** Why it was refused. */
  refund_answer: z.string(),
});
export type Order = z.output<typeof order>;

export const invoice = z.object({
  id: z.int(),
  order_ids: z.array(z.string()),
  /** Cents. */
  amount: z.int(),
  kind: z.enum(['personal', 'company']),
  title: z.string(),
  tax_number: z.string(),
  email: z.string(),
  state: z.enum(['requested', 'issued', 'rejected']),
  /** What the manager says to it; an address to fetch it from, say. */
  remark: z.string(),
  created_at: time,
  handled_at: z.nullable(time),
});
export type Invoice = z.output<typeof invoice>;

const orderNumber = text(64);

export const paymentCalls = {
  paymentInfo: call({
    method: 'GET',
    path: '/api/payment_info',
    access: 'public',
    summary: '可以用哪些方式付款',
    input: z.object({}),
    output: z.object({
      /** Empty: nothing can be bought here for now, for the reason given. */
      providers: z.array(z.object({ name: providerName, label: z.string() })),
      reason: z.string(),
      /** What 高级版 of the source code has beyond 基础版; empty: the same. */
      premium: z.array(z.string()),
    }),
  }),
  recharge: slowCall({
    method: 'POST',
    path: '/api/recharge',
    access: 'user',
    summary: '下单：token（充值，num 为百万）、vip（会员，num 为月数）、code、code-pro（源码订阅）',
    input: z.object({
      type: z.enum(['code', 'code-pro', 'token', 'vip']),
      num: z.optional(wholeNumber(-1_000_000, 1_000_000)),
      provider: z.optional(providerName),
    }),
    output: order,
    idempotent: true,
    codes: ['payment_unavailable', 'order_unsuitable'],
  }),
  tradeStatus: call({
    method: 'POST',
    path: '/api/trade_status',
    access: 'user',
    summary: '一个订单付了没有；还没有付的，会向支付服务问一次',
    input: z.object({ platform_order_id: orderNumber }),
    inQuery: ['platform_order_id'],
    output: order,
    effect: 'none',
  }),
  closeTrade: call({
    method: 'POST',
    path: '/api/close_trade',
    access: 'user',
    summary: '取消自己的一个还没有付的订单',
    input: z.object({ platform_order_id: orderNumber }),
    output: order,
    codes: ['order_unsuitable', 'payment_unavailable'],
  }),
  tradeList: call({
    method: 'GET',
    path: '/api/trade_list',
    access: 'user',
    summary: '自己的订单，新的在前',
    input: z.object({ page }),
    output: z.object(listOf(order)),
  }),
  sandboxTrade: call({
    method: 'GET',
    path: '/api/sandbox_trade',
    access: 'public',
    summary: '沙箱收银台：二维码背后的订单',
    input: z.object({ key: text(64) }),
    output: z.object({
      title: z.string(),
      amount: z.int(),
      state: z.enum(['unpaid', 'paid', 'closed']),
      trade_no: z.string(),
    }),
  }),
  sandboxSettle: call({
    method: 'POST',
    path: '/api/sandbox_settle',
    access: 'public',
    summary: '沙箱收银台：确认付款（pay 为 1）或取消',
    input: z.object({ key: text(64), pay: flag }),
    output: z.object({ state: z.enum(['unpaid', 'paid', 'closed']) }),
    codes: ['payment_unavailable'],
    effect: 'none',
  }),
  invoiceList: call({
    method: 'GET',
    path: '/api/invoice_list',
    access: 'user',
    summary: '自己申请的发票，新的在前',
    input: z.object({ page }),
    output: z.object(listOf(invoice)),
  }),
  requestInvoice: call({
    method: 'POST',
    path: '/api/request_invoice',
    access: 'user',
    summary: '为已付的订单申请发票；企业抬头要有税号',
    input: z.object({
      order_ids: z.array(orderNumber).check(z.minLength(1), z.maxLength(50)),
      kind: z.enum(['personal', 'company']),
      title: text(bounds.invoice.title.max),
      tax_number: z._default(text(bounds.invoice.taxNumber.max), ''),
      email: text(bounds.invoice.email.max),
    }),
    output: invoice,
    idempotent: true,
    codes: ['order_unsuitable'],
  }),
  requestRefund: call({
    method: 'POST',
    path: '/api/request_refund',
    access: 'user',
    summary: '申请退款：自己付过的订单，每个只能申请一次，由管理员决定',
    input: z.object({ order_id: orderNumber, reason: text(bounds.order.reason.max) }),
    output: order,
    codes: ['order_unsuitable'],
  }),
};
