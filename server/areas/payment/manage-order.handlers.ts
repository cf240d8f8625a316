import type { AdminOrder, Difference } from '#contract/manage-order.ts';
import { readDates } from '#server/http/date-range.ts';
import { type Handlers, Refusal } from '#server/http/handlers.ts';
import { handleInvoice, invoicePage } from './invoice.service.ts';
import { differences, orderPage, orderStory, setRemarks } from './order.service.ts';
import { rejectRefund } from './refund-wish.service.ts';
import type { PaymentService } from './payment.service.ts';
import type { OrderRow } from './payable.ts';
import { createDailyTotals } from './daily-totals.store.ts';
import type { OrderFilter } from './manage-order.store.ts';
import { resolveDifference, type DifferenceRow } from './payment.store.ts';

const viewOf = (order: OrderRow, userName: string): AdminOrder => ({
  id: order.id,
  user_id: order.userId,
  user_name: userName,
  title: order.title,
  amount: order.amount,
  refunded_amount: order.refundedAmount,
  trade_value: order.tokens / 1_000_000,
  order_id: order.number,
  out_order_id: order.transactionId,
  paid_success: order.paidAt ? 1 : 0,
  state: order.state,
  provider: order.provider,
  paid_at: order.paidAt?.toISOString() ?? null,
  remarks: order.remarks,
  created_at: order.createdAt.toISOString(),
  type: order.type,
  refund_asked_at: order.refundAskedAt?.toISOString() ?? null,
  refund_wish: order.refundWish,
  refund_answer: order.refundAnswer,
});

const differenceView = (row: DifferenceRow): Difference => ({
  id: row.id,
  provider: row.provider,
  number: row.number,
  kind: row.kind,
  detail: row.detail,
  created_at: row.createdAt.toISOString(),
  resolved_at: row.resolvedAt?.toISOString() ?? null,
  note: row.note,
});

export const createManageOrderHandlers = (payments: PaymentService) => {
  const dailyTotals = createDailyTotals();
  return {
    adminOrderList: async (input, { db }) => {
      const [start, end] = (input.timeRange ?? []).map(String);
      const filter: OrderFilter = {
        type: input.type || 'all',
        sort: input.sort,
        order: input.order,
        ...(input.orderId ? { number: input.orderId.trim() } : {}),
        ...(typeof input.userId === 'number' ? { userId: input.userId } : {}),
        ...readDates(start, end, { start: 'timeRange[0]', end: 'timeRange[1]' }),
      };
      const { list, ...rest } = await orderPage(db, filter, input.page);
      return {
        ...rest,
        list: list.map(({ order, userName }) => viewOf(order, userName)),
        days: await dailyTotals(db),
      };
    },

    adminOrderInfo: async ({ order_id: number }, { db }) => {
      const { order, events, refunds } = await orderStory(db, number);
      const { list } = await orderPage(db, { number }, 1);
      return {
        order: viewOf(order, list[0]?.userName ?? ''),
        events: events.map((event) => ({
          event: event.event,
          state: event.state,
          detail: JSON.stringify(event.detail),
          manager_id: event.managerId,
          created_at: event.createdAt.toISOString(),
        })),
        refunds: refunds.map((refund) => ({
          number: refund.number,
          amount: refund.amount,
          reason: refund.reason,
          state: refund.state,
          created_at: refund.createdAt.toISOString(),
        })),
      };
    },

    setOrder: async ({ order_id: number, remarks }, { db, user, noteAct }) => {
      const before = await setRemarks(db, number, remarks, user.id);
      noteAct({ subject: `order:${number}`, from: { remarks: before }, to: { remarks } });
      return {};
    },

    closeOrder: async ({ order_id: number }, { noteAct }) => {
      await payments.closeAny(number);
      noteAct({
        subject: `order:${number}`,
        from: { state: 'created' },
        to: { state: 'closed' },
      });
      return () => Promise.resolve({});
    },

    refundOrder: async (input, { user, keepAct }) => {
      const { state } = await payments.refund({
        number: input.order_id,
        amount: input.amount,
        reason: input.reason,
        managerId: user.id,
        byOwner: user.owner,
        forgive: input.forgive === 1,
        decided: (tx, refund, before) =>
          keepAct(tx, {
            subject: `order:${input.order_id}`,
            from: { state: before.state, refunded_amount: before.refundedAmount },
            to: { refund: refund.number, amount: refund.amount },
          }),
      });
      return () => Promise.resolve({ state });
    },

    rejectRefund: async ({ order_id: number, reason }, { db, user, noteAct }) => {
      const wish = await rejectRefund(db, number, reason, user.id);
      noteAct({ subject: `order:${number}`, from: { refund_wish: wish }, to: { reason } });
      return {};
    },

    adminInvoiceList: ({ page, state }, { db }) =>
      invoicePage(db, state === undefined ? {} : { state }, page),

    handleInvoice: async ({ id, state, remark }, { db, user, noteAct }) => {
      await handleInvoice(db, id, { state, remark, managerId: user.id });
      noteAct({
        subject: `invoice:${id}`,
        from: { state: 'requested' },
        to: { state, remark },
      });
      return {};
    },

    differenceList: async ({ page, open }, { db }) => {
      const { list, ...rest } = await differences(db, open === 1, page);
      return { ...rest, list: list.map(differenceView) };
    },

    resolveDifference: async ({ id, note }, { db, user, noteAct }) => {
      if (!(await resolveDifference(db, id, user.id, note)))
        throw new Refusal('not_found', '没有这条等待处理的差异');
      noteAct({ subject: `difference:${id}`, from: { resolved: false }, to: { note } });
      return {};
    },
  } satisfies Partial<Handlers>;
};
