import { chinaDay } from '#common/china-time.ts';
import type { ProviderName } from '#contract/payment.ts';
import { look } from './order-machine.ts';
import type { OrderRow } from './payable.ts';
import * as store from './payment.store.ts';
import { payBack } from './refund.service.ts';
import type { Till } from './till.ts';

/** How long a late payment of a closed order is looked for, ms. */
const lateMs = 24 * 3_600_000;
const leaseMs = 60_000;
const roundMost = 50;
/** The services have the bill of a day by half past ten of the next, China's time. */
const billReadyMs = 10.5 * 3_600_000;
const billDays = 3;
const billEveryMs = 10 * 60_000;
const dayMs = 24 * 3_600_000;

/** How long until it is asked about again, ms; null: no more. */
const pauseOf = (order: OrderRow, checkMs: number): number | null => {
  const age = Date.now() - order.createdAt.getTime();
  if (order.state === 'created') return age < 3_600_000 ? checkMs : checkMs * 4;
  if (order.state !== 'closed') return null;
  const since = Date.now() - (order.closedAt ?? order.expiresAt).getTime();
  if (since > lateMs) return null;
  return Math.max(checkMs, Math.min(since / 4, 30 * 60_000));
};

/** Asks about the orders and refunds whose time has come. */
const askDue = async (till: Till): Promise<void> => {
  const { db, log, checkMs } = till;
  const due = await store.takeDue(db, roundMost, leaseMs);
  await Promise.all(
    due.map(async (order) => {
      let now = order;
      try {
        now = await look(till, order);
      } catch (error) {
        log.warn(
          { err: error, order: order.number },
          'a payment service did not answer about an order and is asked again',
        );
      }
      await store.planAsk(db, order.id, pauseOf(now, checkMs));
    }),
  );
  for (const refund of await store.takeDueRefunds(db, roundMost, leaseMs * 5)) {
    try {
      const { order } = await store.orderWithInvoice(db, refund.orderId);
      await payBack(till, refund, order);
    } catch (error) {
      log.warn(
        { err: error, refund: refund.number },
        'a payment service did not answer about a refund and is asked again',
      );
    }
  }
};

/**
 * Compares a day's bill with the orders: what was paid and not credited is credited, what remains
 * different is kept for managers. A bill that is not there yet is read later.
 * @param day of China, 2026-01-31
 */
const readBill = async (till: Till, name: ProviderName, day: string): Promise<void> => {
  const { db } = till;
  const rows = await till.providerOf(name)?.bill(day);
  if (!rows) return;
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
    if (order.state === 'created' || order.state === 'closed') order = await look(till, order);
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
  const amount = rows.reduce((sum, row) => sum + row.amount, 0);
  await store.noteBill(db, { provider: name, day, payments: rows.length, amount });
};

/** Reads the bills of the last days that were not read yet. */
const readBills = async (till: Till): Promise<void> => {
  for (const { name } of till.providers)
    for (let back = billDays; back >= 1; back -= 1) {
      const day = chinaDay(new Date(Date.now() - billReadyMs - back * dayMs));
      if (await store.wasBillRead(till.db, name, day)) continue;
      try {
        await readBill(till, name, day);
      } catch (error) {
        till.log.warn(
          { err: error, provider: name, day },
          'a bill of a payment service could not be read and is tried again',
        );
      }
    }
};

/** Asks about what is open and reads bills, again and again; gives what ends that. */
export const startClock = (till: Till): (() => Promise<void>) => {
  let closing = false;
  let busy = false;
  let running: Promise<void> = Promise.resolve();
  let billsAt = 0;
  const round = async (): Promise<void> => {
    try {
      await askDue(till);
      if (Date.now() - billsAt > billEveryMs) {
        billsAt = Date.now();
        await readBills(till);
      }
    } catch (error) {
      if (!closing)
        till.log.warn(
          { err: error },
          'a round over the open orders did not end and is tried again',
        );
    } finally {
      busy = false;
    }
  };
  const tick = (): void => {
    if (busy) return;
    busy = true;
    running = round();
  };
  const timer = setInterval(tick, Math.min(till.checkMs, 5_000));
  timer.unref();
  return async () => {
    closing = true;
    clearInterval(timer);
    await running;
  };
};
