import { subDays, subHours, subMonths, subWeeks } from 'date-fns';

export interface QuickRange {
  key: string;
  label: string;
  from: (now: Date) => Date;
}

/** The last moments of document 3 §9. */
export const lastMoments: readonly QuickRange[] = [
  { key: '1h', label: '1 小时', from: (now) => subHours(now, 1) },
  { key: '3h', label: '3 小时', from: (now) => subHours(now, 3) },
  { key: '12h', label: '12 小时', from: (now) => subHours(now, 12) },
  { key: '1d', label: '1 天', from: (now) => subDays(now, 1) },
  { key: '1w', label: '1 周', from: (now) => subWeeks(now, 1) },
  { key: '1m', label: '1 个月', from: (now) => subMonths(now, 1) },
  { key: '3m', label: '3 个月', from: (now) => subMonths(now, 3) },
];

/** As orders are looked through. */
export const longRanges: readonly QuickRange[] = [
  { key: '1w', label: '最近一周', from: (now) => subWeeks(now, 1) },
  { key: '1m', label: '最近一个月', from: (now) => subMonths(now, 1) },
  { key: '3m', label: '最近三个月', from: (now) => subMonths(now, 3) },
];

/** As one's use is looked at: whole days up to today. */
export const lastSpans = [
  { key: '7d', label: '7 天', days: 7 },
  { key: '30d', label: '30 天', days: 30 },
  { key: '90d', label: '90 天', days: 90 },
  { key: '1y', label: '1 年', days: 365 },
] as const;

/** A quick range's instants, ISO 8601; null: there is no such range. */
export const quickRange = (
  key: string,
  ranges: readonly QuickRange[] = lastMoments,
  now = new Date(),
): { start: string; end: string } | null => {
  const found = ranges.find((each) => each.key === key);
  return found ? { start: found.from(now).toISOString(), end: now.toISOString() } : null;
};
