import { expect, test } from 'vitest';
import { createByteRoom } from './held-bytes.ts';

const megabyte = 1024 * 1024;
const person = { id: 1, guest: false };

test('what one person, or the guests of a network, hold at once is bounded, and comes back', () => {
  const hold = createByteRoom();
  const held = Array.from({ length: 6 }, () => hold(20 * megabyte, person, '11.1.1.1'));
  expect(() => hold(20 * megabyte, person, '11.1.1.2')).toThrow('同时发送的内容太多');
  // Others, and what is small, go on.
  hold(20 * megabyte, { id: 2, guest: false }, '11.1.1.1')();
  hold(1000, person, '11.1.1.1')();
  held[0]?.();
  held[0]?.();
  held.push(hold(20 * megabyte, person, '11.1.1.1'));
  expect(() => hold(20 * megabyte, person, '11.1.1.1')).toThrow('同时发送的内容太多');

  const guests = [hold(40 * megabyte, { id: 9, guest: true }, '12.1.1.1')];
  expect(() => hold(12 * megabyte, null, '12.1.1.250')).toThrow('同时发送的内容太多');
  for (let at = 2; at < 5; at += 1) guests.push(hold(40 * megabyte, null, `12.1.${at}.1`));
  expect(() => hold(40 * megabyte, null, '12.1.9.1')).toThrow('同时发送的内容太多');
  // Whoever holds nothing may send one thing of any size.
  const app = hold(400 * megabyte, { id: 3, guest: false }, '13.1.1.1');
  expect(() => hold(200 * megabyte, { id: 4, guest: false }, '13.1.1.1')).toThrow('忙不过来');
  for (const release of [...held, ...guests, app]) release();
  hold(700 * megabyte, { id: 4, guest: false }, '13.1.1.1')();
});
