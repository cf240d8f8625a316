import type { FastifyBaseLogger } from 'fastify';
import type { Chore } from '#server/area.ts';
import { compareWallets } from './ledger.store.ts';

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
    const rows = await compareWallets(tx, after, batch);
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
