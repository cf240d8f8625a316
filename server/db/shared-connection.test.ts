import type pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { sharedConnectionOf } from './shared-connection.ts';

type Answer = (error: Error | null, result?: { rows: object[] }) => void;

/** A pool that notes what is asked of it; answers come when the test gives them. */
class FakePool {
  connects = 0;
  released = 0;
  refuse = false;
  /** Questions of connections lent out, and of those that the pool takes for itself. */
  readonly lent: { name: string; answer: Answer }[] = [];
  readonly own: { name: string; answer: Answer }[] = [];

  query({ name }: { name: string }, answer: Answer) {
    this.own.push({ name, answer });
  }

  async connect() {
    this.connects += 1;
    if (this.refuse) throw new Error('no connection');
    return {
      query: ({ name }: { name: string }, answer: Answer) => this.lent.push({ name, answer }),
      release: () => (this.released += 1),
    };
  }
}

let pool: FakePool;
const read = (name: string) =>
  sharedConnectionOf(pool as unknown as pg.Pool).read<{ name: string }>({ name, text: '' });
const turn = () => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  pool = new FakePool();
});

test('reads share a connection, each with its own outcome, and give it back', async () => {
  const asked = ['a', 'b', 'c'].map(read);
  await turn();
  expect(pool.connects).toBe(1);
  expect(pool.lent.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  const [first, second, third] = pool.lent;
  first?.answer(null, { rows: [{ name: 'a' }] });
  second?.answer(new Error('b failed'));
  expect(await asked[0]).toEqual([{ name: 'a' }]);
  await expect(asked[1]).rejects.toThrow('b failed');
  expect(pool.released).toBe(0);
  third?.answer(null, { rows: [] });
  expect(await asked[2]).toEqual([]);
  await turn();
  expect(pool.released).toBe(1);

  void read('d');
  await turn();
  expect(pool.connects).toBe(2);
  expect(pool.lent.at(-1)?.name).toBe('d');
});

test('nobody waits behind a slow read, nor behind too many', async () => {
  void read('slow');
  await turn();
  await new Promise((resolve) => setTimeout(resolve, 120));
  void read('other');
  expect(pool.own.map(({ name }) => name)).toEqual(['other']);
  pool.lent[0]?.answer(null, { rows: [] });
  await turn();

  for (let at = 0; at < 100; at += 1) void read(String(at));
  await turn();
  expect(pool.lent.length - 1).toBeLessThan(50);
  expect(pool.lent.length - 1 + pool.own.length - 1).toBe(100);
});

test('without a connection all are told, and the next one tries anew', async () => {
  pool.refuse = true;
  const asked = await Promise.allSettled([read('a'), read('b')]);
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  pool.refuse = false;
  const again = read('c');
  await turn();
  pool.lent[0]?.answer(null, { rows: [{ name: 'c' }] });
  expect(await again).toEqual([{ name: 'c' }]);
});
