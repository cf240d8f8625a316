import type { Page } from '@playwright/test';
import { generateSync } from 'otplib';
import { TestClient } from '#tests/support/client.ts';
import { expect, foreignServer, signIn, test } from '#tests/support/manager-place.ts';

test.skip(foreignServer, 'needs a server of its own');

const password = 'password-1';

/** A device with a finger to put on it, as Chromium plays it. */
const playDevice = async (page: Page) => {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const verified = (isUserVerified: boolean) =>
    session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
  const remove = () => session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
  return { verified, remove };
};

test('passkeys are added, named, signed in with instead of two proofs, and removed', async ({
  app,
  page,
  place,
}) => {
  // Passkeys are for names, not for addresses.
  const url = place.url.replace('127.0.0.1', 'localhost');
  await place.owner.call('saveSignIn', { passkeys: 1 });
  const client = await TestClient.register(place.url, 'keyed-person');
  const { secret } = await client.call('totpBegin', { password });
  await client.call('totpEnable', { code: generateSync({ secret }) });

  const device = await playDevice(page);
  await page.goto(`${url}/`);
  await page.evaluate(
    ([token, user]) => {
      localStorage.setItem('queqiao.token', token!);
      localStorage.setItem('queqiao.user', user!);
    },
    [client.token, JSON.stringify(await client.call('userInfo', {}))],
  );
  await page.goto(`${url}/account?tab=security`);
  await page.getByRole('button', { name: '添加通行密钥' }).click();
  const list = page.locator('section', { hasText: '通行密钥' }).getByRole('listitem');
  await expect(list.getByText('还没有用过')).toBeVisible();
  // The device has one for this account already: it makes no other.
  await page.getByRole('button', { name: '添加通行密钥' }).click();
  await expect(page.getByText('没有添加：')).toBeVisible();
  await list.getByRole('button', { name: '修改名称' }).first().click();
  await page.getByLabel('名称').fill('我的手机');
  await page.getByRole('button', { name: '保存' }).click();
  await expect(page.getByText('我的手机')).toBeVisible();

  // Without a name, a password or a code.
  await page.evaluate(() => localStorage.clear());
  await page.goto(`${url}/login`);
  await page.getByRole('button', { name: '用通行密钥登录' }).click();
  await page.waitForURL((at) => at.pathname === '/');
  expect(await page.evaluate(() => localStorage.getItem('queqiao.user'))).toContain('keyed-person');
  await page.goto(`${url}/account?tab=security`);
  await expect(page.getByText('用通行密钥登录')).toBeVisible();

  // A device that did not see its person signs nobody in.
  await page.evaluate(() => localStorage.clear());
  await device.verified(false);
  await page.goto(`${url}/login`);
  await page.getByRole('button', { name: '用通行密钥登录' }).click();
  await expect(page.getByText('没有用通行密钥登录')).toBeVisible();
  await device.verified(true);

  // Nor does one that was removed here, though the device still has it.
  await page.getByRole('button', { name: '用通行密钥登录' }).click();
  await page.waitForURL((at) => at.pathname === '/');
  await page.goto(`${url}/account?tab=security`);
  await list.getByRole('button', { name: '删除' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: '删除' }).click();
  await expect(list).toHaveCount(0);
  await page.evaluate(() => localStorage.clear());
  await page.goto(`${url}/login`);
  await page.getByRole('button', { name: '用通行密钥登录' }).click();
  await expect(page.getByText('这个通行密钥没有通过')).toBeVisible();
  expect(app.problems).toEqual([]);
  await device.remove();
});

test('with nothing set the sign-in page is as plain as ever', async ({ app, page, place }) => {
  await place.owner.call('saveSignIn', { passkeys: 0 });
  await page.goto('/login');
  await expect(page.getByRole('button', { name: '登录', exact: true })).toBeVisible();
  await page.waitForLoadState('networkidle');
  await expect(page.getByText('或者')).toHaveCount(0);
  await expect(page.getByText('忘记密码')).toHaveCount(0);
  await signIn(page, 'busy-person', password);
  await page.waitForURL((at) => at.pathname === '/');
  expect(app.problems).toEqual([]);
});
