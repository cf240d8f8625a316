import { expect, test } from '../support/app.ts';
import { startPageFront } from '../support/page-front.ts';

test('unknown addresses lead to /404 and home from there; a suggestion starts a conversation with one tap @S1 @S7 @H3', async ({
  app,
  page,
}) => {
  await page.goto('/no/such/page?x=1');
  await page.waitForURL(/\/404$/);
  await expect(page.getByText('您访问了一个不存在的页面')).toBeVisible();
  // This server is no official site: it has no account on WeChat to show.
  await page.goto('/wechat');
  await page.waitForURL(/\/404$/);
  await page.getByRole('link', { name: '回到首页' }).click();
  await page.waitForURL((url) => url.pathname === '/');
  await expect(page.getByRole('textbox', { name: '输入问题' })).toBeVisible();

  await page.getByRole('button', { name: '你能做什么？' }).click();
  await page.waitForURL(/\/chat\?/);
  await app.settled();
  await expect(app.log).toContainText('你能做什么？');
  await expect(app.log).toContainText('内置');
});

test('/error says what each code means, or the message in the address, as text @S7 @C21', async ({
  app,
  page,
}) => {
  await page.goto(`/error?code=1025&message=${encodeURIComponent('<b>自己的话</b>')}`);
  await expect(page.getByText('<b>自己的话</b>')).toBeVisible();
  for (const [code, text] of [
    ['1001', '请先登录'],
    ['1024', '最多 128 个'],
    ['1432', '这是私有会话，禁止查看'],
    ['1433', '会话已删除'],
    ['3001', '账号已被禁用'],
    ['9', '未知错误'],
    ['1025', '余额不足'],
  ]) {
    await app.walk(`/error?code=${code}`);
    await expect(page.getByText(text ?? '')).toBeVisible();
    const links = page.getByRole('main').getByRole('link');
    await expect(links.filter({ hasText: '回到首页' })).toBeVisible();
    await expect(links.filter({ hasText: '新建会话' })).toBeVisible();
  }
  // What to do is one press away: the answer alone, below the error, and the page that it is from.
  await page.getByRole('link', { name: '错误代码 1025 · 怎么办' }).click();
  await expect(page.getByRole('note')).toHaveText('错误 1025：余额不足，请充值');
  const answer = page.getByRole('article');
  await expect(answer.getByRole('heading', { level: 3 })).toHaveText(['余额不足']);
  await answer.getByRole('link', { name: '看整页：token 与扣费' }).click();
  await expect(answer.getByRole('heading', { name: 'token 是什么' })).toBeVisible();
  await app.walk('/error?code=1025');
  // Without balance there are still the models that cost nothing.
  await page.getByRole('link', { name: '用免费模型' }).click();
  await expect(page.getByRole('tab', { name: '免费' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByRole('textbox', { name: '输入问题' })).toBeFocused();
});

test('the window title follows the channel; theme and darkness are chosen and kept in the browser @H1 @S5 @S4', async ({
  app,
  page,
}) => {
  await page.goto('/?channel=public');
  await expect(page).toHaveTitle(/公共频道/);
  await app.walk('/?channel=private');
  await expect(page).toHaveTitle(/我的会话/);

  await app.walk('/account?tab=settings');
  await page.getByRole('radio', { name: 'Telegram' }).click();
  await page.getByRole('radio', { name: '深色' }).click();
  const look = () =>
    page.evaluate(() => [
      document.documentElement.dataset['theme'],
      getComputedStyle(document.documentElement).getPropertyValue('--ground').trim(),
    ]);
  await expect.poll(look).toEqual(['telegram', '#0e1621']);
  const accent = () =>
    page.evaluate(() =>
      getComputedStyle(document.documentElement).getPropertyValue('--accent').trim(),
    );
  const before = await accent();
  await page.getByRole('radio', { name: '紫' }).click();
  await expect.poll(accent).not.toBe(before);
  const chosen = await accent();
  await page.reload();
  await expect.poll(look).toEqual(['telegram', '#0e1621']);
  expect(await accent()).toBe(chosen);
});

test('menus fit the window: bar, side menu, three columns; nothing is wider than it, and every control has a name @S2 @S3 @S4 @H4 @O6', async ({
  app,
  page,
}, { project }) => {
  await page.goto('/');
  const bar = page.getByRole('navigation', { name: '底部导航' });
  const menu = page.getByRole('navigation', { name: '主菜单' });
  if (project.name === 'desktop') {
    await expect(bar).toBeHidden();
    await expect(menu).toBeVisible();
    // The one of the first HTML gives way to the page's own.
    await expect.poll(async () => (await menu.boundingBox())?.width).toBe(130);
    await expect(page.getByRole('complementary', { name: '最近会话' })).toBeVisible();
    await page.setViewportSize({ width: 1024, height: 768 });
    await expect(page.getByRole('complementary', { name: '最近会话' })).toBeHidden();
    await expect(menu).toBeVisible();
    await page.setViewportSize({ width: 749, height: 800 });
    await expect(menu).toBeHidden();
    await expect(bar).toBeVisible();
    await page.setViewportSize({ width: 1680, height: 1050 });
  } else {
    await expect(menu).toBeHidden();
    for (const link of await bar.getByRole('link').all()) {
      const box = await link.boundingBox();
      expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44);
    }
    await bar.getByRole('link', { name: '创作' }).click();
    await page.getByRole('main').getByRole('link', { name: '画图' }).click();
    await expect(page.getByRole('tab', { name: '画图' })).toHaveAttribute('aria-selected', 'true');
    await bar.getByRole('link', { name: '我的' }).click();
    await page.getByRole('link', { name: '帮助' }).click();
    await page.waitForURL(/\/help/);
  }

  const main = page.getByRole('main');
  for (const [path, shown] of [
    ['/', page.getByRole('textbox', { name: '输入问题' })],
    ['/login', main.getByRole('button', { name: '登录', exact: true })],
    ['/register', main.getByRole('button', { name: '注册', exact: true })],
    ['/account', main.getByRole('link', { name: '登录' }).first()],
    ['/tasks', main.getByRole('heading', { level: 1 })],
    ['/help', main.getByRole('link', { name: /^token 与扣费/ })],
    ['/404', page.getByText('您访问了一个不存在的页面')],
    ['/error?code=1025', page.getByText('余额不足')],
  ] as const) {
    if (path === '/') await page.goto(path, { waitUntil: 'networkidle' });
    else await app.walk(path);
    await expect(shown).toBeVisible();
    const faults = await page.evaluate(() => {
      const found: string[] = [];
      if (document.documentElement.scrollWidth > innerWidth) found.push('scrolls sideways');
      for (const control of document.querySelectorAll('button, a[href], input, textarea, select')) {
        const name =
          control.getAttribute('aria-label') ??
          control.textContent?.trim() ??
          control.getAttribute('title');
        const labelled =
          control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement
            ? (control.labels?.length ?? 0) > 0 || control.getAttribute('aria-label')
            : name;
        if (!labelled) found.push(`no name: ${control.outerHTML.slice(0, 120)}`);
      }
      return found;
    });
    expect(faults, path).toEqual([]);
  }
});

test('the app is at hand before the page is: it starts when that is whole; help is found and read @S1 @S7', async ({
  page,
  baseURL,
}) => {
  const front = await startPageFront(baseURL ?? '');
  try {
    await page.goto(`${front.baseURL}/help`);
    const title = page.getByRole('heading', { name: '帮助', exact: true });
    await expect(title).toBeVisible();
    front.holdBodies(1_500);
    await page.goto(`${front.baseURL}/help`);
    await expect(title).toBeVisible();
    await expect(page.getByRole('alert')).toHaveCount(0);
    const main = page.getByRole('main');
    const notices = main.getByRole('link', { name: '第三方声明' });
    const [opened] = await Promise.all([page.waitForEvent('popup'), notices.click()]);
    await expect(opened.getByText('鹊桥 · 第三方声明')).toBeVisible();
    await opened.close();
    await main.getByRole('link', { name: /^token 与扣费/ }).click();
    await expect(page.getByRole('heading', { name: /扣费/ }).first()).toBeVisible();
    await expect(main).toContainText('余额');
    // What was looked for leads to the section that answers it.
    await main.getByRole('link', { name: '返回帮助目录' }).click();
    await main.getByRole('searchbox', { name: '在帮助中查找' }).fill('手机丢了，验证器也没了');
    await main.getByRole('link', { name: /^动态验证码/ }).click();
    await expect(main.getByRole('heading', { level: 3 })).toHaveText(['动态验证码']);
    await expect(main.getByRole('link', { name: '看整页：隐私与安全' })).toBeVisible();
  } finally {
    await front.close();
  }
});

test('with an official site its ten pages are linked at the top, and support in 我的 @S2', async ({
  app,
  page,
  person,
}) => {
  await page.route('**/api/site_info', (route) =>
    route.fulfill({
      json: { code: 0, message: '', data: { official_site: 'https://site.example' } },
    }),
  );
  await app.enterAs(person);
  await page.setViewportSize({ width: 1024, height: 768 });
  await page.goto('/');
  const links = page.getByRole('navigation', { name: '官方网站' }).getByRole('link');
  await expect(links).toHaveCount(10);
  await expect(links.filter({ hasText: '下载' })).toHaveAttribute(
    'href',
    'https://site.example/download',
  );
  await page.goto('/account');
  await expect(
    page.getByRole('navigation', { name: '全部入口' }).getByRole('link', { name: '联系客服' }),
  ).toBeVisible();
});
