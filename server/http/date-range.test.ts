import { expect, test } from 'vitest';
import { readDates, readTime } from './date-range.ts';

const names = { start: 'start_date', end: 'end_date' };
const told = (start?: string, end?: string) =>
  Object.values(readDates(start, end, names)).map((date) => date.toISOString());

test('a date is a whole day of China, however it is written', () => {
  const day = ['2026-01-04T16:00:00.000Z', '2026-01-05T16:00:00.000Z'];
  for (const text of [
    '2026-01-05',
    '2026/1/5',
    '20260105',
    '2026年1月5日',
    '2026-01-05 00:00:00',
    '2026-01-04T16:00:00.000Z',
    String(Date.UTC(2026, 0, 4, 16)),
  ])
    expect(told(text, text), text).toEqual(day);
  expect(told('2026-01-05', '2026-01-06')).toEqual([day[0], '2026-01-06T16:00:00.000Z']);
});

test('a time is one of China unless it says its zone; one end may be open', () => {
  expect(told('2026-01-05 08:30:00', '2026-01-05T01:00:00Z')).toEqual([
    '2026-01-05T00:30:00.000Z',
    '2026-01-05T01:00:00.000Z',
  ]);
  expect(readDates('', undefined, names)).toEqual({});
  expect(told(undefined, '2026-01-05')).toEqual(['2026-01-05T16:00:00.000Z']);
  for (const wrong of ['2026-02-31', 'yesterday'])
    expect(() => told(wrong), wrong).toThrow('start_date');
  expect(() => told('2026-01-06', '2026-01-05 12:00')).toThrow('之前');
});

test('a last day is whole, and any time one of China', () => {
  const read = (text: string, lastDay = false) =>
    readTime(text, 'until', { lastDay })?.toISOString() ?? null;
  expect(read('2027-03-01', true)).toBe('2027-03-01T16:00:00.000Z');
  expect(read('2027-03-01')).toBe('2027-02-28T16:00:00.000Z');
  expect(read('2027-03-01 10:00:00', true)).toBe('2027-03-01T02:00:00.000Z');
  expect(read('2027-03-01T10:00:00+08:00', true)).toBe('2027-03-01T02:00:00.000Z');
  expect(read('', true)).toBeNull();
});
