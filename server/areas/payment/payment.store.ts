import {
  and,
  asc,
  desc,
  eq,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  or,
  sql,
} from 'drizzle-orm';
import type { ProviderName } from '#contract/payment.ts';
import { countUpTo } from '#server/db/count-up-to.ts';
import type { Database, Executor, Transaction } from '#server/db/database.ts';
import { users } from '#server/db/schema.ts';
import type { OrderRow } from './payable.ts';
import {
  invoiceOrders,
  invoices,
  orderEvents,
  orders,
  paymentBills,
  paymentDifferences,
  refunds,
} from './payment.tables.ts';

export type RefundRow = typeof refunds.$inferSelect;
export type InvoiceRow = typeof invoices.$inferSelect;
export type DifferenceRow = typeof paymentDifferences.$inferSelect;

const inMs = (ms: number) => sql`now() + ${ms}::float8 * interval '1 millisecond'`;

// ---- orders --------------------------------------------------------------------------------------

export const insertOrder = async (
  tx: Transaction,
  values: typeof orders.$inferInsert,
  detail: Record<string, unknown> = {},
): Promise<OrderRow> => {
  const [row] = await tx.insert(orders).values(values).returning();
  if (!row) throw new Error(`order ${values.number} was not stored`);
  await addEvent(tx, row, 'created', { detail });
  return row;
};

/** Writes down what happened to an order: nothing changes one without it. */
export const addEvent = async (
  tx: Transaction,
  { id, state }: Pick<OrderRow, 'id' | 'state'>,
  event: string,
  { managerId = null, detail = {} }: { managerId?: number | null; detail?: object } = {},
): Promise<void> => {
  await tx
    .insert(orderEvents)
    .values({ orderId: id, event, state, managerId, detail: { ...detail } });
};

export const eventsOf = (db: Executor, orderId: number) =>
  db
    .select()
    .from(orderEvents)
    .where(eq(orderEvents.orderId, orderId))
    .orderBy(asc(orderEvents.id));

export const findOrder = async (
  db: Executor,
  number: string,
  userId?: number,
): Promise<OrderRow | null> => {
  const [row] = await db
    .select()
    .from(orders)
    .where(
      and(
        or(
          eq(orders.number, number),
          and(eq(orders.transactionId, number), ne(orders.transactionId, '')),
        ),
        userId === undefined ? undefined : eq(orders.userId, userId),
      ),
    )
    .limit(1);
  return row ?? null;
};

export const lockOrder = async (tx: Transaction, id: number): Promise<OrderRow | null> => {
  const [row] = await tx.select().from(orders).where(eq(orders.id, id)).for('update');
  return row ?? null;
};

export const changeOrder = async (
  tx: Transaction,
  id: number,
  changes: Partial<typeof orders.$inferInsert>,
): Promise<OrderRow> => {
  const [row] = await tx.update(orders).set(changes).where(eq(orders.id, id)).returning();
  if (!row) throw new Error(`there is no order ${id}`);
  return row;
};

/** Takes the turn to ask about an order; null where it was asked within the last `ms`, or needs not be. */
export const takeTurn = async (db: Executor, id: number, ms: number): Promise<OrderRow | null> => {
  const [row] = await db
    .update(orders)
    .set({ askedAt: sql`now()` })
    .where(
      and(
        eq(orders.id, id),
        inArray(orders.state, ['created', 'closed']),
        ne(orders.provider, ''),
        or(isNull(orders.askedAt), lte(orders.askedAt, inMs(-ms))),
      ),
    )
    .returning();
  return row ?? null;
};

/**
 * Orders whose time to be asked about has come, now this process's for `leaseMs`: one of each person,
 * then the next of each, those that may still be paid first. Whoever has thousands holds up themselves.
 */
export const takeDue = async (db: Database, most: number, leaseMs: number): Promise<OrderRow[]> => {
  const isDue = and(isNotNull(orders.nextAskAt), lte(orders.nextAskAt, sql`now()`));
  const turns = db
    .select({
      id: orders.id,
      turn: sql<number>`row_number() OVER (PARTITION BY ${orders.userId}
        ORDER BY ${orders.state} <> 'created', ${orders.nextAskAt})`.as('turn'),
    })
    .from(orders)
    .where(isDue)
    .as('turns');
  const due = db
    .select({ id: orders.id })
    .from(orders)
    .innerJoin(turns, eq(turns.id, orders.id))
    .where(isDue)
    .orderBy(turns.turn, asc(orders.nextAskAt))
    .limit(most)
    .for('update', { of: orders, skipLocked: true });
  return db
    .update(orders)
    .set({ nextAskAt: inMs(leaseMs), askedAt: sql`now()` })
    .where(inArray(orders.id, due))
    .returning();
};

/** When it is to be asked about again; null: no more. */
export const planAsk = async (db: Executor, id: number, ms: number | null): Promise<void> => {
  await db
    .update(orders)
    .set({ nextAskAt: ms === null ? null : inMs(ms) })
    .where(and(eq(orders.id, id), isNotNull(orders.nextAskAt)));
};

/** Orders of a person that wait to be paid, and those of a day that were closed without it. */
export const countUnpaid = async (
  db: Executor,
  userId: number,
): Promise<{ open: number; closed: number }> => {
  const [row] = await db
    .select({
      open: sql<number>`count(*) FILTER (WHERE ${orders.state} = 'created')::int`,
      closed: sql<number>`count(*) FILTER (WHERE ${orders.state} = 'closed'
        AND ${orders.createdAt} > now() - interval '1 day')::int`,
    })
    .from(orders)
    .where(and(eq(orders.userId, userId), inArray(orders.state, ['created', 'closed'])));
  return row ?? { open: 0, closed: 0 };
};

export const openOrdersOf = (db: Executor, userId: number): Promise<OrderRow[]> =>
  db
    .select()
    .from(orders)
    .where(and(eq(orders.userId, userId), eq(orders.state, 'created')))
    .orderBy(asc(orders.id));

export const isDeletedPerson = async (db: Executor, userId: number): Promise<boolean> => {
  const rows = await db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.id, userId), isNotNull(users.deletedAt)));
  return rows.length > 0;
};

export const isManager = async (db: Executor, userId: number): Promise<boolean> => {
  const [row] = await db.select({ is: users.manager }).from(users).where(eq(users.id, userId));
  return row?.is === true;
};

/** The open order of a person for a thing, if there is time left to pay it. */
export const openOrderFor = async (
  db: Executor,
  { userId, kind, subject }: Pick<OrderRow, 'userId' | 'kind' | 'subject'>,
): Promise<OrderRow | null> => {
  const [row] = await db
    .select()
    .from(orders)
    .where(
      and(
        eq(orders.userId, userId),
        eq(orders.kind, kind),
        eq(orders.subject, subject),
        eq(orders.state, 'created'),
        gte(orders.expiresAt, sql`now() + interval '5 minutes'`),
      ),
    )
    .orderBy(desc(orders.id))
    .limit(1);
  return row ?? null;
};

/** Open orders of the same person for the same thing have no time left: the clock closes them. */
export const expireRivals = async (
  db: Executor,
  { id, userId, subject }: Pick<OrderRow, 'id' | 'userId' | 'subject'>,
  kinds: readonly string[],
): Promise<void> => {
  await db
    .update(orders)
    .set({ expiresAt: sql`now()`, nextAskAt: sql`now()` })
    .where(
      and(
        eq(orders.userId, userId),
        inArray(orders.kind, [...kinds]),
        eq(orders.subject, subject),
        eq(orders.state, 'created'),
        ne(orders.id, id),
      ),
    );
};

/** What the things of a kind brought: paid orders, and their cents less what was refunded. */
export const soldOf = (db: Executor, kind: string, subjects: readonly string[]) =>
  db
    .select({
      subject: orders.subject,
      count: sql<number>`count(*) FILTER (WHERE ${orders.state} = 'paid')::int`,
      income: sql<number>`sum(${orders.amount} - ${orders.refundedAmount})::float8`,
    })
    .from(orders)
    .where(
      and(
        eq(orders.kind, kind),
        inArray(orders.subject, [...subjects]),
        inArray(orders.state, ['paid', 'refunded']),
        sql`${orders.amount} > 0`,
      ),
    )
    .groupBy(orders.subject);

/** Kinds of the paid orders of a person among these. */
export const paidKinds = async (
  db: Executor,
  userId: number,
  kinds: readonly string[],
): Promise<OrderRow[]> =>
  db
    .select()
    .from(orders)
    .where(
      and(eq(orders.userId, userId), eq(orders.state, 'paid'), inArray(orders.kind, [...kinds])),
    );

const invoiceOf = sql<InvoiceRow['state'] | null>`(SELECT i.state FROM invoice_orders io
  JOIN invoices i ON i.id = io.invoice_id WHERE io.order_id = orders.id)`;

export const orderWithInvoice = async (db: Executor, id: number) => {
  const [row] = await db
    .select({ order: orders, invoice: invoiceOf })
    .from(orders)
    .where(eq(orders.id, id));
  if (!row) throw new Error(`there is no order ${id}`);
  return row;
};

export const ordersOf = async (
  db: Executor,
  userId: number,
  { offset, limit }: { offset: number; limit: number },
) => {
  const mine = eq(orders.userId, userId);
  const list = await db
    .select({ order: orders, invoice: invoiceOf })
    .from(orders)
    .where(mine)
    .orderBy(desc(orders.id))
    .offset(offset)
    .limit(limit);
  const [counted] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(orders)
    .where(mine);
  return { list, total: counted?.count ?? 0 };
};

// ---- refunds -------------------------------------------------------------------------------------

export const insertRefund = async (
  tx: Transaction,
  values: typeof refunds.$inferInsert,
  askInMs = 60_000,
): Promise<RefundRow> => {
  const [row] = await tx
    .insert(refunds)
    .values({ ...values, nextAskAt: inMs(askInMs) })
    .returning();
  if (!row) throw new Error(`refund ${values.number} was not stored`);
  return row;
};

export const refundsOf = (db: Executor, orderId: number): Promise<RefundRow[]> =>
  db.select().from(refunds).where(eq(refunds.orderId, orderId)).orderBy(asc(refunds.id));

export const refundById = async (db: Executor, id: number): Promise<RefundRow | null> => {
  const [row] = await db.select().from(refunds).where(eq(refunds.id, id));
  return row ?? null;
};

export const lockRefund = async (tx: Transaction, id: number): Promise<RefundRow | null> => {
  const [row] = await tx.select().from(refunds).where(eq(refunds.id, id)).for('update');
  return row ?? null;
};

export const endRefund = async (
  tx: Transaction,
  id: number,
  state: 'done' | 'failed',
  failure = '',
): Promise<void> => {
  await tx
    .update(refunds)
    .set({ state, failure, nextAskAt: null, finishedAt: sql`now()` })
    .where(eq(refunds.id, id));
};

export const takeDueRefunds = async (
  db: Database,
  most: number,
  leaseMs: number,
): Promise<RefundRow[]> => {
  const due = db
    .select({ id: refunds.id })
    .from(refunds)
    .where(and(isNotNull(refunds.nextAskAt), lte(refunds.nextAskAt, sql`now()`)))
    .limit(most)
    .for('update', { skipLocked: true });
  return db
    .update(refunds)
    .set({ nextAskAt: inMs(leaseMs) })
    .where(inArray(refunds.id, due))
    .returning();
};

// ---- bills and differences -----------------------------------------------------------------------

export const wasBillRead = async (
  db: Executor,
  provider: ProviderName,
  day: string,
): Promise<boolean> => {
  const rows = await db
    .select({ day: paymentBills.day })
    .from(paymentBills)
    .where(and(eq(paymentBills.provider, provider), eq(paymentBills.day, day)));
  return rows.length > 0;
};

export const noteBill = async (
  db: Executor,
  values: typeof paymentBills.$inferInsert,
): Promise<void> => {
  await db.insert(paymentBills).values(values).onConflictDoNothing();
};

/** Paid orders of a service whose payments fall into a span of time. */
export const paidBetween = (
  db: Executor,
  provider: ProviderName,
  from: Date,
  to: Date,
): Promise<OrderRow[]> =>
  db
    .select()
    .from(orders)
    .where(
      and(
        eq(orders.provider, provider),
        inArray(orders.state, ['paid', 'refunded']),
        gte(orders.paidAt, from),
        lt(orders.paidAt, to),
      ),
    );

export const noteDifference = async (
  db: Executor,
  values: Pick<DifferenceRow, 'provider' | 'number' | 'kind' | 'detail'>,
): Promise<void> => {
  await db.insert(paymentDifferences).values(values).onConflictDoNothing();
};

export const differences = async (
  db: Executor,
  open: boolean,
  { offset, limit }: { offset: number; limit: number },
) => {
  const where = open ? isNull(paymentDifferences.resolvedAt) : undefined;
  const list = await db
    .select()
    .from(paymentDifferences)
    .where(where)
    .orderBy(desc(paymentDifferences.id))
    .offset(offset)
    .limit(limit);
  return { list, total: await countUpTo(db, paymentDifferences, where) };
};

export const resolveDifference = async (
  db: Executor,
  id: number,
  managerId: number,
  note: string,
): Promise<boolean> => {
  const rows = await db
    .update(paymentDifferences)
    .set({ resolvedAt: sql`now()`, resolvedBy: managerId, note })
    .where(and(eq(paymentDifferences.id, id), isNull(paymentDifferences.resolvedAt)))
    .returning({ id: paymentDifferences.id });
  return rows.length > 0;
};

// ---- invoices ------------------------------------------------------------------------------------

export const insertInvoice = async (
  tx: Transaction,
  values: typeof invoices.$inferInsert,
  orderIds: readonly number[],
): Promise<InvoiceRow> => {
  const [row] = await tx.insert(invoices).values(values).returning();
  if (!row) throw new Error('an invoice was not stored');
  await tx
    .insert(invoiceOrders)
    .values(orderIds.map((orderId) => ({ orderId, invoiceId: row.id })));
  return row;
};

/** Orders of a person by their numbers, locked in the order of their ids. */
export const lockOrders = (
  tx: Transaction,
  userId: number,
  numbers: readonly string[],
): Promise<OrderRow[]> =>
  tx
    .select()
    .from(orders)
    .where(and(eq(orders.userId, userId), inArray(orders.number, [...numbers])))
    .orderBy(asc(orders.id))
    .for('update');

export const invoicedAmong = async (db: Executor, ids: readonly number[]): Promise<boolean> => {
  const rows = await db
    .select({ id: invoiceOrders.orderId })
    .from(invoiceOrders)
    .where(inArray(invoiceOrders.orderId, [...ids]))
    .limit(1);
  return rows.length > 0;
};

/** Cents of an invoice that went back after it was asked for. */
const refundedOf = sql<number>`(SELECT greatest(0, invoices.amount
    - sum(o.amount - o.refunded_amount))::float8
  FROM invoice_orders io JOIN orders o ON o.id = io.order_id WHERE io.invoice_id = invoices.id)`;

const numbersOf = sql<string[]>`ARRAY(SELECT o.number FROM invoice_orders io
  JOIN orders o ON o.id = io.order_id WHERE io.invoice_id = invoices.id ORDER BY o.id)`;

export const invoicePage = async (
  db: Executor,
  filter: { userId?: number; state?: InvoiceRow['state'] },
  { offset, limit }: { offset: number; limit: number },
) => {
  const where = and(
    filter.userId === undefined ? undefined : eq(invoices.userId, filter.userId),
    filter.state && eq(invoices.state, filter.state),
  );
  const list = await db
    .select({
      invoice: invoices,
      numbers: numbersOf,
      refunded: refundedOf,
      userName: users.userName,
    })
    .from(invoices)
    .innerJoin(users, eq(users.id, invoices.userId))
    .where(where)
    .orderBy(desc(invoices.id))
    .offset(offset)
    .limit(limit);
  return { list, total: await countUpTo(db, invoices, where) };
};

/** Ends a request; a rejected one lets go of its orders. Null: there is none that waits. */
export const handleInvoice = async (
  tx: Transaction,
  id: number,
  { state, remark, managerId }: { state: 'issued' | 'rejected'; remark: string; managerId: number },
): Promise<InvoiceRow | null> => {
  const [row] = await tx
    .update(invoices)
    .set({ state, remark, managerId, handledAt: sql`now()` })
    .where(and(eq(invoices.id, id), eq(invoices.state, 'requested')))
    .returning();
  if (row && state === 'rejected')
    await tx.delete(invoiceOrders).where(eq(invoiceOrders.invoiceId, id));
  return row ?? null;
};

export const findInvoices = (db: Executor, ids: readonly number[]): Promise<InvoiceRow[]> =>
  db
    .select()
    .from(invoices)
    .where(inArray(invoices.id, [...ids]));
