import type { Transaction } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import { tellUnasked } from '#server/waits/wait-ended.store.ts';
import { lockPurse } from '../ledger/ledger.service.ts';
import { refundNumber } from './order-number.ts';
import type { OrderRow } from './payable.ts';
import * as store from './payment.store.ts';
import type { Till } from './till.ts';
import { noOrder } from './order-view.ts';

export interface RefundRequest {
  /** The order's. */
  number: string;
  /** Cents. */
  amount: number;
  reason: string;
  managerId: number;
  /** Whoever decides it is an owner. */
  byOwner?: boolean;
  /** Take what is left where it is less than the refund stands for. */
  forgive?: boolean;
  /** Runs in the transaction that decides it. */
  decided?: (
    tx: Transaction,
    refund: store.RefundRow,
    before: Pick<OrderRow, 'state' | 'refundedAmount'>,
  ) => Promise<void>;
}

/** Asks the service to pay back; what it refuses is given again. @throws where it cannot be reached */
export const payBack = async (till: Till, refund: store.RefundRow, order: OrderRow) => {
  const { number, amount, reason } = refund;
  const provider = till.providerOf(order.provider);
  const state = provider
    ? await provider.refund({
        number: order.number,
        refundNumber: number,
        amount,
        total: order.amount,
        reason,
      })
    : 'done';
  if (state === 'pending') return;
  await till.db.transaction(async (tx) => {
    const at = await store.lockOrder(tx, order.id);
    const pending = await store.lockRefund(tx, refund.id);
    if (!at || pending?.state !== 'pending') return;
    if (state === 'done') {
      await store.endRefund(tx, refund.id, 'done');
      await store.addEvent(tx, at, 'refunded', { detail: { refund: number, amount } });
      return;
    }
    await store.endRefund(tx, refund.id, 'failed', '支付服务没有接受退款');
    const back = await store.changeOrder(tx, at.id, {
      state: 'paid',
      refundedAmount: at.refundedAmount - amount,
    });
    await till.payableOf(at.kind).restore(tx, back, pending.taken);
    await store.addEvent(tx, back, 'refund_failed', { detail: { refund: number } });
  });
};

/** Takes back what a refund stands for, and writes the refund. @throws Refusal order_unsuitable */
const decide = (till: Till, orderId: number, request: RefundRequest) =>
  till.db.transaction(async (tx) => {
    const { amount, reason, managerId } = request;
    const at = await store.lockOrder(tx, orderId);
    if (at?.state !== 'paid' || at.provider === '')
      throw new Refusal('order_unsuitable', '只有已付款的订单可以退款');
    const left = at.amount - at.refundedAmount;
    if (!Number.isInteger(amount) || amount < 1 || amount > left)
      throw new Refusal('order_unsuitable', `这个订单还可以退 ${(left / 100).toFixed(2)} 元`);
    const whole = amount === left;
    // An order that is being paid at this moment rests on this one, or this one on it: one after the other.
    await lockPurse(tx, at.userId);
    const part = { amount, before: at.refundedAmount, whole };
    const taken = await till.payableOf(at.kind).revoke(tx, at, part, request.forgive === true);
    const order = await store.changeOrder(tx, at.id, {
      refundedAmount: at.refundedAmount + amount,
      state: whole ? 'refunded' : 'paid',
      // Whoever asked for it has an answer, which takes the place of an earlier refusal.
      refundAskedAt: null,
      refundAnswer: '',
    });
    if (at.refundAskedAt || at.refundAnswer !== '')
      await tellUnasked(tx, 'order', [{ userId: at.userId, id: at.number }]);
    const number = refundNumber();
    const values = { number, orderId: at.id, amount, reason, taken, managerId };
    const refund = await store.insertRefund(tx, values);
    const detail = { refund: number, amount, reason, taken };
    await store.addEvent(tx, order, 'refund', { managerId, detail });
    await request.decided?.(tx, refund, at);
    return { order, refund };
  });

/**
 * Refunds some cents of an order, and takes back what they paid for in the same transaction that
 * decides it; the payment service is asked after that, again and again until it answers.
 * @throws Refusal not_found, order_unsuitable
 */
export const refund = async (till: Till, request: RefundRequest): Promise<store.RefundRow> => {
  const found = await store.findOrder(till.db, request.number);
  if (!found) throw noOrder();
  // A month or an app that was used leaves no trace in the books: money would be theirs for the asking.
  if (!request.byOwner && (await store.isManager(till.db, found.userId)))
    throw new Refusal('order_unsuitable', '管理员的订单只有所有者可以退款');
  const { order, refund } = await decide(till, found.id, request);
  try {
    await payBack(till, refund, order);
  } catch (error) {
    till.log.warn(
      { err: error, refund: refund.number },
      'a payment service did not answer about a refund and is asked again',
    );
  }
  return (await store.refundById(till.db, refund.id)) ?? refund;
};
