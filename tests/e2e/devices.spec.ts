import { expect, test } from '../support/app.ts';

test('what another device asks and is answered appears in the open conversation @C3', async ({
  app,
  page,
  person,
}) => {
  const { uuid, id } = await person.client.ask('第一个问题', { model: 'mock-chat' });
  await person.client.read(uuid, id);
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(app.log).toContainText('您说：第一个问题');
  const { id: second } = await person.client.call('sendMessage', {
    session_id: uuid,
    msg: '在电脑上接着问',
  });
  await person.client.read(uuid, second);
  await expect(app.log).toContainText('您说：在电脑上接着问', { timeout: 15_000 });
});

test('without a CloseWatcher, too, back closes what is open and then leads away; forward opens nothing @O1', async ({
  app,
  page,
  person,
}) => {
  // As on an iPhone.
  await page.addInitScript(() => Reflect.deleteProperty(window, 'CloseWatcher'));
  const { uuid, id } = await person.client.ask('26.2 英里是多少公里？');
  await person.client.read(uuid, id);
  await app.enterAs(person);
  await page.goto('/account');
  await expect(page.getByRole('heading', { name: '我的', exact: true })).toBeVisible();
  await app.walk(`/chat?uuid=${uuid}`);
  await expect(app.log).toContainText('您说');
  const menu = page.getByRole('button', { name: /更多|会话菜单/ }).first();
  const sheet = page.getByRole('dialog');
  await menu.click();
  await expect(sheet).toBeVisible();
  await page.goBack();
  await expect(sheet).toBeHidden();
  await expect(app.log).toContainText('您说');
  await page.goForward();
  await expect(app.log).toContainText('您说');
  await expect(sheet).toBeHidden();
  // A question over a sheet: each back closes one.
  await menu.click();
  await sheet.getByRole('button', { name: '删除会话' }).click();
  await expect(page.getByRole('alertdialog')).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('alertdialog')).toBeHidden();
  // Closed in another way, it leaves nothing to go back to.
  await menu.click();
  await sheet.getByRole('button', { name: '关闭' }).click();
  await expect(sheet).toBeHidden();
  await page.goBack();
  await expect(page).toHaveURL(/\/account/);
  await expect(page.getByRole('heading', { name: '我的', exact: true })).toBeVisible();
  await page.goForward();
  await expect(app.log).toContainText('您说');
});

test('text of twice the size stays within the window of a phone; times are told by the server’s clock @O1', async ({
  app,
  page,
  person,
}) => {
  const { uuid, id } = await person.client.ask('26.2 英里是多少公里？');
  await person.client.read(uuid, id);
  await app.enterAs(person);
  const line = await page.context().newCDPSession(page);
  await line.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } });
  // A phone whose clock stands in the year 2040.
  await page.clock.setFixedTime(new Date('2040-01-01T00:00:00Z'));
  await page.setViewportSize({ width: 390, height: 844 });
  for (const [address, there] of [
    ['/', '26.2 英里是多少公里？'],
    [`/chat?uuid=${uuid}`, '您说'],
    ['/model', '内置助手'],
    ['/account', '我的会话'],
  ] as const) {
    await page.goto(address);
    await expect(page.getByRole('main').getByText(there).first()).toBeVisible();
    const seen = await page.evaluate(() => ({
      text: Number.parseFloat(getComputedStyle(document.body).fontSize),
      wide: document.documentElement.scrollWidth,
      // What stands out of the window at its side, and not within what scrolls there.
      out: [...document.querySelectorAll('main button, main a, nav a, header *')]
        .filter((each) => {
          const { right, width } = each.getBoundingClientRect();
          let above = each.parentElement;
          while (above && getComputedStyle(above).overflowX === 'visible')
            above = above.parentElement;
          return width > 0 && right > innerWidth + 1 && (!above || above === document.body);
        })
        .map((each) => each.outerHTML.slice(0, 120)),
    }));
    expect(seen.text, address).toBe(30);
    expect(seen.wide, address).toBeLessThanOrEqual(390);
    expect(seen.out, address).toEqual([]);
  }
  // A price is not broken in two.
  await page.goto('/account?tab=recharge');
  const most = page.getByRole('group', { name: '常用数量' }).getByText('￥1,800');
  await expect(most).toBeVisible();
  const lines = await most.evaluate((each) => {
    const range = document.createRange();
    range.selectNodeContents(each);
    return range.getClientRects().length;
  });
  expect(lines).toBe(1);
  await page.goto('/');
  await expect(page.getByText('刚刚').first()).toBeVisible();
  await expect(page.getByText(/年前|更早/)).toHaveCount(0);
});
