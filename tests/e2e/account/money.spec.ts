import type { Page } from '@playwright/test';
import { orderPolling } from '#contract/goods.ts';
import { App, expect, foreignServer } from '#tests/support/app.ts';
import type { TestClient } from '#tests/support/client.ts';
import { test } from '#tests/support/money-place.ts';
import { expectCode } from '#tests/support/qr-code.ts';
import { paint } from '#tests/support/images.ts';

test.skip(foreignServer, 'needs a server of its own');
// One server for all of them.
test.describe.configure({ mode: 'default' });

/** As people read numbers of tokens: cut, never rounded. */
const compact = (tokens: number): string => {
  if (tokens < 10_000) return String(tokens);
  const value = Math.floor(tokens / 100) / 100;
  return `${value >= 100 ? Math.floor(value) : value} 万`;
};

const payBy = (page: Page, name: string) => page.getByRole('radio', { name }).check();
const clockOf = (page: Page) => page.getByRole('dialog').getByRole('timer');

test(
  'WeChat Pay and Alipay: code, clock, paid by a notice, closed and found again, led on @P2 @P3 @P5',
  { tag: '@wide' },
  async ({ app, page, person, place, isMobile }) => {
    const { wechat, alipay } = place;
    await app.enterAs(person);
    await page.goto('/account?tab=recharge');
    await payBy(page, '微信支付');
    await page.getByRole('button', { name: '支付 ￥95' }).click();
    const dialog = page.getByRole('dialog', { name: '微信支付' });
    await expect(dialog).toContainText('￥95');
    await expect(clockOf(page)).toHaveText(/^请在 (1:59:\d\d|2:00:00) 内付款$/);
    const [number = ''] = [...wechat.trades.keys()].slice(-1);
    await expectCode(page, '微信支付二维码', `weixin://wxpay/bizpayurl?pr=${number}`);
    const opens = dialog.getByRole('link', { name: '打开微信' });
    if (isMobile)
      await expect(opens).toHaveAttribute('href', `weixin://wxpay/bizpayurl?pr=${number}`);
    else await expect(opens).toHaveCount(0);
    await dialog.getByRole('button', { name: '我已支付' }).click();
    await expect(page.getByText('还没有收到付款')).toBeVisible();

    // Closed, this page asks no more; whoever waits for everything else goes on, and tells it.
    await dialog.getByRole('button', { name: '关闭' }).click();
    await expect(dialog).toBeHidden();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.waitForTimeout(2 * orderPolling);
    expect(asked).not.toContain('/api/trade_status');
    expect(await place.notify('wechat', wechat.noticeOf(wechat.pay(number)))).toBe(200);
    // Back in sight it asks at once.
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await expect(page.getByText('鹊桥充值 500 万 token：充值成功')).toBeVisible();
    await expect(page.getByText('现有 502 万')).toBeVisible();

    // The other service, to the end.
    await payBy(page, '支付宝');
    await page.getByRole('button', { name: '支付 ￥95' }).click();
    const other = page.getByRole('dialog', { name: '支付宝' });
    await expect(other.getByRole('timer')).toBeVisible();
    const [second = ''] = [...alipay.trades.keys()].slice(-1);
    await expectCode(page, '支付宝二维码', `https://qr.alipay.com/${second}`);
    const opensOther = other.getByRole('link', { name: '打开支付宝' });
    if (isMobile)
      await expect(opensOther).toHaveAttribute(
        'href',
        `alipays://platformapi/startapp?saId=10000007&qrcode=${encodeURIComponent(`https://qr.alipay.com/${second}`)}`,
      );
    else await expect(opensOther).toHaveCount(0);
    expect(await place.notify('alipay', alipay.noticeOf(alipay.pay(second)))).toBe(200);
    await page.waitForURL(/tab=usage/);
    await expect(page.getByText('充值成功').last()).toBeVisible();
    await expect(page.getByRole('main').getByText('1002 万')).toBeVisible();
    await app.walk('/account?tab=order');
    for (const each of [number, second]) await expect(page.getByText(each)).toBeVisible();
    await expect(page.getByText('已付款')).toHaveCount(2);

    // An edition of the source code leads to the notices, where it is downloaded.
    await app.walk('/subscribe');
    await payBy(page, '支付宝');
    await page.getByRole('button', { name: '购买 ￥398' }).click();
    await expect(page.getByRole('dialog', { name: '支付宝' }).getByRole('timer')).toBeVisible();
    const [third = ''] = [...alipay.trades.keys()].slice(-1);
    alipay.pay(third);
    // The page asks every two seconds by itself, and may be first.
    const paid = page.getByRole('button', { name: '我已支付' });
    const told = expect(page.getByText('成功', { exact: true })).toBeVisible();
    await Promise.all([told, paid.click({ timeout: 4_000 }).catch(() => {})]);
    await page.waitForURL(/\/notice/);
    await app.walk('/subscribe');
    await expect(page.getByText('已订阅')).toBeVisible();
    await expect(page.getByRole('button', { name: '升级订阅 ￥1,582' })).toBeVisible();
    expect(wechat.badSignatures() + alipay.badSignatures()).toBe(0);
  },
);

/** Pays for what somebody orders, by the sandbox. Gives the order's number. */
const buy = async (client: TestClient, type: 'token' | 'vip', num: number) => {
  const order = await client.call('recharge', { type, num, provider: 'sandbox' });
  const key = new URL(order.url).searchParams.get('key') ?? '';
  await client.call('sandboxSettle', { key, pay: 1 });
  await client.call('tradeStatus', { platform_order_id: order.trade_no });
  return order.trade_no;
};
/** A row of a table, or the card that stands for it on a phone. */
const rowOf = (page: Page, words: string) => page.locator('[data-row]').filter({ hasText: words });
const sheetOf = (page: Page) => page.getByRole('dialog');
const confirm = (page: Page, name: string) =>
  page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click();
const openOrder = async (page: Page, number: string) => {
  await page.goto(`/manager/order?order_id=${number}`);
  await rowOf(page, number).click({ position: { x: 120, y: 14 } });
  await expect(sheetOf(page).getByRole('button', { name: '退款' })).toBeVisible();
};
const give = async (page: Page, amount: string, reason: string) => {
  await sheetOf(page).getByLabel('退款金额').fill(amount);
  await sheetOf(page).getByLabel('原因').fill(reason);
  await sheetOf(page).getByRole('button', { name: '退款', exact: true }).click();
  await confirm(page, '退款');
};

test('two people: an invite, a top-up, a month, a free picture, refunds part and whole: figures agree everywhere @A5 @P3 @P4 @P6', async ({
  app,
  page,
  person,
  place,
  enter,
}) => {
  test.setTimeout(120_000);
  const { client: ann } = person;
  await app.enterAs(person);
  const { id, user_name: name } = await ann.call('userInfo', {});
  const desk = await enter(place.manager);
  const exact = (tokens: number) => tokens.toLocaleString('zh-CN');

  /** What Ann's screens and the manager's say of her, each read anew. */
  const agree = async (balance: number, vip: number | null, spent: number) => {
    await page.goto('/account');
    const card = page.getByRole('region', { name: '余额' });
    await expect(card.getByTitle(exact(balance), { exact: true })).toBeVisible();
    await expect(page.getByText(/^VIP 至/)).toHaveCount(vip === null ? 0 : 1);
    const short = compact(balance);
    await expect(card).toContainText(short);
    if (vip !== null) await expect(card).toContainText(`会员本月额度${compact(vip)}`);
    await app.walk('/account?tab=usage');
    await expect(
      page.getByText(new RegExp(`^${short.replace(' ', String.raw`\s`)} 充值$`)),
    ).toBeVisible();
    await expect(
      page
        .locator('dl')
        .getByText(new RegExp(`^${compact(spent).replace(' ', String.raw`\s`)} ￥`))
        .first(),
    ).toBeVisible();
    await expect(page.locator('main').getByText(/^会员至/)).toHaveCount(vip === null ? 0 : 1);
    await app.walk('/account?tab=recharge');
    await expect(page.getByText(`现有 ${short}`)).toBeVisible();
    await app.walk('/account?tab=vip');
    await expect(
      page.getByRole('heading', { name: vip === null ? '鹊桥会员' : '您是会员' }),
    ).toBeVisible();
    await desk.goto(`/manager/user?person=${id}`);
    const facts = sheetOf(desk).locator('dl');
    await expect(facts).toContainText(`余额${short}会员额度${compact(vip ?? 0)}`);
    await expect(facts).toContainText(`共消耗${compact(spent)}`);
  };

  await page.goto('/account?tab=invite');
  await page.getByRole('button', { name: '生成邀请链接' }).click();
  const link = (await page.getByText(/\/register\?invite=/).textContent()) ?? '';
  const ben = await enter();
  await new App(ben).register('本来', link);
  await page.reload();
  await expect(page.getByText('本来')).toBeVisible();
  await page.goto('/account?tab=recharge');
  await payBy(page, '微信支付');
  await page.getByRole('button', { name: '支付 ￥95' }).click();
  await expect(clockOf(page)).toBeVisible();
  const [topUp = ''] = [...place.wechat.trades.keys()].slice(-1);
  place.wechat.pay(topUp);
  await page.waitForURL(/tab=usage/);

  // A picture has its price until the membership begins.
  await paint(ann, '山间的月亮', { model: 'stable-diffusion' });
  const price = (await ann.call('transactionList', { type: 1 })).list[0]?.deduct_tokens ?? 0;
  expect(price).toBeGreaterThan(0);
  const before = 5_270_000 - price;
  await agree(before, null, price);

  await page.goto('/account?tab=vip');
  await payBy(page, '支付宝');
  await page.getByRole('button', { name: '支付 ￥26' }).click();
  await expect(clockOf(page)).toBeVisible();
  const [month = ''] = [...place.alipay.trades.keys()].slice(-1);
  place.alipay.pay(month);
  await page.waitForURL(/tab=usage/);
  await paint(ann, '山间的月亮', { model: 'stable-diffusion' });
  await agree(before, 250_000, price);
  await app.walk('/account?tab=transaction');
  await expect(page.locator('[data-row]')).toHaveCount(1);
  await expect(rowOf(page, '山间的月亮')).toContainText(exact(5_270_000));

  // 40 of 95 yuan: of five million tokens as many.
  await openOrder(desk, topUp);
  await give(desk, '40', '用不完');
  await expect(desk.getByText('退款成功')).toBeVisible();
  await expect(sheetOf(desk)).toContainText('部分退款');
  await expect(sheetOf(desk)).toContainText('退款 ￥40.00：用不完（已退）');
  const left = before - Math.floor((5_000_000 * 4000) / 9500);
  await agree(left, 250_000, price);
  // Now less is left than the rest of the order stands for.
  await place.manager.call('updateTokens', {
    user_id: id,
    add: 0,
    tokens: left - 1_000_000,
    remarks: '另行约定',
  });
  await openOrder(desk, topUp);
  await sheetOf(desk).getByLabel('退款金额').fill('56');
  await sheetOf(desk).getByRole('button', { name: '退款', exact: true }).click();
  await expect(sheetOf(desk).getByText('退款金额不能大于 55')).toBeVisible();
  await give(desk, '55', '不要了');
  const rest = 5_000_000 - Math.floor((5_000_000 * 4000) / 9500);
  await expect(
    sheetOf(desk).getByText(`这笔退款要收回 ${exact(rest)} token，余额只剩 1,000,000`),
  ).toBeVisible();
  expect((await ann.call('userInfo', {})).chatgpt_balance).toBe(1_000_000);
  await sheetOf(desk).getByRole('switch', { name: '已经用掉的也退' }).click();
  await give(desk, '55', '不要了');
  await expect(sheetOf(desk)).toContainText('已退款');
  await expect(sheetOf(desk).getByRole('button', { name: '退款', exact: true })).toHaveCount(0);
  await agree(0, 250_000, price);

  // The whole month: the membership ends, and with it its tokens.
  await openOrder(desk, month);
  await give(desk, '26', '不要了');
  await expect(desk.getByText('退款成功')).toBeVisible();
  await agree(0, null, price);
  await app.walk('/account?tab=order');
  for (const number of [topUp, month]) await expect(rowOf(page, number)).toContainText('已退款');
  await expect(rowOf(page, '邀请')).toContainText('25 万');
  await expect(rowOf(page, '另行约定')).toContainText('扣除');
  await desk.goto(`/manager/order?user_id=${id}`);
  await expect(rowOf(desk, name).filter({ hasText: '已退款' })).toHaveCount(2);
  expect([...(place.wechat.trades.get(topUp)?.refunds.values() ?? [])]).toEqual([4000, 5500]);
  expect([...(place.alipay.trades.get(month)?.refunded.values() ?? [])]).toEqual(['26.00']);
});

test('an invoice: asked for, sent back with its reason, asked for again, issued, and fetched @P3 @G3', async ({
  app,
  page,
  person,
  place,
  enter,
}) => {
  const number = await buy(person.client, 'token', 20);
  await app.enterAs(person);
  await page.goto('/account?tab=order');
  const ask = async (title: string, tax: string) => {
    await page.getByRole('button', { name: '开发票' }).click();
    const sheet = page.getByRole('dialog', { name: '申请发票' });
    await expect(sheet).toContainText('鹊桥充值 2000 万 token，￥360');
    await sheet.getByText('企业', { exact: true }).click();
    await sheet.getByLabel('发票抬头').fill(title);
    await sheet.getByLabel('纳税人识别号').fill(tax);
    await sheet.getByLabel('收发票的邮箱').fill('caiwu@example.com');
    await sheet.getByRole('button', { name: '提交申请' }).click();
    return sheet;
  };
  const title = '杭州市西湖区鹊桥相会信息技术服务有限责任公司';
  const wrong = await ask(title, '12345');
  await expect(wrong.getByText(/请填写正确的纳税人识别号/)).toBeVisible();
  await wrong.getByLabel('纳税人识别号').fill('91330106MA27Y0001X');
  await wrong.getByRole('button', { name: '提交申请' }).click();
  await expect(page.getByText('已收到申请')).toBeVisible();
  await expect(rowOf(page, number)).toContainText('发票开具中');
  await expect(page.getByRole('button', { name: '开发票' })).toHaveCount(0);
  const mine = page.getByRole('list', { name: '发票申请' }).getByRole('listitem');
  await expect(mine).toContainText(['等待开票']);

  const desk = await enter(place.manager);
  const handle = async (state: string, remark: string) => {
    await desk.goto('/manager/order?tab=invoices');
    await rowOf(desk, title)
      .first()
      .click({ position: { x: 30, y: 14 } });
    const sheet = desk.getByRole('dialog', { name: '发票申请' });
    for (const word of [title, '91330106MA27Y0001X', '￥360.00', 'caiwu@example.com', number])
      await expect(sheet).toContainText(word);
    await sheet.getByText(state, { exact: true }).click();
    await sheet.getByLabel('给用户的话').fill(remark);
    await sheet.getByRole('button', { name: '保存' }).click();
    await expect(desk.getByText('保存成功').last()).toBeVisible();
  };
  await handle('退回', '抬头与税号对不上，请核对后再申请。');
  await expect(rowOf(desk, title)).toContainText('已退回');
  await page.reload();
  await expect(mine).toContainText(['抬头与税号对不上']);
  await expect(mine).toContainText(['被退回']);

  await ask(title, '91330106 MA27Y0001X');
  await expect(mine).toHaveCount(2);
  await handle('已开出', '已发到邮箱，也可以在 https://invoice.example.com/d/8841.pdf 下载。');
  await page.reload();
  await expect(mine.first()).toContainText('已开出');
  await expect(rowOf(page, number)).toContainText('发票已开');
  await expect(mine.first().getByRole('link')).toHaveAttribute(
    'href',
    'https://invoice.example.com/d/8841.pdf',
  );
  await expect(page.getByRole('button', { name: '开发票' })).toHaveCount(0);
  const refund = async (amount: number, words: string) => {
    const back = { order_id: number, reason: '不要了', forgive: 1 as const };
    await place.manager.call('refundOrder', { ...back, amount });
    await desk.goto('/manager/order?tab=invoices');
    await expect(rowOf(desk, title).first()).toContainText(words);
  };
  await refund(6_000, '已开 · 已退款 ￥60.00');
  await refund(30_000, '已开 · 已退款');
  await expect(rowOf(desk, title).first()).not.toContainText('已退款 ￥');
});

test('a payment of another amount is not credited, and a manager works it off @P3 @G3', async ({
  person,
  place,
  enter,
}) => {
  const { client } = person;
  const order = await client.call('recharge', { type: 'token', num: 1, provider: 'wechat' });
  place.wechat.pay(order.trade_no, 1);
  const asked = { platform_order_id: order.trade_no };
  expect((await client.call('tradeStatus', asked)).status).toBe(0);
  expect((await client.call('userInfo', {})).chatgpt_balance).toBe(20_000);
  const desk = await enter(place.manager);
  await desk.goto('/manager/order?tab=differences');
  const row = rowOf(desk, order.trade_no);
  await expect(row).toHaveAttribute('data-tone', 'bad');
  await row.click({ position: { x: 30, y: 14 } });
  await expect(sheetOf(desk)).toContainText('付了 1 分，订单是 2000 分，没有入账');
  await sheetOf(desk).getByLabel('怎么处理的').fill('电话核对，已原路退回');
  await sheetOf(desk).getByRole('button', { name: '已处理' }).click();
  await expect(desk.getByText('保存成功')).toBeVisible();
  await expect(row).not.toHaveAttribute('data-tone', 'bad');
  await expect(row).toContainText('电话核对，已原路退回');
});

test('an account is ended by its password: told what goes, signed out, and nothing of it is left @P1', async ({
  app,
  page,
  person,
  place,
  enter,
}) => {
  const { client, account, password } = person;
  await client.call('saveUser', { user_name: '要走的人' });
  const order = await buy(client, 'token', 1);
  const { uuid, id } = await client.ask('我的秘密是芝麻开门', { model: 'mock-chat' });
  await client.read(uuid, id);
  await client.call('setSession', { session_id: uuid, private: 0 });
  await app.enterAs(person);
  const visitor = await enter();
  await visitor.goto(`/chat?uuid=${uuid}`);
  await expect(visitor.getByText('芝麻开门').first()).toBeVisible();

  await page.goto('/account?tab=profile');
  const words = page.getByText('个人信息、会话与图片立即删除，余额与会员作废，不能恢复');
  await expect(words).toBeVisible();
  await page.getByRole('button', { name: '注销账号' }).click();
  await confirm(page, '永久注销');
  const asked = page.getByRole('alertdialog', { name: '输入密码确认' });
  const give = async (given: string) => {
    await asked.getByLabel('登录密码').fill(given);
    await asked.getByRole('button', { name: '确认' }).click();
  };
  await give('password-0');
  await expect(asked.getByText('密码不对')).toBeVisible();
  await asked.getByRole('button', { name: '取消' }).click();
  await expect(asked).toBeHidden();
  expect((await client.call('userInfo', {})).user_name).toBe('要走的人');
  await page.getByRole('button', { name: '注销账号' }).click();
  await confirm(page, '永久注销');
  await give(password);
  await expect(page.getByText('账号已注销')).toBeVisible();
  await page.waitForURL((url) => url.pathname === '/');
  const kept = await page.evaluate(() =>
    ['queqiao.token', 'queqiao.user'].map((key) => localStorage.getItem(key)),
  );
  expect(kept).toEqual([null, null]);
  await expect(page.getByText('芝麻开门')).toHaveCount(0);
  await page.goto('/account?tab=profile');
  await expect(page.getByRole('link', { name: '登录或注册' })).toBeVisible();
  expect((await client.raw('userInfo', {})).status).toBe(401);

  await page.goto('/login');
  await page.getByRole('textbox', { name: '用户名' }).fill(account);
  await page.getByLabel('密码', { exact: true }).fill(password);
  await page.getByRole('button', { name: '登录', exact: true }).click();
  await expect(page.getByRole('alertdialog')).toBeVisible();
  await expect(page).toHaveURL(/\/login/);
  await visitor.goto(`/chat?uuid=${uuid}`);
  await visitor.waitForURL(/\/error\?code=1433/);
  await expect(visitor.getByText('芝麻开门')).toHaveCount(0);

  // The books stay, without the person.
  const { order: booked } = await place.manager.call('adminOrderInfo', { order_id: order });
  expect(booked).toMatchObject({ user_name: '已注销用户', amount: 2000, state: 'paid' });
});
