import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { quietRepeats } from './quiet-log.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a warning that repeats is said once and then counted; errors are all said', () => {
  const lines: { msg: string; repeated?: number }[] = [];
  const to = new Writable({
    write(chunk: Buffer, _, done) {
      lines.push(JSON.parse(chunk.toString()) as (typeof lines)[number]);
      done();
    },
  });
  const log = pino({ hooks: quietRepeats() }, to);
  for (let at = 0; at < 277; at += 1) log.warn({ err: new Error('gone') }, 'not extended');
  log.warn({ err: new Error('another cause') }, 'not extended');
  log.error('failed');
  log.error('failed');
  expect(lines.map(({ msg }) => msg)).toEqual(['not extended', 'not extended', 'failed', 'failed']);
  vi.advanceTimersByTime(10_000);
  expect(lines.at(-1)).toMatchObject({ repeated: 276, msg: 'again: not extended gone' });
  log.warn({ err: new Error('gone') }, 'not extended');
  expect(lines.at(-1)?.msg).toBe('not extended');
});
