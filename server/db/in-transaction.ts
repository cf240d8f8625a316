import type { Database, Executor, Transaction } from './database.ts';

/** Runs in the given transaction, or in a new one where the executor is the pool. */
export const inTransaction = <T>(db: Executor, act: (tx: Transaction) => Promise<T>): Promise<T> =>
  '$client' in db ? db.transaction(act) : act(db);

/**
 * Runs a transaction whose last statement is known: `act` gives it, made by `statement`, and the
 * commit is sent along with it. When it fails, the commit behind it rolls back. Nothing may depend
 * on its outcome but what is thrown outside.
 */
export const committing = async <T>(
  db: Database,
  act: (tx: Transaction) => Promise<() => Promise<T>>,
): Promise<T> => {
  const { outcome } = await db.transaction(async (tx) => {
    const last = await act(tx);
    const result = last();
    // Its failure is told below; a connection that breaks may fail the commit first.
    result.catch(() => undefined);
    return { outcome: result };
  });
  return outcome;
};
