import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Transaction } from './database.ts';
import { metOthers } from './failure.ts';

/** How long it waits for a lock, ms: less than after which PostgreSQL looks for a deadlock. */
const patience = 300;
const mostTries = 60;

/**
 * Runs a transaction that touches many rows, which others may hold in another order. It gives way:
 * a lock that is not had soon makes it begin again, so that nobody else's transaction is ended.
 */
export const givingWay = async <T>(
  db: Database,
  act: (tx: Transaction) => Promise<T>,
): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await db.transaction(async (tx) => {
        await tx.execute(`SET LOCAL lock_timeout = ${patience}`);
        return act(tx);
      });
    } catch (error) {
      if (tries >= mostTries || !metOthers(error)) throw error;
      await sleep(50 + Math.random() * 150);
    }
  }
};
