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

test('some who only say that much will come keep nobody else from sending', () => {
  const hold = createByteRoom();
  for (let id = 1; id <= 6; id += 1)
    for (const _ of [1, 2]) hold(64 * megabyte, { id, guest: false }, '11.1.1.1');
  expect(() => hold(megabyte, { id: 1, guest: false }, '11.1.1.1')).toThrow('同时发送');
  const mine = { id: 7, guest: false };
  const end = hold(20 * megabyte, mine, '11.1.2.1');
  expect(() => hold(megabyte, mine, '11.1.2.1')).toThrow('忙不过来');
  end();
  expect(() => hold(200 * megabyte, mine, '11.1.2.1')).toThrow('忙不过来');

  for (let at = 1; at <= 4; at += 1) hold(48 * megabyte, null, `12.1.${at}.1`);
  hold(20 * megabyte, null, '12.1.9.1')();
  // Who cannot be told apart shares what there is.
  expect(() => hold(megabyte, null, '127.0.0.1')).toThrow('同时发送');
});
