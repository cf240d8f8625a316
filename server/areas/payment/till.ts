import type { FastifyBaseLogger } from 'fastify';
import type { ProviderName } from '#contract/payment.ts';
import type { Database } from '#server/db/database.ts';
import { createPersonLimit } from '#server/http/rate-limit.ts';
import type { PaymentProvider } from '#server/payments/payment-provider.ts';
import type { Payable } from './payable.ts';

const aMinute = { orders: 30, asks: 240 };

export interface PaymentDeps {
  db: Database;
  log: FastifyBaseLogger;
  providers: readonly PaymentProvider[];
  /** Whether the owner lets people pay here. */
  takesPayment: () => Promise<boolean>;
  /** Why there are none; empty where there are. */
  closedReason: string;
  payables: readonly Payable[];
  /** How often an open order is asked about although nobody looks, ms. */
  checkMs: number;
}

/** What orders are worked on with. */
export interface Till extends PaymentDeps {
  /** @throws Error where nobody sells that */
  payableOf: (kind: string) => Payable;
  /** Null: it is not connected, or the order was with none. */
  providerOf: (name: ProviderName | '') => PaymentProvider | null;
  /** Those that somebody may pay by. @param play they may use the sandbox */
  offered: (play: boolean) => PaymentProvider[];
  /** Count what one person does in a minute. @throws Refusal too_many */
  limitOrders: (userId: number) => Promise<void>;
  limitAsks: (userId: number) => Promise<void>;
}

export const openTill = (deps: PaymentDeps): Till => {
  const { providers, payables } = deps;
  return {
    ...deps,
    payableOf: (kind) => {
      const payable = payables.find((each) => each.kind === kind);
      if (!payable) throw new Error(`nobody sells ${kind}`);
      return payable;
    },
    providerOf: (wanted) => providers.find(({ name }) => name === wanted) ?? null,
    offered: (play) => providers.filter(({ name }) => play || name !== 'sandbox'),
    limitOrders: createPersonLimit(aMinute.orders, 'orders'),
    limitAsks: createPersonLimit(aMinute.asks, 'asks about orders'),
  };
};
