import { readFile } from 'node:fs/promises';
import { strFromU8, unzipSync } from 'fflate';
import sharp from 'sharp';
import { expect, foreignServer } from '#tests/support/app.ts';
import { TestClient } from '#tests/support/client.ts';
import { test } from '#tests/support/money-place.ts';
import { paint } from '#tests/support/images.ts';
import { expectCode } from '#tests/support/qr-code.ts';

test.skip(foreignServer, 'needs a server of its own');
// One server for all of them.
test.describe.configure({ mode: 'default' });

test('little left and an ending membership are told once, and lead to where they are mended @P4 @P6', async ({
  app,
  page,
  person,
  place,
}) => {
  const { id } = await person.client.call('userInfo', {});
  await app.enterAs(person);
  const left = { user_id: id, add: 0 as const, tokens: 18_500, remarks: '试' };
  await place.manager.call('updateTokens', left);
  await page.goto('/');
  await expect(page.getByText('余额还剩 1500 tokens，不到一成了')).toBeVisible();
  await page.getByText('去充值', { exact: true }).click();
  await expect(page).toHaveURL(/tab=recharge/);
  await expect(page.getByText('现有 1500')).toBeVisible();
  const again = page.waitForResponse(/user_info/);
  await page.goto('/account?tab=usage');
  await again;
  await expect(page.getByText('1500').first()).toBeVisible();
  await expect(page.getByText('不到一成')).toBeHidden();

  const end = new Date(Date.now() + 5 * 24 * 3_600_000);
  await place.manager.call('activatedAbility', {
    user_id: id,
    vip_expired_at: end.toISOString(),
    gift: 0,
  });
  await page.goto('/');
  await expect(page.getByText(/^会员 \d+ 月 \d+ 日到期，续费之后不会中断/)).toBeVisible();
  await page.getByText('去续费', { exact: true }).click();
  await expect(page).toHaveURL(/tab=vip/);
  await expect(page.getByRole('heading', { name: '您是会员' })).toBeVisible();
  await page.goto('/account?tab=vip');
  await expect(page.getByRole('heading', { name: '您是会员' })).toBeVisible();
  await expect(page.getByText('续费之后不会中断')).toBeHidden();
});

test('what was spent is filtered and taken away as CSV, all of one’s data as a zip, a face is cut @P1 @P6', async ({
  app,
  page,
  person,
}) => {
  const { client } = person;
  const { uuid, id } = await client.ask('说说赵州桥', { model: 'mock-chat' });
  await client.read(uuid, id);
  await paint(client, '=山间的月亮，"圆"', { model: 'stable-diffusion' });
  await app.enterAs(person);
  await page.goto('/account?tab=transaction');
  const rows = page.locator('[data-row]');
  await expect(rows).toHaveCount(2);
  await page.getByRole('combobox', { name: '按模型筛选' }).selectOption('mock-chat');
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('20,000');
  await page.getByRole('combobox', { name: '按模型筛选' }).selectOption('全部模型');
  await page.getByRole('combobox', { name: '按类型筛选' }).selectOption('画图');
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('山间的月亮');
  // One file of it, the server's.
  await expect(page.getByRole('button', { name: 'CSV' })).toHaveCount(0);
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: '导出全部' }).click();
  const csv = await readFile(await (await saved).path(), 'utf8');
  const [head, row, ...more] = csv.trimEnd().split('\r\n');
  expect(head).toBe('\uFEFF时间,类型,模型,内容,提问 token,回答 token,扣除 token,扣除前余额');
  // No spreadsheet takes it for a formula.
  expect(row).toMatch(/,画图,stable-diffusion,"'=山间的月亮，""圆""",0,0,1000,19982$/);
  expect(more).toEqual([]);

  // Of days of one's own, and the file is of the same.
  await app.walk('/account?tab=usage');
  await expect(page.getByRole('img', { name: /^每天扣除的 token/ })).toBeVisible();
  await page.getByRole('button', { name: '1 年', exact: true }).click();
  await expect(page).toHaveURL(/range=1y/);
  await expect(page.getByRole('img', { name: /^每周扣除的 token：.*最高 1000/ })).toBeVisible();
  await expect(page.getByText('预计本月')).toBeVisible();
  await page.getByRole('button', { name: '自选', exact: true }).click();
  await page.getByLabel('时间：从').fill('2025-01-01');
  await page.getByLabel('时间：到').fill('2026-11-01');
  await expect(page.getByRole('alert')).toHaveText('一次最多看 366 天');
  await page.getByLabel('时间：从').fill('2025-12-01');
  await page.getByLabel('时间：到').fill('2025-12-31');
  await expect(page.getByText('2025-12-01 至 2025-12-31，共 31 天')).toBeVisible();
  await expect(page.getByText('这段时间还没有用过')).toBeVisible();
  await expect(page.getByText('预计本月')).toBeHidden();
  await page.getByRole('button', { name: '7 天', exact: true }).click();
  const ranged = page.waitForEvent('download');
  await page.getByRole('button', { name: '导出消费记录' }).click();
  const rangedFile = await ranged;
  expect(rangedFile.suggestedFilename()).toMatch(
    /^consumption-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/,
  );
  const listed = await readFile(await rangedFile.path(), 'utf8');
  expect(listed.trimEnd().split('\r\n')).toHaveLength(3);
  await page.getByRole('button', { name: '按月看' }).click();
  await expect(page).toHaveURL(/tab=usage$/);

  await app.walk('/account?tab=profile');
  await page.getByRole('button', { name: '整理我的数据' }).click();
  const fetched = page.waitForEvent('download');
  await page.getByRole('button', { name: /^下载 .* 的数据/ }).click({ timeout: 30_000 });
  const zip = unzipSync(new Uint8Array(await readFile(await (await fetched).path())));
  const all = Object.entries(zip)
    .filter(([name]) => /\.(?:json|md|csv|txt)$/.test(name))
    .map(([, bytes]) => strFromU8(bytes))
    .join('\n');
  for (const words of [person.account, '说说赵州桥', '山间的月亮', 'mock-chat'])
    expect(all).toContain(words);
  expect(Object.keys(zip).filter((name) => name.startsWith('images/'))).toHaveLength(1);
  expect(all).not.toMatch(/argon2|password_hash/);

  const red = { width: 300, height: 200, channels: 3 as const, background: '#c00' };
  const buffer = await sharp({ create: red }).jpeg().toBuffer();
  await page
    .getByLabel('选择头像')
    .setInputFiles({ name: 'a.jpg', mimeType: 'image/jpeg', buffer });
  const sheet = page.getByRole('dialog', { name: '选取头像' });
  await sheet.getByRole('slider', { name: '放大' }).fill('200');
  await sheet.getByRole('button', { name: '使用这张' }).click();
  await expect(page.getByText('头像已更新')).toBeVisible();
  const { avatar } = await client.call('userInfo', {});
  const face = await fetch(new URL(avatar, client.baseURL));
  const { width, height } = await sharp(Buffer.from(await face.arrayBuffer())).metadata();
  expect([width, height]).toEqual([400, 400]);
  await expect(page.locator(`main img[src*="${avatar.split('/').at(-1)}"]`).first()).toBeVisible();
});

test('all sessions become private, and all are deleted, after a step back @P1 @P4', async ({
  app,
  page,
  person,
  place,
}) => {
  const { client } = person;
  const talks = [];
  for (const words of ['说说赵州桥', '说说卢沟桥']) {
    const { uuid, id } = await client.ask(words);
    await client.read(uuid, id);
    await client.call('setSession', { session_id: uuid, private: 0 });
    talks.push(uuid);
  }
  const visitor = new TestClient(place.url);
  await app.enterAs(person);
  await page.goto('/account?tab=settings');
  const answer = (name: string) =>
    page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click();
  await page.getByRole('button', { name: '把全部会话设为私有' }).click();
  await answer('全部设为私有');
  await expect(page.getByText('2 个会话已设为私有')).toBeVisible();
  for (const session_id of talks)
    expect((await visitor.raw('getSession', { session_id })).code).toBe(1432);
  await page.getByRole('button', { name: '删除全部会话' }).click();
  await answer('取消');
  await expect(page.getByText('已取消删除')).toBeVisible();
  await page.getByRole('button', { name: '删除全部会话' }).click();
  await answer('全部删除');
  await expect(page.getByText('2 个会话已删除')).toBeVisible();
  for (const session_id of talks)
    expect((await client.raw('getSession', { session_id })).code).toBe(1433);
});

test(
  'an official site offers its edition and its account on WeChat; a notice meets visitors, too, and waits to be read @P5 @S6',
  { tag: '@wide' },
  async ({ app, page, person, place, enter, isMobile }) => {
    await app.enterAs(person);
    await page.goto('/account');
    await page
      .getByRole('link', { name: isMobile ? '源码订阅' : '订阅' })
      .first()
      .click();
    await expect(page).toHaveURL(/\/subscribe/);
    await page.goto('/wechat');
    await expectCode(page, '微信二维码', 'http://weixin.qq.com/r/queqiao');

    const form = new FormData();
    form.set('notice', '# 新版本\n\n更快的**画板**');
    form.set('file', new Blob(['全部源码']), '源码 2.0.zip');
    const published = await fetch(`${place.url}/api/admin/save_notice`, {
      method: 'POST',
      headers: place.manager.headers(),
      body: form,
    });
    const { data } = (await published.json()) as { data: { id: number } };
    try {
      const visitor = await enter();
      const popup = visitor.getByRole('dialog', { name: '系统公告' });
      // A phone that scanned a payment's code pays first: the notice waits for another page.
      const order = await person.client.call('recharge', {
        type: 'token',
        num: 1,
        provider: 'sandbox',
      });
      const told = visitor.waitForResponse('**/api/notice_info*');
      await visitor.goto(new URL(order.url).pathname + new URL(order.url).search);
      await expect(visitor.getByRole('button', { name: '确认付款' })).toBeVisible();
      await told;
      await visitor.waitForTimeout(500);
      await expect(popup).toBeHidden();
      await visitor.getByRole('button', { name: '确认付款' }).click();
      await expect(visitor.getByText('付款成功')).toBeVisible();
      await visitor.goto('/');
      await expect(popup.getByRole('heading', { name: '新版本' })).toBeVisible();
      await popup.getByRole('link', { name: '源码订阅' }).click();
      await expect(visitor).toHaveURL(/\/subscribe/);
      await expect(popup).toBeHidden();
      await visitor.goto('/');
      await popup.getByRole('button', { name: '知道了' }).click();
      await visitor.reload();
      await expect(visitor.getByRole('textbox', { name: '输入问题' })).toBeVisible();
      await expect(popup).toBeHidden();

      await page.goto('/account');
      const own = page.getByRole('dialog', { name: '系统公告' });
      await own.getByRole('button', { name: '关闭' }).click();
      await expect(page.getByText('1 条未读')).toBeVisible();
      await app.walk('/notice');
      // Who has not subscribed is led to where that is done.
      await page.getByRole('button', { name: /^下载源码（12 B）/ }).click();
      await expect(page).toHaveURL(/\/subscribe/);
      // Whoever reads the list has read the newest.
      await app.walk('/account');
      await expect(page.getByRole('link', { name: '公告' }).first()).toBeVisible();
      await expect(page.getByText('1 条未读')).toBeHidden();
      expect((await person.client.call('noticeInfo', {})).unread).toBe(0);
    } finally {
      await place.manager.call('delNotice', { id: data.id });
    }
  },
);
