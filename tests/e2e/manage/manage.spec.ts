import { expect, foreignServer, test as base } from '#tests/support/app.ts';
import { TestClient } from '#tests/support/client.ts';
import { startHttpProxy } from '#tests/support/http-proxy.ts';
import { type MockOpenAi, startMockOpenAi } from '#tests/support/mock-openai.ts';
import { ADMIN_PASSWORD, startServer } from '#tests/support/server.ts';

/** A server as its manager finds it after the first start, and a service that could be connected. */
const test = base.extend<object, { fresh: { url: string; service: MockOpenAi } }>({
  fresh: [
    async ({ browser: _browser }, use) => {
      const service = await startMockOpenAi();
      const server = await startServer({ env: { TRUST_PROXY: 'loopback' } });
      await use({ url: server.baseURL, service });
      await server.stop();
      await service.close();
    },
    { scope: 'worker', timeout: 90_000 },
  ],
  baseURL: async ({ fresh }, use) => use(fresh.url),
});
test.skip(foreignServer, 'needs a server of its own');

test.beforeEach(async ({ page }) => {
  await page.goto('/login');
  await page.getByLabel('用户名').fill('admin');
  await page.getByLabel('密码', { exact: true }).fill(ADMIN_PASSWORD);
  await page.getByRole('button', { name: '登录', exact: true }).click();
  await page.waitForURL(/\/manager\//);
});

test('the first sign-in leads to a service that is connected by form alone and answers', async ({
  app,
  fresh,
  page,
}) => {
  await expect(page.getByRole('heading', { name: '起步' })).toBeVisible();
  await page.getByRole('radio', { name: '我有密钥' }).click();
  await page.getByRole('radio', { name: /^其他/ }).click();
  await page.getByLabel('地址').fill(fresh.service.baseURL);
  await page.getByLabel('密钥（API Key）').fill('sk-first\nsk-second');
  // What the first service does not need is asked for on demand.
  await expect(page.getByLabel('价格倍率')).toBeHidden();
  await page.getByText(/^高级/).click();
  await page.getByLabel('名称').fill('我的服务');
  await page.getByLabel('价格倍率').fill('1.5');
  await page.getByLabel('附加请求头').fill('{"X-House": "bridge"}');
  await page.getByRole('button', { name: '测试并接入' }).click();
  await page.getByRole('link', { name: '开始聊' }).click();
  const before = fresh.service.calls;
  await page.getByRole('textbox', { name: '输入问题' }).fill('请介绍一下你自己吧');
  await app.sendButton.click();
  await page.waitForURL(/\/chat\?/);
  await expect.poll(() => fresh.service.calls).toBeGreaterThan(before);
  await expect(app.log).toContainText(fresh.service.textFor('请介绍一下你自己吧').slice(0, 8));
  expect(fresh.service.lastAuthorization).toMatch(/^Bearer sk-(first|second)$/);
});

test('all that a manager says of a channel is said by form, tried, looked at, and imported @wide', async ({
  fresh,
  page,
}) => {
  test.setTimeout(90_000);
  const { url, service } = fresh;
  const owner = new TestClient(url);
  await owner.login('admin', ADMIN_PASSWORD);
  const label = `要改的 ${Date.now()}`;
  const group = await owner.call('savePeopleGroup', { name: label, factor: 1 });
  await owner.call('saveChannel', {
    kind: 'openai-compatible',
    label,
    base_url: service.baseURL,
    api_key: 'sk-form-1234',
    models: [{ name: 'form-chat', upstream: 'mock-chat', factor: 1 }],
  });
  const proxy = await startHttpProxy();
  const row = page.getByRole('row').or(page.getByRole('listitem')).filter({ hasText: label });
  const sheet = page.getByRole('dialog');
  const box = (name: string) =>
    sheet.locator(`[data-field="${name}"] :is(input, textarea:not([aria-hidden]), select)`).first();
  const typed = {
    weight: '3',
    priority: '7',
    tag: '备用',
    factor: '1.5',
    parallel: '4',
    headers: '{"X-House": "bridge-secret-5678"}',
    body: '{"top_p": 0.5}',
    proxy: proxy.url,
  };
  try {
    await page.goto('/manager/model');
    await row.first().click({ position: { x: 24, y: 16 } });
    for (const [name, value] of Object.entries(typed)) await box(name).fill(value);
    await box('maker').selectOption('glm');
    await sheet.locator('[data-field=groups]').getByText(label).click();
    await sheet.getByLabel('模型，一行一个').fill('house-chat → mock-chat 2');
    await sheet.getByRole('button', { name: '测试', exact: true }).click();
    await expect(sheet.getByText(/mock-chat 回答/)).toBeVisible();
    expect(proxy.ports.size).toBeGreaterThan(0);
    const beyond = () =>
      page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
    expect(await beyond()).toBe(0);
    // What is wrong is said beside its field, and nothing else is lost.
    await box('body').fill('{"n": 5}');
    await sheet.getByRole('button', { name: '保存', exact: true }).click();
    await expect(sheet.locator('[data-field=body]').getByRole('alert')).toContainText('不能设置 n');
    await box('body').fill(typed.body);
    await sheet.getByRole('button', { name: '保存', exact: true }).click();
    await expect(page.getByText('保存成功')).toBeVisible();
    // A sheet that is closing keeps what was typed in it.
    await expect(page.locator('[data-field=proxy]')).toHaveCount(0);
    const channel = async () =>
      (await owner.call('channelList', {})).list.find((each) => each.label === label);
    const expected = {
      weight: 3,
      priority: 7,
      tag: '备用',
      factor: 1.5,
      parallel: 4,
      maker: 'glm',
      groups: [group.id],
      mapping: { 'house-chat': 'mock-chat' },
      headers: JSON.stringify({ 'x-house': 'bri…5678' }, null, 2),
      body: JSON.stringify({ top_p: 0.5 }, null, 2),
      proxy: proxy.url,
    };
    expect(await channel()).toMatchObject(expected);
    // Opened again it shows what is kept, and saved as it stands it changes nothing.
    await row.first().click({ position: { x: 24, y: 16 } });
    await expect(box('tag')).toHaveValue('备用');
    await expect(box('maker')).toHaveValue('glm');
    await expect(sheet.getByLabel('模型，一行一个')).toHaveValue('house-chat → mock-chat');
    await sheet.getByRole('button', { name: '保存', exact: true }).click();
    await expect(sheet).toHaveCount(0);
    expect(await channel()).toMatchObject(expected);

    await row.first().getByRole('button', { name: '健康' }).click();
    await sheet.getByRole('button', { name: '测试全部模型' }).click();
    await expect(sheet.getByText(/^house-chat .*秒 mock-chat 回答/)).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(sheet).toHaveCount(0);

    await page.getByRole('button', { name: '从 new-api / one-api 导入' }).click();
    const rows = [
      {
        name: `搬来的 ${label}`,
        type: 1,
        key: 'sk-moved-1',
        base_url: service.baseURL.replace(/\/v1$/, ''),
        models: 'moved-chat',
      },
      { name: '讯飞', type: 18, key: 'x', models: 'spark' },
    ];
    await sheet.getByLabel('渠道列表（JSON）').fill(JSON.stringify(rows));
    await sheet.getByRole('button', { name: '导入', exact: true }).click();
    await expect(sheet.getByText(/^讯飞：没有导入/)).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(row.filter({ hasText: '搬来的' })).toBeVisible();
    expect(await beyond()).toBe(0);
  } finally {
    await proxy.close();
  }
});

const screens = {
  default: '管理',
  summary: '概览',
  chart: '使用趋势',
  user: '用户',
  order: '订单',
  session: '会话',
  notice: '公告',
  scenario: '场景',
  ranking: '消耗排行',
  prompt: '提示词',
  model_stats: '模型统计',
  model: '模型与服务',
  log: '操作记录',
  state: '服务状态',
  security: '安全与管理员',
  sign_in: '登录方式',
};

test('all screens of the administration open on a desktop', async ({ app, page }) => {
  const failed: string[] = [];
  page.on('response', (answer) => {
    if (answer.status() >= 400) failed.push(`${answer.status()} ${answer.url()}`);
  });
  const menu = page.getByRole('navigation', { name: '管理菜单' });
  for (const [name, title] of Object.entries(screens)) {
    await menu.locator(`a[href="/manager/${name}"]`).click();
    await expect(page).toHaveURL(new RegExp(`/manager/${name}$`));
    await expect(page.getByRole('heading', { name: title, level: 1 })).toBeVisible();
    await expect(page.locator('[aria-busy=true], .skeleton')).toHaveCount(0);
  }
  expect(failed).toEqual([]);
  expect(app.problems).toEqual([]);
});
