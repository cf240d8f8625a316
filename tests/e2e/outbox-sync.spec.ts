import type { BrowserContext, CDPSession } from '@playwright/test';
import { App, expect, foreignServer, test } from '../support/app.ts';
import { TestClient } from '../support/client.ts';
import { openLine } from '../support/faulty-line.ts';
import { startPhone } from '../support/phone.ts';
import { shellComplete } from '../support/shell.ts';

test.skip(foreignServer, 'needs a server whose line the tests may cut');

/** The browser's hand on the worker, from a page that is not the app's. */
const workerHand = async (context: BrowserContext, origin: string) => {
  const cdp: CDPSession = await context.newCDPSession(await context.newPage());
  let registrationId = '';
  cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    registrationId =
      registrations.find(({ scopeURL }) => scopeURL.startsWith(origin))?.registrationId ??
      registrationId;
  });
  await cdp.send('ServiceWorker.enable');
  await expect.poll(() => registrationId).not.toBe('');
  const sync = (tag: string) =>
    cdp.send('ServiceWorker.dispatchSyncEvent', { origin, registrationId, tag, lastChance: false });
  return { cdp, sync, stop: () => cdp.send('ServiceWorker.stopAllWorkers') };
};

test('what was written without a network is sent by the worker when no page is left, each once and in order @O3 @O4', async ({
  baseURL,
}) => {
  test.setTimeout(120_000);
  const client = await TestClient.register(baseURL ?? '');
  const { uuid, id } = await client.ask('从前的问题', { model: 'mock-chat' });
  await client.read(uuid, id);
  const humans = async () =>
    (await client.call('historyList', { session_id: uuid, newest: 0 })).list;
  const line = await openLine(baseURL ?? '');
  const phone = await startPhone(client);
  try {
    const { page, context } = phone;
    const app = new App(page);
    await context.grantPermissions(['notifications', 'background-sync'], { origin: line.baseURL });
    await page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
    await expect(app.log).toContainText('从前的问题');
    await shellComplete(page);
    const hand = await workerHand(context, line.baseURL);
    await page.bringToFront();

    line.state = 'down';
    await context.setOffline(true);
    await page.getByRole('button', { name: '点赞' }).click();
    await app.say('第一句，没网时写的');
    await expect(page.getByText('等待发送')).toHaveCount(1);
    await page.getByRole('button', { name: '添加图片或文件' }).click();
    await page
      .getByLabel('选择文件')
      .setInputFiles([
        { name: '笔记.txt', mimeType: 'text/plain', buffer: Buffer.from('笔记里的话') },
      ]);
    await expect(page.getByRole('list', { name: '要发送的附件' })).toContainText('笔记.txt');
    await app.say('第二句，带着附件');
    await expect(page.getByText('等待发送')).toHaveCount(2);
    await expect
      .poll(() =>
        page.evaluate(async () => {
          const { sync } = (await navigator.serviceWorker.ready) as unknown as {
            sync: { getTags: () => Promise<string[]> };
          };
          return sync.getTags();
        }),
      )
      .toContain('queqiao-outbox');
    await page.close();
    await context.setOffline(false);

    // No server yet: the worker tries, is stopped in mid-try, and forgets nothing.
    await hand.sync('queqiao-outbox');
    await hand.stop();
    line.state = 'deaf';
    await hand.sync('queqiao-outbox');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await hand.stop();
    line.state = 'well';
    await hand.sync('queqiao-outbox');
    await expect
      .poll(
        async () =>
          (await humans()).map(({ human }) => human.includes('没网') || human.includes('附件')),
        {
          timeout: 40_000,
        },
      )
      .toEqual([false, true, true]);
    const [first, second, third] = await humans();
    expect(first?.liked).toBe(true);
    expect(second?.human).toBe('第一句，没网时写的');
    expect(JSON.parse(third?.human ?? '{}')).toMatchObject({
      prompt: '第二句，带着附件',
      files: [{ name: '笔记.txt' }],
    });

    phone.page = await context.newPage();
    const again = new App(phone.page);
    await phone.page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
    await expect(again.log).toContainText('第二句，带着附件');
    await again.settled();
    await expect(phone.page.getByText('等待发送')).toBeHidden();
    await expect
      .poll(() => phone.page.evaluate(() => localStorage.getItem('queqiao.outbox')))
      .toBeNull();
    expect(await humans()).toHaveLength(3);
    expect([...app.problems, ...again.problems]).toEqual([]);
  } finally {
    await phone.end();
    await line.close();
  }
});
