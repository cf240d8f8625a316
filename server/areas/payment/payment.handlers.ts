import type { Handlers } from '../../http/handlers.ts';
import { Refusal } from '../../http/handlers.ts';
import { isPublicAddress } from '../../net/guarded-fetch.ts';
import { invoicePage, requestInvoice } from './invoice.service.ts';
import type { PaymentService } from './payment.service.ts';
import { sandboxTrade, settleSandbox } from './sandbox.ts';

type Served =
  | 'paymentInfo'
  | 'recharge'
  | 'tradeStatus'
  | 'closeTrade'
  | 'tradeList'
  | 'sandboxTrade'
  | 'sandboxSettle'
  | 'invoiceList'
  | 'requestInvoice';

export const createPaymentHandlers = (
  payments: PaymentService,
  { sandboxAllowed }: { sandboxAllowed: string },
): Pick<Handlers, Served> => ({
  paymentInfo: () => payments.info(),
  recharge: ({ type, num, provider }, { user }) =>
    payments.createOrder(user.id, {
      kind: type,
      wish: { quantity: num ?? 0, subject: '' },
      provider,
    }),
  tradeStatus: ({ platform_order_id: number }, { user }) => payments.orderStatus(user.id, number),
  closeTrade: ({ platform_order_id: number }, { user }) => payments.closeOrder(user.id, number),
  tradeList: ({ page }, { db, user }) => payments.orderList(db, user.id, page),

  sandboxTrade: async ({ key }, { db }) => {
    const trade = payments.provider('sandbox') && (await sandboxTrade(db, key));
    if (!trade) throw new Refusal('not_found', '没有这个订单');
    const { title, amount, state, number } = trade;
    return { title, amount, state, trade_no: number };
  },
  sandboxSettle: async ({ key, pay }, { db, ip }) => {
    if (!payments.provider('sandbox')) throw new Refusal('not_found', '没有这个订单');
    // Nobody pays with play money who comes from the internet.
    if (sandboxAllowed === '' && isPublicAddress(ip.replace(/^::ffff:/i, '')))
      throw new Refusal('payment_unavailable', '沙箱收银台只在本机和局域网里可以用');
    const trade = await settleSandbox(db, key, pay === 1);
    if (!trade) throw new Refusal('not_found', '没有这个订单');
    return { state: trade.state };
  },

  invoiceList: ({ page }, { db, user }) => invoicePage(db, { userId: user.id }, page),
  requestInvoice: (input, { db, user }) => requestInvoice(db, user.id, input),
});
