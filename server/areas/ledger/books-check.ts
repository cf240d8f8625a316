import { sql } from 'drizzle-orm';
import type { FastifyBaseLogger } from 'fastify';
import type { Chore } from '#server/area.ts';

/** Wallets that are looked at in a minute: 700,000 in a day. */
const batch = 500;

/**
 * Goes through all wallets, some each minute, and compares each with the sum of its ledger. What
 * differs is an error of ours: it is logged, and stays counted until the wallet agrees again.
 */
export const createBooksCheck = (log: Pick<FastifyBaseLogger, 'error'>) => {
  const wrong = new Set<number>();
  let after = 0;
  const chore: Chore = async (tx) => {
    const { rows } = await tx.execute<{ user_id: number; differs: boolean }>(
      sql`SELECT w.user_id::float8 AS user_id,
          w.balance <> sums.balance OR w.vip_balance <> sums.vip AS differs
        FROM (SELECT * FROM wallets WHERE user_id > ${after} ORDER BY user_id LIMIT ${batch}) w,
          LATERAL (SELECT coalesce(sum(amount) FILTER (WHERE pot = 'balance'), 0) AS balance,
              coalesce(sum(amount) FILTER (WHERE pot = 'vip'), 0) AS vip
            FROM ledger WHERE user_id = w.user_id) sums
        ORDER BY 1`,
    );
    for (const { user_id: user, differs } of rows) {
      if (!differs) wrong.delete(user);
      else if (!wrong.has(user)) {
        wrong.add(user);
        log.error({ user }, 'a wallet differs from its ledger');
      }
    }
    after = rows.length < batch ? 0 : (rows.at(-1)?.user_id ?? 0);
  };
  return { chore, differing: () => wrong.size };
};
