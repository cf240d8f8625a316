import type { Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { credit, debit } from '../ledger/ledger.service.ts';
import { systemNumber } from './order-number.ts';
import * as store from './payment.store.ts';

export interface Adjustment {
  userId: number;
  /** Of contract/payment.ts. */
  type: number;
  title: string;
  /** Below 0: taken away, no more than there are. */
  tokens: number;
  remarks: string;
  /** Null: the system itself. */
  managerId: number | null;
}

/**
 * Books what a manager or the system gives or takes without a payment, as an order of its own; gives
 * how many tokens it moved.
 */
export const bookAdjustment = (executor: Executor, wanted: Adjustment): Promise<number> =>
  inTransaction(executor, async (tx) => {
    const { userId, type, title, remarks, managerId } = wanted;
    const number = systemNumber();
    const move = { kind: 'adjust', reference: number, remark: title } as const;
    let moved = wanted.tokens;
    if (moved > 0) await credit(tx, userId, moved, { ...move, kind: 'grant' });
    else if (moved < 0) moved = -(await debit(tx, userId, -moved, move));
    const order = await store.insertOrder(tx, {
      number,
      userId,
      kind: 'adjust',
      type,
      title,
      amount: 0,
      tokens: moved,
      state: 'paid',
      paidAt: new Date(),
      remarks,
    });
    await store.addEvent(tx, order, 'booked', { managerId, detail: { tokens: moved } });
    return moved;
  });
