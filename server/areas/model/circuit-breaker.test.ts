import { expect, test } from 'vitest';
import { createCircuitBreaker } from './circuit-breaker.ts';

const begin = () => {
  const clock = { time: 1_000 };
  const breaker = createCircuitBreaker(() => clock.time);
  const both = [{ channelId: 1 }, { channelId: 2 }];
  return {
    clock,
    breaker,
    fail: (people: readonly number[], model = 'a') => {
      for (const each of people)
        breaker.report({ channelId: 1, model, person: `${each}`, full: false, ok: false });
    },
    full: (people: readonly number[]) => {
      for (const each of people)
        breaker.report({ channelId: 1, model: 'a', person: `${each}`, full: true, ok: false });
    },
    succeed: () => breaker.report({ channelId: 1, model: 'a', ok: true }),
    tries: (model = 'a') =>
      breaker.choose(model, both).channels.some(({ channelId }) => channelId === 1),
  };
};

test('rests after five failures of three people, tries again one at a time, and longer each time', () => {
  const { clock, fail, succeed, tries } = begin();
  fail([1, 2, 3, 1]);
  expect(tries()).toBe(true);
  succeed();
  fail([1, 2, 3, 1]);
  expect(tries()).toBe(true);
  fail([2]);
  expect(tries()).toBe(false);
  // Stragglers do not prolong the rest.
  fail([1, 2, 3]);
  clock.time += 15_000;
  expect(tries()).toBe(true);
  expect(tries()).toBe(false);
  fail([1]);
  clock.time += 15_000;
  expect(tries()).toBe(false);
  clock.time += 15_000;
  expect(tries()).toBe(true);
  // A trial that nobody reported on does not shut it for ever.
  clock.time += 30_000;
  expect(tries()).toBe(true);
  succeed();
  expect(tries()).toBe(true);
  expect(tries()).toBe(true);
});

test('one person rests nothing, however often; and one model says nothing of another', () => {
  const { fail, tries } = begin();
  fail(Array.from({ length: 100 }, () => 7));
  fail(Array.from({ length: 100 }, () => 8));
  expect(tries()).toBe(true);
  fail([9]);
  expect(tries()).toBe(false);
  expect(tries('b')).toBe(true);
});

test('one that has no room rests for nobody by one person’s burst, of several for a moment', () => {
  const { clock, fail, full, tries } = begin();
  full(Array.from({ length: 100 }, () => 7));
  full([8]);
  // Two of them do not make failures of others weigh more.
  fail([1, 2, 1, 2]);
  expect(tries()).toBe(true);
  clock.time += 20_000;
  full([7, 8]);
  expect(tries()).toBe(true);
  full([9]);
  expect(tries()).toBe(false);
  clock.time += 3_000;
  expect(tries()).toBe(true);
  // Whoever tried it meets it full once more: the others are not kept from it for that.
  full([7]);
  expect(tries()).toBe(true);
  expect(tries()).toBe(true);
});

test('the only channel of a model is never rested, only slowed', () => {
  const { clock, breaker, fail } = begin();
  const only = [{ channelId: 1 }];
  expect(breaker.choose('a', only)).toEqual({ channels: only, waitMs: 0 });
  fail([1, 2, 3, 4, 5]);
  const waits = Array.from({ length: 30 }, () => {
    const { channels, waitMs } = breaker.choose('a', only);
    expect(channels).toEqual(only);
    return waitMs;
  });
  expect(waits.slice(0, 4)).toEqual([0, 200, 400, 600]);
  expect(Math.max(...waits)).toBe(3_000);
  clock.time += 60_000;
  expect(breaker.choose('a', only).waitMs).toBe(0);
});

test('what one person meets three times in a row keeps that person from it, and comes last alone', () => {
  const { clock, breaker, fail, succeed } = begin();
  const both = [{ channelId: 1 }, { channelId: 2 }];
  const order = (person: string) =>
    breaker.order('a', both, person).channels.map(({ channelId }) => channelId);
  fail([7, 7]);
  expect(order('7')).toEqual([1, 2]);
  fail(Array.from({ length: 100 }, () => 7));
  expect(order('7')).toEqual([2, 1]);
  // However often one person fails, nobody else is sent elsewhere for it.
  expect(order('8')).toEqual([1, 2]);
  clock.time += 15_000;
  expect(order('7')).toEqual([1, 2]);
  fail([7, 7, 7]);
  succeed();
  expect(order('7')).toEqual([1, 2]);
});

test('three in a row that no question can have brought about shut it for all, whoever asked', () => {
  const { breaker, tries } = begin();
  const certain = (person: string) =>
    breaker.report({ channelId: 1, model: 'a', ok: false, person, full: false, certain: true });
  certain('7');
  certain('7');
  expect(tries()).toBe(true);
  certain('7');
  expect(tries()).toBe(false);
  expect(breaker.order('a', [{ channelId: 1 }, { channelId: 2 }], '8').channels[0]?.channelId).toBe(
    2,
  );
});
