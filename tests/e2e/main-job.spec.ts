import { App, expect, test } from '../support/app.ts';
import { wholeBrowser } from '../support/browser.ts';

// In the headless shell a page with a worker crashes now and then.
// The whole way with all that a phone has; elsewhere what its size or kind may change.
const isPixel = ({ project }: { project: { name: string } }) => project.name === 'pixel';
test.use({
  launchOptions: [
    async ({ launchOptions }, use, info) => use(isPixel(info) ? wholeBrowser : launchOptions),
    { scope: 'worker' },
  ],
  serviceWorkers: async ({ serviceWorkers }, use, info) =>
    use(isPixel(info) ? 'allow' : serviceWorkers),
});

test('a newcomer asks, reads, registers, leaves, comes back and deletes @A2 @A3 @A4 @H1 @C3 @C8 @S9', async ({
  app,
  page,
}) => {
  const uuid = await app.startFromHome('12 × 12 + 3 等于多少？');
  await expect(app.log).toContainText('12 × 12 + 3 等于多少？');
  await expect(app.log).toContainText('147');
  await app.settled();
  await expect(app.question).toHaveValue('');

  const { account, password } = await app.register('江南');
  await page.goto('/?channel=private');
  await page.getByRole('main').getByRole('link', { name: '12 × 12 + 3 等于多少？' }).click();
  await expect(app.log).toContainText('147');
  expect(app.uuid()).toBe(uuid);
  await app.say('26.2 英里是多少公里？');
  await expect(app.log).toContainText('42.16');
  await app.settled();

  await page.goto('/account');
  await page.getByRole('button', { name: '退出登录' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: '退出', exact: true }).click();
  await page.waitForURL((url) => url.pathname === '/');
  expect(
    await page.evaluate(() => [
      localStorage.getItem('queqiao.token'),
      localStorage.getItem('queqiao.user'),
    ]),
  ).toEqual([null, null]);
  await page.goto(`/chat?uuid=${uuid}`);
  await page.waitForURL(/\/error\?code=1432/);
  await expect(page.getByText('这是私有会话，禁止查看')).toBeVisible();

  await app.login(account, password);
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(app.log).toContainText('147');
  await expect(app.log).toContainText('42.16');

  // Step back from deleting, then delete for good.
  const remove = async (answer: string) => {
    await page
      .getByRole('button', { name: /更多|会话菜单/ })
      .first()
      .click();
    await page.getByRole('button', { name: '删除会话' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: answer, exact: true }).click();
  };
  await remove('取消');
  await expect(page.getByText('已取消删除')).toBeVisible();
  await remove('删除');
  await expect(page.getByText('会话已删除')).toBeVisible();
  await page.waitForURL((url) => url.pathname === '/');
  await expect(
    page.getByRole('main').getByRole('link', { name: '12 × 12 + 3 等于多少？' }),
  ).toBeHidden();
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(page.getByText('会话已删除')).toBeVisible();
});

test('a suggestion starts a conversation with one tap @H3', async ({ app, page }) => {
  await page.goto('/');
  await page.getByRole('button', { name: '你能做什么？' }).click();
  await page.waitForURL(/\/chat\?/);
  await app.settled();
  await expect(app.log).toContainText('你能做什么？');
  await expect(app.log).toContainText('内置');
});

test('before the app is there the last conversation can be read and written in; a logout takes that away @C11 @O3', async ({
  browser,
  person,
}) => {
  const { uuid, id } = await person.client.ask('(128 + 36) × 2.5 等于多少？');
  await person.client.read(uuid, id);
  // The fixtures' own context leaves no picture of a screen behind.
  const context = await browser.newContext({ serviceWorkers: 'block' });
  const page = await context.newPage();
  await new App(page).enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  const picture = () => page.evaluate(() => localStorage.getItem('queqiao.picture.chat'));
  await expect.poll(picture, { timeout: 20_000 }).toContain('(128 + 36)');

  const first = page.locator('#first');
  /** Opens an address anew, without the app until the returned function is called. */
  const openHeld = async (path: string) => {
    let free = () => {};
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    await page.route('**/assets/*.js', async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(path, { waitUntil: 'commit' });
    return free;
  };
  let free = await openHeld(`/chat?uuid=${uuid}`);
  await expect(first.getByRole('log')).toContainText('(128 + 36)');
  await first.getByRole('textbox', { name: '输入消息' }).fill('写在前面的话');
  free();
  await expect(first).toHaveCount(0);
  await page.keyboard.insertText('，接着写');
  await expect(page.getByRole('log')).toContainText('(128 + 36)');
  await expect(page.getByRole('textbox', { name: '输入消息' })).toHaveValue('写在前面的话，接着写');

  // Enter is no new line here either: what it ends is sent by the app, unless one writes on.
  free = await openHeld(`/chat?uuid=${uuid}`);
  const early = first.getByRole('textbox', { name: '输入消息' });
  await early.fill('12 × 12');
  await early.press('Enter');
  await early.pressSequentially(' 等于多少？');
  await expect(early).toHaveValue('12 × 12 等于多少？');
  await early.press('Enter');
  free();
  await expect(first).toHaveCount(0);
  await expect(page.getByRole('log')).toContainText('您说：12 × 12 等于多少？');
  await expect(page.getByRole('textbox', { name: '输入消息' })).toHaveValue('');

  // Nor is lost what is written into the picture while the screen's own box is behind it already:
  // the picture ends with a frame, and there is none here until it is let go.
  await page.addInitScript(() => {
    if (sessionStorage.getItem('hold') === null) return;
    const real = requestAnimationFrame.bind(globalThis);
    const held: FrameRequestCallback[] = [];
    globalThis.requestAnimationFrame = (act) => held.push(act);
    addEventListener('let-go', () => {
      globalThis.requestAnimationFrame = real;
      for (const act of held) real(act);
    });
  });
  await page.evaluate(() => sessionStorage.setItem('hold', '1'));
  await page.goto(`/chat?uuid=${uuid}`, { waitUntil: 'commit' });
  await expect(page.locator('#root textarea')).toBeAttached();
  await first.locator('.send textarea').fill('写在交接的时候');
  await page.evaluate(() => {
    sessionStorage.removeItem('hold');
    dispatchEvent(new Event('let-go'));
  });
  await expect(first).toHaveCount(0);
  await expect(page.getByRole('textbox', { name: '输入消息' })).toHaveValue('写在交接的时候');
  await page.getByRole('textbox', { name: '输入消息' }).fill('');

  // A link of the picture leads on within the page, once the app is there.
  await page.goto('/');
  const home = () => page.evaluate(() => localStorage.getItem('queqiao.picture.home'));
  await expect.poll(home, { timeout: 20_000 }).toContain('(128 + 36)');
  free = await openHeld('/');
  await expect(first).toContainText('(128 + 36)');
  await page.evaluate(() => {
    addEventListener('pagehide', () => sessionStorage.setItem('left', '1'));
  });
  await first.locator('a[href="/account"]:visible').first().click();
  free();
  await expect(page.getByRole('heading', { level: 1, name: '我的' })).toBeVisible();
  await expect(first).toHaveCount(0);
  expect(await page.evaluate(() => sessionStorage.getItem('left'))).toBeNull();

  await page.getByRole('button', { name: '退出登录' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: '退出', exact: true }).click();
  await page.waitForURL((url) => url.pathname === '/');
  expect(await picture()).toBeNull();
  await context.close();
});
