import { expect, test } from 'vitest';
import { axisNames, namedPoints, pointName } from './axis-days.ts';

test('under an axis stand as many names as have room, of one point, a month and a year', () => {
  expect(namedPoints(1, 300, 'day')).toEqual([0]);
  expect(namedPoints(31, 300, 'day')).toEqual([0, 7, 14, 21, 28]);
  expect(namedPoints(12, 300, 'month')).toEqual([0, 3, 6, 9]);
  expect(namedPoints(12, 1600, 'month')).toHaveLength(12);
  expect(namedPoints(53, 300, 'week')).toEqual([0, 12, 24, 36, 48]);
});

test('a year is told where it begins, and never beside a single day', () => {
  expect(axisNames(['2026-11-29'], 'day')).toEqual(['11月29日']);
  expect(axisNames(['2025-12-01', '2026-01-01', '2026-02-01'], 'month')).toEqual([
    '12月\n2025年',
    '1月\n2026年',
    '2月',
  ]);
  expect(['day', 'week', 'month'].map((by) => pointName('2026-11-02', by as 'day'))).toEqual([
    '2026-11-02',
    '2026-11-02 起的一周',
    '2026 年 11 月',
  ]);
});
