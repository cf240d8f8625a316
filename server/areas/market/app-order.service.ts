import { orderTypes } from '#contract/kinds.ts';
import type { Order, ProviderName } from '#contract/payment.ts';
import type { Database, Executor } from '#server/db/database.ts';
import type { Identity } from '#server/http/handlers.ts';
import { openOrder } from '../payment/order.service.ts';
import type { PaymentService } from '../payment/payment.service.ts';
import { appPayable } from './app-payable.ts';
import { noOrder } from '../payment/order-view.ts';

/**
 * An order for the right to download (`play`: with the sandbox, too); one that was begun at today's price goes on.
 * @throws Refusal not_found, order_unsuitable, payment_unavailable
 */
export const buyApp = async (
  { db, payments }: { db: Database; payments: PaymentService },
  user: Identity,
  { id, provider, play }: { id: number; provider: ProviderName | undefined; play: boolean },
): Promise<(executor: Executor) => Promise<Order>> => {
  const wish = { quantity: 1, subject: String(id) };
  const { amount } = await appPayable.price(db, user.id, wish);
  const { kind } = appPayable;
  const begunOrder = async (executor: Executor): Promise<Order | null> => {
    const begun = await openOrder(executor, {
      ...wish,
      userId: user.id,
      kind,
      amount,
    });
    return provider === undefined || begun?.provider === provider ? begun : null;
  };
  const begun = await begunOrder(db);
  // It may have been cancelled or paid at the till meanwhile: then it is no order to pay any more.
  const now = begun && (await payments.orderStatus(user.id, begun.order_id));
  if (now && now.state !== 'closed') return async () => now;
  return payments.createOrder(user.id, {
    kind,
    wish,
    provider,
    play,
    instead: begunOrder,
  });
};

/** @throws Refusal not_found: there is none, or it is about something else */
export const appOrderStatus = async (
  payments: PaymentService,
  userId: number,
  number: string,
): Promise<Order> => {
  const found = await payments.orderStatus(userId, number);
  if (found.type !== orderTypes.app) throw noOrder();
  return found;
};
