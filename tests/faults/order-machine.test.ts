import fc from 'fast-check';
import { eq, sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { balances, hold, openWallet, settle } from '#server/areas/ledger/ledger.service.ts';
import { ownPayables } from '#server/areas/payment/payable-kinds.ts';
import { createPaymentService } from '#server/areas/payment/payment.service.ts';
import { connectDatabase, type Connection } from '#server/db/connect.ts';
import { ledger, users } from '#server/db/schema.ts';
import { takeDue } from '#server/areas/payment/payment.store.ts';
import { orders } from '#server/areas/payment/payment.tables.ts';
import type { Finding, PaymentProvider } from '#server/payments/payment-provider.ts';
import { makeDatabase } from '../support/server.ts';

const heavy = process.env['HEAVY'] === '1';
const stepsPerRun = 60;
const steps = heavy ? 100_000 : 600;
const monthly = 250_000;
const signup = 20_000;

let connection: Connection;
beforeAll(async () => {
  const databaseUrl = await makeDatabase();
  connection = await connectDatabase({ dataDir: '', databaseUrl }, pino({ level: 'silent' }));
});
afterAll(() => connection.close());

/** A payment service that does what the test says, in memory. */
const createTill = () => {
  const trades = new Map<string, Finding & { amount?: number }>();
  let refuses = false;
  let paidOut = 0;
  const provider: PaymentProvider = {
    name: 'sandbox',
    label: '',
    begin: async ({ number }) => {
      trades.set(number, { state: 'unpaid' });
      return number;
    },
    ask: async (number) => trades.get(number) ?? { state: 'missing' },
    close: async (number) => {
      if (trades.get(number)?.state === 'unpaid') trades.set(number, { state: 'closed' });
    },
    refund: async ({ amount }) => {
      if (refuses) return 'failed';
      paidOut += amount;
      return 'done';
    },
    bill: async () => null,
  };
  return {
    provider,
    pay: (number: string, amount: number) =>
      trades.set(number, {
        state: 'paid',
        amount,
        transactionId: `T${number}`,
        paidAt: new Date(),
      }),
    isOpen: (number: string) => trades.get(number)?.state === 'unpaid',
    refuse: (now: boolean) => void (refuses = now),
    paidOut: () => paidOut,
  };
};

type Kind = 'token' | 'vip' | 'code' | 'code-pro';

type Step =
  | { act: 'buy'; kind: Kind; quantity: number }
  | { act: 'pay'; pick: number; times: number }
  | { act: 'close'; pick: number }
  | { act: 'refund'; pick: number; part: number; forgive: boolean; refused: boolean }
  | { act: 'spend'; amount: number; used: number; vipAllowed: boolean };

const pick = fc.nat(1000);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    act: fc.constant('buy' as const),
    kind: fc.constantFrom<Kind>('token', 'token', 'vip', 'vip', 'code', 'code-pro'),
    quantity: fc.integer({ min: 1, max: 12 }),
  }),
  fc.record({ act: fc.constant('pay' as const), pick, times: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ act: fc.constant('pay' as const), pick, times: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ act: fc.constant('close' as const), pick }),
  fc.record({
    act: fc.constant('refund' as const),
    pick,
    part: fc.integer({ min: 1, max: 100 }),
    forgive: fc.boolean(),
    refused: fc.boolean(),
  }),
  fc.record({
    act: fc.constant('spend' as const),
    amount: fc.integer({ min: 1, max: 3_000_000 }),
    used: fc.integer({ min: 0, max: 100 }),
    vipAllowed: fc.boolean(),
  }),
);

interface Known {
  number: string;
  kind: Kind;
  quantity: number;
  amount: number;
  tokens: number;
  state: 'created' | 'paid' | 'closed' | 'refunded';
  refunded: number;
}

const upgrades = ({ kind, amount }: Known): boolean => kind === 'code-pro' && amount < 198_000;

/** The rules in their plainest form; prices as document 3 §9 has them. */
class Model {
  balance = signup;
  vip = 0;
  /** Months of the running membership; none of them ends while the test runs. */
  months = 0;
  level = 0;
  orders: Known[] = [];

  price(kind: Kind, quantity: number): { amount: number; tokens: number } | null {
    if (kind === 'token') {
      const full = quantity * 2000;
      const rate = full >= 40_000 ? 90 : full >= 10_000 ? 95 : 100;
      return { amount: (full * rate) / 100, tokens: quantity * 1_000_000 };
    }
    if (kind === 'vip') {
      const rate = quantity >= 12 ? 80 : quantity >= 6 ? 90 : 100;
      return { amount: (quantity * 2600 * rate) / 100, tokens: 0 };
    }
    const level = kind === 'code' ? 1 : 2;
    if (this.level >= level) return null;
    // Of the one that is had what was given back of it is no longer paid.
    const back =
      this.level === 1 ? this.paidEditions().reduce((sum, each) => sum + each.refunded, 0) : 0;
    return {
      amount: level === 1 ? 39_800 : this.level === 1 ? 158_200 + back : 198_000,
      tokens: 2_000_000,
    };
  }

  addMonths(months: number) {
    if (months > 0 && this.months === 0) this.vip = monthly;
    this.months += months;
  }

  deliver(order: Known) {
    this.balance += order.tokens;
    if (order.kind === 'vip') this.addMonths(order.quantity);
    if (order.kind === 'code') this.level = Math.max(this.level, 1);
    if (order.kind === 'code-pro') this.level = 2;
  }

  /** Of what one has or not. */
  has({ kind }: Known): boolean {
    if (kind === 'code') return this.level >= 1;
    return kind === 'code-pro' && this.level === 2;
  }

  paidEditions(): Known[] {
    return this.orders.filter(
      ({ kind, state }) => state === 'paid' && (kind === 'code' || kind === 'code-pro'),
    );
  }

  /** An upgrade that was begun before what it rests on was paid back. */
  isStale({ kind, amount }: Known): boolean {
    return (kind === 'code' || kind === 'code-pro') && amount < (this.price(kind, 1)?.amount ?? 0);
  }

  /** Another one was bought for the difference to this one. */
  bears(order: Known): boolean {
    const editions = this.paidEditions();
    return editions.includes(order) && editions.some((each) => each !== order && upgrades(each));
  }

  levelOfOthers(order: Known): number {
    const levels = this.paidEditions()
      .filter((each) => each !== order)
      .map((each) => (each.kind === 'code' ? 1 : 2));
    return Math.max(0, ...levels);
  }
}

const part = (whole: number, total: number, before: number, amount: number): number =>
  Math.floor((whole * (before + amount)) / total) - Math.floor((whole * before) / total);

/** Somebody with a wallet, and a service that takes their orders. */
const open = async () => {
  const { db } = connection;
  const till = createTill();
  const payments = createPaymentService({
    db,
    log: pino({ level: 'silent' }),
    providers: [till.provider],
    closedReason: '',
    payables: ownPayables,
    takesPayment: () => Promise.resolve(true),
    checkMs: 3_600_000,
  });
  const [person] = await db
    .insert(users)
    .values({ userName: '测试', guest: true })
    .returning({ id: users.id });
  const userId = person!.id;
  await openWallet(db, userId, signup);
  return { db, till, payments, userId };
};

const play = async (given: readonly Step[]): Promise<void> => {
  const { db, till, payments, userId } = await open();
  const model = new Model();
  let income = 0;
  try {
    for (const now of given) {
      const known = 'pick' in now ? model.orders[now.pick % (model.orders.length || 1)] : undefined;
      if (now.act === 'buy') {
        if (model.orders.length >= 15) continue;
        const price = model.price(now.kind, now.quantity);
        const wish = { quantity: now.quantity, subject: '' };
        const made = payments.createOrder(userId, { kind: now.kind, wish, play: true });
        if (!price) {
          await expect(made).rejects.toThrow('已订阅');
          continue;
        }
        const order = await (await made)(db);
        expect(order.amount).toBe(price.amount);
        model.orders.push({
          number: order.trade_no,
          kind: now.kind,
          quantity: now.quantity,
          ...price,
          state: 'created',
          refunded: 0,
        });
      } else if (now.act === 'pay' && known) {
        // Money that comes late comes all the same.
        if (known.state === 'created' || known.state === 'closed') {
          till.pay(known.number, known.amount);
          // What one has already, or what rests on nothing, is paid back, by the clock, which stands still here.
          if (model.has(known) || model.isStale(known)) {
            known.state = 'refunded';
            known.refunded = known.amount;
          } else {
            income += known.amount;
            known.state = 'paid';
            model.deliver(known);
          }
        }
        await Promise.all(
          Array.from({ length: now.times }, () => payments.noticed('sandbox', known.number)),
        );
      } else if (now.act === 'close' && known) {
        const closing = payments.closeOrder(userId, known.number);
        if (known.state === 'paid' || known.state === 'refunded')
          await expect(closing).rejects.toThrow();
        else {
          expect((await closing).state).toBe('closed');
          known.state = 'closed';
        }
      } else if (now.act === 'refund' && known) {
        const left = known.amount - known.refunded;
        const amount = Math.max(1, Math.ceil((left * now.part) / 100));
        till.refuse(now.refused);
        const asked = payments.refund({
          number: known.number,
          amount,
          reason: '',
          managerId: userId,
          forgive: now.forgive,
          byOwner: true,
        });
        const tokens = part(known.tokens, known.amount, known.refunded, amount);
        const bearing = amount === left && model.bears(known);
        if (known.state !== 'paid' || bearing || (tokens > model.balance && !now.forgive)) {
          await expect(asked).rejects.toThrow();
          continue;
        }
        expect((await asked).state).toBe(now.refused ? 'failed' : 'done');
        const whole = amount === left;
        const months =
          known.kind === 'vip' ? part(known.quantity, known.amount, known.refunded, amount) : 0;
        if (months > 0 && model.months > 0) {
          model.months = Math.max(0, model.months - months);
          if (model.months === 0) model.vip = 0;
        }
        if (now.refused) {
          if (months > 0) model.addMonths(months);
          continue;
        }
        model.balance -= Math.min(tokens, model.balance);
        known.refunded += amount;
        if (whole) {
          known.state = 'refunded';
          if (known.kind === 'code' || known.kind === 'code-pro')
            model.level = model.levelOfOthers(known);
        }
      } else if (now.act === 'spend') {
        const { amount, vipAllowed } = now;
        const id = await hold(db, { userId, amount, reference: '', vipAllowed });
        const enough = model.balance + (vipAllowed ? model.vip : 0) >= amount;
        expect(id !== null).toBe(enough);
        if (!id) continue;
        const used = Math.floor((amount * now.used) / 100);
        const { spent } = await settle(db, id, used, {
          type: 0,
          model: 'm',
          human: '',
          prompt_tokens: 1,
          completion_tokens: 1,
        });
        expect(spent).toBe(used);
        const vip = vipAllowed ? Math.min(model.vip, used) : 0;
        model.vip -= vip;
        model.balance -= used - vip;
      }
      expect(await balances(db, userId)).toEqual({ balance: model.balance, vip: model.vip });
    }
    // Nobody has the dearer edition for less than its price, but for what was given back of a part.
    const paid = model.paidEditions().reduce((sum, each) => sum + each.amount, 0);
    expect(paid).toBeGreaterThanOrEqual([0, 39_800, 198_000][model.level] ?? 0);
    await agree(userId, model, income - till.paidOut());
  } finally {
    await payments.close();
  }
};

/** What is stored, after all, is what the rules say; the ledger adds up to it. */
const agree = async (userId: number, model: Model, cents: number) => {
  const { db } = connection;
  const rows = await db.select().from(orders).where(eq(orders.userId, userId)).orderBy(orders.id);
  expect(rows.map((row) => [row.state, row.refundedAmount])).toEqual(
    model.orders.map((each) => [each.state, each.refunded]),
  );
  const kept = rows
    .filter((row) => row.state === 'paid' || row.state === 'refunded')
    .reduce((sum, row) => sum + row.amount - row.refundedAmount, 0);
  expect(kept).toBe(cents);
  const [user] = await db.select().from(users).where(eq(users.id, userId));
  expect(user?.subscribe).toBe(model.level);
  expect((user?.vipExpiredAt ?? new Date(0)) > new Date()).toBe(model.months > 0);
  const sums = await db
    .select({ pot: ledger.pot, sum: sql<number>`sum(${ledger.amount})::float8` })
    .from(ledger)
    .where(eq(ledger.userId, userId))
    .groupBy(ledger.pot);
  const sumOf = (pot: string) => sums.find((row) => row.pot === pot)?.sum ?? 0;
  expect([sumOf('balance'), sumOf('vip')]).toEqual([model.balance, model.vip]);
};

test('the dearer edition cannot be had for the difference alone, whichever way it is refunded', async () => {
  const buy = (kind: Kind): Step => ({ act: 'buy', kind, quantity: 1 });
  const pay = (at: number): Step => ({ act: 'pay', pick: at, times: 1 });
  const back = (at: number, part = 100): Step => ({
    act: 'refund',
    pick: at,
    part,
    forgive: true,
    refused: false,
  });
  // Upgraded, then the first one asked back; begun, the first one paid back, then paid; a part of it.
  await play([buy('code'), pay(0), buy('code-pro'), pay(1), back(0), back(1), back(0)]);
  await play([buy('code'), pay(0), buy('code-pro'), back(0), pay(1)]);
  await play([buy('code'), pay(0), back(0, 90), buy('code-pro'), pay(1)]);
  await play([buy('code'), pay(0), buy('code-pro'), back(0, 90), pay(1)]);
});

test('an upgrade that is paid while what it rests on is refunded is never paid for nothing', async () => {
  const { db, till, payments, userId } = await open();
  const begin = async (kind: Kind) => {
    const wish = { quantity: 1, subject: '' };
    const made = await (await payments.createOrder(userId, { kind, wish, play: true }))(db);
    till.pay(made.trade_no, made.amount);
    return made;
  };
  /** Until so many wait for a lock that `held` has. */
  const waiting = (count: number) =>
    expect
      .poll(async () => {
        const { rows } = await db.execute(sql`SELECT 1 FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`);
        return rows.length;
      })
      .toBe(count);
  try {
    const base = await begin('code');
    await payments.noticed('sandbox', base.trade_no);
    const upgrade = await begin('code-pro');
    const back = { number: base.trade_no, amount: base.amount, reason: '', forgive: true };
    // Both have begun, the payment first, when the wallet is let go.
    const both = await db.transaction(async (tx) => {
      await tx.execute(sql`SELECT 1 FROM wallets WHERE user_id = ${userId} FOR UPDATE`);
      const paying = payments.noticed('sandbox', upgrade.trade_no);
      await waiting(1);
      const refunding = payments.refund({ ...back, managerId: userId, byOwner: true });
      refunding.catch(() => undefined);
      await waiting(2);
      return [paying, refunding] as const;
    });
    const [paid, refunded] = await Promise.allSettled(both);
    expect([paid.status, refunded.status]).toEqual(['fulfilled', 'rejected']);
    const [user] = await db.select().from(users).where(eq(users.id, userId));
    expect(user?.subscribe).toBe(2);
  } finally {
    await payments.close();
  }
});

test('a refund does not forgive what is only held for a moment, and a manager’s is an owner’s to make', async () => {
  const { db, till, payments, userId } = await open();
  try {
    const wish = { quantity: 1, subject: '' };
    const made = await (
      await payments.createOrder(userId, { kind: 'token', wish, play: true })
    )(db);
    till.pay(made.trade_no, made.amount);
    await payments.noticed('sandbox', made.trade_no);
    const all = (await balances(db, userId)).balance;
    const id = await hold(db, { userId, amount: all, reference: '' });
    const back = { number: made.trade_no, amount: made.amount, reason: '', managerId: 1 };
    const forgiven = { ...back, forgive: true };
    await expect(payments.refund(forgiven)).rejects.toThrow('正在进行');
    await settle(db, id ?? '', 0);
    await db.update(users).set({ manager: true }).where(eq(users.id, userId));
    await expect(payments.refund(back)).rejects.toThrow('所有者');
    expect((await payments.refund({ ...back, byOwner: true })).state).toBe('done');
    expect((await balances(db, userId)).balance).toBe(signup);
  } finally {
    await payments.close();
  }
});

test(
  `${steps} random steps of orders, refunds, membership and spending agree with the rules @P6`,
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: stepsPerRun, maxLength: stepsPerRun }), play),
      { numRuns: Math.ceil(steps / stepsPerRun), endOnFailure: true },
    );
  },
  heavy ? 3_600_000 : 120_000,
);

test('whoever has thousands of closed orders keeps nobody else’s from being asked about', async () => {
  const { db } = connection;
  const people = await db
    .insert(users)
    .values([
      { userName: '取消的人', guest: true },
      { userName: '别人', guest: true },
    ])
    .returning({ id: users.id });
  const [busy, other] = people.map(({ id }) => id);
  const begun = sql`INSERT INTO orders
    (user_id, number, kind, type, title, amount, provider, state, closed_at, next_ask_at)`;
  await db.execute(sql`${begun} SELECT ${busy}::bigint, 'Q1' || lpad(g::text, 19, '0'), 'token', 1,
    '充值', 2000, 'wechat', 'closed', now(), now() - interval '1 hour' FROM generate_series(1, 3000) g`);
  await db.execute(sql`${begun} SELECT ${other}::bigint, 'Q2' || lpad(g::text, 19, '0'), 'token', 1,
    '充值', 2000, 'wechat', CASE g WHEN 3 THEN 'created' ELSE 'closed' END, now(), now()
    FROM generate_series(1, 3) g`);
  const taken = await takeDue(db, 10, 60_000);
  const own = taken.filter(({ userId }) => userId === other).map(({ number }) => number.at(-1));
  expect(taken).toHaveLength(10);
  expect(new Set(own)).toEqual(new Set(['1', '2', '3']));
  const [first] = await takeDue(db, 1, 60_000);
  expect(first?.userId).toBe(busy);
});
