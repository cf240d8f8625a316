import { expect, foreignServer } from '#tests/support/app.ts';
import { test } from '#tests/support/money-place.ts';
import { ScreenReader } from '#tests/support/screen-reader.ts';

test.skip(foreignServer, 'needs a server of its own');

test('by a screen reader alone: signed in, asked, drawn, paid @S5', async ({
  app,
  page,
  person,
  place,
}) => {
  test.setTimeout(180_000);
  const reader = new ScreenReader(page);

  await page.goto('/login');
  await reader.start();
  await reader.type(/用户名/, person.account);
  await reader.type(/^(?:textbox, )?密码/, person.password);
  await reader.press(/^button, 登录$/);
  await page.waitForURL((url) => url.pathname !== '/login');

  await page.goto('/');
  await reader.start();
  await reader.type(/^textbox, 输入问题/, '两点之间什么最短');
  await reader.press(/^button, 发送/);
  await page.waitForURL(/\/chat\?/);
  await app.settled();
  // Words that stream are not said; that all of them are there is said once, with them.
  const announced: string[] = [];
  await expect
    .poll(async () => {
      announced.push(
        ...(await reader.heard()).filter((said) => /^(?:polite|assertive): /.test(said)),
      );
      return announced.filter((said) => said.includes('回复完成')).length;
    })
    .toBe(1);
  expect(
    announced.filter((said) => said.includes('两点之间')),
    announced.join('\n'),
  ).toHaveLength(1);
  await reader.start();
  await reader.find(/^article, 我的消息$/);
  await reader.find(/^article, Mock Chat的回复$/);
  await reader.find(/^您说：两点之间什么最短/);

  await page.goto('/?tab=imagine');
  await reader.start();
  await reader.type(/^textbox, 输入问题, placeholder 描述一张画/, '湖上的月亮');
  await reader.press(/^button, 发送/);
  await expect(page.getByRole('list', { name: '画好的图片' })).toBeVisible({ timeout: 60_000 });
  await reader.start();
  await reader.find(/^button, 查看第 1 张/);

  await page.goto('/account?tab=recharge');
  await expect(page.locator('#root .skeleton')).toHaveCount(0);
  await expect(page.getByRole('radio', { name: '微信支付' })).toBeVisible();
  await reader.start();
  await reader.press(/^radio, 微信支付/);
  await reader.press(/^button, 支付 ￥95/);
  await expect(page.getByRole('dialog', { name: '微信支付' })).toBeVisible();
  await reader.start();
  await reader.find(/dialog, 微信支付/);
  await reader.find(/￥95/);
  const [number = ''] = [...place.wechat.trades.keys()].slice(-1);
  expect(await place.notify('wechat', place.wechat.noticeOf(place.wechat.pay(number)))).toBe(200);
  await reader.press(/^button, 我已支付/);
  await expect(page.getByText('充值成功')).toBeVisible();
  expect((await reader.heard()).some((said) => said.includes('充值成功'))).toBe(true);
});
