import { randomBytes, randomInt } from 'node:crypto';
import type { Database, Executor } from '#server/db/database.ts';
import type { Context } from '#server/http/handlers.ts';
import type { Settings } from '#server/settings.ts';
import type { PaymentProvider } from '#server/payments/payment-provider.ts';
import * as store from './sandbox.store.ts';

/**
 * 沙箱收银台: a payment service within the house, for trying everything without money. It keeps its
 * trades in a table of its own, which nothing else reads, and is asked as the real ones are.
 */
export const createSandbox = (db: Database, publicUrl: string): PaymentProvider => ({
  name: 'sandbox',
  label: '沙箱收银台',

  begin: async ({ number, title, amount }) => {
    const key = randomBytes(24).toString('base64url');
    await store.insertTrade(db, { number, key, title, amount });
    return `${publicUrl}/cashier?key=${key}`;
  },

  ask: async (number) => {
    const trade = await store.tradeByNumber(db, number);
    if (!trade) return { state: 'missing' };
    if (trade.state !== 'paid' || !trade.paidAt)
      return { state: trade.state === 'closed' ? 'closed' : 'unpaid' };
    const { amount, transactionId, paidAt } = trade;
    return { state: 'paid', amount, transactionId, paidAt };
  },

  close: async (number) => {
    await store.closeTrade(db, number);
  },

  refund: async () => 'done',

  bill: async (day) => {
    const from = new Date(`${day}T00:00:00+08:00`);
    const to = new Date(from.getTime() + 24 * 3_600_000);
    return store.paidWithin(db, from, to);
  },
});

export const shutOutside = '沙箱收银台只在本机和局域网里可以用';

/**
 * Whether this request may buy with play money: nobody from the internet may, unless SANDBOX_ALLOWED
 * names the address that this server is reached by.
 */
export const mayPlay = (
  { host, outside }: Pick<Context, 'host' | 'outside'>,
  { sandboxAllowed, publicUrl }: Pick<Settings, 'sandboxAllowed' | 'publicUrl'>,
): boolean => {
  const known = URL.canParse(publicUrl) ? new URL(publicUrl).hostname : host;
  if (sandboxAllowed !== '' && sandboxAllowed === known) return true;
  return outside() === null;
};

/** Pays or cancels it, where that was not done. */
export const settleSandbox = async (db: Executor, key: string, pay: boolean) => {
  const transactionId = `SBX${Date.now()}${String(randomInt(1e9)).padStart(9, '0')}`;
  await store.settleTrade(db, key, pay ? transactionId : null);
  return store.tradeByKey(db, key);
};
