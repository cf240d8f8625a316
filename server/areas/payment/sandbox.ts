import { randomBytes, randomInt } from 'node:crypto';
import { and, eq, gte, lt, sql } from 'drizzle-orm';
import type { Database, Executor } from '#server/db/database.ts';
import type { Context } from '#server/http/handlers.ts';
import type { Settings } from '#server/settings.ts';
import type { PaymentProvider } from '#server/payments/payment-provider.ts';
import { sandboxTrades } from './payment.tables.ts';

/**
 * 沙箱收银台: a payment service within the house, for trying everything without money. It keeps its
 * trades in a table of its own, which nothing else reads, and is asked as the real ones are.
 */
export const createSandbox = (db: Database, publicUrl: string): PaymentProvider => ({
  name: 'sandbox',
  label: '沙箱收银台',

  begin: async ({ number, title, amount }) => {
    const key = randomBytes(24).toString('base64url');
    await db.insert(sandboxTrades).values({ number, key, title, amount });
    return `${publicUrl}/cashier?key=${key}`;
  },

  ask: async (number) => {
    const [trade] = await db.select().from(sandboxTrades).where(eq(sandboxTrades.number, number));
    if (!trade) return { state: 'missing' };
    if (trade.state !== 'paid' || !trade.paidAt)
      return { state: trade.state === 'closed' ? 'closed' : 'unpaid' };
    const { amount, transactionId, paidAt } = trade;
    return { state: 'paid', amount, transactionId, paidAt };
  },

  close: async (number) => {
    await db
      .update(sandboxTrades)
      .set({ state: 'closed' })
      .where(and(eq(sandboxTrades.number, number), eq(sandboxTrades.state, 'unpaid')));
  },

  refund: async () => 'done',

  bill: async (day) => {
    const from = new Date(`${day}T00:00:00+08:00`);
    const to = new Date(from.getTime() + 24 * 3_600_000);
    return db
      .select({
        number: sandboxTrades.number,
        amount: sandboxTrades.amount,
        transactionId: sandboxTrades.transactionId,
      })
      .from(sandboxTrades)
      .where(
        and(
          eq(sandboxTrades.state, 'paid'),
          gte(sandboxTrades.paidAt, from),
          lt(sandboxTrades.paidAt, to),
        ),
      );
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

type Trade = typeof sandboxTrades.$inferSelect;

/** What its page shows; null: there is no such trade. */
export const sandboxTrade = async (db: Executor, key: string): Promise<Trade | null> => {
  const [trade] = await db.select().from(sandboxTrades).where(eq(sandboxTrades.key, key));
  return trade ?? null;
};

/** Pays or cancels it, where that was not done. */
export const settleSandbox = async (
  db: Executor,
  key: string,
  pay: boolean,
): Promise<Trade | null> => {
  const transactionId = `SBX${Date.now()}${String(randomInt(1e9)).padStart(9, '0')}`;
  await db
    .update(sandboxTrades)
    .set(pay ? { state: 'paid', transactionId, paidAt: sql`now()` } : { state: 'closed' })
    .where(and(eq(sandboxTrades.key, key), eq(sandboxTrades.state, 'unpaid')));
  return sandboxTrade(db, key);
};
