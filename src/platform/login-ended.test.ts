import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { noteLoginEnded, takeLoginEnded } from './login-ended.ts';

beforeEach(() => {
  vi.useFakeTimers();
  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
  vi.stubGlobal('sessionStorage', storage);
  vi.stubGlobal('localStorage', storage);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('why a login ended is said by the next page, however soon after its start it ended and slowly the next comes', () => {
  expect(takeLoginEnded()).toBeNull();
  vi.advanceTimersByTime(1_500);
  noteLoginEnded('account', '已满 180 天');
  vi.advanceTimersByTime(5_000);
  // The next page, left before anybody could read it, and the one after that.
  expect(takeLoginEnded()).toEqual({ whose: 'account', why: '已满 180 天' });
  expect(takeLoginEnded()).toEqual({ whose: 'account', why: '已满 180 天' });
  vi.advanceTimersByTime(5_000);
  expect(takeLoginEnded()).toBeNull();
});
