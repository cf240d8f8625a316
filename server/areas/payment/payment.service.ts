import type { FastifyBaseLogger } from 'fastify';
import { limits } from '../../../contract/limits.ts';
import { orderLifetime } from '../../../contract/goods.ts';
import type { Order, ProviderName } from '../../../contract/payment.ts';
import type { Database, Executor, Transaction } from '../../db/database.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { Refusal } from '../../http/handlers.ts';
import { createPersonLimit } from '../../http/rate-limit.ts';
import type { Finding, PaymentProvider } from '../../payments/payment-provider.ts';
import { tellEnded } from '../../waits/wait-ended.ts';
import type { WaitNews } from '../../waits/wait.service.ts';
import { lockPurse } from '../ledger/ledger.service.ts';
import { setSubscribe, setVipEnd } from '../ledger/vip.service.ts';
import { handleInvoice, invoicePage } from './invoice.service.ts';
import { bookAdjustment } from './adjustment.service.ts';
import { chinaDay, orderNumber, refundNumber } from './order-number.ts';
import { orderList, orderView, paged, window } from './order-view.ts';
import type { OrderRow, Payable, Wish } from './payable.ts';
import { shutOutside } from './sandbox.ts';
import * as store from './payment.store.ts';

export interface PaymentDeps {
  db: Database;
  log: FastifyBaseLogger;
  providers: readonly PaymentProvider[];
  /** Why there are none; empty where there are. */
  closedReason: string;
  payables: readonly Payable[];
  /** How often an open order is asked about although nobody looks, ms. */
  checkMs: number;
}

/** A service is asked about one order no more often than this, ms: by whom ever. */
const askPause = 1_500;
/** Orders of one person that wait to be paid. */
const mostOpen = 20;
const ordersAMinute = 30;
const asksAMinute = 240;
/** How long a late payment of a closed order is looked for, ms. */
const lateMs = 24 * 3_600_000;
const leaseMs = 60_000;
const roundMost = 50;
/** The services have the bill of a day by half past ten of the next, China's time. */
const billReadyMs = 10.5 * 3_600_000;
const billDays = 3;
const billEveryMs = 10 * 60_000;
const dayMs = 24 * 3_600_000;

export type PaymentService = ReturnType<typeof createPaymentService>;

/**
 * Orders of every kind as one state machine: created, then paid or closed (and paid all the same, if
 * the money comes late), then refunded. Nobody is believed but the payment service, when it is asked:
 * notices and polls only make it be asked.
 */
export const createPaymentService = (deps: PaymentDeps) => {
  const { db, log } = deps;
  const providers = new Map(deps.providers.map((each) => [each.name, each]));
  const payables = new Map(deps.payables.map((each) => [each.kind, each]));
  const limitOrders = createPersonLimit(ordersAMinute);
  const limitAsks = createPersonLimit(asksAMinute);

  const payableOf = (kind: string): Payable => {
    const payable = payables.get(kind);
    if (!payable) throw new Error(`nobody sells ${kind}`);
    return payable;
  };

  const offered = (play: boolean): PaymentProvider[] =>
    [...providers.values()].filter(({ name }) => play || name !== 'sandbox');
  const providerOf = (name: ProviderName | ''): PaymentProvider | null =>
    name === '' ? null : (providers.get(name) ?? null);

  // ---- the machine -------------------------------------------------------------------------------

  /** What was paid for cannot be given: the clock pays it back, and managers know of it. */
  const payBackUndelivered = async (
    tx: Transaction,
    paid: OrderRow,
    { reason, kind, detail: why }: { reason: string; kind: string; detail: string },
  ): Promise<OrderRow> => {
    const { id, number, amount } = paid;
    const order = await store.changeOrder(tx, id, { state: 'refunded', refundedAmount: amount });
    const refund = await store.insertRefund(
      tx,
      { number: refundNumber(), orderId: id, amount, reason, taken: { tokens: 0 } },
      0,
    );
    const detail = { refund: refund.number, amount, reason };
    await store.addEvent(tx, order, 'refund', { detail });
    if (paid.provider !== '')
      await store.noteDifference(tx, {
        provider: paid.provider,
        number,
        kind,
        detail: `${why}付了 ${amount} 分，没有入账，已安排原路退回，请核对`,
      });
    return order;
  };

  /** Moves an order forward by what its service says of it; gives it as it is then. */
  const advance = async (id: number, finding: Finding): Promise<OrderRow> => {
    const order = await advanceOne(id, finding);
    const { rivals } = payableOf(order.kind);
    // Not in the transaction: a rival that is being paid at this moment waits for the same purse.
    if (order.state === 'paid' && rivals) await store.expireRivals(db, order, rivals);
    return order;
  };

  const advanceOne = (id: number, finding: Finding): Promise<OrderRow> =>
    db.transaction(async (tx) => {
      const order = await store.lockOrder(tx, id);
      if (!order) throw new Error(`there is no order ${id}`);
      if (order.state !== 'created' && order.state !== 'closed') return order;
      if (order.provider === '') return order;
      const { number, provider } = order;
      if (finding.state === 'refunded') {
        const detail = '支付服务说这个订单已退款，这里没有收到过付款';
        await store.noteDifference(tx, { provider, number, kind: 'refunded', detail });
        return order;
      }
      if (finding.state === 'paid') {
        if (finding.amount !== order.amount) {
          const detail = `付了 ${finding.amount} 分，订单是 ${order.amount} 分，没有入账`;
          await store.noteDifference(tx, { provider, number, kind: 'amount', detail });
          return order;
        }
        const paid = await store.changeOrder(tx, id, {
          state: 'paid',
          paidAt: finding.paidAt,
          transactionId: finding.transactionId,
          nextAskAt: null,
        });
        const detail = { transaction_id: finding.transactionId, late: order.state === 'closed' };
        await store.addEvent(tx, paid, 'paid', { detail });
        // Whoever deletes the account holds its purse: it is gone by now, or stays until this is done.
        await lockPurse(tx, paid.userId);
        if (await store.isDeletedPerson(tx, paid.userId))
          return payBackUndelivered(tx, paid, {
            reason: '账号已注销',
            kind: 'deleted_account',
            detail: '账号注销之后',
          });
        const payable = payableOf(paid.kind);
        if (await payable.isHad?.(tx, paid)) {
          const repaid = await payBackUndelivered(tx, paid, {
            reason: '已经买过，重复付款',
            kind: 'paid_twice',
            detail: '同一样东西又',
          });
          await tellEnded(tx, 'order', number);
          return repaid;
        }
        if (await payable.isStale?.(tx, paid)) {
          const repaid = await payBackUndelivered(tx, paid, {
            reason: '升级所依据的订阅已退款',
            kind: 'base_refunded',
            detail: '原来的订阅退款之后又按差价',
          });
          await tellEnded(tx, 'order', number);
          return repaid;
        }
        await payable.deliver(tx, paid);
        await tellEnded(tx, 'order', number);
        return paid;
      }
      if (finding.state !== 'closed' || order.state === 'closed') return order;
      const closed = await store.changeOrder(tx, id, {
        state: 'closed',
        closedAt: new Date(),
        nextAskAt: new Date(Date.now() + deps.checkMs),
      });
      await store.addEvent(tx, closed, 'closed');
      await tellEnded(tx, 'order', number);
      return closed;
    });

  /** Closes it with its service, unless it was paid at that moment. */
  const closeWith = async (provider: PaymentProvider, order: OrderRow): Promise<OrderRow> => {
    await provider.close(order.number);
    const finding = await provider.ask(order.number);
    return advance(order.id, finding.state === 'paid' ? finding : { state: 'closed' });
  };

  /** Asks the service about an order whose turn was taken. @throws where it cannot be reached */
  const look = async (order: OrderRow): Promise<OrderRow> => {
    const provider = providerOf(order.provider);
    if (!provider) return order;
    const finding = await provider.ask(order.number);
    const open = finding.state === 'unpaid' || finding.state === 'missing';
    if (open && order.state === 'created' && order.expiresAt <= new Date())
      return closeWith(provider, order);
    return advance(order.id, finding);
  };

  const lookAt = async (order: OrderRow): Promise<OrderRow> => {
    const mine = await store.takeTurn(db, order.id, askPause);
    return mine ? look(mine) : order;
  };

  const requireFewOpen = async (executor: Executor, userId: number): Promise<void> => {
    if ((await store.countOpen(executor, userId)) >= mostOpen)
      throw new Refusal('order_unsuitable', '未付款的订单太多，请先付款或取消几个');
  };

  const ownOrder = async (userId: number, number: string): Promise<OrderRow> => {
    const order = await store.findOrder(db, number, userId);
    if (!order) throw new Refusal('not_found', '没有这个订单');
    return order;
  };

  const view = async (executor: Executor, id: number): Promise<Order> => {
    const { order, invoice } = await store.orderWithInvoice(executor, id);
    return orderView(order, invoice);
  };

  // ---- refunds -----------------------------------------------------------------------------------

  /** Asks the service to pay back; what it refuses is given again. @throws where it cannot be reached */
  const payBack = async (refund: store.RefundRow, order: OrderRow): Promise<void> => {
    const provider = providerOf(order.provider);
    const state = provider
      ? await provider.refund({
          number: order.number,
          refundNumber: refund.number,
          amount: refund.amount,
          total: order.amount,
          reason: refund.reason,
        })
      : 'done';
    if (state === 'pending') return;
    await db.transaction(async (tx) => {
      const at = await store.lockOrder(tx, order.id);
      const pending = await store.lockRefund(tx, refund.id);
      if (!at || pending?.state !== 'pending') return;
      if (state === 'done') {
        await store.endRefund(tx, refund.id, 'done');
        await store.addEvent(tx, at, 'refunded', {
          detail: { refund: refund.number, amount: refund.amount },
        });
        return;
      }
      await store.endRefund(tx, refund.id, 'failed', '支付服务没有接受退款');
      const back = await store.changeOrder(tx, at.id, {
        state: 'paid',
        refundedAmount: at.refundedAmount - refund.amount,
      });
      await payableOf(at.kind).restore(tx, back, pending.taken);
      await store.addEvent(tx, back, 'refund_failed', { detail: { refund: refund.number } });
    });
  };

  // ---- by the clock ------------------------------------------------------------------------------

  /** How long until it is asked about again, ms; null: no more. */
  const pauseOf = (order: OrderRow): number | null => {
    const age = Date.now() - order.createdAt.getTime();
    if (order.state === 'created') return age < 3_600_000 ? deps.checkMs : deps.checkMs * 4;
    if (order.state !== 'closed') return null;
    const since = Date.now() - (order.closedAt ?? order.expiresAt).getTime();
    if (since > lateMs) return null;
    return Math.max(deps.checkMs, Math.min(since / 4, 30 * 60_000));
  };

  const askDue = async (): Promise<void> => {
    const due = await store.takeDue(db, roundMost, leaseMs);
    await Promise.all(
      due.map(async (order) => {
        let now = order;
        try {
          now = await look(order);
        } catch (error) {
          log.warn({ err: error, order: order.number }, '支付服务没有回答，稍后再问');
        }
        await store.planAsk(db, order.id, pauseOf(now));
      }),
    );
    for (const refund of await store.takeDueRefunds(db, roundMost, leaseMs * 5)) {
      try {
        const { order } = await store.orderWithInvoice(db, refund.orderId);
        await payBack(refund, order);
      } catch (error) {
        log.warn({ err: error, refund: refund.number }, '退款没有得到回答，稍后再问');
      }
    }
  };

  /**
   * Compares a day's bill with the orders: what was paid and not credited is credited, what remains
   * different is kept for managers. False: the bill is not there yet.
   */
  const readBill = async (name: ProviderName, day: string): Promise<boolean> => {
    const provider = providerOf(name);
    const rows = await provider?.bill(day);
    if (!rows) return false;
    const differ = (number: string, kind: string, detail: string) =>
      store.noteDifference(db, { provider: name, number, kind, detail });
    const numbers = new Set<string>();
    for (const row of rows) {
      // The merchant may sell by other means as well.
      if (!/^Q\d{20}$/.test(row.number)) continue;
      numbers.add(row.number);
      let order = await store.findOrder(db, row.number);
      if (!order || order.provider !== name) {
        await differ(row.number, 'unknown', `账单里有 ${row.amount} 分，这里没有这个订单`);
        continue;
      }
      if (order.state === 'created' || order.state === 'closed') order = await look(order);
      if (order.state !== 'paid' && order.state !== 'refunded')
        await differ(row.number, 'uncredited', '账单里已付，这里没有入账');
      else if (order.amount !== row.amount)
        await differ(row.number, 'amount', `账单里是 ${row.amount} 分，订单是 ${order.amount} 分`);
      else if (order.transactionId !== row.transactionId)
        await differ(row.number, 'transaction', `账单里的交易号是 ${row.transactionId}`);
    }
    const from = new Date(`${day}T00:00:00+08:00`);
    const to = new Date(from.getTime() + dayMs);
    for (const order of await store.paidBetween(db, name, from, to))
      if (!numbers.has(order.number))
        await differ(order.number, 'absent', `这里已入账 ${order.amount} 分，账单里没有`);
    await store.noteBill(db, {
      provider: name,
      day,
      payments: rows.length,
      amount: rows.reduce((sum, row) => sum + row.amount, 0),
    });
    return true;
  };

  const readBills = async (): Promise<void> => {
    for (const name of providers.keys())
      for (let back = billDays; back >= 1; back -= 1) {
        const day = chinaDay(new Date(Date.now() - billReadyMs - (back - 1) * dayMs - dayMs));
        if (await store.wasBillRead(db, name, day)) continue;
        try {
          await readBill(name, day);
        } catch (error) {
          log.warn({ err: error, provider: name, day }, '对账单没有读到，稍后再试');
        }
      }
  };

  let closing = false;
  let running: Promise<void> = Promise.resolve();
  let billsAt = 0;
  const round = async (): Promise<void> => {
    try {
      await askDue();
      if (Date.now() - billsAt > billEveryMs) {
        billsAt = Date.now();
        await readBills();
      }
    } catch (error) {
      if (!closing) log.warn({ err: error }, '订单没有查完，稍后再查');
    }
  };
  let busy = false;
  const timer = setInterval(
    () => {
      if (busy) return;
      busy = true;
      running = round().finally(() => {
        busy = false;
      });
    },
    Math.min(deps.checkMs, 5_000),
  );
  timer.unref();

  return {
    /** @param play whether who asks may use the sandbox */
    info: (play: boolean) => {
      const list = offered(play).map(({ name, label }) => ({ name, label }));
      return { providers: list, reason: list.length > 0 ? '' : deps.closedReason || shutOutside };
    },

    /**
     * Begins an order: its price is worked out and its service asked for a QR code; what is given
     * then stores it, in the transaction of the call. What costs nothing is delivered at once.
     * @throws Refusal payment_unavailable, too_many, and as the payable's `price` does
     */
    createOrder: async (
      userId: number,
      request: {
        kind: string;
        wish: Wish;
        provider?: ProviderName | undefined;
        /** Whether who asks may use the sandbox. */
        play: boolean;
        /** An order that was begun meanwhile and stands for this one. */
        instead?: (tx: Transaction) => Promise<Order | null>;
      },
    ): Promise<(executor: Executor) => Promise<Order>> => {
      await limitOrders(userId);
      const payable = payableOf(request.kind);
      const offer = await payable.price(db, userId, request.wish);
      const number = orderNumber();
      const expiresAt = new Date(Date.now() + orderLifetime);
      const values = {
        ...offer,
        number,
        userId,
        kind: payable.kind,
        type: payable.type,
        expiresAt,
      };
      if (offer.amount === 0)
        return (executor) =>
          inTransaction(executor, async (tx) => {
            await lockPurse(tx, userId);
            // Another request may have got it meanwhile.
            await payable.price(tx, userId, request.wish);
            const order = await store.insertOrder(tx, {
              ...values,
              state: 'paid',
              paidAt: new Date(),
            });
            await payable.deliver(tx, order);
            return view(tx, order.id);
          });
      const open = offered(request.play);
      const wanted = request.provider ?? open[0]?.name;
      const provider = open.find(({ name }) => name === wanted);
      if (!provider)
        throw new Refusal(
          'payment_unavailable',
          deps.closedReason || (open.length === 0 ? shutOutside : '没有接通这种付款方式'),
        );
      await requireFewOpen(db, userId);
      let url: string;
      try {
        url = await provider.begin({ number, title: offer.title, amount: offer.amount, expiresAt });
      } catch (error) {
        log.error({ err: error, provider: provider.name }, 'an order could not be begun');
        throw new Refusal('payment_unavailable', `${provider.label}暂时没有回应，请稍后再试`);
      }
      const nextAskAt = new Date(Date.now() + deps.checkMs);
      return (executor) =>
        inTransaction(executor, async (tx) => {
          await lockPurse(tx, userId);
          const begun = await request.instead?.(tx);
          if (begun) return begun;
          await requireFewOpen(tx, userId);
          const order = await store.insertOrder(tx, {
            ...values,
            provider: provider.name,
            url,
            nextAskAt,
          });
          return view(tx, order.id);
        });
    },

    /** How one's own order stands; an open one is asked about first. @throws Refusal not_found */
    orderStatus: async (userId: number, number: string): Promise<Order> => {
      const order = await ownOrder(userId, number);
      if (order.state === 'created' || order.state === 'closed') {
        await limitAsks(userId);
        try {
          await lookAt(order);
        } catch (error) {
          log.warn({ err: error, order: order.number }, 'a payment service did not answer');
        }
      }
      return view(db, order.id);
    },

    /** Closes one's own unpaid order. @throws Refusal not_found, order_unsuitable, payment_unavailable */
    closeOrder: async (userId: number, number: string): Promise<Order> => {
      const order = await ownOrder(userId, number);
      const provider = providerOf(order.provider);
      if (order.state === 'created' && provider) {
        try {
          await closeWith(provider, order);
        } catch (error) {
          log.warn({ err: error, order: order.number }, 'an order could not be closed');
          throw new Refusal('payment_unavailable', '支付服务没有回应，订单还没有取消，请稍后再试');
        }
      } else if (order.state !== 'closed') {
        throw new Refusal('order_unsuitable', '只能取消还没有付款的订单');
      }
      return view(db, order.id);
    },

    /**
     * Closes all unpaid orders of somebody who leaves. One whose service does not answer is closed by
     * the clock. Gives how many turned out to be paid.
     */
    closeOrdersOf: async (userId: number): Promise<number> => {
      let paid = 0;
      for (const order of await store.openOrdersOf(db, userId)) {
        const provider = providerOf(order.provider);
        if (!provider) continue;
        try {
          if ((await closeWith(provider, order)).state === 'paid') paid += 1;
        } catch (error) {
          log.warn({ err: error, order: order.number }, 'an order could not be closed');
        }
      }
      return paid;
    },

    orderList,

    /** The order that a person began for a thing at this price and can still pay. */
    openOrder: async (
      executor: Executor,
      wish: { userId: number; kind: string; subject: string; amount: number },
    ): Promise<Order | null> => {
      const order = await store.openOrderFor(executor, wish);
      return order?.amount === wish.amount ? view(executor, order.id) : null;
    },

    /** What things of a kind brought, by their names: orders and cents. */
    sold: async (executor: Executor, kind: string, subjects: readonly string[]) => {
      const rows = subjects.length > 0 ? await store.soldOf(executor, kind, subjects) : [];
      return new Map(rows.map(({ subject, ...sums }) => [subject, sums]));
    },

    /** A notice says that something became of this order: its service is asked. @throws when it cannot be */
    noticed: async (name: ProviderName, number: string): Promise<void> => {
      const order = await store.findOrder(db, number);
      if (!order || order.provider !== name) return;
      if (order.state === 'created' || order.state === 'closed') await look(order);
    },

    /** For waits: how orders stand, each asked about by somebody. */
    news: async (executor: Executor, asked: readonly { id: string; userId: number }[]) =>
      Promise.all(
        asked.map(async ({ id, userId }): Promise<WaitNews | null> => {
          const order = await store.findOrder(executor, id, userId);
          if (!order) return null;
          const { url, words } = payableOf(order.kind).describe(order);
          const { title } = order;
          if (order.state === 'created') return { state: 'pending', title, body: '', url };
          if (order.state === 'closed')
            return {
              state: 'failed',
              title,
              body: '订单没有付款，已经关闭',
              url: '/account?tab=order',
            };
          return { state: 'done', title, body: words, url };
        }),
      ),

    provider: (name: ProviderName): PaymentProvider | null => providerOf(name),

    // ---- for managers ----------------------------------------------------------------------------

    /** A page of orders, newest first, with what managers may filter by. */
    orderPage: async (executor: Executor, filter: store.OrderFilter, page: number) => {
      const size = limits.pageSize;
      const { list, total } = await store.orderPage(executor, filter, window(page, size));
      return paged(
        list.map(({ order, userName }) => ({ order, userName })),
        total,
        page,
        size,
      );
    },

    /** All that happened to an order, its refunds included. @throws Refusal not_found */
    orderStory: async (executor: Executor, number: string) => {
      const order = await store.findOrder(executor, number);
      if (!order) throw new Refusal('not_found', '没有这个订单');
      const events = await store.eventsOf(executor, order.id);
      return { order, events, refunds: await store.refundsOf(executor, order.id) };
    },

    /** @throws Refusal not_found */
    setRemarks: (executor: Executor, number: string, remarks: string, managerId: number) =>
      inTransaction(executor, async (tx) => {
        const found = await store.findOrder(tx, number);
        if (!found) throw new Refusal('not_found', '没有这个订单');
        const order = await store.changeOrder(tx, found.id, { remarks });
        await store.addEvent(tx, order, 'remarks', { managerId, detail: { remarks } });
      }),

    /**
     * Refunds some cents of an order, and takes back what they paid for in the same transaction that
     * decides it; the payment service is asked after that, again and again until it answers.
     * @param forgive take what is left where it is less than the refund stands for
     * @throws Refusal not_found, order_unsuitable
     */
    refund: async (request: {
      number: string;
      amount: number;
      reason: string;
      managerId: number;
      forgive?: boolean;
      /** Runs in the transaction that decides it. */
      decided?: (
        tx: Transaction,
        refund: store.RefundRow,
        before: Pick<OrderRow, 'state' | 'refundedAmount'>,
      ) => Promise<void>;
    }): Promise<store.RefundRow> => {
      const { amount, reason, managerId } = request;
      const found = await store.findOrder(db, request.number);
      if (!found) throw new Refusal('not_found', '没有这个订单');
      const { order, refund } = await db.transaction(async (tx) => {
        const at = await store.lockOrder(tx, found.id);
        if (at?.state !== 'paid' || at.provider === '')
          throw new Refusal('order_unsuitable', '只有已付款的订单可以退款');
        const left = at.amount - at.refundedAmount;
        if (!Number.isInteger(amount) || amount < 1 || amount > left)
          throw new Refusal('order_unsuitable', `这个订单还可以退 ${(left / 100).toFixed(2)} 元`);
        const whole = amount === left;
        const part = { amount, before: at.refundedAmount, whole };
        const taken = await payableOf(at.kind).revoke(tx, at, part, request.forgive === true);
        const order = await store.changeOrder(tx, at.id, {
          refundedAmount: at.refundedAmount + amount,
          state: whole ? 'refunded' : 'paid',
        });
        const refund = await store.insertRefund(tx, {
          number: refundNumber(),
          orderId: at.id,
          amount,
          reason,
          taken,
          managerId,
        });
        const detail = { refund: refund.number, amount, reason, taken };
        await store.addEvent(tx, order, 'refund', { managerId, detail });
        await request.decided?.(tx, refund, at);
        return { order, refund };
      });
      try {
        await payBack(refund, order);
      } catch (error) {
        log.warn({ err: error, refund: refund.number }, '退款没有得到回答，会再问');
      }
      return (await store.refundById(db, refund.id)) ?? refund;
    },

    adjustment: bookAdjustment,

    /** Memberships and editions as a manager sets them; book an `adjustment` beside it. */
    setVipEnd,
    setSubscribe,

    invoicePage,
    handleInvoice,

    /** What bills and orders say differently. */
    differences: async (executor: Executor, open: boolean, page: number) => {
      const size = limits.pageSize;
      const { list, total } = await store.differences(executor, open, window(page, size));
      return paged(list, total, page, size);
    },
    resolveDifference: store.resolveDifference,
    /** Reads a bill anew, for managers who do not wait for the clock. */
    readBill,

    close: async (): Promise<void> => {
      closing = true;
      clearInterval(timer);
      await running;
    },
  };
};
