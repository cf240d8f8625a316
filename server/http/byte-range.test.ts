import { expect, test } from 'vitest';
import { bytesOf } from '../storage/byte-range.ts';
import { readRange } from './byte-range.ts';

test.each([
  ['bytes=0-', { from: 0, to: 9 }],
  ['bytes=2-5', { from: 2, to: 5 }],
  ['bytes=8-99', { from: 8, to: 9 }],
  ['bytes=-3', { from: 7, to: 9 }],
  ['bytes=-99', { from: 0, to: 9 }],
  ['bytes=10-', null],
])('of ten bytes %s is %o', (header, part) => {
  const range = readRange(header);
  expect(range).not.toBeNull();
  expect(range && bytesOf(range, 10)).toEqual(part);
});

test.each([undefined, '', 'bytes=-', 'bytes=5-2', 'bytes=0-1,4-5', 'lines=0-3'])(
  '%s is no range',
  (header) => expect(readRange(header)).toBeNull(),
);
