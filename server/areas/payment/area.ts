import type { Area } from '#server/area.ts';
import { invoiceSource } from './invoice.service.ts';
import { createManageOrderHandlers } from './manage-order.handlers.ts';
import { registerNotices } from './callback.route.ts';
import { ownPayables } from './payable-kinds.ts';
import { createPaymentHandlers } from './payment.handlers.ts';

export const paymentArea = () =>
  ({
    holds: [
      {
        table: 'orders',
        of: ['user_id'],
        end: { keep: 'what was paid, which the law has us keep' },
      },
      {
        table: 'invoices',
        of: ['user_id'],
        // One that is still to be written needs whom it is for.
        where: `user_id = $person AND state <> 'requested'`,
        end: { set: { title: `''`, tax_number: `''`, email: `''` } },
        take: ['amount', 'kind', 'title', 'tax_number', 'email', 'state', 'created_at'],
      },
      {
        table: 'invoices',
        of: ['manager_id'],
        end: { keep: 'which manager wrote it, for the books' },
      },
      {
        table: 'order_events',
        of: ['manager_id'],
        end: { keep: 'the books’ history of an order' },
      },
      { table: 'refunds', of: ['manager_id'], end: { keep: 'which manager paid it back' } },
      {
        table: 'payment_differences',
        of: ['resolved_by'],
        end: { keep: 'which manager settled it' },
      },
    ],
    payables: ownPayables,
    waits: { invoice: invoiceSource },
    serve: ({ payments, settings }) => ({
      ...createPaymentHandlers(payments, settings),
      ...createManageOrderHandlers(payments),
    }),
    routes: (http, { payments }) => registerNotices(http, payments),
  }) satisfies Area;
