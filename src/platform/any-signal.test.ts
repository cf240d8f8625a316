import { expect, test } from 'vitest';
import { anySignal } from './any-signal.ts';

test('ends with the first, for its reason, also where one has ended before', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const both = anySignal([one.signal, other.signal]);
  expect(both.aborted).toBe(false);
  other.abort('left');
  one.abort('late');
  expect(both.reason).toBe('left');
  expect(anySignal([new AbortController().signal, one.signal]).reason).toBe('late');
});
