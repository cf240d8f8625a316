import type { ProviderName } from '#contract/payment.ts';

/** What is to be paid. */
export interface Trade {
  /** Our number of the order. */
  number: string;
  title: string;
  /** Cents. */
  amount: number;
  expiresAt: Date;
}

/** How a trade stands with the service. `missing`: it has never heard of it. */
export type Finding =
  | { state: 'unpaid' | 'closed' | 'missing' }
  | {
      state: 'paid' | 'refunded';
      /** Cents. */
      amount: number;
      /** What the service calls the payment. */
      transactionId: string;
      paidAt: Date;
    };

export interface RefundRequest {
  number: string;
  refundNumber: string;
  /** Cents: of this refund, and of the whole order. */
  amount: number;
  total: number;
  reason: string;
}

/** One payment of a day's bill. */
export interface BillRow {
  number: string;
  /** Cents. */
  amount: number;
  transactionId: string;
}

/** Bytes as they came, with the headers that sign them. */
export interface Notice {
  body: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A service that people pay by. All of it may throw where the service cannot be reached. */
export interface PaymentProvider {
  name: ProviderName;
  label: string;
  /** Begins a trade; gives the text of its QR code. */
  begin: (trade: Trade) => Promise<string>;
  /** Asks about a trade; only an answer that the service has signed for this merchant counts. */
  ask: (number: string) => Promise<Finding>;
  /** Makes an unpaid trade impossible to pay. */
  close: (number: string) => Promise<void>;
  /** Repeating it with the same number does nothing again and tells how it stands. */
  refund: (request: RefundRequest) => Promise<'done' | 'pending' | 'failed'>;
  /** The payments of a day (YYYY-MM-DD, in China); null: not there yet. */
  bill: (day: string) => Promise<BillRow[] | null>;
  /** Whose order a notice is about; null: it is not from the service, or not for this merchant. */
  readNotice?: (notice: Notice) => Promise<{ number: string } | null>;
}

/** The service was reached and refused, or said what makes no sense. */
export class ProviderError extends Error {}
