import { expect, test } from 'vitest';
import { createFairQueue } from './fair-queue.ts';

const account = (person: string) => ({ person, guest: false });
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('one person has one slot, and who has waited longest is next', async () => {
  const slots = createFairQueue(2);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (person: string, name: string) =>
    slots(account(person), async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const all = [work('a', 'a1'), work('a', 'a2'), work('a', 'a3'), work('b', 'b1'), work('c', 'c1')];
  await turn();
  expect(begun).toEqual(['a1', 'b1']);
  ends.get('a1')!();
  await turn();
  // The person who had a turn waits behind the one who had none.
  ends.get('b1')!();
  await turn();
  expect(begun.slice(2).sort()).toEqual(['a2', 'c1']);
  ends.get('c1')!();
  await turn();
  expect(begun).not.toContain('a3');
  ends.get('a2')!();
  await turn();
  expect(begun).toContain('a3');
  ends.get('a3')!();
  await Promise.all(all);
});

test('what fails gives its slot back', async () => {
  const slots = createFairQueue(1);
  await expect(slots(account('a'), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await slots(account('b'), () => Promise.resolve(1))).toBe(1);
});

test('whoever comes while two people hold both slots goes before all else that those have', async () => {
  const queue = createFairQueue(2);
  const order: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (person: string, what: string) =>
    queue(account(person), async () => {
      order.push(what);
      await new Promise<void>((resolve) => ends.set(what, resolve));
    });
  const all = [add('a', 'a1'), add('b', 'b1'), add('a', 'a2'), add('b', 'b2'), add('a', 'a3')];
  all.push(add('c', 'c1'));
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const end = async (what: string) => {
    ends.get(what)?.();
    await settle();
  };
  await settle();
  await end('a1');
  expect(order).toEqual(['a1', 'b1', 'c1']);
  for (const what of ['b1', 'c1', 'a2', 'b2', 'a3']) await end(what);
  await Promise.all(all);
  expect([...order].sort()).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'c1']);
});

test('of one person no more are done at once than the queue allows, and others have the rest', async () => {
  const queue = createFairQueue(3, Infinity, 2);
  const order: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (person: string, what: string) =>
    queue(account(person), async () => {
      order.push(what);
      await new Promise<void>((resolve) => ends.set(what, resolve));
    });
  const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map((what) => add(what.slice(0, 1), what));
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  await settle();
  expect(order).toEqual(['a1', 'a2', 'b1']);
  for (const what of ['a1', 'a2', 'b1', 'a3', 'a4']) {
    ends.get(what)?.();
    await settle();
  }
  await Promise.all(all);
  expect(order).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
});

test('guests never hold the last slot, those of a network are one, and too many are refused', async () => {
  const queue = createFairQueue(2, 2);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (person: string, guest: boolean, what: string) =>
    queue({ person, guest }, async () => {
      begun.push(what);
      await new Promise<void>((resolve) => ends.set(what, resolve));
    });
  const all = [
    add('guests 1', true, 'a'),
    add('guests 1', true, 'b'),
    add('guests 2', true, 'c'),
    add('guests 1', true, 'd'),
  ];
  await expect(add('guests 1', true, 'e')).rejects.toThrow('上一批');
  await turn();
  expect(begun).toEqual(['a']);
  all.push(add('7', false, 'person'));
  await turn();
  expect(begun).toEqual(['a', 'person']);
  ends.get('a')?.();
  await turn();
  expect(begun).toEqual(['a', 'person', 'c']);
  for (const what of ['person', 'c', 'b', 'd']) {
    ends.get(what)?.();
    await turn();
  }
  await Promise.all(all);
});

test('where there is one slot, a crowd of guests stands behind everybody else', async () => {
  const queue = createFairQueue(1);
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const add = (person: string, guest: boolean) =>
    queue({ person, guest }, async () => {
      order.push(person);
      await new Promise<void>((resolve) => ends.push(resolve));
    });
  const all = [
    add('guests 1', true),
    add('guests 2', true),
    add('guests 3', true),
    add('a', false),
  ];
  for (let at = 0; at < all.length; at += 1) {
    await turn();
    ends[at]?.();
  }
  await Promise.all(all);
  expect(order).toEqual(['guests 1', 'a', 'guests 2', 'guests 3']);
});

test('whose turn does not come in time is told so, and leaves the line to those behind it', async () => {
  const queue = createFairQueue(1, Infinity, 1, 20);
  let end = (): void => undefined;
  const first = queue(account('a'), () => new Promise<void>((resolve) => (end = resolve)));
  const late = [queue(account('b'), turn), queue(account('b'), turn)];
  for (const each of late) await expect(each).rejects.toThrow('没有排到');
  const next = queue(account('c'), () => Promise.resolve('next'));
  end();
  await first;
  expect(await next).toBe('next');
});
