import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { barsOf, daysBetween, daysOf, spanOf, spanProblem } from './usage-span.ts';

beforeEach(() => void vi.useFakeTimers({ now: new Date('2026-11-28T17:00:00Z') }));
afterEach(() => void vi.useRealTimers());

test('days are China’s, a month ends today, a quarter has bars of days and a year of weeks', () => {
  expect(daysOf('2026-11')).toHaveLength(29);
  expect(daysOf('2026-02').at(-1)).toBe('2026-02-28');
  const quarter = barsOf(daysBetween('2026-08-30', '2026-11-29'));
  expect([quarter.by, quarter.starts.length]).toEqual(['day', 92]);
  const more = barsOf(daysBetween('2026-08-29', '2026-11-29'));
  expect([more.by, more.starts[0], more.starts.at(-1)]).toEqual([
    'week',
    '2026-08-24',
    '2026-11-23',
  ]);
  expect(more.barOf('2026-11-29')).toBe('2026-11-23');
});

test('an address asks for a month, for days or for those up to today; what cannot be is told', () => {
  expect(spanOf({ range: '7d', month: '2026-10' })).toEqual({
    from: '2026-11-23',
    to: '2026-11-29',
  });
  expect(spanOf({ month: '2026-13', from: 'x' })).toEqual({});
  expect(spanOf({ month: '2026-10' })).toEqual({ month: '2026-10' });
  expect(spanProblem({ month: '2026-10' })).toBeUndefined();
  expect(spanProblem({ to: '2026-11-01' })).toBe('请选择从哪一天开始');
  expect(spanProblem({ from: '2026-11-02', to: '2026-11-01' })).toContain('之后');
  expect(spanProblem({ from: '2026-12-02', to: '2026-12-03' })).toBe('开始的一天还没有到');
  expect(spanProblem({ from: '2025-11-29', to: '2027-01-01' })).toBeUndefined();
  expect(spanProblem({ from: '2025-11-28' })).toBe('一次最多看 366 天');
});
