import { expect, test } from 'vitest';
import { channelState } from './channel-state.ts';

const earlier = '2026-11-23T08:00:00.000Z';
const later = '2026-11-23T09:00:00.000Z';
const channel = {
  enabled: 1,
  source: 'manager',
  successes: 137,
  failures: 62,
  last_success_at: later,
  last_failure_at: earlier,
} as const;

test('a channel is 正常 only where few of its answers failed, and the last one did not', () => {
  expect(channelState(channel)).toBe('31% 出错');
  expect(channelState({ ...channel, failures: 2 })).toBe('正常');
  // Too few to tell by their share.
  expect(channelState({ ...channel, successes: 4, failures: 1 })).toBe('正常');
  expect(
    channelState({ ...channel, failures: 2, last_failure_at: later, last_success_at: earlier }),
  ).toBe('最近出错');
  expect(
    channelState({
      ...channel,
      successes: 0,
      failures: 3,
      last_success_at: null,
      last_failure_at: later,
    }),
  ).toBe('最近出错');
  expect(
    channelState({
      ...channel,
      successes: 0,
      failures: 0,
      last_success_at: null,
      last_failure_at: null,
    }),
  ).toBe('还没有用过');
  expect(channelState({ ...channel, enabled: 0 })).toBe('已停用');
});
