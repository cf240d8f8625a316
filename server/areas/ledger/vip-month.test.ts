import { expect, test } from 'vitest';
import { vipMonthStart } from './vip-month.ts';

const start = (activated: string, now: string) =>
  vipMonthStart(new Date(activated), new Date(now)).toISOString();

test('months begin at the instant of the activation', () => {
  const activated = '2026-01-15T10:30:00.000Z';
  expect(start(activated, '2026-01-15T10:30:00.000Z')).toBe(activated);
  expect(start(activated, '2026-02-15T10:29:59.999Z')).toBe(activated);
  expect(start(activated, '2026-02-15T10:30:00.000Z')).toBe('2026-02-15T10:30:00.000Z');
  expect(start(activated, '2027-03-01T00:00:00.000Z')).toBe('2027-02-15T10:30:00.000Z');
});

test('an activation on the 31st begins short months on their last day', () => {
  const activated = '2026-01-31T23:00:00.000Z';
  expect(start(activated, '2026-02-28T22:00:00.000Z')).toBe(activated);
  expect(start(activated, '2026-02-28T23:00:00.000Z')).toBe('2026-02-28T23:00:00.000Z');
  expect(start(activated, '2026-03-31T00:00:00.000Z')).toBe('2026-02-28T23:00:00.000Z');
  expect(start(activated, '2026-03-31T23:00:00.000Z')).toBe('2026-03-31T23:00:00.000Z');
});
