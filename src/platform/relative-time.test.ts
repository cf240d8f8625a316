import { describe, expect, it } from 'vitest';
import { relativeTime } from './relative-time.ts';

const now = Date.parse('2026-11-21T12:00:00Z');
const ago = (seconds: number) => relativeTime(new Date(now - seconds * 1000).toISOString(), now);

describe('relativeTime', () => {
  it.each([
    [0, '刚刚'],
    [29, '刚刚'],
    [30, '30 秒前'],
    [59, '59 秒前'],
    [60, '1 分钟前'],
    [3_599, '59 分钟前'],
    [3_600, '1 小时前'],
    [86_399, '23 小时前'],
    [86_400, '1 天前'],
    [2 * 86_400 - 1, '1 天前'],
    [2 * 86_400, '2 天前'],
    [30 * 86_400, '1 个月前'],
    [364 * 86_400, '12 个月前'],
    [365 * 86_400, '1 年前'],
  ])('%i seconds ago reads %s', (seconds, text) => {
    expect(ago(seconds)).toBe(text);
  });

  it('never speaks of the future, and says nothing about what is no time', () => {
    expect(ago(-500)).toBe('刚刚');
    expect(relativeTime('soon', now)).toBe('');
  });
});
