import {
  devices as known,
  type BrowserContext,
  type BrowserContextOptions,
  type Locator,
  type Page,
} from '@playwright/test';
import { App, expect, foreignServer, test as base } from '../support/app.ts';
import { startPageFront, type PageFront } from '../support/page-front.ts';
import { keptIn } from '../support/phone.ts';
import { shellComplete } from '../support/shell.ts';

/** The server behind something that can be taken away, and that can deploy another build. */
const test = base.extend<{ front: PageFront }>({
  front: async ({ baseURL }, use) => {
    const front = await startPageFront(baseURL ?? '');
    await use(front);
    await front.close();
  },
});

const { defaultBrowserType: _, ...iphone } = known['iPhone 14'];

test.skip(foreignServer, 'stands between the page and a server of its own');

/** Addresses of everything that the worker keeps. */
const kept = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const found: string[] = [];
    for (const name of await caches.keys())
      for (const { url } of await (await caches.open(name)).keys())
        found.push(new URL(url).pathname);
    return found;
  });

const question = (page: Page) => page.getByRole('textbox', { name: '输入问题' });
const bar = (page: Page, name: string) =>
  page.getByRole('navigation', { name: '底部导航' }).getByRole('link', { name, exact: true });

/** Looks for a new version now, as the page does whenever it comes to the front. */
const lookForUpdate = (page: Page) =>
  page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));

const fresh = (page: Page) =>
  page.evaluate(() => (window as { sameDocument?: true }).sameDocument !== true);
const markDocument = (page: Page) =>
  page.evaluate(() => {
    (window as { sameDocument?: true }).sameDocument = true;
  });

const postShare = (page: Page, origin = '') =>
  page.evaluate((place) => {
    const form = document.createElement('form');
    Object.assign(form, {
      method: 'POST',
      action: `${place}/share-target`,
      enctype: 'multipart/form-data',
    });
    for (const [name, value] of [
      ['title', '一篇文章'],
      ['text', '看看这个'],
      ['url', 'https://example.com/a?b=c'],
    ] as const) {
      const input = document.createElement('input');
      Object.assign(input, { name, value });
      form.append(input);
    }
    const files = new DataTransfer();
    files.items.add(new File(['分享来的笔记'], '笔记.md', { type: 'text/markdown' }));
    const input = document.createElement('input');
    Object.assign(input, { type: 'file', name: 'files', multiple: true, files: files.files });
    form.append(input);
    document.body.append(form);
    form.submit();
  }, origin);

/** The pages opened from now on believe that they are an installed app's. */
const standalone = (context: BrowserContext) =>
  context.addInitScript(() => {
    const ask = matchMedia.bind(window);
    window.matchMedia = (query) => ask(query.includes('standalone') ? 'all' : query);
  });

/** A finger comes down on something, stays for a second and leaves. */
const rest = async (page: Page, on: Locator) => {
  const box = await on.boundingBox();
  if (!box) throw new Error('nothing to rest on');
  const touch = await page.context().newCDPSession(page);
  const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  // The code of gestures comes with the first touch.
  for (const stay of [30, 1_000]) {
    await touch.send('Input.dispatchTouchEvent', {
      type: 'touchStart',
      touchPoints: [stay < 100 ? { x: 5, y: 5 } : at],
    });
    await page.waitForTimeout(stay);
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await page.waitForTimeout(stay < 100 ? 400 : 0);
  }
};

/** Lets the page's own clock run, s; what it loads meanwhile takes its real time. */
const live = async (page: Page, seconds: number) => {
  for (let left = seconds; left > 0; left -= 3) {
    await page.clock.runFor(3_000);
    await page.waitForTimeout(200);
  }
};

test('the server is gone after the first visit: the app opens and the conversation reads @O2 @O1', async ({
  app,
  page,
  context,
  front,
}) => {
  await page.goto(`${front.baseURL}/`);
  await question(page).fill('26.2 英里是多少公里？');
  await app.sendButton.click();
  await page.waitForURL(/\/chat\?/);
  await app.settled();
  await expect(app.log).toContainText('42.16');
  await shellComplete(page);
  // What was read is written down a while later.
  await expect.poll(() => keptIn(page, 'queqiao-cache', 'messages')).toContain('42.16');
  front.goAway();
  await page.goto(`${front.baseURL}/`);
  await expect(page.getByText('现在没有网络，显示的是已保存的内容')).toBeVisible();
  // A finger that rests on a card opens its menu, and nothing else when it leaves.
  const card = page.locator('[data-sessions] > [data-session]').first();
  await rest(page, card);
  const menu = page.getByRole('dialog');
  await expect(menu.getByRole('button', { name: '关闭' })).toBeVisible();
  await page.waitForTimeout(400);
  await expect(page).toHaveURL(`${front.baseURL}/`);
  await menu.getByRole('button', { name: '关闭' }).click();
  await expect(menu).toBeHidden();
  await card.getByRole('link').first().click();
  await expect(app.log).toContainText('42.16');
  await page.reload();
  await expect(app.log).toContainText('42.16');
  // Every screen opens, and no call was kept.
  await page.goto(`${front.baseURL}/account`);
  await expect(page.getByRole('heading', { name: '我的' })).toBeVisible();
  expect((await kept(page)).filter((path) => /^\/(api|v1)\//.test(path))).toEqual([]);
  expect(await page.evaluate(() => fetch('/api/health').catch(() => 'unreached'))).toBe(
    'unreached',
  );
  // Its addresses stay the server's: /files/ and /api/ are not answered with the app.
  const stray = await context.newPage();
  await expect(stray.goto(`${front.baseURL}/files/none.png`)).rejects.toThrow();
  await stray.close();
  front.comeBack();
  await page.goto(`${front.baseURL}/`);
  await expect(page.getByText('现在没有网络，显示的是已保存的内容')).toBeHidden();
});

test('a new version is offered, refused and taken later; the draft and an old tab live on @O7', async ({
  app,
  page,
  context,
  front,
}) => {
  const other = await context.newPage();
  const otherApp = new App(other);
  await page.goto(`${front.baseURL}/`);
  await shellComplete(page);
  await other.goto(`${front.baseURL}/help`);
  await shellComplete(other);
  await markDocument(page);
  await markDocument(other);
  await page.bringToFront();
  front.deploy();
  await lookForUpdate(page);
  // Not while somebody writes.
  const offer = page.getByRole('region', { name: '新版本已就绪' });
  await question(page).pressSequentially('写到一半的问题，还没有写完', { delay: 120 });
  await expect(offer).toBeHidden();
  await expect(offer).toBeVisible({ timeout: 20_000 });
  await offer.getByRole('button', { name: '以后再说' }).click();
  await expect(offer).toBeHidden();
  expect(await fresh(page)).toBe(false);
  await expect(page.locator('meta[name=build]')).toHaveCount(0);
  // The chunk of 我的 is gone from the server; this version goes on with its own.
  front.takeAsked();
  await bar(page, '我的').click();
  await page.getByRole('button', { name: '更新到新版本' }).click();
  await expect.poll(() => fresh(page).catch(() => false)).toBe(true);
  await expect(page.locator('meta[name=build]')).toHaveCount(1);
  await bar(page, '会话').click();
  await expect(question(page)).toHaveValue('写到一半的问题，还没有写完');
  // The other tab was not loaded anew, still finds its own chunks, and can follow when it likes.
  await other.bringToFront();
  expect(await fresh(other)).toBe(false);
  await bar(other, '我的').click();
  await expect(other.getByRole('button', { name: '更新到新版本' })).toBeVisible();
  await expect(other.locator('meta[name=build]')).toHaveCount(0);
  expect(front.takeAsked().filter((name) => !name.includes('NextOne'))).toEqual([]);
  expect(otherApp.problems).toEqual([]);
  expect(app.problems).toEqual([]);
});

test('what another app shares waits in the box; a logout leaves nothing of it @O1', async ({
  app,
  page,
  front,
  person,
}) => {
  await app.enterAs(person);
  await page.goto(`${front.baseURL}/`);
  await shellComplete(page);
  // A form of another site puts nothing into the box.
  const elsewhere = 'http://elsewhere.example/';
  await page.route(elsewhere, (route) => route.fulfill({ contentType: 'text/html', body: '<p>' }));
  await page.goto(elsewhere);
  await postShare(page, front.baseURL);
  await expect(page.getByText(/分享/)).toBeVisible();
  await expect(question(page)).toHaveValue('');
  expect((await kept(page)).filter((path) => path.startsWith('/share-target'))).toEqual([]);
  await postShare(page);
  await page.waitForURL(/new=1/);
  await expect(question(page)).toHaveValue('一篇文章\n看看这个\nhttps://example.com/a?b=c');
  await expect(page.getByText('笔记.md')).toBeVisible();
  expect((await kept(page)).filter((path) => path.startsWith('/share-target'))).toEqual([]);
  // Shared once more and not yet looked at, when the person leaves.
  await page.evaluate(async () => {
    const cache = await caches.open('queqiao-shared');
    await cache.put('/share-target/text', Response.json({ text: '秘密' }));
  });
  await page.goto(`${front.baseURL}/account`);
  await page.getByRole('button', { name: '退出登录' }).click();
  await page.getByRole('button', { name: '退出', exact: true }).click();
  await page.waitForURL((url) => url.pathname === '/');
  await expect
    .poll(async () => (await kept(page)).filter((path) => /^\/(share-target|files)/.test(path)))
    .toEqual([]);
  await expect(question(page)).toHaveValue('');
});

test('installing is offered at a good moment and never again after a no; back leads home @O1', async ({
  page,
  context,
}) => {
  await page.clock.install();
  const offered = () =>
    page.evaluate(() => {
      const offer = Object.assign(new Event('beforeinstallprompt'), {
        prompt: () => Promise.resolve({ outcome: 'accepted' }),
      });
      dispatchEvent(offer);
    });
  const offer = page.getByRole('region', { name: '把鹊桥放到主屏幕' });
  await page.goto('/');
  await offered();
  await live(page, 18);
  // The first visit, and nothing asked yet.
  await expect(offer).toBeHidden();
  await page.clock.fastForward('02:00:00');
  await page.reload();
  await offered();
  await live(page, 18);
  await expect(offer).toBeVisible();
  await offer.getByRole('button', { name: '不用了' }).click();
  await page.clock.fastForward('48:00:00');
  await page.reload();
  await offered();
  await live(page, 18);
  await expect(question(page)).toBeVisible();
  await expect(offer).toBeHidden();
  // The keyboard opens: its place is the bar's.
  await question(page).focus();
  const size = page.viewportSize() ?? { width: 400, height: 800 };
  await page.setViewportSize({ ...size, height: size.height - 320 });
  await expect(page.getByRole('navigation', { name: '底部导航' })).toBeHidden();
  await expect(question(page)).toBeInViewport();
  await page.setViewportSize(size);
  await expect(page.getByRole('navigation', { name: '底部导航' })).toBeVisible();
  // Who wants it finds it; installed, it opens at any place and goes back to the home screen.
  await bar(page, '我的').click();
  await expect(page.getByRole('button', { name: '添加到主屏幕' })).toBeVisible();
  await standalone(context);
  const opening = page.waitForEvent('popup');
  await page.evaluate(() => void window.open('/help', '_blank'));
  const installed = await opening;
  await expect(installed.getByRole('heading', { name: '帮助' }).first()).toBeVisible();
  await installed.goBack();
  await expect(question(installed)).toBeVisible();
});

test('an iPhone and an iPad are told how to put it on the home screen; nobody else is, nor who has done so @O1', async ({
  browser,
  baseURL,
}) => {
  const mac =
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Safari/605.1.15';
  const devices: readonly (readonly [
    device: BrowserContextOptions,
    told: boolean,
    installed?: boolean,
  ])[] = [
    [iphone, true],
    [iphone, false, true],
    // An iPad says that it is a Mac.
    [{ userAgent: mac, hasTouch: true }, true],
    [{ userAgent: mac }, false],
    [{}, false],
  ];
  for (const [device, told, installed = false] of devices) {
    const context = await browser.newContext({ ...device, serviceWorkers: 'block' });
    const page = await context.newPage();
    // Safari makes no offer of its own; what is installed there says so.
    await page.addInitScript(
      ([on, fingers]) => {
        addEventListener('beforeinstallprompt', (event) => event.stopImmediatePropagation());
        Object.defineProperties(navigator, {
          standalone: { value: on },
          maxTouchPoints: { value: fingers },
        });
      },
      [installed, device.hasTouch === true ? 5 : 0] as const,
    );
    await page.goto(`${baseURL}/account`);
    await expect(page.getByRole('link', { name: '帮助' }).first()).toBeVisible();
    const row = page.getByRole('button', { name: '添加到主屏幕' });
    await expect(row).toHaveCount(told ? 1 : 0);
    if (told) {
      await row.click();
      const guide = page.getByRole('dialog', { name: '添加到主屏幕' });
      await expect(guide.getByRole('listitem')).toHaveText([/分享按钮/, /添加到主屏幕/, /添加/]);
    }
    await context.close();
  }
});
