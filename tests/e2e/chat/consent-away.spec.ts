import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, foreignServer, test } from '#tests/support/app.ts';
import { TestClient } from '#tests/support/client.ts';
import { startPushService } from '#tests/support/push-service.ts';
import { resultsIn, startScriptedModel } from '#tests/support/scripted-model.ts';
import { startServer, type TestServer } from '#tests/support/server.ts';

test.skip(foreignServer, 'needs a server of its own');

/** A model that opens an address nobody wrote, and what it needs; it is silent until `go`. */
const stage = async () => {
  const opened: string[] = [];
  const site = createServer((request, response) => {
    if (request.url === '/secret') opened.push(request.url);
    response.setHeader('content-type', 'text/plain; charset=utf-8');
    response.end('赵州桥建于隋代。');
  });
  await new Promise<void>((resolve) => {
    site.listen(0, '127.0.0.1', resolve);
  });
  const host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  let go = (): void => {};
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  const model = await startScriptedModel(async (body) => {
    if (resultsIn(body).length > 0) return { text: '它建于隋代。' };
    await gone;
    return { calls: [{ name: 'read_page', arguments: { url: `http://${host}/secret` } }] };
  });
  let key = '';
  const push = await startPushService(() => key);
  const env = {
    OPENAI_BASE_URL: model.baseURL,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODELS: 'deepseek-scripted',
    FETCH_ALLOWED: `${push.host},${host}`,
  };
  const server = await startServer({ env, alone: true });
  const client = await TestClient.register(server.baseURL);
  ({ key } = await client.call('pushKey', {}));
  let again: TestServer | null = null;
  return {
    server,
    client,
    push,
    opened,
    /** Another site, where whoever left is. */
    elsewhere: `http://${host}/`,
    asked: () => model.bodies.length,
    go,
    /** The server is killed, and another begins where it was. */
    restart: async () => {
      await server.kill9();
      const { databaseUrl, dataDir, port } = server;
      again = await startServer({ env, databaseUrl, dataDir, port, alone: true });
    },
    end: async () => {
      await again?.stop();
      await server.stop();
      await Promise.all([model.close(), push.close()]);
      site.close();
    },
  };
};

test('whoever left is pushed that a step waits, and finds its sheet there after a tap and a restart', async ({
  app,
  page,
  person,
  context,
}) => {
  test.setTimeout(150_000);
  const { server, client, push, opened, elsewhere, asked, go, restart, end } = await stage();
  try {
    await context.grantPermissions(['notifications'], { origin: server.baseURL });
    const browser = push.browser();
    // No browser of a test has a push service of its own.
    await page.addInitScript(({ endpoint, keys }) => {
      PushManager.prototype.subscribe = () =>
        Promise.resolve({
          endpoint,
          toJSON: () => ({ endpoint, keys }),
        } as unknown as PushSubscription);
    }, browser);
    await app.enterAs({ ...person, client });
    const { uuid } = await client.call('newSession', { type: 0, model: 'deepseek-scripted' });
    const subscribed = page.waitForResponse((answer) => answer.url().includes('push_subscribe'));
    await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
    await subscribed;
    await app.say('赵州桥是什么时候建的？');
    await expect.poll(asked, { timeout: 20_000 }).toBe(1);
    await page.goto(elsewhere);
    go();
    await expect.poll(() => push.pushed.length, { timeout: 40_000 }).toBe(1);
    const { message } = push.pushed[0]!;
    expect(message).toMatchObject({ body: '有一步需要你同意才能继续' });
    expect(message.url).toContain(uuid);
    expect(push.faults).toEqual([]);

    const cdp = await context.newCDPSession(page);
    let registrationId = '';
    cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      registrationId =
        registrations.find(({ scopeURL }) => scopeURL.startsWith(server.baseURL))?.registrationId ??
        registrationId;
    });
    await page.goto(`${server.baseURL}/licences`);
    await cdp.send('ServiceWorker.enable');
    await expect.poll(() => registrationId).not.toBe('');
    await page.goto(elsewhere);
    await cdp.send('ServiceWorker.deliverPushMessage', {
      origin: server.baseURL,
      registrationId,
      data: JSON.stringify(message),
    });
    await restart();
    await page.goto(`${server.baseURL}/help`);
    const shown = () =>
      page.evaluate(async () => {
        const registration = await navigator.serviceWorker.ready;
        return (await registration.getNotifications()).map(({ body }) => body);
      });
    await expect.poll(shown).toEqual(['有一步需要你同意才能继续']);
    const worker = context.serviceWorkers().find((each) => each.url().startsWith(server.baseURL))!;
    await worker.evaluate(`registration.getNotifications().then(([notification]) => {
      ExtendableEvent.prototype.waitUntil = () => undefined;
      dispatchEvent(new NotificationEvent('notificationclick', { notification }));
    })`);
    await page.waitForURL((url) => url.searchParams.get('uuid') === uuid);
    const consent = page.getByRole('dialog').getByRole('group', { name: '读网页：等您同意' });
    await expect(consent).toContainText('/secret');
    expect(opened).toEqual([]);

    // With the sheet open the server is another one: the answer still counts, once.
    await consent.getByRole('button', { name: '这一次' }).click();
    await expect(app.log).toContainText('它建于隋代。', { timeout: 40_000 });
    expect(opened).toEqual(['/secret']);

    // Without a network the conversation is there, with what was called and what that gave.
    await app.settled();
    await context.setOffline(true);
    await page.reload();
    await expect(app.log).toContainText('它建于隋代。');
    await app.log.getByRole('button', { name: /读网页/ }).click();
    await expect(app.log).toContainText('赵州桥建于隋代。');
    await context.setOffline(false);
  } finally {
    await end();
  }
});
