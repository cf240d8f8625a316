import { randomUUID } from 'node:crypto';
import type { BrowserContext, CDPSession, Page } from '@playwright/test';
import { expect, test, type App, type Person } from '../support/app.ts';
import { hostileAddresses, xssPayloads } from '../support/xss-payloads.ts';

/** A reply that takes so long to be written, s. */
const slowly = (seconds: number, words = '说说桥') =>
  `${words} [[bench tokens=${Math.ceil(seconds * 20)} rate=20 id=${randomUUID()}]]`;

/** The page's worker is there, and so is what looks after waits. */
const ready = (page: Page) =>
  page.evaluate(async () => {
    const isActive = async () =>
      (await navigator.serviceWorker.ready).active?.state === 'activated';
    // The page's part of it comes in a chunk of its own, and runs as soon as that is there.
    const isHere = () =>
      performance.getEntriesByType('resource').some(({ name }) => name.includes('/assets/phone-'));
    const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
    while (!isHere() || !(await isActive())) await pause(50);
    await pause(300);
  });

/** Puts the page out of sight, or back: no headless browser does it by itself. */
const sight = (page: Page, state: 'hidden' | 'visible') =>
  page.evaluate((state) => {
    if (state === 'hidden')
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
    // The browser's own again: it is hidden by itself when the page is left.
    else Reflect.deleteProperty(document, 'visibilityState');
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);

const workerOf = (context: BrowserContext) => {
  const [worker] = context.serviceWorkers();
  if (!worker) throw new Error('there is no worker');
  return worker;
};

const shown = (page: Page) =>
  page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    return (await registration.getNotifications()).map(({ title, body }) => ({ title, body }));
  });

/** A tap on the only notification. An event that no browser made cannot be waited for. */
const tap = (context: BrowserContext) =>
  workerOf(context).evaluate(`registration.getNotifications().then(([notification]) => {
    ExtendableEvent.prototype.waitUntil = () => undefined;
    dispatchEvent(new NotificationEvent('notificationclick', { notification }));
  })`);

/** Counts every notification that is shown, whichever life of the worker shows it. */
const countShown = async (cdp: CDPSession): Promise<() => number> => {
  let count = 0;
  cdp.on('BackgroundService.backgroundServiceEventReceived', ({ backgroundServiceEvent }) => {
    if (backgroundServiceEvent.eventName === 'Notification displayed') count += 1;
  });
  await cdp.send('BackgroundService.startObserving', { service: 'notifications' });
  await cdp.send('BackgroundService.setRecording', {
    service: 'notifications',
    shouldRecord: true,
  });
  return () => count;
};

/** Wakes the worker as a browser does that has a network again. */
const waker = async (cdp: CDPSession, baseURL: string | undefined) => {
  let registrationId = '';
  cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    registrationId = registrations[0]?.registrationId ?? registrationId;
  });
  await cdp.send('ServiceWorker.enable');
  await expect.poll(() => registrationId).not.toBe('');
  const { origin } = new URL(baseURL ?? '');
  return () =>
    cdp.send('ServiceWorker.dispatchSyncEvent', {
      origin,
      registrationId,
      tag: 'queqiao-waits',
      lastChance: false,
    });
};

/** Writes down the numbers that the worker puts on the app's icon; 0: none. */
const noteBadges = (context: BrowserContext) =>
  workerOf(context).evaluate(`globalThis.badges = [];
    navigator.setAppBadge = async (count) => void badges.push(count);
    navigator.clearAppBadge = async () => void badges.push(0)`);
const badges = (context: BrowserContext): Promise<number[]> => workerOf(context).evaluate('badges');

const openChat = async (app: App, person: Person, context: BrowserContext, prompt: string) => {
  await context.grantPermissions(['notifications']);
  await app.enterAs(person);
  const { uuid } = await person.client.call('newSession', { type: 0, model: 'mock-chat' });
  await app.page.goto(`/chat?uuid=${uuid}`);
  await ready(app.page);
  await app.say(prompt);
  await expect(app.stopButton).toBeVisible();
  return uuid;
};

test('a reply that is done while the tab is away is told once, and a tap opens it @O4', async ({
  app,
  person,
  context,
}) => {
  const { page } = app;
  const uuid = await openChat(app, person, context, slowly(4, '说说赵州桥'));
  await page.getByRole('button', { name: '返回' }).first().click();
  await page.waitForURL((url) => url.pathname === '/');
  await noteBadges(context);
  await sight(page, 'hidden');
  await expect.poll(() => shown(page), { timeout: 20_000 }).toHaveLength(1);
  await expect.poll(() => badges(context)).toEqual([1]);
  const [news] = await shown(page);
  expect(news?.title).toContain('说说赵州桥');
  expect(news?.body).toContain('把每一次更新合并到下一帧');
  await sight(page, 'visible');
  await tap(context);
  await page.waitForURL((url) => url.searchParams.get('uuid') === uuid);
  await expect(app.log).toContainText('END-');
  await expect.poll(() => shown(page)).toEqual([]);
  expect((await badges(context)).at(-1)).toBe(0);
});

test('a payment that is finished while the app is closed is told once @O4 @P3', async ({
  app,
  person,
  context,
  baseURL,
}) => {
  const { page } = app;
  await context.grantPermissions(['notifications']);
  await app.enterAs(person);
  await page.goto('/account?tab=recharge');
  await ready(page);
  await page.getByRole('slider', { name: '数量' }).fill('1');
  await page.getByRole('button', { name: '支付 ￥20' }).click();
  const link = page.getByRole('link', { name: '打开收银台' });
  const cashier = new URL((await link.getAttribute('href')) ?? '', baseURL);
  const elsewhere = await context.newPage();
  const cdp = await context.newCDPSession(elsewhere);
  const count = await countShown(cdp);
  const wake = await waker(cdp, baseURL);
  await sight(page, 'hidden');
  await page.close();
  const key = cashier.searchParams.get('key') ?? '';
  await person.client.call('sandboxSettle', { key, pay: 1 });
  await expect
    .poll(
      async () => {
        await wake();
        return count();
      },
      { timeout: 20_000 },
    )
    .toBe(1);
  const told = await workerOf(context).evaluate(
    `registration.getNotifications().then((all) => all.map(({ body, data }) => [body, data.url]))`,
  );
  expect(told).toEqual([['充值成功', '/account?tab=usage']]);
  await elsewhere.goto('/account?tab=usage');
  await expect(elsewhere.getByText('102 万')).toBeVisible();
  expect(count()).toBe(1);
});

test('a worker that is stopped again and again forgets nothing and tells nothing twice @O4', async ({
  app,
  person,
  context,
  baseURL,
}) => {
  const { page } = app;
  const uuid = await openChat(app, person, context, slowly(6));
  const { list } = await person.client.call('historyList', { session_id: uuid });
  const id = String(list[0]?.id);
  // The browser stays open without a page of the app.
  const elsewhere = await context.newPage();
  const cdp = await context.newCDPSession(elsewhere);
  const count = await countShown(cdp);
  let registrationId = '';
  cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    registrationId = registrations[0]?.registrationId ?? '';
  });
  await cdp.send('ServiceWorker.enable');
  await expect.poll(() => registrationId).not.toBe('');
  const origin = new URL(baseURL ?? '').origin;
  const wake = () =>
    cdp.send('ServiceWorker.dispatchSyncEvent', {
      origin,
      registrationId,
      tag: 'queqiao-waits',
      lastChance: false,
    });
  const wakeLater = () =>
    cdp.send('ServiceWorker.dispatchPeriodicSyncEvent', {
      origin,
      registrationId,
      tag: 'queqiao-waits',
    });
  await page.close();
  await elsewhere.waitForTimeout(300);
  for (let round = 0; round < 4; round += 1) {
    await cdp.send('ServiceWorker.stopAllWorkers');
    await elsewhere.waitForTimeout(Math.random() * 300);
    await (round % 2 === 0 ? wake() : wakeLater());
    await elsewhere.waitForTimeout(Math.random() * 1000);
  }
  await expect.poll(count, { timeout: 15_000 }).toBe(1);
  // The same news by Web Push, and more wake-ups.
  const { results } = await person.client.call('waitStatus', { waits: [{ kind: 'answer', id }] });
  for (let round = 0; round < 3; round += 1) {
    await cdp.send('ServiceWorker.deliverPushMessage', {
      origin,
      registrationId,
      data: JSON.stringify(results[0]),
    });
    await wake();
    await elsewhere.waitForTimeout(300);
    await cdp.send('ServiceWorker.stopAllWorkers');
  }
  expect(count()).toBe(1);
  // What arrives by push alone is told as well.
  const other = { ...results[0], id: '999999999', title: '只由推送告诉' };
  await cdp.send('ServiceWorker.deliverPushMessage', {
    origin,
    registrationId,
    data: JSON.stringify(other),
  });
  await expect.poll(count).toBe(2);
});

test('notifications are offered in mid-reply, never at the start; a no is kept; who looks is told on screen @O4', async ({
  app,
  person,
  context,
}) => {
  const { page } = app;
  await context.addInitScript(() => {
    let permission: NotificationPermission = 'default';
    Object.defineProperty(Notification, 'permission', { get: () => permission });
    Notification.requestPermission = async () => {
      permission = 'granted';
      return permission;
    };
  });
  const uuid = await openChat(app, person, context, slowly(20));
  const card = page.getByRole('region', { name: '回复写好时通知我？' });
  await page.waitForTimeout(3500);
  await expect(card).toBeHidden();
  // Back from somewhere else while the reply is still being written.
  await sight(page, 'hidden');
  await sight(page, 'visible');
  // Asked once: who does not answer is not asked again where the page is loaded once more.
  await expect(card).toBeVisible();
  const again = await context.newPage();
  await again.goto(page.url());
  await ready(again);
  await expect(again.getByRole('button', { name: '停止', exact: true })).toBeVisible();
  await sight(again, 'hidden');
  await sight(again, 'visible');
  await again.waitForTimeout(500);
  const anew = again.getByRole('region', { name: '回复写好时通知我？' });
  await expect(anew).toHaveCount(0);
  // Where nobody was asked it would have been the moment.
  await again.evaluate(() => localStorage.removeItem('queqiao.notify'));
  await sight(again, 'hidden');
  await sight(again, 'visible');
  await expect(anew).toBeVisible();
  await again.close();
  await card.getByRole('button', { name: '不用了' }).click();
  await expect(card).toBeHidden();
  await page.goto('/account?tab=settings');
  const choice = page.getByRole('switch', { name: '写好时通知我' });
  await expect(choice).not.toBeChecked();
  await choice.click();
  await expect(choice).toBeChecked();
  expect(await page.evaluate(() => localStorage.getItem('queqiao.notify'))).toBe('on');
  // The page was loaded anew, and the worker waited for it; whoever looks is told there.
  await page.getByText('查看', { exact: true }).click({ timeout: 20_000 });
  await page.waitForURL((url) => url.searchParams.get('uuid') === uuid);
  expect(await shown(page)).toEqual([]);
});

test('a subscription that the browser changes is told to the server by the worker alone @O4', async ({
  app,
  person,
  context,
}) => {
  const { page } = app;
  await context.grantPermissions(['notifications']);
  await app.enterAs(person);
  await page.goto('/');
  await ready(page);
  const told = await workerOf(context).evaluate(async (token) => {
    const facts = (write: (store: IDBObjectStore) => IDBRequest): Promise<unknown> =>
      new Promise((resolve) => {
        const asked = indexedDB.open('queqiao-worker', 1);
        asked.addEventListener('upgradeneeded', () => asked.result.createObjectStore('facts'));
        asked.addEventListener('success', () => {
          const done = write(asked.result.transaction('facts', 'readwrite').objectStore('facts'));
          done.addEventListener('success', () => {
            asked.result.close();
            resolve(done.result);
          });
        });
      });
    const device = crypto.randomUUID();
    await facts((store) => store.put(token, 'token'));
    await facts((store) => store.put(device, 'device'));
    await facts((store) =>
      store.put({ account: '1', endpoint: 'https://push.example/old', at: 1 }, 'pushed'),
    );
    // No push service is in reach of a test: what it and the server would answer.
    const bodies: string[] = [];
    const endpoint = 'https://push.example/new';
    PushManager.prototype.subscribe = async () =>
      ({ endpoint, toJSON: () => ({ endpoint, keys: { p256dh: 'p', auth: 'a' } }) }) as never;
    const real = globalThis.fetch;
    globalThis.fetch = async (url, init) => {
      if (typeof url !== 'string' || url !== '/api/push_subscribe') return real(url, init);
      if (typeof init?.body === 'string') bodies.push(init.body);
      return Response.json({ code: 0, message: '', data: {} });
    };
    // An event that no browser made cannot be waited for.
    const { ExtendableEvent: Extendable } = globalThis as unknown as {
      ExtendableEvent: { new (type: string): Event; prototype: { waitUntil: () => void } };
    };
    Extendable.prototype.waitUntil = () => undefined;
    const change = Object.assign(new Extendable('pushsubscriptionchange'), {
      oldSubscription: { options: { applicationServerKey: new ArrayBuffer(65) } },
    });
    dispatchEvent(change);
    for (let tries = 0; tries < 50; tries += 1) {
      const pushed = (await facts((store) => store.get('pushed'))) as
        | { endpoint: string }
        | undefined;
      if (pushed?.endpoint === endpoint)
        return { device, asked: JSON.parse(bodies[0] ?? '{}') as unknown };
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return { device, asked: null };
  }, person.client.token);
  expect(told.asked).toEqual({
    device: told.device,
    endpoint: 'https://push.example/new',
    keys: { p256dh: 'p', auth: 'a' },
  });
});

test('a push shows hostile words as words, and leads nowhere but here @F1 @O4', async ({
  app,
  person,
  context,
  baseURL,
}) => {
  const { page } = app;
  await context.grantPermissions(['notifications']);
  await app.enterAs(person);
  await page.goto('/');
  await ready(page);
  const elsewhere = await context.newPage();
  await page.close();
  const worker = workerOf(context);
  const { origin } = new URL(baseURL ?? '');
  const push = (id: string, text: string, url: string) => ({
    kind: 'news',
    id,
    state: 'done',
    title: text,
    body: text,
    url,
  });
  const told = (messages: object[]) =>
    worker.evaluate<{ title: string; options: Record<string, unknown> }[], object[]>(
      async (all) => {
        const worker = globalThis as unknown as {
          registration: { showNotification: (title: string, options: object) => Promise<void> };
          ExtendableEvent: { prototype: { waitUntil: (act: Promise<unknown>) => void } };
          PushEvent: new (type: string, init: object) => Event;
        };
        const shown: { title: string; options: Record<string, unknown> }[] = [];
        const waits: Promise<unknown>[] = [];
        worker.registration.showNotification = async (title, options) => {
          shown.push({ title, options: options as Record<string, unknown> });
        };
        worker.ExtendableEvent.prototype.waitUntil = (act) => void waits.push(act);
        for (const each of all)
          dispatchEvent(new worker.PushEvent('push', { data: JSON.stringify(each) }));
        while (waits.length > 0) await waits.shift();
        return shown;
      },
      messages,
    );
  const shown = await told(xssPayloads.map((text, at) => push(`1${at}`, text, '/forum/news')));
  expect(shown.map(({ title }) => title)).toEqual(xssPayloads);
  for (const { title, options } of shown)
    expect(options).toEqual({
      body: title,
      tag: expect.stringMatching(/^news:\d+$/),
      lang: 'zh-CN',
      icon: '/icons/icon-192.png',
      badge: '/icons/badge-96.png',
      data: { url: '/forum/news' },
    });
  const addresses = [...hostileAddresses, ...xssPayloads];
  const led = await told(addresses.map((url, at) => push(`2${at}`, '看这里', url)));
  expect(led.map(({ options }) => options['data'])).toEqual([
    { url: '/chat?uuid=x&prompt=y&send=1' },
  ]);

  // Nor does the tap on a notification of whatever version.
  const opened = await worker.evaluate<string[], string[]>(async (urls) => {
    const worker = globalThis as unknown as {
      clients: {
        openWindow: (url: string) => Promise<null>;
        matchAll: () => Promise<unknown[]>;
      };
      Event: typeof Event;
    };
    const opened: string[] = [];
    worker.clients.openWindow = async (url) => {
      opened.push(url);
      return null;
    };
    worker.clients.matchAll = async () => [];
    for (const url of urls) {
      const tap = Object.assign(new worker.Event('notificationclick'), {
        notification: { data: { url }, close: () => undefined },
        waits: new Promise<unknown>((done) => done(undefined)),
        waitUntil(act: Promise<unknown>) {
          this.waits = act;
        },
      });
      dispatchEvent(tap);
      await tap.waits;
    }
    return opened;
  }, addresses);
  expect(opened).toHaveLength(addresses.length);
  for (const url of opened) expect(new URL(url, origin).origin).toBe(origin);
  expect(new Set(opened)).toEqual(new Set(['/', '/chat?uuid=x&prompt=y&send=1']));
  await elsewhere.close();
});
