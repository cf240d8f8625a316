import type { Executor, Transaction } from './database.ts';

/** Runs in the given transaction, or in a new one where the executor is the pool. */
export const inTransaction = <T>(db: Executor, act: (tx: Transaction) => Promise<T>): Promise<T> =>
  '$client' in db ? db.transaction(act) : act(db);
