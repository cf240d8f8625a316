import type { Handlers } from '#server/http/handlers.ts';
import { Refusal } from '#server/http/handlers.ts';
import { invoicePage, requestInvoice } from './invoice.service.ts';
import { orderList, reachable, noOrder } from './order-view.ts';
import type { PaymentService } from './payment.service.ts';
import { requestRefund } from './refund-wish.service.ts';
import { tradeByKey } from './sandbox.store.ts';
import { mayPlay, settleSandbox, shutOutside } from './sandbox.ts';
import type { Settings } from '#server/settings.ts';

export const createPaymentHandlers = (
  payments: PaymentService,
  settings: Pick<Settings, 'sandboxAllowed' | 'publicUrl' | 'premiumEdition'>,
) =>
  ({
    paymentInfo: async (_input, context) => ({
      ...(await payments.info(mayPlay(context, settings))),
      premium: settings.premiumEdition.split(/[;；]/).filter((part) => part.trim() !== ''),
    }),
    recharge: async ({ type, num, provider }, { user, ...context }) => {
      const order = await payments.createOrder(user.id, {
        play: mayPlay(context, settings),
        kind: type,
        wish: { quantity: num ?? 0, subject: '' },
        provider,
      });
      return async (db) => reachable(await order(db), context.origin);
    },
    tradeStatus: async ({ platform_order_id: number }, { user, origin }) =>
      reachable(await payments.orderStatus(user.id, number), origin),
    closeTrade: ({ platform_order_id: number }, { user }) => payments.closeOrder(user.id, number),
    tradeList: async ({ page }, { db, user, origin }) => {
      const { list, ...rest } = await orderList(db, user.id, page);
      return { ...rest, list: list.map((order) => reachable(order, origin)) };
    },

    sandboxTrade: async ({ key }, { db }) => {
      const trade = payments.provider('sandbox') && (await tradeByKey(db, key));
      if (!trade) throw noOrder();
      const { title, amount, state, number } = trade;
      return { title, amount, state, trade_no: number };
    },
    sandboxSettle: async ({ key, pay }, { db, ...context }) => {
      if (!payments.provider('sandbox')) throw noOrder();
      if (!mayPlay(context, settings)) {
        context.log.warn({ why: context.outside() }, 'the sandbox checkout refused somebody');
        throw new Refusal('payment_unavailable', shutOutside);
      }
      const trade = await settleSandbox(db, key, pay === 1);
      if (!trade) throw noOrder();
      return { state: trade.state };
    },

    invoiceList: ({ page }, { db, user }) => invoicePage(db, { userId: user.id }, page),
    requestInvoice: (input, { db, user }) => requestInvoice(db, user.id, input),
    requestRefund: ({ order_id: number, reason }, { db, user }) =>
      requestRefund(db, user.id, number, reason),
  }) satisfies Partial<Handlers>;
