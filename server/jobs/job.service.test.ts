import { expect, test } from 'vitest';
import { remainingOf } from './job.service.ts';

type Row = Parameters<typeof remainingOf>[0];

const running = (progress: number, running_for: number): Row => ({
  state: 'running',
  progress,
  running_for,
  waiting_before: 0,
  running_beside: 0,
  beside_for: null,
});
const waiting = (
  waiting_before: number,
  running_beside: number,
  beside_for: number | null,
): Row => ({
  state: 'queued',
  progress: 0,
  running_for: null,
  waiting_before,
  running_beside,
  beside_for,
});

test('what remains is told by its own pace or by the last works, and never guessed', () => {
  // 14 % after ten seconds of works that take 60: fifty, and not one.
  expect(remainingOf(running(0.14, 10), 60)).toBe(50);
  expect(remainingOf(running(0.25, 10), 60)).toBe(30);
  expect(remainingOf(running(0.25, 10), null)).toBe(30);
  expect(remainingOf(running(0, 10), null)).toBeNull();
  // Longer than the last ones took, and it tells nothing.
  expect(remainingOf(running(0, 60), 60)).toBeNull();
  expect(remainingOf(running(0, 600), 60)).toBeNull();

  expect(remainingOf(waiting(0, 0, null), null)).toBeNull();
  expect(remainingOf(waiting(0, 0, null), 10)).toBe(10);
  expect(remainingOf(waiting(3, 0, null), 10)).toBe(40);
  expect(remainingOf(waiting(3, 2, 5), 10)).toBe(25);
  // Others hang: nobody knows when they make room.
  expect(remainingOf(waiting(0, 1, 21), 10)).toBeNull();
  expect(remainingOf({ ...running(1, 5), state: 'done' }, 10)).toBeNull();
});
