import type { Query, QueryFunction } from '@tanstack/react-query';
import { hasStore } from './cache.ts';
import { within, type Run } from './run.ts';
import { sleep } from './sleep.ts';

/** An answer of the network that comes within this time is shown alone, ms. */
const patience = 250;

/** Queries that show what was kept, and have not been answered since. */
const kept = new WeakSet<object>();
/** What a query shows was kept here: the server has not been heard since. */
export const showsKept = (query: object): boolean => kept.has(query);

/**
 * What is kept in this browser, once the network has had a moment: gives it to `show`, unless
 * `answered` says meanwhile that it is no longer wanted.
 * @param read makes its calls before it waits for anything
 */
export const readKept = async <T>(
  read: () => T | Promise<T>,
  answered: () => boolean,
  show: (data: T) => void,
): Promise<void> => {
  if (!hasStore()) return;
  await sleep(patience);
  if (answered()) return;
  const run: Run = { keptOnly: true, fromKept: true };
  try {
    const data = await within(run, read);
    if (!answered()) show(data);
  } catch {
    // It is not kept: the network alone has it.
  }
};

/**
 * How every query reads that has nothing yet: what is kept is shown however the network is, and
 * the network's answer takes its place.
 */
export const storedFirst = async <T>(
  queryFn: QueryFunction<T>,
  context: Parameters<QueryFunction<T>>[0],
  query: Query,
): Promise<T> => {
  const run: Run = { keptOnly: false, fromKept: false };
  let answered = false;
  const asked = (async () => within(run, () => queryFn(context)))();
  if (query.state.data === undefined)
    void readKept(
      () => queryFn(context),
      () => answered || query.state.data !== undefined,
      (data) => {
        kept.add(query);
        query.setData(data, { updatedAt: 1, manual: true });
      },
    );
  try {
    const data = await asked;
    if (run.fromKept) kept.add(query);
    else kept.delete(query);
    return data;
  } finally {
    answered = true;
  }
};
