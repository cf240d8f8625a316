import { limits } from '#contract/limits.ts';
import type { Order, OrderState } from '#contract/payment.ts';
import type { Executor } from '#server/db/database.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { OrderRow } from './payable.ts';
import * as store from './payment.store.ts';

export const noOrder = () => new Refusal('not_found', '没有这个订单');

/** Whether the money of an order may be asked for, and how that stands. */
const refundOf = (row: OrderRow): Order['refund'] => {
  if (row.refundAskedAt) return 'requested';
  if (row.refundAnswer !== '') return 'rejected';
  return row.state === 'paid' && row.provider !== '' ? 'open' : '';
};

const statusOf: Record<OrderState, number> = { created: 0, paid: 1, closed: 2, refunded: 3 };

/** An order as its owner sees it. */
export const orderView = (row: OrderRow, invoice: Order['invoice'] | null): Order => ({
  id: row.id,
  order_id: row.number,
  out_order_id: row.number,
  trade_no: row.number,
  type: row.type,
  title: row.title,
  amount: row.amount,
  refunded_amount: row.refundedAmount,
  trade_value: row.tokens / 1e6,
  paid_success: row.paidAt ? 1 : 0,
  status: statusOf[row.state],
  state: row.state,
  url: row.state === 'created' && row.expiresAt > new Date() ? row.url : '',
  provider: row.provider,
  transaction_id: row.transactionId,
  remarks: row.remarks,
  created_at: row.createdAt.toISOString(),
  expires_at: row.expiresAt.toISOString(),
  paid_at: row.paidAt?.toISOString() ?? null,
  invoice: invoice ?? '',
  refund: refundOf(row),
  refund_answer: row.refundAnswer,
});

/** The payment's address as it can be opened from anywhere: that of the house's own page has no host. */
export const reachable = <T extends { url: string }>(order: T, origin: string): T =>
  order.url.startsWith('/') ? { ...order, url: `${origin}${order.url}` } : order;

/** A page of a person's orders, newest first. */
export const orderList = async (executor: Executor, userId: number, page: number) => {
  const size = limits.pageSize;
  const { list, total } = await store.ordersOf(executor, userId, windowOf(page, size));
  return {
    list: list.map(({ order, invoice }) => orderView(order, invoice)),
    ...pageOf(total, page, size),
  };
};
