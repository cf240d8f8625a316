import type { Area } from '../../area.ts';
import { invoiceSource } from './invoice.service.ts';
import { createManageOrderHandlers } from './manage-order.handlers.ts';
import { registerNotices } from './callback.route.ts';
import { ownPayables } from './payable-kinds.ts';
import { createPaymentHandlers } from './payment.handlers.ts';

export const paymentArea = () =>
  ({
    payables: ownPayables,
    waits: { invoice: invoiceSource },
    serve: ({ payments, settings }) => ({
      ...createPaymentHandlers(payments, settings),
      ...createManageOrderHandlers(payments),
    }),
    routes: (http, { payments }) => registerNotices(http, payments),
  }) satisfies Area;
