import { expect, foreignServer, test as base } from '#tests/support/app.ts';
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
  await page.getByRole('radio', { name: '用密钥接入' }).click();
  await page.getByRole('button', { name: /^其他/ }).click();
  await page.getByLabel('名称').fill('我的服务');
  await page.getByLabel('地址').fill(fresh.service.baseURL);
  await page.getByLabel('密钥（API Key）').fill('sk-first\nsk-second');
  await page.getByRole('button', { name: '测试', exact: true }).click();
  await expect(page.getByText(/mock-chat 回答/)).toBeVisible();
  await expect(page.getByLabel('模型，一行一个')).toHaveValue(/mock-chat/);
  // What the first service does not need is asked for on demand.
  await expect(page.getByLabel('价格倍率')).toHaveCount(0);
  await page.getByRole('button', { name: '更多设置' }).click();
  await expect(page.getByLabel('名称')).toHaveValue('我的服务');
  await page.getByLabel('价格倍率').fill('1.5');
  await page.getByLabel('附加请求头').fill('{"X-House": "bridge"}');
  await page.getByRole('button', { name: '接入', exact: true }).click();
  await page.getByRole('link', { name: '问一句试试' }).click();
  const before = fresh.service.calls;
  await page.getByRole('textbox', { name: '输入问题' }).fill('请介绍一下你自己吧');
  await app.sendButton.click();
  await page.waitForURL(/\/chat\?/);
  await expect.poll(() => fresh.service.calls).toBeGreaterThan(before);
  await expect(app.log).toContainText(fresh.service.textFor('请介绍一下你自己吧').slice(0, 8));
  expect(fresh.service.lastAuthorization).toMatch(/^Bearer sk-(first|second)$/);
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
