import type { WaitRef } from '#contract/wait.ts';
import { changeFact, getFact, type WaitBook } from './kv.ts';

/** What was told is remembered so long, ms, and so many. */
const toldFor = 7 * 24 * 3600_000;
const mostTold = 300;
export const keyOf = ({ kind, id }: WaitRef): string => `${kind}:${id}`;

const empty = (): WaitBook => ({ pending: {}, told: {}, watched: false });
export const readBook = async (): Promise<WaitBook> => (await getFact('waits')) ?? empty();
export const changeBook = (change: (book: WaitBook) => void): Promise<void> =>
  changeFact('waits', (known) => {
    const book = known ?? empty();
    change(book);
    return book;
  });

/** Nothing is waited for any more under these keys. */
export const drop = (keys: readonly string[]): Promise<void> =>
  changeBook((book) => {
    for (const key of keys) delete book.pending[key];
  });

/** Notes that a result was told, and forgets what was told long ago. */
export const noteTold = (key: string): Promise<void> =>
  changeBook((book) => {
    delete book.pending[key];
    book.told[key] = Date.now();
    const recent = Object.entries(book.told)
      .filter(([, at]) => at > Date.now() - toldFor)
      .sort(([, a], [, b]) => b - a)
      .slice(0, mostTold);
    book.told = Object.fromEntries(recent);
  });
