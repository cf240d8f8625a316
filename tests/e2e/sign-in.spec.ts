import { createHash, randomUUID } from 'node:crypto';
import { expect, test } from '../support/app.ts';

test('what is missing to log in or to register is named, and the request is still sent @A1 @A2', async ({
  app,
  page,
}) => {
  await page.goto('/login');
  const sent = page.waitForRequest('**/api/user/login');
  await page.getByRole('button', { name: '登录', exact: true }).click();
  await expect(page.getByText('用户名不能为空！').first()).toBeVisible();
  await expect(page.getByText('密码不能为空！').first()).toBeVisible();
  await sent;
  const dialog = page.getByRole('alertdialog', { name: '提示' });
  await expect(dialog).toBeVisible();
  expect(app.problems).toEqual([]);

  await page.goto('/register');
  const registered = page.waitForRequest('**/api/user/register');
  await page.getByRole('button', { name: '注册', exact: true }).click();
  for (const text of [
    '用户名不能为空！',
    '名称不能为空！',
    '密码不能为空！',
    '请再次输入一次密码！',
  ])
    await expect(page.getByText(text).first()).toBeVisible();
  await registered;
  await dialog.getByRole('button').click();
  await page.getByLabel('密码', { exact: true }).fill('mima-12345');
  await page.getByLabel('再次输入密码', { exact: true }).fill('mima-54321');
  await page.getByRole('button', { name: '注册', exact: true }).click();
  await expect(page.getByText('两次输入的密码不一致！').first()).toBeVisible();
});

test('a wrong password is told in a dialog, then a captcha is asked for; a revoked token leads back to a visitor, once @A1 @A3 @S9', async ({
  app,
  page,
  person,
}) => {
  await page.goto('/login');
  const captcha = page.getByRole('textbox', { name: '验证码' });
  for (let tries = 0; tries < 4 && !(await captcha.isVisible()); tries += 1) {
    await page.getByRole('textbox', { name: '用户名' }).fill(person.account);
    await page.getByLabel('密码', { exact: true }).fill(`wrong-${randomUUID()}`);
    await page.getByRole('button', { name: '登录', exact: true }).click();
    const dialog = page.getByRole('alertdialog', { name: '提示' });
    await expect(dialog).toBeVisible();
    await dialog.getByRole('button').click();
    await expect(dialog).toBeHidden();
  }
  await expect(captcha).toBeVisible();
  await expect(page.getByRole('textbox', { name: '用户名' })).toHaveValue(person.account);

  await app.enterAs(person);
  await person.client.call('logout', {});
  await page.goto('/account');
  await expect(page.getByRole('link', { name: '登录' }).first()).toBeVisible();
  await expect
    .poll(() => page.evaluate(() => localStorage.getItem('queqiao.token')).catch(() => 'leaving'))
    .toBeNull();
});

test('the page itself does the work that comes with a captcha, and registers with it @A2', async ({
  app,
  page,
}) => {
  // Here registrations are free: the first answer is what a strict server says.
  let first = true;
  await page.route('**/api/user/register', (route) => {
    if (!first) return route.continue();
    first = false;
    return route.fulfill({
      json: { code: 0, message: '', data: { error: '请输入验证码', captcha: true } },
    });
  });
  await page.goto('/register');
  await page.getByRole('textbox', { name: '用户名' }).fill(`e2e${randomUUID().slice(0, 10)}`);
  await page.getByRole('textbox', { name: '名称' }).fill('小鹊');
  await page.getByLabel('密码', { exact: true }).fill('mima-12345-qiao');
  await page.getByLabel('再次输入密码', { exact: true }).fill('mima-12345-qiao');
  const captchas: { captchaid: string; pow: { challenge: string; salt: string } }[] = [];
  // The body is read on its way: a browser may have dropped it by the time a test asks for it.
  await page.route('**/api/captcha*', async (route) => {
    const response = await route.fetch();
    captchas.push(((await response.json()) as { data: (typeof captchas)[number] }).data);
    await route.fulfill({ response });
  });
  const submit = page.getByRole('button', { name: '注册', exact: true });
  await submit.click();
  const dialog = page.getByRole('alertdialog', { name: '提示' });
  await dialog.getByRole('button').click();
  const captcha = page.getByRole('textbox', { name: '验证码' });
  await captcha.fill('abcd');
  // A person takes longer to read the characters than the browser for its work.
  await page.waitForTimeout(3_000);
  const sent = page.waitForRequest('**/api/user/register');
  await submit.click();
  const { pow, captchaid } = (await sent).postDataJSON() as { pow?: string; captchaid: string };
  expect(captchas).toHaveLength(1);
  const [asked] = captchas;
  expect(captchaid).toBe(asked?.captchaid);
  const solved = JSON.parse(atob(pow ?? '')) as { challenge: string; number: number; salt: string };
  expect(solved).toMatchObject({ challenge: asked?.pow.challenge, salt: asked?.pow.salt });
  const { salt, number } = solved;
  expect(createHash('sha256').update(`${salt}${number}`).digest('hex')).toBe(solved.challenge);
  await page.waitForURL((url) => url.pathname !== '/register');
  expect(app.problems).toEqual([]);
});

test('the administration and a conversation that is none lead everybody else to the page of what is not there @A4 @S7', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  for (const address of ['/manager', '/manager/forum', '/market/manager', '/chat']) {
    await page.goto(address);
    await page.waitForURL(/\/404$/);
    await expect(page.getByRole('link', { name: /首页/ }).first()).toBeVisible();
  }
});
