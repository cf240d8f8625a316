import { expect, test } from 'vitest';
import { siteOf } from './push-teller.ts';

test.each([
  ['https://fcm.googleapis.com/fcm/send/a', 'googleapis.com'],
  ['https://a.b.example.com/x', 'example.com'],
  ['https://push.one.co.uk/x', 'one.co.uk'],
  ['https://a.push.one.com.cn/x', 'one.com.cn'],
  ['https://co.uk/x', 'co.uk'],
  ['https://93.184.215.14/x', '93.184.215.14'],
])('%s has the turn of %s', (endpoint, site) => {
  expect(siteOf(endpoint)).toBe(site);
});
