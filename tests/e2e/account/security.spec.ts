import { generateSync } from 'otplib';
import type { Page } from '@playwright/test';
import pg from 'pg';
import { TestClient } from '#tests/support/client.ts';
import { expect, foreignServer, signIn, test } from '#tests/support/manager-place.ts';

test.skip(foreignServer, 'needs a server of its own');

const password = 'password-1';
let people = 0;
/** Somebody of one's own on that server, and how to move their logins in time. */
const somebody = async (place: { url: string; databaseUrl: string }, worker: number) => {
  people += 1;
  const account = `secure-${worker}-${people}`;
  const client = await TestClient.register(place.url, account);
  const { id } = await client.call('userInfo', {});
  const move = async (column: 'confirmed_at' | 'created_at', days: number) => {
    const database = new pg.Client({ connectionString: place.databaseUrl });
    await database.connect();
    await database.query(
      `UPDATE logins SET ${column} = now() - make_interval(days => $2) WHERE user_id = $1`,
      [id, days],
    );
    await database.end();
  };
  return { account, password, client, move };
};

const asked = (page: Page) => page.getByRole('alertdialog', { name: '输入密码确认' });
const give = async (page: Page, text: string) => {
  await asked(page).getByLabel('登录密码').fill(text);
  await asked(page).getByRole('button', { name: '确认' }).click();
};

test('a key asks for the password again, loses nothing that was typed, and is made', async ({
  app,
  page,
  place,
}, { workerIndex }) => {
  const person = await somebody(place, workerIndex);
  await app.enterAs(person);
  await page.goto('/api');
  await person.move('confirmed_at', 1);
  await page.getByRole('button', { name: '创建 API-KEY' }).click();
  const name = page.getByRole('textbox', { name: '名称' });
  await name.fill('博客助手');
  await page.getByRole('button', { name: '创建', exact: true }).click();
  await asked(page).getByRole('button', { name: '取消' }).click();
  await expect(page.getByText('没有输入密码，所以没有做')).toBeVisible();
  await expect(name).toHaveValue('博客助手');
  await page.getByRole('button', { name: '创建', exact: true }).click();
  await give(page, 'wrong-one-1');
  await expect(asked(page).getByText('密码不对')).toBeVisible();
  await give(page, password);
  await expect(page.getByText('创建 API-KEY 成功')).toBeVisible();
  await expect(page.getByRole('listitem').filter({ hasText: '博客助手' })).toHaveCount(1);
  expect((await person.client.call('apiKeys', {})).list.map((key) => key.name)).toEqual([
    '博客助手',
  ]);
  expect(app.problems).toEqual([]);
});

test('anybody signs in by two proofs, or by a recovery code, and makes new ones', async ({
  app,
  page,
  place,
}, { workerIndex }) => {
  const person = await somebody(place, workerIndex);
  await app.enterAs(person);
  await person.move('confirmed_at', 1);
  await page.goto('/account?tab=security');
  await page.getByRole('button', { name: '打开动态验证码' }).click();
  await give(page, password);
  const words = (await page.getByText('手工输入：').textContent()) ?? '';
  const secret = /手工输入：(\w+)/.exec(words)?.[1] ?? '';
  await page.getByLabel('验证器上的六位数字').fill('12345');
  await page.getByRole('button', { name: '打开', exact: true }).click();
  await expect(page.getByText('动态验证码不对')).toBeVisible();
  await page.getByLabel('验证器上的六位数字').fill(generateSync({ secret }));
  await page.getByRole('button', { name: '打开', exact: true }).click();
  await expect(page.getByRole('heading', { name: '恢复码' })).toBeVisible();
  const codes = page.getByRole('listitem').filter({ hasText: /^(\w{6}-){3}\w{6}$/ });
  await expect(codes).toHaveCount(10);
  const first = await codes.first().innerText();
  await page.getByRole('button', { name: '我保存好了' }).click();
  await expect(page.getByText(/还剩 10 个恢复码/)).toBeVisible();

  await page.evaluate(() => localStorage.clear());
  await signIn(page, person.account, password);
  const told = page.getByRole('alertdialog').getByRole('button');
  await told.last().click();
  await page.getByLabel('动态验证码').fill('000000');
  await page.getByRole('button', { name: '登录', exact: true }).click();
  await expect(page.getByText('动态验证码不对')).toBeVisible();
  await told.last().click();
  await page.getByLabel('动态验证码').fill(first);
  await page.getByRole('button', { name: '登录', exact: true }).click();
  await page.waitForURL((url) => url.pathname !== '/login');

  await page.goto('/account?tab=security');
  await expect(page.getByText(/还剩 9 个恢复码/)).toBeVisible();
  await page.getByRole('button', { name: '换一套恢复码' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: '换一套' }).click();
  await expect(codes).toHaveCount(10);
  const fresh = await codes.first().innerText();
  expect(fresh).not.toBe(first);
  await page.getByRole('button', { name: '我保存好了' }).click();
  await page.getByLabel('验证码', { exact: false }).first().fill(fresh);
  await page.getByRole('button', { name: '关闭动态验证码' }).click();
  await expect(page.getByRole('button', { name: '打开动态验证码' })).toBeVisible();
  expect(app.problems).toEqual([]);
});

test('a login that has grown too old says so, and leads to the next one', async ({
  app,
  page,
  place,
}, { workerIndex }) => {
  const person = await somebody(place, workerIndex);
  await app.enterAs(person);
  await page.goto('/account?tab=security');
  await expect(page.getByText('这台设备')).toBeVisible();
  await person.move('created_at', 181);
  await app.walk('/account?tab=order');
  const why = '这次登录已满 180 天，为了安全，请重新登录';
  await expect(page.getByText(why)).toBeVisible();
  await page.getByRole('button', { name: '去登录' }).click();
  await page.waitForURL(/\/login/);
  await expect(page.locator('form').getByText(why).or(page.getByText(why)).first()).toBeVisible();
  await page.getByLabel('用户名').fill(person.account);
  await page.getByLabel('密码', { exact: true }).fill(password);
  await page.getByRole('button', { name: '登录', exact: true }).click();
  await page.waitForURL(/\/account\?tab=order/);
});
