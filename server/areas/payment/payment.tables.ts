import { date, integer, jsonb, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';
import type { Invoice, OrderState, ProviderName } from '#contract/payment.ts';
import { bigId, instant, reference, tokens } from '#server/db/columns.ts';
import type { Taken } from './taken-back.ts';

export const orders = pgTable('orders', {
  id: bigId(),
  /** `Q`, the date and twelve digits; of adjustments `SYS` and the same. */
  number: text('number').notNull().unique(),
  userId: reference('user_id').notNull(),
  /** Which payable delivers it. */
  kind: text('kind').notNull(),
  type: smallint('type').notNull(),
  /** What of its kind it is about, such as an app. */
  subject: text('subject').notNull().default(''),
  quantity: integer('quantity').notNull().default(1),
  title: text('title').notNull(),
  /** Cents. */
  amount: integer('amount').notNull(),
  tokens: tokens('tokens').notNull().default(0),
  /** Empty: nothing is paid for it. */
  provider: text('provider').$type<ProviderName | ''>().notNull().default(''),
  state: text('state').$type<OrderState>().notNull().default('created'),
  url: text('url').notNull().default(''),
  transactionId: text('transaction_id').notNull().default(''),
  refundedAmount: integer('refunded_amount').notNull().default(0),
  remarks: text('remarks').notNull().default(''),
  /** When its person asked for the money back and still waits for an answer. */
  refundAskedAt: instant('refund_asked_at'),
  refundWish: text('refund_wish').notNull().default(''),
  /** Why a manager did not pay back; empty: nobody refused. */
  refundAnswer: text('refund_answer').notNull().default(''),
  createdAt: instant('created_at').notNull().defaultNow(),
  expiresAt: instant('expires_at').notNull().defaultNow(),
  paidAt: instant('paid_at'),
  closedAt: instant('closed_at'),
  askedAt: instant('asked_at'),
  nextAskAt: instant('next_ask_at'),
});

export const orderEvents = pgTable('order_events', {
  id: bigId(),
  orderId: reference('order_id').notNull(),
  event: text('event').notNull(),
  state: text('state').$type<OrderState>().notNull(),
  managerId: reference('manager_id'),
  detail: jsonb('detail').$type<Record<string, unknown>>().notNull().default({}),
  createdAt: instant('created_at').notNull().defaultNow(),
});

export const refunds = pgTable('refunds', {
  id: bigId(),
  number: text('number').notNull().unique(),
  orderId: reference('order_id').notNull(),
  amount: integer('amount').notNull(),
  reason: text('reason').notNull().default(''),
  taken: jsonb('taken').$type<Taken>().notNull(),
  state: text('state').$type<'pending' | 'done' | 'failed'>().notNull().default('pending'),
  managerId: reference('manager_id'),
  failure: text('failure').notNull().default(''),
  nextAskAt: instant('next_ask_at'),
  createdAt: instant('created_at').notNull().defaultNow(),
  finishedAt: instant('finished_at'),
});

export const sandboxTrades = pgTable('sandbox_trades', {
  number: text('number').primaryKey(),
  /** Random; the right to pay it. */
  key: text('key').notNull().unique(),
  title: text('title').notNull(),
  amount: integer('amount').notNull(),
  state: text('state').$type<'unpaid' | 'paid' | 'closed'>().notNull().default('unpaid'),
  transactionId: text('transaction_id').notNull().default(''),
  paidAt: instant('paid_at'),
  createdAt: instant('created_at').notNull().defaultNow(),
});

export const paymentBills = pgTable(
  'payment_bills',
  {
    provider: text('provider').$type<ProviderName>().notNull(),
    day: date('day', { mode: 'string' }).notNull(),
    payments: integer('payments').notNull(),
    amount: tokens('amount').notNull(),
    readAt: instant('read_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.provider, table.day] })],
);

export const paymentDifferences = pgTable('payment_differences', {
  id: bigId(),
  provider: text('provider').$type<ProviderName>().notNull(),
  number: text('number').notNull(),
  kind: text('kind').notNull(),
  detail: text('detail').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
  resolvedAt: instant('resolved_at'),
  resolvedBy: reference('resolved_by'),
  note: text('note').notNull().default(''),
});

export const invoices = pgTable('invoices', {
  id: bigId(),
  userId: reference('user_id').notNull(),
  amount: integer('amount').notNull(),
  kind: text('kind').$type<Invoice['kind']>().notNull(),
  title: text('title').notNull(),
  taxNumber: text('tax_number').notNull().default(''),
  email: text('email').notNull(),
  state: text('state').$type<Invoice['state']>().notNull().default('requested'),
  remark: text('remark').notNull().default(''),
  managerId: reference('manager_id'),
  createdAt: instant('created_at').notNull().defaultNow(),
  handledAt: instant('handled_at'),
});

export const invoiceOrders = pgTable('invoice_orders', {
  orderId: reference('order_id').primaryKey(),
  invoiceId: reference('invoice_id').notNull(),
});
