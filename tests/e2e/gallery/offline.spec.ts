import { expect, foreignServer, test } from '#tests/support/app.ts';
import { TestClient } from '#tests/support/client.ts';
import { openLine } from '#tests/support/faulty-line.ts';
import { startPhone } from '#tests/support/phone.ts';
import { paint, replyOf } from '#tests/support/images.ts';
import { shellComplete } from '#tests/support/shell.ts';

test.skip(foreignServer, 'needs a server whose line the tests may cut');

/** Kept in the page: the answers about one's own pictures, and the small pictures themselves. */
const keptOf = async () => {
  if (!navigator.serviceWorker.controller) return null;
  const db = await new Promise<IDBDatabase>((resolve) => {
    const asked = indexedDB.open('queqiao-cache');
    asked.addEventListener('success', () => resolve(asked.result));
  });
  const asked = db.transaction('answers').objectStore('answers').getAllKeys();
  const keys = await new Promise<IDBValidKey[]>((resolve) => {
    asked.addEventListener('success', () => resolve(asked.result));
  });
  const counted = db.transaction('messages').objectStore('messages').count();
  const messages = await new Promise<number>((resolve) => {
    counted.addEventListener('success', () => resolve(counted.result));
  });
  db.close();
  let pictures = 0;
  for (const name of await caches.keys())
    for (const { url } of await (await caches.open(name)).keys())
      if (new URL(url).pathname.startsWith('/files/')) pictures += 1;
  return {
    lists: keys.filter((key) => JSON.stringify(key).includes('imageIndex')).length,
    messages,
    pictures,
  };
};

test('one’s own pictures are looked through without a network, and after a new start of the browser @I12', async ({
  baseURL,
}) => {
  test.setTimeout(120_000);
  const client = await TestClient.register(baseURL ?? '');
  const { sent } = await paint(client, '雪山', { image: { n: 1, size: 0 } });
  await paint(client, '湖水', { image: { n: 1, size: 0 } });
  const line = await openLine(baseURL ?? '');
  const phone = await startPhone(client);
  try {
    await phone.page.goto(`${line.baseURL}/image/private`);
    const tiles = phone.page.getByRole('list', { name: '我的图片' }).getByRole('listitem');
    await expect(tiles).toHaveCount(2);
    // Nothing is wider than the screen.
    expect(
      await phone.page.evaluate(() => document.documentElement.scrollWidth - screen.width),
    ).toBeLessThanOrEqual(0);
    await expect
      .poll(() => phone.page.evaluate(() => Boolean(navigator.serviceWorker.controller)))
      .toBe(true);
    // What came before the worker was there comes through it now.
    await phone.page.reload();
    await expect(tiles).toHaveCount(2);
    await expect
      .poll(() => phone.page.evaluate(keptOf).catch(() => null), { timeout: 30_000 })
      .toMatchObject({ lists: 1, pictures: 2 });
    await phone.page.goto(`${line.baseURL}/chat?uuid=${sent.uuid}`);
    const seen = () =>
      phone.page
        .getByRole('list', { name: '画好的图片' })
        .locator('img')
        .evaluateAll((images) =>
          images.map((image) => (image as HTMLImageElement).naturalWidth > 0),
        );
    await expect.poll(seen).toEqual([true]);
    await expect
      .poll(() => phone.page.evaluate(keptOf).catch(() => null), { timeout: 30_000 })
      .toMatchObject({ messages: 1 });
    // Which size the screen takes is the browser's choice: on this one it may be the list's.
    await expect
      .poll(() =>
        phone.page
          .getByRole('list', { name: '画好的图片' })
          .locator('img')
          .evaluateAll((images) =>
            Promise.all(
              images.map(async (image) =>
                Boolean(await caches.match((image as HTMLImageElement).currentSrc)),
              ),
            ),
          ),
      )
      .toEqual([true]);
    await shellComplete(phone.page);
    line.state = 'down';
    const start = await phone.closed();
    await start();
    await phone.page.goto(`${line.baseURL}/image/private`);
    const own = phone.page.getByRole('list', { name: '我的图片' });
    await expect(own.getByRole('listitem')).toHaveCount(2);
    await expect
      .poll(() =>
        own
          .locator('img')
          .evaluateAll((images) =>
            images.map((image) => (image as HTMLImageElement).naturalWidth > 0),
          ),
      )
      .toEqual([true, true]);
    await own.getByRole('button', { name: '雪山' }).click();
    const viewer = phone.page.getByRole('dialog', { name: '查看图片' });
    await expect(viewer.getByText('网络不通，请检查网络后再试')).toBeVisible();
    await expect
      .poll(() =>
        viewer
          .locator('img')
          .evaluateAll((images) =>
            images.some((image) => (image as HTMLImageElement).naturalWidth > 0),
          ),
      )
      .toBe(true);
    // In its conversation the small one stands for the whole.
    await phone.page.goto(`${line.baseURL}/chat?uuid=${sent.uuid}`);
    await expect.poll(seen).toEqual([true]);
    await phone.page.getByRole('button', { name: '查看第 1 张' }).click();
    await expect
      .poll(() =>
        phone.page
          .getByRole('dialog', { name: '查看图片' })
          .locator('img[aria-hidden]')
          .evaluateAll((images) =>
            images.map((image) => (image as HTMLImageElement).naturalWidth > 0),
          ),
      )
      .toEqual([true]);
    // Others' pictures change all the time: without a network they are said to be out of reach.
    await phone.page.goto(`${line.baseURL}/image/public`);
    await expect(phone.page.getByRole('button', { name: /再试|重试/ })).toBeVisible();
  } finally {
    await phone.end();
    await line.close();
  }
});

test('what is deleted is in no cache any more, the rest stays @I12', async ({ baseURL }) => {
  test.setTimeout(120_000);
  const client = await TestClient.register(baseURL ?? '');
  const drawn = [];
  for (const words of ['雪山', '湖水', '灯塔']) {
    const { sent, message } = await paint(client, words, { image: { n: 1, size: 0 } });
    drawn.push({ uuid: sent.uuid, url: replyOf(message).images[0]!.url });
  }
  const [mountain, lake, tower] = drawn as [
    (typeof drawn)[0],
    (typeof drawn)[0],
    (typeof drawn)[0],
  ];
  const phone = await startPhone(client);
  const { page } = phone;
  /** Which of the three are kept, by whoever keeps pictures in this browser. */
  const kept = () =>
    page.evaluate(
      async (urls) => {
        const found: boolean[] = [];
        for (const url of urls) {
          const all = await Promise.all(
            (await caches.keys()).map(async (name) => (await caches.open(name)).keys()),
          );
          found.push(all.flat().some((request) => request.url.includes(url)));
        }
        return found;
      },
      [mountain.url, lake.url, tower.url],
    );
  const stillAnswers = ({ url }: { url: string }) =>
    page.evaluate(async (to) => (await fetch(`${to}?size=320`)).ok, url);
  try {
    await page.goto(`${baseURL}/image/private`);
    const tiles = page.getByRole('list', { name: '我的图片' }).getByRole('listitem');
    await expect(tiles).toHaveCount(3);
    await expect
      .poll(() => page.evaluate(() => Boolean(navigator.serviceWorker.controller)))
      .toBe(true);
    await page.reload();
    await expect(tiles).toHaveCount(3);
    // In its conversation the picture is kept with the message.
    await page.goto(`${baseURL}/chat?uuid=${lake.uuid}`);
    await expect(page.getByRole('list', { name: '画好的图片' })).toBeVisible();
    await expect
      .poll(() => page.evaluate(keptOf).catch(() => null), { timeout: 30_000 })
      .toMatchObject({ messages: 1 });
    await expect.poll(kept).toEqual([true, true, true]);

    await page
      .getByRole('button', { name: /更多|会话菜单/ })
      .first()
      .click();
    await page.getByRole('button', { name: '删除会话' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: '删除', exact: true }).click();
    await expect(page.getByText('会话已删除')).toBeVisible();
    await expect.poll(kept).toEqual([true, false, true]);
    await expect.poll(() => stillAnswers(lake)).toBe(false);

    await page.goto(`${baseURL}/image/private`);
    await page
      .getByRole('list', { name: '我的图片' })
      .getByRole('button', { name: '雪山', exact: true })
      .click();
    await page
      .getByRole('dialog', { name: '修改图片' })
      .getByRole('button', { name: '更多' })
      .click();
    await page
      .getByRole('dialog', { name: '这张图片' })
      .getByRole('button', { name: '删除' })
      .click();
    await page.getByRole('button', { name: '删除', exact: true }).last().click();
    await expect(page.getByText('图片已删除').first()).toBeVisible();
    await expect.poll(kept).toEqual([false, false, true]);
    await expect.poll(() => stillAnswers(mountain)).toBe(false);
    expect(await stillAnswers(tower)).toBe(true);
  } finally {
    await phone.end();
  }
});
