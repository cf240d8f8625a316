import type { Page } from '@playwright/test';
import pg from 'pg';
import { App } from '#tests/support/app.ts';
import { TestClient } from '#tests/support/client.ts';
import { asOwner, expect, foreignServer, signIn, test } from '#tests/support/manager-place.ts';
import { talk } from '#tests/support/world.ts';

test.skip(foreignServer, 'needs a server of its own');
test.describe.configure({ mode: 'default' });

const sheetOf = (page: Page) => page.getByRole('dialog');
const rowOf = (page: Page, words: string) => page.getByRole('row').filter({ hasText: words });
const confirm = (page: Page, name: string) =>
  page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click();

const twelve = {
  default: ['首页', '管理'],
  summary: ['概览', '概览'],
  chart: ['趋势', '使用趋势'],
  user: ['用户', '用户'],
  order: ['订单', '订单'],
  session: ['会话', '会话'],
  notice: ['公告', '公告'],
  scenario: ['场景', '场景'],
  train: ['训练', '训练'],
  ranking: ['排行', '消耗排行'],
  prompt: ['提示词', '提示词'],
  model_stats: ['模型统计', '模型统计'],
} as const;

test('at 1024 px the twelve lead on, nothing beyond the edge; the first three of a rank stand out and lead to them on a desktop @G2', async ({
  app,
  page,
  place,
}) => {
  test.setTimeout(120_000);
  const names = ['头名', '第二', '第三', '第四'];
  const people: number[] = [];
  for (const name of names) {
    const client = await TestClient.register(place.url);
    await client.call('saveUser', { user_name: name });
    people.push((await client.call('userInfo', {})).id);
  }
  const database = new pg.Client({ connectionString: place.databaseUrl });
  await database.connect();
  for (const [at, id] of people.entries())
    await database.query(
      `INSERT INTO consumptions (user_id, type, model, prompt_tokens, completion_tokens,
         deduct_tokens, current_balance) VALUES ($1, 0, 'model', 0, $2::int, $2::int, 0)`,
      [id, 9000 - at * 1000],
    );
  await database.end();

  await page.setViewportSize({ width: 1024, height: 768 });
  await asOwner(page);
  const menu = page.getByRole('navigation', { name: '管理菜单' });
  // All of it is seen at once, in groups that say what one comes for.
  await expect(menu.getByRole('group', { name: '站点' })).toBeInViewport({ ratio: 1 });
  for (const [path, [entry, title]] of Object.entries(twelve)) {
    await menu.getByRole('link', { name: entry, exact: true }).click();
    await expect(page).toHaveURL(new RegExp(`/manager/${path}$`));
    await expect(page.getByRole('heading', { name: title, level: 1 })).toBeVisible();
    await expect(page.locator('[aria-busy=true], .skeleton')).toHaveCount(0);
    await expect(menu.locator('[aria-current=page]')).toHaveText(entry);
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(beyond, entry).toBeLessThanOrEqual(0);
  }

  await menu.getByRole('link', { name: '排行', exact: true }).click();
  await expect(page.getByRole('row')).toHaveCount(5);
  const background = (name: string) =>
    rowOf(page, name).evaluate((row) => getComputedStyle(row).backgroundColor);
  const plain = await background('第四');
  for (const [at, name] of names.entries()) {
    const row = rowOf(page, name);
    await expect(row.getByRole('cell').first()).toHaveText(String(at + 1));
    if (at === 3) await expect(row).not.toHaveAttribute('data-tone', 'gold');
    else expect(await background(name), name).not.toBe(plain);
  }
  await rowOf(page, '头名').getByRole('link', { name: '头名' }).click();
  await expect(page).toHaveURL(
    new RegExp(`/manager/user\\?user_id=${people[0]}&person=${people[0]}$`),
  );
  await expect(page.getByRole('row', { includeHidden: true })).toHaveCount(2);
  await sheetOf(page).getByRole('link', { name: '会话', exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`/manager/session\\?user_id=${people[0]}$`));
  expect(app.problems).toEqual([]);
});

test('what is reported is judged: one stays, the other is gone for all, on a desktop @G5', async ({
  page,
  place,
}) => {
  const author = await TestClient.register(place.url);
  const reporter = await TestClient.register(place.url);
  const publicTalk = async (words: string) => {
    const { uuid } = await talk(author, words);
    await author.call('setSession', { session_id: uuid, private: 0 });
    await reporter.call('report', { session_id: uuid, reason: 'spam', note: `说明${words}` });
    return uuid;
  };
  const [good, bad] = [await publicTalk('好好的会话'), await publicTalk('卖东西的会话')];
  await asOwner(page);
  await page.goto('/manager/forum');
  const report = (words: string) => rowOf(page, words);
  await report('说明好好的').getByRole('button', { name: '没有问题' }).click();
  await expect(report('说明好好的')).toHaveCount(0);
  await report('说明卖东西').getByRole('button', { name: '删除内容' }).click();
  await confirm(page, '取消');
  await expect(page.getByText('已取消删除')).toBeVisible();
  await report('说明卖东西').getByRole('button', { name: '删除内容' }).click();
  await confirm(page, '删除');
  await expect(report('说明卖东西')).toHaveCount(0);
  await page.getByRole('button', { name: '已处理', exact: true }).click();
  await expect(report('说明好好的')).toContainText('已判为没有问题');
  await expect(report('说明卖东西')).toContainText('已删除内容');
  const codeOf = async (uuid: string) => (await reporter.raw('getSession', { uuid })).code;
  expect([await codeOf(good), await codeOf(bad)]).toEqual([0, 1433]);

  // Several at once: two of one thing are settled together, one that another settled meanwhile is
  // told and leaves the others, and each has its line in the log.
  const twice = await publicTalk('两个人都举报的');
  const third = await TestClient.register(place.url);
  await third.call('report', { session_id: twice, reason: 'abuse', note: '说明也举报了' });
  const fourth = await publicTalk('别人先处理的');
  const before = (await place.owner.call('adminActList', { call: 'resolveReport' })).total;
  await page.goto('/manager/forum?sort=created_at');
  await expect(page.getByRole('columnheader', { name: /时间/ })).toHaveAttribute(
    'aria-sort',
    'ascending',
  );
  await expect(page.getByRole('row')).toHaveCount(4);
  await expect(page.getByRole('row').nth(1)).toContainText('两个人都举报的');
  await page.getByRole('checkbox', { name: '选择本页全部' }).check();
  const open = (await place.owner.call('reportList', {})).list;
  await place.owner.call('resolveReport', {
    id: open.find(({ uuid }) => uuid === fourth)!.id,
    remove: 0,
  });
  await page.getByRole('button', { name: '判为没有问题' }).click();
  const told = page.getByRole('alertdialog');
  await expect(told).toContainText('判为没有问题：2 个成功，1 个没有成功');
  await expect(told).toContainText('别人先处理的：没有这个举报，或已经处理过了');
  await told.getByRole('button', { name: '知道了' }).click();
  await expect(page.getByText('没有等着处理的举报')).toBeVisible();
  expect((await place.owner.call('adminActList', { call: 'resolveReport' })).total).toBe(
    before + 2,
  );
});

test('hidden, signed out everywhere and disabled by buttons, a person meets it on the open page on a desktop @G1', async ({
  browser,
  page,
  place,
}) => {
  test.setTimeout(120_000);
  const account = 'sent-away';
  const client = await TestClient.register(place.url, account);
  await client.call('saveUser', { user_name: '被请走的人' });
  const { id } = await client.call('userInfo', {});
  const { uuid } = await talk(client, '以前大家都看得到');
  await client.call('setSession', { session_id: uuid, private: 0 });
  const contexts = await Promise.all(
    [0, 1].map(() => browser.newContext({ baseURL: place.url, serviceWorkers: 'block' })),
  );
  const [theirs, stranger] = await Promise.all(contexts.map((context) => context.newPage()));
  if (!theirs || !stranger) throw new Error('no pages');
  await stranger.goto(`/chat?uuid=${uuid}`);
  await expect(stranger.getByText('以前大家都看得到').first()).toBeVisible();
  await new App(theirs).login(account, 'password-1');

  await asOwner(page);
  await page.goto(`/manager/user?person=${id}`);
  await sheetOf(page).getByRole('button', { name: '把已有的会话都设为私有' }).click();
  await confirm(page, '设为私有');
  await expect(page.getByText('1 个会话改为私有')).toBeVisible();
  await stranger.reload();
  await expect(stranger).toHaveURL(/\/error\?code=1432/);
  await expect(stranger.getByText('以前大家都看得到')).toHaveCount(0);

  const token = () => theirs.evaluate(() => localStorage.getItem('queqiao.token') ?? '');
  const had = await token();
  expect(had).not.toBe('');
  await sheetOf(page).getByRole('button', { name: '让所有设备退出登录' }).click();
  await expect(page.getByText('已退出 2 处登录')).toBeVisible();
  // On the page that is open, by whatever is done next.
  await new App(theirs).walk('/account?tab=profile');
  await expect(theirs.getByText('登录已失效，请重新登录')).toBeVisible();
  expect(await token()).not.toBe(had);

  await new App(theirs).login(account, 'password-1');
  await client.login(account, 'password-1');
  const again = await talk(client, '禁用前又公开的');
  await client.call('setSession', { session_id: again.uuid, private: 0 });
  await sheetOf(page).getByText('禁用账号').click();
  await confirm(page, '取消');
  expect((await client.raw('userInfo', {})).code).toBe(0);
  await sheetOf(page).getByText('禁用账号').click();
  await confirm(page, '禁用');
  await expect(sheetOf(page).getByRole('switch', { name: '禁用账号' })).toBeChecked();
  await stranger.goto(`/chat?uuid=${again.uuid}`);
  await expect(stranger).toHaveURL(/\/error\?code=1432/);
  await new App(theirs).walk('/account?tab=usage');
  await expect(theirs.getByText(/账号已被禁用，请联系管理员/).first()).toBeVisible();
  await theirs.evaluate(() => localStorage.clear());
  await signIn(theirs, account, 'password-1');
  await expect(theirs.getByText(/账号已被禁用，请联系管理员/).first()).toBeVisible();
  await expect(theirs).toHaveURL(/\/login/);
  await Promise.all(contexts.map((context) => context.close()));
});
