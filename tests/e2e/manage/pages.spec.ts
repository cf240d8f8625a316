import type { Page } from '@playwright/test';
import { asOwner, expect, foreignServer, signIn, test } from '#tests/support/manager-place.ts';
import { talk } from '#tests/support/world.ts';

test.skip(foreignServer, 'needs a server of its own');

const sheetOf = (page: Page) => page.getByRole('dialog');
const rowOf = (page: Page, words: string) => page.getByRole('row').filter({ hasText: words });
/** Waits until a table shows no row but those that fit. */
const only = async (page: Page, words: string) => {
  await expect(rowOf(page, words).first()).toBeVisible();
  await expect(page.getByRole('row').filter({ hasNotText: words })).toHaveCount(1);
};
const close = async (page: Page) => {
  await sheetOf(page).getByRole('button', { name: '关闭' }).click();
  await expect(sheetOf(page)).toBeHidden();
};
const confirm = (page: Page, name: string) =>
  page.getByRole('alertdialog').getByRole('button', { name }).click();

test('users, orders, sessions and trainings are filtered, changed and logged on a desktop @G1 @G3 @G4 @G7', async ({
  page,
  place,
}) => {
  test.setTimeout(120_000);
  const { person, owner } = place;
  const logged = (subject: string, call: string) =>
    expect
      .poll(async () => (await owner.call('adminActList', { subject })).list.map((act) => act.call))
      .toContain(call);
  await asOwner(page);

  await page.goto('/manager/user');
  await page.getByRole('searchbox').first().fill(person.name);
  await only(page, person.name);
  await rowOf(page, person.name).click();
  await expect(page).toHaveURL(new RegExp(`person=${person.id}`));
  const barred = sheetOf(page).getByRole('switch', { name: '禁止新建会话' });
  await barred.click();
  await expect(barred).toBeChecked();
  await logged(`user:${person.id}`, 'updateUser');
  await barred.click();
  await expect(barred).not.toBeChecked();
  await close(page);
  await page.goto(`/manager/user?user_id=${person.id}`);
  await only(page, person.name);

  await page.goto('/manager/order');
  await page.getByRole('combobox', { name: '支付' }).selectOption('paid');
  await expect(rowOf(page, person.name).first()).toHaveAttribute('data-tone', 'good');
  await page.getByRole('combobox', { name: '支付' }).selectOption('alipay');
  await expect(page.getByText('没有符合的订单')).toBeVisible();
  // Where the first page leads those who ask for their money.
  await page.goto('/manager/order?type=refund');
  await expect(page.getByRole('combobox', { name: '支付' })).toHaveValue('refund');
  await page.getByRole('combobox', { name: '支付' }).selectOption('alipay');
  const [order] = (await owner.call('adminOrderList', { userId: person.id, type: 'paid' })).list;
  // A number ignores the other filters.
  await page.getByRole('searchbox', { name: /订单号/ }).fill(order!.order_id);
  await rowOf(page, person.name).click();
  await sheetOf(page).getByLabel('备注').fill('电话里说过');
  await sheetOf(page).getByRole('button', { name: '保存' }).click();
  await expect(page.getByText('修改成功')).toBeVisible();
  await close(page);
  await expect(rowOf(page, '电话里说过')).toBeVisible();
  await logged(`order:${order!.order_id}`, 'setOrder');

  await page.goto(`/manager/session?user_id=${person.id}`);
  await only(page, '紫藤花');
  const acts = rowOf(page, '紫藤花').getByRole('button');
  const [first, second] = [await acts.nth(0).boundingBox(), await acts.nth(1).boundingBox()];
  expect(first?.y).toBe(second?.y);
  await rowOf(page, '紫藤花').click({ position: { x: 60, y: 12 } });
  await sheetOf(page).getByRole('button', { name: '修改', exact: true }).first().click();
  await sheetOf(page).getByLabel('回复').fill('四月到五月。');
  await sheetOf(page).getByRole('button', { name: '保存' }).click();
  await expect(
    sheetOf(page).getByRole('paragraph').filter({ hasText: '四月到五月。' }),
  ).toBeVisible();
  await close(page);
  await rowOf(page, '紫藤花').getByRole('button', { name: '删除' }).click();
  await confirm(page, '取消');
  await expect(page.getByText('已取消删除')).toBeVisible();
  await rowOf(page, '紫藤花').getByRole('button', { name: '删除' }).click();
  await confirm(page, '删除');
  await expect(rowOf(page, '紫藤花')).toHaveAttribute('data-tone', 'bad');
  await page.getByRole('combobox', { name: '状态' }).selectOption('0');
  await expect(page.getByText('没有符合的会话')).toBeVisible();

  await page.goto('/manager/train');
  await page.getByRole('searchbox', { name: 'Key' }).fill('no_such');
  await expect(page.getByText('没有符合的项目')).toBeVisible();
  await page.getByRole('searchbox', { name: 'Key' }).fill('garden');
  await rowOf(page, '园艺笔记').click({ position: { x: 60, y: 12 } });
  await sheetOf(page).getByLabel('模型名称').fill('');
  await sheetOf(page).getByRole('button', { name: '保存' }).click();
  await expect(sheetOf(page).getByText('请输入模型名称')).toBeVisible();
  await sheetOf(page).getByLabel('模型名称').fill('花园');
  await sheetOf(page).getByRole('button', { name: '保存' }).click();
  await expect(page.getByText('模型修改成功')).toBeVisible();
  await expect(rowOf(page, '花园')).toBeVisible();

  // All of it stands in the log, which is filtered, too.
  await page.goto('/manager/log');
  await page.getByRole('combobox', { name: '动作' }).selectOption('setTrainProject');
  await expect(page.getByRole('row')).toHaveCount(2);
  await page
    .getByRole('row')
    .last()
    .click({ position: { x: 20, y: 12 } });
  await expect(sheetOf(page).getByText('名称：园艺笔记 → 花园')).toBeVisible();
  // A sentence; what it is about is one press away.
  await page.goto(`/manager/log?subject=user:${person.id}`);
  await expect(page.getByRole('row').nth(1)).toContainText(`允许“${person.name}”新建会话`);
  await page.getByRole('row').nth(1).getByRole('link').click();
  await expect(page).toHaveURL(new RegExp(`person=${person.id}`));
  await expect(sheetOf(page).getByText(person.name).first()).toBeVisible();
});

test('notices, prompts, scenarios and groups are written, filtered and logged on a desktop @G5 @G6', async ({
  page,
  place,
}) => {
  test.setTimeout(120_000);
  await asOwner(page);
  await page.goto('/manager/prompt');
  await page.getByRole('button', { name: '新建模板' }).click();
  await sheetOf(page).getByLabel('标题').fill('周报');
  await sheetOf(page).getByLabel('内容').fill('把下面的事写成周报：{{事}}');
  await sheetOf(page).getByRole('button', { name: '保存' }).click();
  await expect(page.getByText('保存成功')).toBeVisible();
  await page.getByRole('searchbox', { name: '关键词' }).fill('周报');
  await only(page, '周报');
  await rowOf(page, '周报').getByRole('button', { name: '删除' }).first().click();
  await confirm(page, '删除');
  await expect(page.getByText('删除成功')).toBeVisible();

  await page.goto('/manager/scenario');
  await page.getByRole('button', { name: /新建/ }).click();
  await sheetOf(page).getByLabel('名称').fill('园丁');
  await sheetOf(page).getByLabel('提示词').fill('您是园丁，请回答：{{input}}');
  await sheetOf(page).getByRole('button', { name: '保存' }).click();
  await expect(rowOf(page, '园丁')).toBeVisible();

  await page.goto('/forum/reports');
  await expect(page).toHaveURL(/\/manager\/forum/);
  await expect(page.getByRole('navigation', { name: '管理菜单' })).toBeVisible();
  await page.getByRole('button', { name: '分组', exact: true }).click();
  await page.getByRole('button', { name: '新建分组' }).click();
  await sheetOf(page).getByLabel('名称').fill('园艺');
  await sheetOf(page).getByRole('button', { name: '保存' }).click();
  await expect(rowOf(page, '园艺')).toBeVisible();
  await rowOf(page, '园艺').getByRole('button', { name: '删除' }).click();
  await confirm(page, '删除');
  await expect(rowOf(page, '园艺')).toHaveCount(0);

  await page.goto('/manager/notice');
  await page.getByRole('button', { name: '写公告' }).click();
  await sheetOf(page).getByLabel('公告内容').fill('## 今晚维护');
  await expect
    .poll(() => page.evaluate(() => localStorage.getItem('queqiao.draft.form:notice.new')))
    .toContain('## 今晚维护');
  await sheetOf(page).getByRole('button', { name: '预览' }).click();
  await expect(sheetOf(page).getByRole('heading', { name: '今晚维护' })).toBeVisible();
  await sheetOf(page)
    .getByLabel('附件（一个）')
    .setInputFiles({
      name: '源码.zip',
      mimeType: 'application/zip',
      buffer: Buffer.from('全部源码'),
    });
  await sheetOf(page).getByRole('button', { name: '发布' }).click();
  await expect(rowOf(page, '今晚维护')).toContainText('源码.zip');
  await page.getByRole('searchbox').fill('没有这样的词');
  await expect(page.getByText('还没有公告')).toBeVisible();
  // Gone again: it would be shown to whoever signs in after this.
  await page.getByRole('searchbox').fill('');
  await rowOf(page, '今晚维护').getByRole('button', { name: '删除' }).click();
  await confirm(page, '删除');
  await expect(page.getByText('删除成功')).toBeVisible();

  const { calls } = await place.owner.call('adminActList', {});
  expect(calls.map(({ call }) => call)).toEqual(
    expect.arrayContaining([
      'saveNotice',
      'delNotice',
      'managePrompt',
      'removePrompt',
      'manageScenario',
      'saveForumGroup',
      'delForumGroup',
    ]),
  );
});

test('figures, charts, ranks and models are looked at and changed on a desktop @G2 @G7', async ({
  app,
  page,
  place,
}) => {
  await asOwner(page);
  await page.goto('/manager/default');
  await expect(page.getByText(/起步：还有 \d 步/)).toBeVisible();
  await page.goto('/manager/summary');
  await expect(page.getByText('用户', { exact: true }).first()).toBeVisible();
  await page.goto('/manager/chart');
  await expect(page.getByRole('figure')).toHaveCount(4);
  await page
    .getByRole('radio', { name: /3 ?个月/ })
    .or(page.getByRole('button', { name: /3 ?个月/ }))
    .click();
  await expect(page).toHaveURL(/range=3m/);
  await page.goto('/manager/ranking');
  await expect(page.getByRole('heading', { name: '消耗排行' })).toBeVisible();
  // Times are drawn where the model was used within the same half hour.
  await talk(place.owner, '紫藤花几月开');
  for (const first of [1400, 1500, 1600])
    await place.owner.call('modelStat', {
      state: 'success',
      first_time: first,
      time: 3000,
      model: 'builtin-assistant',
      request_time: new Date().toISOString(),
    });
  await page.goto('/manager/model_stats');
  await expect(page.getByRole('heading', { name: '模型统计' })).toBeVisible();
  // Times do not add up: only what is counted has a sum.
  await expect(page.getByRole('figure').filter({ hasText: '首字用时' })).toContainText(
    /中位数 [\d.]+ 秒/,
  );

  await page.goto('/manager/model?tab=models');
  await page.getByRole('combobox', { name: '类型' }).selectOption('1');
  await rowOf(page, '内置画板').click({ position: { x: 60, y: 12 } });
  await sheetOf(page).getByText('512×512', { exact: true }).click();
  await sheetOf(page).getByText('不给 API 用').click();
  await sheetOf(page).getByRole('switch', { name: '不给 API 用' }).click();
  await sheetOf(page).getByRole('button', { name: '保存' }).click();
  await expect(page.getByText('模型修改成功')).toBeVisible();
  await expect(rowOf(page, '内置画板')).toContainText('不给 API');
  const [model] = (await place.owner.call('adminModelList', { unique_key: 'builtin-canvas' })).list;
  expect(model).toMatchObject({ disable_api: 1, image_choice: { sizes: ['512x512'] } });
  const { list } = await place.owner.call('adminActList', { subject: 'model:builtin-canvas' });
  expect(list[0]?.call).toBe('setModel');
  // A manager is made of whoever is found by name.
  await page.goto('/manager/security');
  await page.getByRole('searchbox', { name: '按用户名或名称找人' }).fill(place.person.name);
  await page.getByRole('radio', { name: place.person.name }).click();
  await expect(page.getByRole('button', { name: `添加“${place.person.name}”` })).toBeEnabled();
  expect(app.problems).toEqual([]);
});

test('a manager of the lower rank sees and may do what that rank may on a desktop', async ({
  page,
  place,
}) => {
  await signIn(page, place.lower.account, 'password-1');
  await page.waitForURL((url) => url.pathname !== '/login');
  await page.goto('/manager/session');
  await expect(page.getByRole('heading', { name: '会话', level: 1 })).toBeVisible();
  const menu = page.getByRole('navigation', { name: '管理菜单' });
  await expect(menu.getByRole('link', { name: '用户' })).toBeVisible();
  // What only owners set is not in it.
  await expect(menu.getByRole('link', { name: /起步|登录方式/ })).toHaveCount(0);
  await page.goto('/manager/security');
  await expect(page.getByRole('link', { name: '去账户安全' })).toBeVisible();
  await expect(page.getByRole('button', { name: '添加' })).toHaveCount(0);
  // Over another manager, the owner above all, nothing can be done from here.
  const { id } = await place.owner.call('userInfo', {});
  await page.goto(`/manager/user?person=${id}`);
  await sheetOf(page).getByText('禁用账号').click();
  await confirm(page, '禁用');
  await expect(page.getByText(/不能更改|不能禁用|只有所有者/).first()).toBeVisible();
  expect((await place.owner.raw('userInfo', {})).code).toBe(0);
});
