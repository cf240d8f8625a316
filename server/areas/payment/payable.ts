import type { Taken } from './taken-back.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import type { orders } from './payment.tables.ts';

export type OrderRow = typeof orders.$inferSelect;

/** What somebody wants to buy: so many of something, or a thing by its name. */
export interface Wish {
  quantity: number;
  subject: string;
}

/** What a wish comes to, for this person and now. */
export interface Offer extends Wish {
  /** What the order and the payment service's page call it. */
  title: string;
  /** Cents, discounts taken off. */
  amount: number;
  /** What it adds to the balance. */
  tokens: number;
}

/** How much of an order is refunded: cents of this refund, of those before it, and whether all is. */
export interface RefundPart {
  amount: number;
  before: number;
  whole: boolean;
}

/**
 * Something that areas sell (brought in `payables` of area.ts). Orders are paid, credited and
 * refunded in one way for all of them; this says what that means for one kind.
 */
export interface Payable {
  kind: string;
  /** The specification's number of the kind, contract/payment.ts. */
  type: number;
  /** @throws Refusal when this person cannot buy that */
  price: (db: Executor, userId: number, wish: Wish) => Promise<Offer>;
  /**
   * Had or not: once an order for it is paid, the buyer's open orders of these kinds for the same
   * subject have nothing left to sell.
   */
  rivals?: readonly string[];
  /** Where its buyer is led once it is paid: a path of the page. And what is said there. */
  describe: (order: Pick<OrderRow, 'kind' | 'subject' | 'title'>) => { url: string; words: string };
  /** Of what one has or not: it is had already, and cannot be given once more. */
  isHad?: (tx: Transaction, order: OrderRow) => Promise<boolean>;
  /** What its price rested on is gone since it was begun: it cannot be given for that. */
  isStale?: (tx: Transaction, order: OrderRow) => Promise<boolean>;
  /** Gives what was paid for, in the transaction in which the order becomes paid: once. */
  deliver: (tx: Transaction, order: OrderRow) => Promise<void>;
  /**
   * Takes back what the refunded part stands for; never more than there is.
   * @param forgive take what is left where it is less, instead of refusing
   * @throws Refusal order_unsuitable when there is less left
   */
  revoke: (tx: Transaction, order: OrderRow, part: RefundPart, forgive: boolean) => Promise<Taken>;
  /** Gives again what `revoke` took: the payment service refused the refund. */
  restore: (tx: Transaction, order: OrderRow, taken: Taken) => Promise<void>;
}

/** So much of a whole as a refund stands for, of all refunds so far the exact share. */
export const shareOf = (whole: number, total: number, { amount, before }: RefundPart): number => {
  const upTo = (cents: number): number =>
    total === 0 ? 0 : Number((BigInt(whole) * BigInt(cents)) / BigInt(total));
  return upTo(before + amount) - upTo(before);
};
