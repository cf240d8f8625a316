import { and, desc, eq, gte, inArray, isNotNull, lt, or } from 'drizzle-orm';
import type { ProviderName } from '#contract/payment.ts';
import { countUpTo } from '#server/db/count-up-to.ts';
import type { Executor } from '#server/db/database.ts';
import { ordered } from '#server/db/ordered.ts';
import { users } from '#server/db/schema.ts';
import { requireSortable, type Sorting } from '#server/sorting.ts';
import { orders } from './payment.tables.ts';

/** What managers filter and sort orders by. A number leaves the other filters out. */
export interface OrderFilter extends Sorting<'adminOrderList'> {
  number?: string;
  userId?: number;
  /** All, paid ones, gifts and adjustments, whose money was asked for, of one payment service, or of one of `orderTypes`. */
  type?: 'all' | 'paid' | 'gifted' | 'refund' | ProviderName | number;
  from?: Date;
  to?: Date;
}

const fitting = ({ number, userId, type = 'all', from, to }: OrderFilter) =>
  number
    ? or(eq(orders.number, number), eq(orders.transactionId, number))
    : and(
        userId === undefined ? undefined : eq(orders.userId, userId),
        from && gte(orders.createdAt, from),
        to && lt(orders.createdAt, to),
        type === 'paid' ? inArray(orders.state, ['paid', 'refunded']) : undefined,
        type === 'gifted' ? eq(orders.provider, '') : undefined,
        type === 'refund' ? isNotNull(orders.refundAskedAt) : undefined,
        typeof type === 'number' ? eq(orders.type, type) : undefined,
        type === 'wechat' || type === 'alipay' || type === 'sandbox'
          ? eq(orders.provider, type)
          : undefined,
      );

const orderSorts = {
  created_at: orders.createdAt,
  amount: orders.amount,
  trade_value: orders.tokens,
  paid_at: orders.paidAt,
};

export const orderPage = async (
  db: Executor,
  filter: OrderFilter,
  { offset, limit }: { offset: number; limit: number },
) => {
  const where = fitting(filter);
  const total = await countUpTo(db, orders, where);
  requireSortable('adminOrderList', filter, total);
  const list = await db
    .select({ order: orders, userName: users.userName })
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .where(where)
    .orderBy(...ordered(orderSorts, filter, desc(orders.id)))
    .offset(offset)
    .limit(limit);
  return { list, total };
};
