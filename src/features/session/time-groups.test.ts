import { expect, it } from 'vitest';
import { groupOf, headingAt } from './time-groups.ts';

const now = new Date(2026, 10, 22, 10, 0);
const used = (day: number, hour = 9, on_top = false) => ({
  on_top,
  updated_at: new Date(2026, 10, day, hour).toISOString(),
});

it.each([
  [used(22, 0), '今天'],
  [used(21, 23), '昨天'],
  [used(20), '7 天内'],
  [used(16), '7 天内'],
  [used(15), '更早'],
  [used(1, 9, true), '置顶'],
] as const)('%j stands under %s', (session, group) => {
  expect(groupOf(session, now)).toBe(group);
});

it('a heading stands where its group begins', () => {
  const list = [used(3, 9, true), used(22), used(22, 8), used(2)];
  expect(list.map((_, at) => headingAt(list, at, now))).toEqual(['置顶', '今天', null, '更早']);
});
