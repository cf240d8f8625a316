import { expect, test } from 'vitest';
import { drawOrder } from './draw.ts';

const channel = (id: number, priority: number, weight: number) => ({ id, priority, weight });

test('lower priorities come first, whatever their weight', () => {
  for (let at = 0; at < 50; at += 1)
    expect(
      drawOrder([channel(1, 5, 1000), channel(2, 0, 1), channel(3, 1, 50)]).map(({ id }) => id),
    ).toEqual([2, 3, 1]);
});

test('of the same priority the first is drawn by weight', () => {
  const first = new Map<number, number>();
  const rounds = 20_000;
  for (let at = 0; at < rounds; at += 1) {
    const order = drawOrder([channel(1, 0, 1), channel(2, 0, 3), channel(3, 0, 6)]);
    if (new Set(order.map(({ id }) => id)).size !== 3) throw new Error('one got lost');
    first.set(order[0]!.id, (first.get(order[0]!.id) ?? 0) + 1);
  }
  // Five standard deviations of a share drawn 20,000 times are 1.8 % at most.
  expect((first.get(1) ?? 0) / rounds).toBeCloseTo(0.1, 1);
  expect(Math.abs((first.get(2) ?? 0) / rounds - 0.3)).toBeLessThan(0.018);
  expect(Math.abs((first.get(3) ?? 0) / rounds - 0.6)).toBeLessThan(0.018);
});

test('a weight of 0 comes last among its own', () => {
  for (let at = 0; at < 100; at += 1)
    expect(drawOrder([channel(1, 0, 0), channel(2, 0, 1)])[0]?.id).toBe(2);
});
