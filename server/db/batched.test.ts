import { expect, test } from 'vitest';
import { batched } from './batched.ts';
import type { Database } from './database.ts';

const db = {} as Database;

test('whoever comes while a batch is at work goes with the next, each gets its own result', async () => {
  const batches: number[][] = [];
  const double = batched(async (_: Database, items: readonly number[]) => {
    batches.push([...items]);
    await Promise.resolve();
    return items.map((item) => item * 2);
  }, 3);
  expect(await Promise.all([1, 2, 3, 4, 5].map((item) => double(db, item)))).toEqual([
    2, 4, 6, 8, 10,
  ]);
  expect(batches).toEqual([[1], [2, 3, 4], [5]]);
  expect(await double(db, 6)).toBe(12);
});

test('a batch that fails fails for those in it alone', async () => {
  const work = batched(async (_: Database, items: readonly string[]) => {
    await Promise.resolve();
    if (items.includes('bad')) throw new Error('no');
    return items;
  }, 2);
  const all = ['good', 'bad', 'beside', 'later'].map((item) => work(db, item));
  const ends = await Promise.allSettled(all);
  expect(ends.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ]);
});
