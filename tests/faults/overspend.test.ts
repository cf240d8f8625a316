import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { eq, sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectDatabase, type Connection } from '#server/db/connect.ts';
import { consumptions, holds, ledger, users, wallets } from '#server/db/schema.ts';
import {
  balances,
  extendHold,
  credit,
  hold,
  openWallet,
  release,
  releaseExpired,
  settle,
  transferAll,
} from '#server/areas/ledger/ledger.service.ts';
import { statement } from '#server/db/statement.ts';
import { insertHolds, settlingTogether } from '#server/areas/ledger/holds-together.ts';
import { makeDatabase } from '../support/server.ts';

const heavy = process.env['HEAVY'] === '1';
const rounds = heavy ? 100 : 1;
const steps = heavy ? 100_000 : 300;
const stepsPerRun = 100;

let connection: Connection;
beforeAll(async () => {
  const databaseUrl = await makeDatabase();
  connection = await connectDatabase({ dataDir: '', databaseUrl }, pino({ level: 'warn' }));
});
afterAll(() => connection.close());

const makePerson = async (tokens: number, vip = false): Promise<number> => {
  const [row] = await connection.db
    .insert(users)
    .values({
      userName: '测试',
      guest: true,
      ...(vip
        ? {
            vipActivatedAt: sql`now() - interval '10 days'`,
            vipExpiredAt: sql`now() + interval '1 day'`,
          }
        : {}),
    })
    .returning({ id: users.id });
  if (!row) throw new Error('no person');
  await openWallet(connection.db, row.id, tokens);
  return row.id;
};

/** The wallet, after checking that it is what the ledger adds up to. */
const truth = async (userId: number) => {
  const { db } = connection;
  const [wallet] = await db.select().from(wallets).where(eq(wallets.userId, userId));
  const sums = await db
    .select({ pot: ledger.pot, sum: sql<number>`sum(${ledger.amount})::float8` })
    .from(ledger)
    .where(eq(ledger.userId, userId))
    .groupBy(ledger.pot);
  const sumOf = (pot: string) => sums.find((row) => row.pot === pot)?.sum ?? 0;
  expect(wallet?.balance).toBe(sumOf('balance'));
  expect(wallet?.vipBalance).toBe(sumOf('vip'));
  return { balance: wallet?.balance ?? 0, vip: wallet?.vipBalance ?? 0 };
};

test(
  '200 spends at once never take more than there is',
  async () => {
    const { db } = connection;
    for (let round = 0; round < rounds; round += 1) {
      const userId = await makePerson(1000);
      const spent = await Promise.all(
        Array.from({ length: 200 }, async (_, index) => {
          const id = await hold(db, { userId, amount: 17, reference: `${round}:${index}` });
          if (!id) return 0;
          if (index % 5 === 0) {
            await release(db, id);
            return 0;
          }
          // Settled twice at once, and for more than was held: it still counts once.
          const [first, second] = await Promise.all([settle(db, id, 23), settle(db, id, 23)]);
          expect(second.spent).toBe(first.spent);
          return first.spent;
        }),
      );
      const total = spent.reduce((sum, tokens) => sum + tokens, 0);
      const { balance } = await truth(userId);
      expect(balance).toBeGreaterThanOrEqual(0);
      expect(balance).toBe(1000 - total);
    }
  },
  heavy ? 900_000 : 60_000,
);

type Step =
  | { kind: 'grant' | 'hold' | 'holdBalance'; amount: number }
  | { kind: 'extend' | 'extendToAll' | 'settle'; pick: number; amount: number }
  | { kind: 'release'; pick: number }
  | { kind: 'transfer' };

const amount = fc.oneof(fc.nat(300), fc.nat(400_000));
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('grant' as const), amount: fc.nat(500) }),
  fc.record({ kind: fc.constantFrom('hold' as const, 'holdBalance' as const), amount }),
  fc.record({
    kind: fc.constantFrom('extend' as const, 'extendToAll' as const, 'settle' as const),
    pick: fc.nat(),
    amount,
  }),
  fc.record({ kind: fc.constant('release' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('transfer' as const) }),
);

/** The rules again, as simply as they can be said: two numbers and a list of holds. */
class Model {
  balance: number;
  vip: number;
  holds: { id: string; balance: number; vip: number; vipAllowed: boolean; open: boolean }[] = [];
  constructor(balance: number, vip: number) {
    this.balance = balance;
    this.vip = vip;
  }
  take(tokens: number, vipAllowed: boolean) {
    const vip = vipAllowed ? Math.min(this.vip, tokens) : 0;
    const balance = Math.min(this.balance, tokens - vip);
    return { vip, balance, enough: vip + balance === tokens };
  }
  remove(part: { vip: number; balance: number }) {
    this.vip -= part.vip;
    this.balance -= part.balance;
  }
}

const play = async (vip: boolean, given: readonly Step[]): Promise<void> => {
  const { db } = connection;
  const userId = await makePerson(500, vip);
  const other = await makePerson(0);
  const model = new Model(500, vip ? 250_000 : 0);
  let transferred = 0;
  for (const now of given) {
    const chosen = 'pick' in now ? model.holds[now.pick % (model.holds.length || 1)] : undefined;
    if (now.kind === 'grant') {
      await credit(db, userId, now.amount, { kind: 'grant', reference: '', remark: '' });
      model.balance += now.amount;
    } else if (now.kind === 'hold' || now.kind === 'holdBalance') {
      const vipAllowed = now.kind === 'hold';
      const id = await hold(db, { userId, amount: now.amount, reference: '', vipAllowed });
      const part = model.take(now.amount, vipAllowed);
      expect(id !== null).toBe(part.enough);
      if (id) {
        model.remove(part);
        model.holds.push({ id, ...part, vipAllowed, open: true });
      }
    } else if (now.kind === 'transfer') {
      await transferAll(db, userId, other);
      transferred += model.balance;
      model.balance = 0;
    } else if (chosen && (now.kind === 'extend' || now.kind === 'extendToAll')) {
      const part = model.take(now.amount, chosen.vipAllowed);
      const least = now.kind === 'extend' ? now.amount : 1;
      const enough = chosen.open && part.vip + part.balance >= least;
      const given = await extendHold(db, chosen.id, now.amount, least);
      expect(given).toBe(enough ? part.vip + part.balance : null);
      if (enough) {
        model.remove(part);
        chosen.vip += part.vip;
        chosen.balance += part.balance;
      }
    } else if (chosen) {
      if (chosen.open) {
        model.remove({ vip: -chosen.vip, balance: -chosen.balance });
        chosen.open = false;
        if (now.kind === 'settle') {
          const before = model.balance + model.vip;
          const part = model.take(now.amount, chosen.vipAllowed);
          model.remove(part);
          expect(await settle(db, chosen.id, now.amount)).toEqual({
            spent: part.vip + part.balance,
            balanceBefore: before,
          });
          continue;
        }
      }
      if (now.kind === 'settle') await settle(db, chosen.id, now.amount);
      else await release(db, chosen.id);
    }
    expect(await balances(db, userId)).toEqual({ balance: model.balance, vip: model.vip });
  }
  expect(await truth(userId)).toEqual({ balance: model.balance, vip: model.vip });
  expect(await truth(other)).toEqual({ balance: transferred, vip: 0 });
};

test(
  `${steps} random steps agree with the rules, to the token`,
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.array(step, { minLength: stepsPerRun, maxLength: stepsPerRun }),
        play,
      ),
      { numRuns: Math.ceil(steps / stepsPerRun), endOnFailure: true },
    );
  },
  heavy ? 3_600_000 : 120_000,
);

const settleTogether = statement<{ id: string; spent: number }>(
  'settle_together',
  settlingTogether(
    `SELECT *, 0::smallint AS type, 'm' AS model, '' AS human, 0::bigint AS channel_id,
       1 AS prompt_tokens, 1 AS completion_tokens
     FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS each (id, actual, n)`,
    'SELECT',
  ),
);

test('holds that are made and settled together take what each would alone; a wallet in use is not waited for', async () => {
  const { db } = connection;
  const [anna, bert, busy, leaving, ended] = [
    await makePerson(1_000),
    await makePerson(500),
    await makePerson(900),
    await makePerson(700),
    await makePerson(800),
  ];
  await db.update(wallets).set({ closed: true }).where(eq(wallets.userId, ended));
  const asked = [
    { userId: anna, amount: 300, actual: 120 },
    { userId: bert, amount: 500, actual: 800 },
    { userId: busy, amount: 100, actual: 10 },
    { userId: anna, amount: 300, actual: 450 },
    { userId: anna, amount: 401, actual: 401 },
    { userId: leaving, amount: 100, actual: 20 },
    { userId: ended, amount: 100, actual: 20 },
  ].map((each) => ({ ...each, id: randomUUID(), reference: 'test' }));
  const idsOf = (...rows: number[]) => rows.map((at) => asked[at]!.id);
  const options = { ttlMs: 60_000, owner: 1, waits: false };
  const whileInUse = <T>(act: () => Promise<T>): Promise<T> =>
    db.transaction(async (tx) => {
      await tx.execute(sql`SELECT FROM ${wallets} WHERE user_id = ${busy} FOR UPDATE`);
      await tx.execute(sql`SELECT FROM ${users} WHERE id = ${leaving} FOR UPDATE`);
      return act();
    });
  const made = await whileInUse(() => insertHolds(db, asked, options));
  expect([...made].toSorted()).toEqual(idsOf(0, 1, 3, 6).toSorted());
  const later = await insertHolds(db, [asked[2]!, asked[4]!, asked[5]!], {
    ...options,
    waits: true,
  });
  expect([...later].toSorted()).toEqual(idsOf(2, 5).toSorted());

  const uses = [...asked, { id: randomUUID(), actual: 5 }];
  const together = async () => {
    const ids = uses.map(({ id }) => id);
    const rows = await settleTogether(db, [ids, uses.map(({ actual }) => actual)]);
    const spent = new Map(rows.map((row) => [row.id, row.spent]));
    return ids.map((id) => spent.get(id) ?? null);
  };
  const nothing = [null, null, null];
  expect(await whileInUse(together)).toEqual([120, null, null, 450, null, ...nothing]);
  expect(await together()).toEqual([null, null, 10, null, null, 20, null, null]);
  expect(await settle(db, asked[1]!.id, 800)).toMatchObject({ spent: 500 });
  expect([await truth(anna), await truth(bert), await truth(busy), await truth(leaving)]).toEqual([
    { balance: 430, vip: 0 },
    { balance: 0, vip: 0 },
    { balance: 890, vip: 0 },
    { balance: 680, vip: 0 },
  ]);
  const rows = await db.select().from(consumptions).where(eq(consumptions.userId, anna));
  expect(rows.map(({ deductTokens, currentBalance }) => [deductTokens, currentBalance])).toEqual([
    [120, 1_000],
    [450, 880],
  ]);
});

test("the VIP's pot is filled monthly, does not add up, and is spent first", async () => {
  const { db } = connection;
  const userId = await makePerson(1000, true);
  expect(await balances(db, userId)).toEqual({ balance: 1000, vip: 250_000 });
  const first = await hold(db, { userId, amount: 100, reference: '' });
  expect(await balances(db, userId)).toEqual({ balance: 1000, vip: 249_900 });

  // A month passes: what was left, and what is put back later, is gone.
  await db
    .update(users)
    .set({ vipActivatedAt: sql`now() - interval '1 month' - interval '1 second'` })
    .where(eq(users.id, userId));
  await db
    .update(holds)
    .set({ createdAt: sql`now() - interval '1 minute'` })
    .where(eq(holds.userId, userId));
  expect(await balances(db, userId)).toEqual({ balance: 1000, vip: 250_000 });
  expect(await settle(db, first ?? '', 40)).toMatchObject({ spent: 40 });
  expect(await truth(userId)).toEqual({ balance: 1000, vip: 250_000 });

  const both = await hold(db, { userId, amount: 250_500, reference: '' });
  expect(await balances(db, userId)).toEqual({ balance: 500, vip: 0 });
  await release(db, both ?? '');

  // The membership ends.
  await db
    .update(users)
    .set({ vipExpiredAt: sql`now() - interval '1 second'` })
    .where(eq(users.id, userId));
  expect(await balances(db, userId)).toEqual({ balance: 1000, vip: 0 });
  expect(await truth(userId)).toEqual({ balance: 1000, vip: 0 });
});

test('a hold that nobody ends is released when its time is over, once', async () => {
  const { db } = connection;
  const userId = await makePerson(100);
  const id = await hold(db, { userId, amount: 60, reference: '', ttlMs: 1 });
  await new Promise((resolve) => setTimeout(resolve, 10));
  await Promise.all([releaseExpired(db), releaseExpired(db), releaseExpired(db)]);
  expect(await settle(db, id ?? '', 50)).toMatchObject({ spent: 0 });
  expect(await truth(userId)).toEqual({ balance: 100, vip: 0 });
});

test('entries of the ledger can be neither changed nor deleted', async () => {
  const userId = await makePerson(1);
  const mine = eq(ledger.userId, userId);
  await expect(connection.db.update(ledger).set({ amount: 2 }).where(mine)).rejects.toThrow();
  await expect(connection.db.delete(ledger).where(mine)).rejects.toThrow();
});
