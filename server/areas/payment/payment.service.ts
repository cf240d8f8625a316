import type { ProviderName } from '#contract/payment.ts';
import type { Executor } from '#server/db/database.ts';
import * as orders from './order.service.ts';
import { startClock } from './payment-clock.ts';
import { refund, type RefundRequest } from './refund.service.ts';
import { shutOutside } from './sandbox.ts';
import { noPayment } from '#server/payments/providers.ts';
import { openTill, type PaymentDeps } from './till.ts';

export type PaymentService = ReturnType<typeof createPaymentService>;

/** Orders with the payment services of this process, which are asked about them by a clock, too. */
export const createPaymentService = (deps: PaymentDeps) => {
  const till = openTill(deps);
  return {
    /** How one can pay. @param play whether who asks may use the sandbox */
    info: async (play: boolean) => {
      if (!(await deps.takesPayment())) return { providers: [], reason: noPayment };
      const providers = till.offered(play).map(({ name, label }) => ({ name, label }));
      return { providers, reason: providers.length > 0 ? '' : till.closedReason || shutOutside };
    },
    provider: till.providerOf,
    createOrder: (userId: number, request: orders.OrderRequest) =>
      orders.createOrder(till, userId, request),
    orderStatus: (userId: number, number: string) => orders.orderStatus(till, userId, number),
    closeOrder: (userId: number, number: string) => orders.closeOrder(till, userId, number),
    closeAny: (number: string) => orders.closeAny(till, number),
    closeOrdersOf: (userId: number) => orders.closeOrdersOf(till, userId),
    noticed: (name: ProviderName, number: string) => orders.noticed(till, name, number),
    news: (db: Executor, asked: readonly { id: string; userId: number }[]) =>
      Promise.all(asked.map((each) => orders.newsOf(till, db, each))),
    refund: (request: RefundRequest) => refund(till, request),
    /** Ends the clock. */
    close: startClock(till),
  };
};
