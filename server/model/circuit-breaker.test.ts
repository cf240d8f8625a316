import { expect, test } from 'vitest';
import { createCircuitBreaker } from './circuit-breaker.ts';

test('opens after five failures in a row, tries again one at a time, and rests longer each time', () => {
  let time = 1_000;
  const breaker = createCircuitBreaker(() => time);
  const fail = (times: number) => {
    for (let at = 0; at < times; at += 1) breaker.report(1, false);
  };
  fail(4);
  expect(breaker.allows(1)).toBe(true);
  breaker.report(1, true);
  fail(4);
  expect(breaker.allows(1)).toBe(true);
  fail(1);
  expect(breaker.allows(1)).toBe(false);
  expect(breaker.allows(2)).toBe(true);
  // Stragglers do not prolong the rest.
  fail(3);
  time += 15_000;
  expect(breaker.allows(1)).toBe(true);
  expect(breaker.allows(1)).toBe(false);
  fail(1);
  time += 15_000;
  expect(breaker.allows(1)).toBe(false);
  time += 15_000;
  expect(breaker.allows(1)).toBe(true);
  // A trial that nobody reported on does not shut it for ever.
  time += 30_000;
  expect(breaker.allows(1)).toBe(true);
  breaker.report(1, true);
  expect(breaker.allows(1)).toBe(true);
  expect(breaker.allows(1)).toBe(true);
});
