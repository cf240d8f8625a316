import { expect, test } from '#tests/support/app.ts';

test('a top-up with discount by the sandbox: QR code, cashier, paid, orders, usage @P2 @P3', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  await page.goto('/account?tab=recharge');
  const slider = page.getByRole('slider', { name: '数量' });
  await slider.fill('4');
  await expect(page.getByRole('button', { name: '支付 ￥80' })).toBeVisible();
  // From here on the whole is cheaper.
  await slider.fill('19');
  await page.getByRole('button', { name: '再加 100 万，反而省 ￥1' }).click();
  await expect(page.getByText('已减 10% · 省 ￥40')).toBeVisible();
  await page.getByRole('button', { name: '支付 ￥360' }).click();
  await expect(page.getByRole('img', { name: '沙箱收银台二维码' })).toBeVisible();
  await expect(page.getByRole('timer')).toHaveText(/1:59:\d\d|2:00:00/);
  await page.getByRole('button', { name: '我已支付' }).click();
  await expect(page.getByText('还没有收到付款')).toBeVisible();

  // Closed, it can be opened again from the orders.
  await page.getByRole('button', { name: '关闭' }).first().click();
  await expect(page.getByRole('timer')).toBeHidden();
  await app.walk('/account?tab=order');
  await expect(page.getByText('待付款')).toBeVisible();
  await page.getByRole('button', { name: '去支付' }).click();
  const opened = page.waitForEvent('popup');
  await page.getByRole('link', { name: '打开收银台' }).click();
  const cashier = await opened;
  await cashier.getByRole('button', { name: '确认付款' }).click();
  await expect(cashier.getByText('付款成功')).toBeVisible();
  await cashier.close();
  await page.waitForURL(/tab=usage/);
  await expect(page.getByText('充值成功').first()).toBeVisible();
  await expect(page.getByText('2002 万')).toBeVisible();
  await expect(page.getByRole('region', { name: '已付款 ￥360' })).toContainText('订单号 Q');
  await app.walk('/account?tab=order');
  await expect(page.getByText('已付款')).toBeVisible();
  await expect(page.getByText('￥360')).toBeVisible();
  // The money back is asked for with a reason.
  await page.getByRole('button', { name: '申请退款' }).click();
  await page.getByLabel('为什么退').fill('买多了');
  await page.getByRole('button', { name: '提交申请' }).click();
  await expect(page.getByText('退款申请中')).toBeVisible();
  await expect(page.getByRole('button', { name: '申请退款' })).toHaveCount(0);

  // One that was closed elsewhere while it stands here as unpaid: pressed, it says so.
  const order = await person.client.call('recharge', { type: 'vip', num: 1 });
  await page.reload();
  await expect(page.getByText('待付款')).toBeVisible();
  await person.client.call('closeTrade', { platform_order_id: order.trade_no });
  await page.getByRole('button', { name: '去支付' }).click();
  await expect(page.getByText('这个订单已经关闭，请重新下单')).toBeVisible();
  await expect(page.getByText('已关闭', { exact: true })).toBeVisible();
});

test('invited by a link, the inviter has 250K more, and sees who came @A5', async ({
  app,
  page,
  person,
  baseURL,
}) => {
  await app.enterAs(person);
  await page.goto('/account?tab=invite');
  await page.getByRole('button', { name: '生成邀请链接' }).click();
  const link = (await page.getByText(/\/register\?invite=/).textContent()) ?? '';
  const invite = new URL(link).searchParams.get('invite') ?? '';
  const account = `in${Date.now().toString(36)}`;
  const answer = await page.request.post(`${baseURL}/api/user/register`, {
    data: { account, name: '新来的朋友', password: 'password-1', password2: 'password-1', invite },
    // From another network than the inviter's.
    headers: { 'x-forwarded-for': '172.20.1.1' },
  });
  expect(await answer.json()).toMatchObject({ code: 0 });
  await page.reload();
  await expect(page.getByText('新来的朋友')).toBeVisible();
  await expect(page.getByText('已有 1 人注册，共得到 25 万 tokens')).toBeVisible();
  expect((await person.client.call('userInfo', {})).chatgpt_balance).toBe(270_000);
});

test('every tab stands; name, devices, a new password and all private are done by thumb @P1 @P4 @P5', async ({
  app,
  page,
  person,
}) => {
  await person.client.login(person.account, person.password);
  await app.enterAs(person);
  for (const [tab, text] of [
    ['usage', '每天扣除的 token'],
    ['vip', '鹊桥会员'],
    ['order', '还没有订单'],
    ['transaction', '还没有消费'],
    ['settings', '删除全部会话'],
  ] as const) {
    await page.goto(`/account?tab=${tab}`);
    await expect(
      page.getByText(text).or(page.getByText('这段时间还没有用过')).first(),
    ).toBeVisible();
  }
  await app.walk('/account?tab=profile');
  await page.getByLabel('名称').fill('清和');
  await page.getByRole('button', { name: '保存' }).click();
  await expect(page.getByText('修改成功')).toBeVisible();
  await app.walk('/account?tab=security');
  await expect(page.getByText('这台设备')).toBeVisible();
  await page.getByRole('button', { name: '退出其他全部设备' }).click();
  await expect(page.getByRole('button', { name: '退出其他全部设备' })).toBeHidden();
  await page.getByLabel('现在的密码').fill('password-1');
  await page.getByLabel('新密码', { exact: false }).first().fill('password-2');
  await page.getByLabel('再次输入新密码').fill('password-2');
  await page.getByRole('button', { name: '修改密码' }).click();
  await expect(page.getByText('密码已修改')).toBeVisible();
  await person.client.login(person.account, 'password-2');

  await page.goto('/subscribe');
  await expect(page.getByRole('button', { name: '购买 ￥398' })).toBeVisible();
  await expect(page.getByRole('button', { name: '购买 ￥1,980' })).toBeVisible();
  await page.goto('/notice');
  await expect(page.getByRole('heading', { name: '公告' })).toBeVisible();
});

test('on a desktop the content is as wide as was chosen, and stays so @P1', async ({
  app,
  page,
  person,
}) => {
  await page.setViewportSize({ width: 1920, height: 1050 });
  await app.enterAs(person);
  await page.goto('/account?tab=settings');
  const widest = () =>
    page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--content'));
  expect((await widest()).trim()).toBe('1080px');
  for (const width of [1200, 960]) {
    await page.getByRole('radio', { name: String(width), exact: true }).click();
    await expect.poll(async () => (await widest()).trim()).toBe(`${width}px`);
    await expect
      .poll(
        async () =>
          (JSON.parse((await person.client.call('userInfo', {})).setting) as { max_width?: number })
            .max_width,
      )
      .toBe(width);
  }
  await page.reload();
  await expect.poll(async () => (await widest()).trim()).toBe('960px');
});
