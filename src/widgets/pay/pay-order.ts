import { api } from '#src/platform/api.ts';
import { createStore, useStore } from '#src/platform/store.ts';
import { waiting } from '#src/platform/waiting.ts';
import type { In, Out } from '#contract/calls.ts';

type Order = Out<'recharge'>;

interface Paying {
  order: Order;
  /** Leads whoever has paid on, by the number of the order. */
  onPaid: (number: string) => void;
}

const store = createStore<Paying | null>(null);
export const usePaying = () => useStore(store);

/** Shows what is to be paid, and waits for it also once the dialog or the page is closed. */
export const openPayment = (order: Order, onPaid: Paying['onPaid']): void => {
  waiting.set(`order:${order.trade_no}`, Date.now());
  store.set({ order, onPaid });
};

export const closePayment = (): void => store.set(null);

/** It has ended: nobody waits for it any more. */
export const forgetPayment = (number: string): void => {
  waiting.delete(`order:${number}`);
  closePayment();
};

/** Orders something and shows how to pay for it. @throws ApiError, which was shown */
export const buy = async (wish: In<'recharge'>, onPaid: Paying['onPaid']): Promise<void> => {
  const order = await api.recharge(wish);
  openPayment(order, onPaid);
};

/** Goes on with an order that can still be paid; gives how it stands. */
export const reopen = async (number: string, onPaid: Paying['onPaid']): Promise<Order['state']> => {
  const order = await api.tradeStatus({ platform_order_id: number });
  if (order.url !== '') openPayment(order, onPaid);
  return order.state === 'created' && order.url === '' ? 'closed' : order.state;
};
