import { orderLifetime } from '#contract/goods.ts';
import { limits } from '#contract/limits.ts';
import type { Order, ProviderName } from '#contract/payment.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { PaymentProvider } from '#server/payments/payment-provider.ts';
import { noPayment } from '#server/payments/providers.ts';
import type { WaitNews } from '#server/waits/wait-source.ts';
import { lockPurse } from '../ledger/ledger.service.ts';
import { closeWith, look } from './order-machine.ts';
import { orderNumber } from './order-number.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import { orderView, noOrder } from './order-view.ts';
import type { OrderRow, Payable, Wish } from './payable.ts';
import * as managed from './manage-order.store.ts';
import * as store from './payment.store.ts';
import { shutOutside } from './sandbox.ts';
import type { Till } from './till.ts';

/** A service is asked about one order no more often than this, ms, whoever asks. */
const askPause = 1_500;
/** Orders of one person that wait to be paid. */
const mostOpen = 20;
/** Those of a day that were closed unpaid: for each a late payment is looked for all day. */
const mostClosed = 100;

export interface OrderRequest {
  kind: string;
  wish: Wish;
  provider?: ProviderName | undefined;
  /** Whether who asks may use the sandbox. */
  play: boolean;
  /** An order that was begun meanwhile and stands for this one. */
  instead?: (tx: Transaction) => Promise<Order | null>;
}

const ownOrder = async ({ db }: Till, userId: number, number: string): Promise<OrderRow> => {
  const order = await store.findOrder(db, number, userId);
  if (!order) throw noOrder();
  return order;
};

const view = async (db: Executor, id: number): Promise<Order> => {
  const { order, invoice } = await store.orderWithInvoice(db, id);
  return orderView(order, invoice);
};

const requireFewOpen = async (db: Executor, userId: number): Promise<void> => {
  const { open, closed } = await store.countUnpaid(db, userId);
  if (open >= mostOpen)
    throw new Refusal('order_unsuitable', '未付款的订单太多，请先付款或取消几个');
  if (closed >= mostClosed)
    throw new Refusal('order_unsuitable', '这一天里没有付款就关闭的订单太多，请明天再试');
};

/** The service that an order is paid by. @throws Refusal payment_unavailable */
const chosenProvider = async (
  till: Till,
  { play, provider: told }: OrderRequest,
): Promise<PaymentProvider> => {
  if (!(await till.takesPayment())) throw new Refusal('payment_unavailable', noPayment);
  const open = till.offered(play);
  const wanted = told ?? open[0]?.name;
  const provider = open.find(({ name }) => name === wanted);
  if (provider) return provider;
  const why = open.length === 0 ? shutOutside : '没有接通这种付款方式';
  throw new Refusal('payment_unavailable', till.closedReason || why);
};

/** Stores an order that costs nothing, and delivers it. */
const storeFree = async (
  tx: Transaction,
  payable: Payable,
  wish: Wish,
  values: Parameters<typeof store.insertOrder>[1],
): Promise<Order> => {
  await lockPurse(tx, values.userId);
  // Another request may have got it meanwhile.
  await payable.price(tx, values.userId, wish);
  const order = await store.insertOrder(tx, { ...values, state: 'paid', paidAt: new Date() });
  await payable.deliver(tx, order);
  return view(tx, order.id);
};

/**
 * Begins an order: its price is worked out and its service asked for a QR code; what is given
 * then stores it, in the transaction of the call. What costs nothing is delivered at once.
 * @throws Refusal payment_unavailable, order_unsuitable, too_many, and as the payable's `price` does
 */
export const createOrder = async (
  till: Till,
  userId: number,
  request: OrderRequest,
): Promise<(db: Executor) => Promise<Order>> => {
  await till.limitOrders(userId);
  const payable = till.payableOf(request.kind);
  const offer = await payable.price(till.db, userId, request.wish);
  const { kind, type } = payable;
  const number = orderNumber();
  const expiresAt = new Date(Date.now() + orderLifetime);
  const values = { ...offer, number, userId, kind, type, expiresAt };
  if (offer.amount === 0)
    return (db) => inTransaction(db, (tx) => storeFree(tx, payable, request.wish, values));
  const provider = await chosenProvider(till, request);
  await requireFewOpen(till.db, userId);
  let url: string;
  try {
    url = await provider.begin({ number, title: offer.title, amount: offer.amount, expiresAt });
  } catch (error) {
    till.log.error({ err: error, provider: provider.name }, 'an order could not be begun');
    throw new Refusal('payment_unavailable', `${provider.label}暂时没有回应，请稍后再试`);
  }
  const begunWith = {
    provider: provider.name,
    url,
    nextAskAt: new Date(Date.now() + till.checkMs),
  };
  return (db) =>
    inTransaction(db, async (tx) => {
      await lockPurse(tx, userId);
      const begun = await request.instead?.(tx);
      if (begun) return begun;
      await requireFewOpen(tx, userId);
      const order = await store.insertOrder(tx, { ...values, ...begunWith });
      return view(tx, order.id);
    });
};

/** How one's own order stands; an open one is asked about first. @throws Refusal not_found, too_many */
export const orderStatus = async (till: Till, userId: number, number: string): Promise<Order> => {
  const order = await ownOrder(till, userId, number);
  if (order.state === 'created' || order.state === 'closed') {
    await till.limitAsks(userId);
    try {
      const mine = await store.takeTurn(till.db, order.id, askPause);
      if (mine) await look(till, mine);
    } catch (error) {
      till.log.warn({ err: error, order: order.number }, 'a payment service did not answer');
    }
  }
  return view(till.db, order.id);
};

/** @throws Refusal order_unsuitable, payment_unavailable */
const closeUnpaid = async (till: Till, order: OrderRow): Promise<OrderRow> => {
  const provider = till.providerOf(order.provider);
  if (order.state !== 'created' || !provider)
    throw new Refusal('order_unsuitable', '只能取消还没有付款的订单');
  try {
    return await closeWith(till, provider, order);
  } catch (error) {
    till.log.warn({ err: error, order: order.number }, 'an order could not be closed');
    throw new Refusal('payment_unavailable', '支付服务没有回应，订单还没有取消，请稍后再试');
  }
};

/**
 * Closes one's own unpaid order.
 * @throws Refusal not_found, order_unsuitable, payment_unavailable, too_many
 */
export const closeOrder = async (till: Till, userId: number, number: string): Promise<Order> => {
  const order = await ownOrder(till, userId, number);
  if (order.state === 'created') await till.limitAsks(userId);
  if (order.state !== 'closed') await closeUnpaid(till, order);
  return view(till.db, order.id);
};

/**
 * Closes all unpaid orders of somebody who leaves. One whose service does not answer is closed by
 * the clock. Gives how many turned out to be paid.
 */
export const closeOrdersOf = async (till: Till, userId: number): Promise<number> => {
  let paid = 0;
  for (const order of await store.openOrdersOf(till.db, userId)) {
    const provider = till.providerOf(order.provider);
    if (!provider) continue;
    try {
      if ((await closeWith(till, provider, order)).state === 'paid') paid += 1;
    } catch (error) {
      till.log.warn({ err: error, order: order.number }, 'an order could not be closed');
    }
  }
  return paid;
};

/** A notice says that something became of this order: its service is asked. @throws when it cannot be */
export const noticed = async (till: Till, name: ProviderName, number: string): Promise<void> => {
  const order = await store.findOrder(till.db, number);
  if (!order || order.provider !== name) return;
  if (order.state === 'created' || order.state === 'closed') await look(till, order);
};

/** For waits: how an order stands, by its number; null: this person has none. */
export const newsOf = async (
  { payableOf }: Till,
  db: Executor,
  { id, userId }: { id: string; userId: number },
): Promise<WaitNews | null> => {
  const order = await store.findOrder(db, id, userId);
  if (!order) return null;
  const { url, words } = payableOf(order.kind).describe(order);
  const { title } = order;
  const orders = '/account?tab=order';
  if (order.refundAnswer !== '')
    return {
      state: 'failed',
      title: '退款申请没有通过',
      body: `${title}：${order.refundAnswer}`,
      url: orders,
    };
  if (order.refundedAmount > 0) {
    const body = `${title}：退款 ${(order.refundedAmount / 100).toFixed(2)} 元`;
    return { state: 'done', title: '退款', body, url: orders };
  }
  if (order.state === 'created') return { state: 'pending', title, body: '', url };
  if (order.state === 'closed') {
    const body = '订单没有付款，已经关闭';
    return { state: 'failed', title, body, url: orders };
  }
  return { state: 'done', title, body: words, url };
};

/** The order that a person began for a thing at this price, cents, and can still pay. */
export const openOrder = async (
  db: Executor,
  wish: { userId: number; kind: string; subject: string; amount: number },
): Promise<Order | null> => {
  const order = await store.openOrderFor(db, wish);
  return order?.amount === wish.amount ? view(db, order.id) : null;
};

/** What things of a kind brought, by their names: orders and cents. */
export const salesOf = async (db: Executor, kind: string, subjects: readonly string[]) => {
  const rows = subjects.length > 0 ? await store.soldOf(db, kind, subjects) : [];
  return new Map(rows.map(({ subject, ...sums }) => [subject, sums]));
};

// ---- for managers ----------------------------------------------------------------------------------

/**
 * Closes anybody's unpaid order.
 * @throws Refusal not_found, payment_unavailable; order_unsuitable: also one that was paid meanwhile
 */
export const closeAny = async (till: Till, number: string): Promise<void> => {
  const order = await store.findOrder(till.db, number);
  if (!order) throw noOrder();
  const { state } = await closeUnpaid(till, order);
  if (state !== 'closed') throw new Refusal('order_unsuitable', '它刚刚付了款，没有关闭');
};

/** A page of orders, newest first, with what managers may filter by. */
export const orderPage = async (db: Executor, filter: managed.OrderFilter, page: number) => {
  const size = limits.pageSize;
  const { list, total } = await managed.orderPage(db, filter, windowOf(page, size));
  return { list, ...pageOf(total, page, size) };
};

/** All that happened to an order, its refunds included. @throws Refusal not_found */
export const orderStory = async (db: Executor, number: string) => {
  const order = await store.findOrder(db, number);
  if (!order) throw noOrder();
  const events = await store.eventsOf(db, order.id);
  return { order, events, refunds: await store.refundsOf(db, order.id) };
};

/** Gives those that were there before. @throws Refusal not_found */
export const setRemarks = (
  db: Executor,
  number: string,
  remarks: string,
  managerId: number,
): Promise<string> =>
  inTransaction(db, async (tx) => {
    const found = await store.findOrder(tx, number);
    if (!found) throw noOrder();
    const order = await store.changeOrder(tx, found.id, { remarks });
    await store.addEvent(tx, order, 'remarks', { managerId, detail: { remarks } });
    return found.remarks;
  });

/** What bills and orders say differently. @param open only what nobody settled yet */
export const differences = async (db: Executor, open: boolean, page: number) => {
  const size = limits.pageSize;
  const { list, total } = await store.differences(db, open, windowOf(page, size));
  return { list, ...pageOf(total, page, size) };
};
