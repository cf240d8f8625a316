import { expect, test } from 'vitest';
import { safeLink } from './safe-url.ts';

const own = 'https://queqiao.example';

test('a link to our own address is judged as what a browser makes of it', () => {
  const internal = (href: string) => ({ href, internal: true });
  const outside = (href: string) => ({ href, internal: false });
  for (const base of [own, '']) {
    expect(safeLink('/help/tokens?a=1#b', base)).toEqual(internal('/help/tokens?a=1#b'));
    expect(safeLink('/help/../help/tokens', base)).toEqual(internal('/help/tokens'));
    for (const hidden of [
      '/chat?uuid=1&prompt=a&send=1',
      '/help/../chat?prompt=a&send=1',
      '/help/%2e%2e/chat?prompt=a&send=1',
      '/help/.\t./chat?prompt=a',
      '/help/./../api/logout',
      '//evil.example/help',
      '/\\evil.example/help',
      'javascript:alert(1)',
    ])
      expect(safeLink(hidden, base), hidden).toBeNull();
  }
  expect(safeLink(`${own}/help/tokens`, own)).toEqual(internal('/help/tokens'));
  expect(safeLink(`HTTPS://QUEQIAO.example:443/share?key=1`, own)).toEqual(
    outside(`${own}/share?key=1`),
  );
  for (const acting of [
    `${own}/chat?uuid=1&prompt=a&send=1`,
    `${own}/help/../chat?prompt=a&send=1`,
    `${own}:443/help/%2E%2E/chat?send=1`,
    `https://someone@queqiao.example/?tab=imagine`,
    `${own}/api/user/logout`,
    `${own}/help/../v1/chat/completions`,
  ])
    expect(safeLink(acting, own), acting).toBeNull();
  // A manager's own words lead to any of our pages, and start nothing there.
  expect(safeLink('/account?tab=recharge', own, true)).toEqual(internal('/account?tab=recharge'));
  for (const starting of ['/chat?prompt=a&send=1', '/api/user/logout', '//evil.example/account'])
    expect(safeLink(starting, own, true), starting).toBeNull();
  // Another server's addresses are its own matter.
  expect(safeLink('https://other.example/chat?prompt=a&send=1', own)).toEqual(
    outside('https://other.example/chat?prompt=a&send=1'),
  );
});
