import { expect, test } from 'vitest';
import { createFirstWords } from './first-words.ts';
import { createKeyRests } from './key-rests.ts';

const call = { size: 0, longestMs: 60_000 };

test('how long a channel is waited for is its own p95, above a floor, and longer for long questions', () => {
  const words = createFirstWords(1000);
  expect(words.patience(1, 'm', 'stream', call)).toEqual({ hedgeMs: 4000, deadlineMs: 60_000 });
  for (let at = 0; at < 100; at += 1) words.learn(1, 'm', 'stream', at < 90 ? 100 : 3000, 0);
  expect(words.patience(1, 'm', 'stream', call)).toEqual({ hedgeMs: 3000, deadlineMs: 12_000 });
  expect(words.patience(1, 'm', 'stream', { ...call, size: 40_000 })).toEqual({
    hedgeMs: 13_000,
    deadlineMs: 22_000,
  });
  for (let at = 0; at < 100; at += 1) words.learn(1, 'm', 'stream', 100, 0);
  expect(words.patience(1, 'm', 'stream', call)).toEqual({ hedgeMs: 1000, deadlineMs: 5000 });
  // Long questions make a channel seem no slower than it is.
  for (let at = 0; at < 100; at += 1) words.learn(1, 'm', 'stream', 10_100, 40_000);
  expect(words.p95(1, 'm', 'stream')).toBe(100);
  expect(createFirstWords(0).patience(1, 'm', 'stream', call).hedgeMs).toBeNull();
});

test('no more than one call in ten is asked twice for long', () => {
  const words = createFirstWords(1000);
  let hedged = 0;
  for (let at = 0; at < 1000; at += 1) {
    words.called('m');
    if (words.takeHedge('m')) hedged += 1;
  }
  expect(hedged).toBeGreaterThan(100);
  expect(hedged).toBeLessThan(107);
});

test('a key is set aside for longer each time, for as long as its service wants, and comes back', () => {
  const clock = { time: 0 };
  const rests = createKeyRests(() => clock.time);
  const line = { channelId: 1, mark: 'k', model: 'm', person: 'a' };
  rests.put(line, 'key', null);
  // Calls that were under way say nothing new.
  rests.put(line, 'key', null);
  expect(rests.until(1, 'k', 'another')).toBe(30_000);
  clock.time = 30_000;
  expect(rests.until(1, 'k', 'm')).toBe(0);
  expect(rests.put(line, 'key', null)).toMatchObject({ strikes: 2, until: 90_000 });
  expect(rests.clear(1, 'k', 'm')).toBe(true);
  expect(rests.put(line, 'full', 7000).until).toBe(37_000);
  expect(rests.until(1, 'k', 'm', 'a')).toBe(37_000);
  // One person's burst fills it for that person, of several for all; and for no other model.
  rests.put({ ...line, person: 'b' }, 'full', 7000);
  expect(rests.until(1, 'k', 'm', 'c')).toBe(0);
  rests.put({ ...line, person: 'c' }, 'full', 7000);
  expect(rests.until(1, 'k', 'm', 'd')).toBe(37_000);
  expect(rests.until(1, 'k', 'another', 'a')).toBe(0);
  // When the pause is over one call tries it, and the others pass it over until that is known.
  clock.time = 37_000;
  expect(rests.until(1, 'k', 'm', 'd')).toBe(0);
  rests.tried(1, 'k', 'm', 'd');
  expect(rests.until(1, 'k', 'm', 'e')).toBe(42_000);
  clock.time = 42_000;
  expect(rests.until(1, 'k', 'm', 'e')).toBe(0);
  rests.tried(1, 'k', 'm', 'e');
  rests.clear(1, 'k', 'm');
  expect(rests.until(1, 'k', 'm', 'f')).toBe(0);
  // What is one person's own begins anew once it answered that person.
  rests.clearOwn(1, 'k', 'm', 'a');
  expect(rests.put({ ...line, person: 'a' }, 'full', null)).toMatchObject({ strikes: 1 });
});
