import type { Transaction } from '#server/db/database.ts';
import type { Finding, PaymentProvider } from '#server/payments/payment-provider.ts';
import { tellEnded } from '#server/waits/wait-ended.store.ts';
import { lockPurse } from '../ledger/ledger.service.ts';
import { refundNumber } from './order-number.ts';
import type { OrderRow } from './payable.ts';
import * as store from './payment.store.ts';
import type { Till } from './till.ts';

/**
 * Orders of every kind as one state machine: created, then paid or closed (and paid all the same, if
 * the money comes late), then refunded. Nobody is believed but the payment service, when it is asked:
 * notices and polls only make it be asked.
 */

/** Why what was paid for cannot be given. */
interface Undelivered {
  reason: string;
  kind: string;
  /** How it came about, for managers. */
  detail: string;
}

/** Null: it can be given. */
const undelivered = async ({ payableOf }: Till, tx: Transaction, order: OrderRow) => {
  if (await store.isDeletedPerson(tx, order.userId))
    return { reason: '账号已注销', kind: 'deleted_account', detail: '账号注销之后' };
  const payable = payableOf(order.kind);
  if (await payable.isHad?.(tx, order))
    return { reason: '已经买过，重复付款', kind: 'paid_twice', detail: '同一样东西又' };
  if (await payable.isStale?.(tx, order))
    return {
      reason: '升级所依据的订阅已退款',
      kind: 'base_refunded',
      detail: '原来的订阅退款之后又按差价',
    };
  return null;
};

/** The clock pays it back, and managers know of it. */
const payBackUndelivered = async (
  tx: Transaction,
  { id, number, amount, provider }: OrderRow,
  { reason, kind, detail: why }: Undelivered,
): Promise<OrderRow> => {
  const order = await store.changeOrder(tx, id, { state: 'refunded', refundedAmount: amount });
  const refund = await store.insertRefund(
    tx,
    { number: refundNumber(), orderId: id, amount, reason, taken: { tokens: 0 } },
    0,
  );
  const detail = { refund: refund.number, amount, reason };
  await store.addEvent(tx, order, 'refund', { detail });
  if (provider !== '')
    await store.noteDifference(tx, {
      provider,
      number,
      kind,
      detail: `${why}付了 ${amount} 分，没有入账，已安排原路退回，请核对`,
    });
  return order;
};

/** Writes that an open or closed order was paid, and gives what was paid for. */
const pay = async (
  till: Till,
  tx: Transaction,
  { id, state }: OrderRow,
  { paidAt, transactionId }: Extract<Finding, { paidAt: Date }>,
): Promise<OrderRow> => {
  const change = { state: 'paid', paidAt, transactionId, nextAskAt: null } as const;
  const paid = await store.changeOrder(tx, id, change);
  const detail = { transaction_id: transactionId, late: state === 'closed' };
  await store.addEvent(tx, paid, 'paid', { detail });
  // Whoever deletes the account holds its purse: it is gone by now, or stays until this is done.
  await lockPurse(tx, paid.userId);
  const why = await undelivered(till, tx, paid);
  if (why) return payBackUndelivered(tx, paid, why);
  await till.payableOf(paid.kind).deliver(tx, paid);
  return paid;
};

const moveOn = (till: Till, id: number, finding: Finding): Promise<OrderRow> =>
  till.db.transaction(async (tx) => {
    const order = await store.lockOrder(tx, id);
    if (!order) throw new Error(`there is no order ${id}`);
    const { number, provider, state, amount } = order;
    if ((state !== 'created' && state !== 'closed') || provider === '') return order;
    const differ = async (kind: string, detail: string): Promise<OrderRow> => {
      await store.noteDifference(tx, { provider, number, kind, detail });
      return order;
    };
    if (finding.state === 'refunded')
      return differ('refunded', '支付服务说这个订单已退款，这里没有收到过付款');
    if (finding.state === 'paid') {
      if (finding.amount !== amount)
        return differ('amount', `付了 ${finding.amount} 分，订单是 ${amount} 分，没有入账`);
      const paid = await pay(till, tx, order, finding);
      await tellEnded(tx, 'order', number);
      return paid;
    }
    if (finding.state !== 'closed' || state === 'closed') return order;
    const closed = await store.changeOrder(tx, id, {
      state: 'closed',
      closedAt: new Date(),
      nextAskAt: new Date(Date.now() + till.checkMs),
    });
    await store.addEvent(tx, closed, 'closed');
    await tellEnded(tx, 'order', number);
    return closed;
  });

/** Moves an order forward by what its service says of it; gives it as it is then. */
const advance = async (till: Till, id: number, finding: Finding): Promise<OrderRow> => {
  const order = await moveOn(till, id, finding);
  const { rivals } = till.payableOf(order.kind);
  // Not in the transaction: a rival that is being paid at this moment waits for the same purse.
  if (order.state === 'paid' && rivals) await store.expireRivals(till.db, order, rivals);
  return order;
};

/** Closes it with its service, unless it was paid at that moment. @throws where it cannot be reached */
export const closeWith = async (till: Till, provider: PaymentProvider, order: OrderRow) => {
  await provider.close(order.number);
  const finding = await provider.ask(order.number);
  return advance(till, order.id, finding.state === 'paid' ? finding : { state: 'closed' });
};

/** Asks the service about an order whose turn was taken. @throws where it cannot be reached */
export const look = async (till: Till, order: OrderRow): Promise<OrderRow> => {
  const provider = till.providerOf(order.provider);
  if (!provider) return order;
  const finding = await provider.ask(order.number);
  const open = finding.state === 'unpaid' || finding.state === 'missing';
  if (open && order.state === 'created' && order.expiresAt <= new Date())
    return closeWith(till, provider, order);
  return advance(till, order.id, finding);
};
