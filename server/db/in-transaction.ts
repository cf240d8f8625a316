import type { Database, Executor, Transaction } from './database.ts';

/** Runs in the given transaction, or in a new one where the executor is the pool. */
export const inTransaction = <T>(db: Executor, act: (tx: Transaction) => Promise<T>): Promise<T> =>
  '$client' in db ? db.transaction(act) : act(db);

/**
 * Waits for statements that were sent at once. What is thrown is the first failure in their order:
 * those behind it in the transaction fail because of it.
 */
export const together = async <T extends readonly unknown[] | []>(
  sent: T,
): Promise<{ -readonly [Key in keyof T]: Awaited<T[Key]> }> => {
  const all = Promise.all(sent);
  all.catch(() => undefined);
  for (const each of sent) await each;
  return all;
};

/** What was sent in a transaction of `committing` and is waited for with its commit. */
const sentAhead = new WeakMap<Executor, Promise<void>[]>();

/**
 * Waits for a statement, made by `statement`, whose outcome nothing in its transaction depends on:
 * with the commit, where that knows of it.
 */
export const withCommit = async (tx: Transaction, sent: Promise<void>): Promise<void> => {
  const ahead = sentAhead.get(tx);
  if (!ahead) return sent;
  // Its failure is told by whoever commits.
  sent.catch(() => undefined);
  ahead.push(sent);
};

/**
 * Runs a transaction whose last statement is known: `act` gives it, made by `statement`, and the
 * commit is sent along with it and with all that `withCommit` let pass. When one fails, the commit
 * behind it rolls back. Nothing may depend on its outcome but what is thrown outside.
 */
export const committing = async <T>(
  db: Database,
  act: (tx: Transaction) => Promise<() => Promise<T>>,
): Promise<T> => {
  const ahead: Promise<void>[] = [];
  try {
    const { outcome } = await db.transaction(async (tx) => {
      sentAhead.set(tx, ahead);
      const last = await act(tx);
      const result = last();
      // Its failure is told below; a connection that breaks may fail the commit first.
      result.catch(() => undefined);
      return { outcome: result };
    });
    return await outcome;
  } finally {
    // The first failure is the reason of those behind it.
    for (const sent of ahead) await sent;
  }
};
