import { limits } from '#contract/limits.ts';
import type { Parsed } from '#contract/calls.ts';
import type { Invoice } from '#contract/payment.ts';
import type { Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal } from '#server/http/handlers.ts';
import { tellUnasked } from '#server/waits/wait-ended.store.ts';
import type { WaitNews, WaitSource } from '#server/waits/wait-source.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import * as store from './payment.store.ts';
import { noOrder } from './order-view.ts';

const viewOf = (row: store.InvoiceRow, numbers: string[]): Invoice => ({
  id: row.id,
  order_ids: numbers,
  amount: row.amount,
  kind: row.kind,
  title: row.title,
  tax_number: row.taxNumber,
  email: row.email,
  state: row.state,
  remark: row.remark,
  created_at: row.createdAt.toISOString(),
  handled_at: row.handledAt?.toISOString() ?? null,
});

/** 15, 17, 18 or 20 letters and digits, as China's numbers of companies are. */
const taxNumber = /^(?:[0-9A-Z]{15}|[0-9A-Z]{17,18}|[0-9A-Z]{20})$/;
const email = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** Invoices: people ask for them, managers work them off. */
export const requestInvoice = (
  db: Executor,
  userId: number,
  input: Parsed<'requestInvoice'>,
): Promise<Invoice> =>
  inTransaction(db, async (tx) => {
    const title = input.title.trim();
    const tax = input.tax_number.replace(/\s/g, '').toUpperCase();
    if (title === '') throw new Refusal('bad_input', 'title：请填写发票抬头');
    if (input.kind === 'company' && !taxNumber.test(tax))
      throw new Refusal('bad_input', 'tax_number：请填写正确的纳税人识别号（15 到 20 位）');
    if (!email.test(input.email)) throw new Refusal('bad_input', 'email：请填写收发票的邮箱');
    const numbers = [...new Set(input.order_ids)];
    const orders = await store.lockOrders(tx, userId, numbers);
    if (orders.length < numbers.length) throw noOrder();
    const amount = orders.reduce((sum, each) => sum + each.amount - each.refundedAmount, 0);
    if (orders.some(({ state, provider }) => state !== 'paid' || provider === '') || amount <= 0)
      throw new Refusal('order_unsuitable', '只有已付款的订单可以开发票');
    if (
      await store.invoicedAmong(
        tx,
        orders.map(({ id }) => id),
      )
    )
      throw new Refusal('order_unsuitable', '其中有订单已经申请过发票');
    const row = await store.insertInvoice(
      tx,
      {
        userId,
        amount,
        kind: input.kind,
        title,
        taxNumber: input.kind === 'company' ? tax : '',
        email: input.email,
      },
      orders.map(({ id }) => id),
    );
    return viewOf(
      row,
      orders.map(({ number }) => number),
    );
  });

/** A page of requests: of one person, or for managers of all, by their state. */
export const invoicePage = async (
  db: Executor,
  filter: { userId?: number; state?: Invoice['state'] },
  page: number,
) => {
  const size = limits.pageSize;
  const at = windowOf(page, size);
  const { list, total } = await store.invoicePage(db, filter, at);
  return {
    list: list.map(({ invoice, numbers, refunded, userName }) => ({
      ...viewOf(invoice, numbers),
      refunded_amount: refunded,
      user_id: invoice.userId,
      user_name: userName,
    })),
    ...pageOf(total, page, size),
  };
};

/** A manager has written the invoice, or says why not: its orders may then be asked for again. */
export const handleInvoice = (
  db: Executor,
  id: number,
  handled: { state: 'issued' | 'rejected'; remark: string; managerId: number },
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const row = await store.handleInvoice(tx, id, handled);
    if (!row) throw new Refusal('not_found', '没有这个等待处理的发票申请');
    await tellUnasked(tx, 'invoice', [{ userId: row.userId, id: String(id) }]);
  });

const handledWords = { issued: '发票已开出', rejected: '发票申请被退回' } as const;

/** What a push says of an invoice that somebody asked for. */
export const invoiceSource: WaitSource = async (db, asked) => {
  const ids = asked.map(({ id }) => (/^\d{1,15}$/.test(id) ? Number(id) : 0));
  const rows = new Map((await store.findInvoices(db, ids)).map((row) => [row.id, row]));
  return asked.map(({ userId }, at): WaitNews | null => {
    const row = rows.get(ids[at] ?? 0);
    if (row?.userId !== userId) return null;
    const url = '/account?tab=order';
    const { state, remark } = row;
    if (state === 'requested') return { state: 'pending', title: '发票开具中', body: '', url };
    const title = handledWords[state];
    const amount = `${(row.amount / 100).toFixed(2)} 元，抬头：${row.title}`;
    return {
      state: state === 'issued' ? 'done' : 'failed',
      title,
      body: remark === '' ? amount : `${amount}。${remark}`,
      url,
    };
  });
};
