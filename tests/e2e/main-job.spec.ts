import { expect, test } from '../support/app.ts';

test('a newcomer asks, reads, registers, leaves, comes back and deletes @A2 @A3 @A4 @H1 @C3 @C8 @S9', async ({
  app,
  page,
}) => {
  const uuid = await app.startFromHome('12 × 12 + 3 等于多少？');
  await expect(app.log).toContainText('12 × 12 + 3 等于多少？');
  await expect(app.log).toContainText('147');
  await app.settled();
  await expect(app.question).toHaveValue('');

  const { account, password } = await app.register('江南');
  await app.walk('/?channel=private');
  await page.getByRole('main').getByRole('link', { name: '12 × 12 + 3 等于多少？' }).click();
  await expect(app.log).toContainText('147');
  expect(app.uuid()).toBe(uuid);
  await app.say('26.2 英里是多少公里？');
  await expect(app.log).toContainText('42.16');
  await app.settled();

  await app.walk('/account');
  await page.getByRole('button', { name: '退出登录' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: '退出', exact: true }).click();
  await page.waitForURL((url) => url.pathname === '/');
  expect(
    await page.evaluate(() => [
      localStorage.getItem('queqiao.token'),
      localStorage.getItem('queqiao.user'),
    ]),
  ).toEqual([null, null]);
  await page.goto(`/chat?uuid=${uuid}`);
  await page.waitForURL(/\/error\?code=1432/);
  await expect(page.getByText('这是私有会话，禁止查看')).toBeVisible();

  await app.login(account, password);
  await app.walk(`/chat?uuid=${uuid}`);
  await expect(app.log).toContainText('147');
  await expect(app.log).toContainText('42.16');

  // Step back from deleting, then delete for good.
  const remove = async (answer: string) => {
    await page
      .getByRole('main')
      .getByRole('button', { name: /更多|会话菜单/ })
      .first()
      .click();
    await page.getByRole('button', { name: '删除会话' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: answer, exact: true }).click();
  };
  await remove('取消');
  await expect(page.getByText('已取消删除')).toBeVisible();
  await remove('删除');
  await expect(page.getByText('会话已删除')).toBeVisible();
  await page.waitForURL((url) => url.pathname === '/');
  await expect(
    page.getByRole('main').getByRole('link', { name: '12 × 12 + 3 等于多少？' }),
  ).toBeHidden();
  await app.walk(`/chat?uuid=${uuid}`);
  await page.waitForURL(/\/error\?code=1433/);
  await expect(page.getByRole('main').getByText('会话已删除')).toBeVisible();
});
