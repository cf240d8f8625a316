import { expect, test } from 'vitest';
import { calls } from '#contract/calls.ts';
import { addressKey, createGuestLimit, createRateLimit, networkKey } from './rate-limit.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::ffff:cb00:7107', '203.0.113.7'],
  ['0:0:0:0:0:FFFF:CB00:7107', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
])('%s counts as %s', (ip, key) => {
  expect(addressKey(ip)).toBe(key);
});

test.each([
  ['203.0.113.7', '203.0.113.0/24'],
  ['2001:db8:1ab:2::9', '2001:db8:100::/40'],
  ['2001:db8:1ff::1', '2001:db8:100::/40'],
  ['2001:db8:2ff::1', '2001:db8:200::/40'],
  ['2001:db8::1', '2001:db8:0::/40'],
])('%s is of the network %s', (ip, key) => {
  expect(networkKey(ip)).toBe(key);
});

test('each address has its own count, and calls about credentials a stricter one', async () => {
  const limit = createRateLimit({ general: 3, credentials: 1 });
  for (let times = 0; times < 3; times += 1) await limit(calls.models, '203.0.113.7');
  await expect(limit(calls.models, '203.0.113.7')).rejects.toMatchObject({ codeName: 'too_many' });
  await limit(calls.models, '203.0.113.8');
  await limit(calls.login, '203.0.113.9');
  await expect(limit(calls.login, '203.0.113.9')).rejects.toMatchObject({ codeName: 'too_many' });
});

test.each([
  ['a network', (n: number) => `203.0.113.${n}`, 20],
  ['an IPv6 network', (n: number) => `2001:db8:5:${n.toString(16)}::1`, 20],
  ['a provider', (n: number) => `2001:db8:${(n << 8).toString(16)}::1`, 60],
])('the addresses of %s together have a count, too', async (_, ip, most) => {
  for (const [call, name] of [
    [calls.models, 'general'],
    [calls.captcha, 'credentials'],
  ] as const) {
    const limit = createRateLimit({ general: 1000, credentials: 1000, [name]: 1 });
    for (let n = 1; n <= most; n += 1) await limit(call, ip(n));
    await expect(limit(call, ip(most + 1))).rejects.toMatchObject({ codeName: 'too_many' });
    await limit(call, '198.51.100.7');
  }
});

test('this machine is limited in credentials alone', async () => {
  const limit = createRateLimit({ general: 1, credentials: 1 });
  for (let times = 0; times < 5; times += 1) await limit(calls.models, '127.0.0.1');
  await limit(calls.login, '::1');
  await expect(limit(calls.login, '::1')).rejects.toMatchObject({ codeName: 'too_many' });
});

test('guests of one provider of IPv6 end together, whatever networks they come from', async () => {
  const limit = createGuestLimit(1);
  const addressOf = (at: number) => `2001:db8:${(at % 20).toString(16)}00:${at.toString(16)}::1`;
  for (let at = 0; at < 600; at += 1) await limit(at, addressOf(at));
  await expect(limit(601, '2001:db8:ff00::1')).rejects.toMatchObject({
    codeName: 'login_required',
  });
  await limit(602, '2001:db9:ff00::1');
});
