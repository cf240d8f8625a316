import type { Order } from '#contract/payment.ts';
import type { Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal } from '#server/http/handlers.ts';
import { tellUnasked } from '#server/waits/wait-ended.store.ts';
import { orderView, noOrder } from './order-view.ts';
import * as store from './payment.store.ts';

/**
 * Asks for the money of an order of one's own. Once each: whoever was refused has an answer, and
 * managers are not asked again and again.
 * @throws Refusal bad_input, not_found, order_unsuitable
 */
export const requestRefund = (
  db: Executor,
  userId: number,
  number: string,
  reason: string,
): Promise<Order> =>
  inTransaction(db, async (tx) => {
    const refundWish = reason.trim();
    if (refundWish === '') throw new Refusal('bad_input', 'reason：请说说为什么要退款');
    const [order] = await store.lockOrders(tx, userId, [number]);
    if (!order) throw noOrder();
    if (order.refundAnswer !== '')
      throw new Refusal('order_unsuitable', `这个订单的退款申请已有答复：${order.refundAnswer}`);
    if (order.refundAskedAt) throw new Refusal('order_unsuitable', '这个订单已经申请过退款');
    if (order.state !== 'paid' || order.provider === '')
      throw new Refusal('order_unsuitable', '只有已付款的订单可以申请退款');
    const asked = await store.changeOrder(tx, order.id, { refundAskedAt: new Date(), refundWish });
    await store.addEvent(tx, asked, 'refund_asked', { detail: { reason: refundWish } });
    const { invoice } = await store.orderWithInvoice(tx, order.id);
    return orderView(asked, invoice);
  });

/** Gives what had been asked for with. @throws Refusal not_found */
export const rejectRefund = (
  db: Executor,
  number: string,
  reason: string,
  managerId: number,
): Promise<string> =>
  inTransaction(db, async (tx) => {
    const found = await store.findOrder(tx, number);
    const order = found && (await store.lockOrder(tx, found.id));
    if (!order?.refundAskedAt) throw new Refusal('not_found', '没有这个等待处理的退款申请');
    const refused = await store.changeOrder(tx, order.id, {
      refundAskedAt: null,
      refundAnswer: reason,
    });
    await store.addEvent(tx, refused, 'refund_refused', { managerId, detail: { reason } });
    await tellUnasked(tx, 'order', [{ userId: order.userId, id: number }]);
    return order.refundWish;
  });
