import { App, expect, foreignServer, test } from '../support/app.ts';
import { TestClient } from '../support/client.ts';
import { openLine } from '../support/faulty-line.ts';
import { keptIn, settleIn, startPhone } from '../support/phone.ts';
import { shellComplete } from '../support/shell.ts';

test.skip(foreignServer, 'needs a server whose line the tests may cut');

const humans = async (client: TestClient, uuid: string) =>
  (await client.call('historyList', { session_id: uuid, newest: 0 })).list.map(
    ({ human }) => human,
  );

test('three messages in two sessions and a new one survive the browser, and arrive once and in order @O2 @O3', async ({
  baseURL,
}) => {
  test.setTimeout(120_000);
  const client = await TestClient.register(baseURL ?? '');
  const ask = async (text: string) => {
    const { uuid, id } = await client.ask(text, { model: 'mock-chat' });
    await client.read(uuid, id);
    return uuid;
  };
  const [one, two] = [await ask('第一个会话'), await ask('第二个会话')];
  const line = await openLine(baseURL ?? '');
  const phone = await startPhone(client);
  try {
    let app = new App(phone.page);
    await phone.page.goto(`${line.baseURL}/chat?uuid=${two}`);
    await settleIn(phone.page, 1);
    await phone.page.goto(`${line.baseURL}/chat?uuid=${one}`);
    await settleIn(phone.page, 2);

    line.state = 'down';
    await app.say('甲一');
    await expect(phone.page.getByText('等待发送')).toHaveCount(1);
    await app.say('甲二');
    await expect(phone.page.getByText('等待发送')).toHaveCount(2);
    await app.say('甲三，不要了');
    await expect(phone.page.getByText('等待发送')).toHaveCount(3);
    await phone.page.getByRole('button', { name: '取消' }).last().click();
    await expect(app.question).toHaveValue('甲三，不要了');
    // Another session, opened without a server.
    await phone.page.goto(`${line.baseURL}/chat?uuid=${two}`);
    await expect(app.log).toContainText('第二个会话');
    await phone.page.getByRole('button', { name: '点赞' }).click();
    await app.say('乙一');
    await expect(phone.page.getByText('等待发送')).toHaveCount(1);
    await app.question.fill('还没写完');
    await phone.page.goto(`${line.baseURL}/`);
    await expect(phone.page.getByText('3 条等待发送')).toBeVisible();
    await phone.page.getByRole('textbox', { name: '输入问题' }).fill('没网时新开的会话');
    await app.sendButton.click();
    await phone.page.waitForURL(/\/chat\?/);
    const fresh = app.uuid();
    await expect(app.log).toContainText('没网时新开的会话');
    await expect(phone.page.getByText('等待发送')).toHaveCount(1);

    const start = await phone.closed();
    await start();
    app = new App(phone.page);
    await phone.page.goto(`${line.baseURL}/chat?uuid=${fresh}`);
    await expect(phone.page.getByText('等待发送')).toHaveCount(1);
    line.state = 'well';
    await expect
      .poll(() => humans(client, fresh).catch(() => []), { timeout: 30_000 })
      .toEqual(['没网时新开的会话']);
    await expect
      .poll(() => humans(client, one), { timeout: 30_000 })
      .toEqual(['第一个会话', '甲一', '甲二']);
    await expect.poll(() => humans(client, two)).toEqual(['第二个会话', '乙一']);
    const [liked] = (await client.call('historyList', { session_id: two, newest: 0 })).list;
    expect(liked?.liked).toBe(true);
    await expect(phone.page.getByText('等待发送')).toBeHidden();
    await app.settled();
    await expect(app.log).toContainText('您说：没网时新开的会话');
    await phone.page.goto(`${line.baseURL}/chat?uuid=${two}`);
    await expect(app.question).toHaveValue('还没写完');
    expect(app.problems).toEqual([]);
  } finally {
    await phone.end();
    await line.close();
  }
});

test('a refused message says why and is tried again; a full storage is said plainly; a login that ended is asked for; logout leaves nothing @O2 @O3', async ({
  baseURL,
}) => {
  test.setTimeout(120_000);
  const account = `off${Date.now()}`;
  const client = await TestClient.register(baseURL ?? '', account);
  const { uuid, id } = await client.ask('只有本人看的会话', { model: 'mock-chat' });
  await client.call('setSession', { session_id: uuid, private: 1 });
  await client.read(uuid, id);
  const line = await openLine(baseURL ?? '');
  const phone = await startPhone(client);
  const { page } = phone;
  const app = new App(page);
  try {
    await page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
    await settleIn(page, 1);

    // No room: nothing is lost, and it is said. (Chromium lets small writes pass a full quota for a while.)
    line.state = 'down';
    await page.evaluate(() => {
      const writes = IDBObjectStore.prototype as unknown as Record<'add' | 'put', () => unknown>;
      const real = { add: writes.add, put: writes.put };
      writes.add = writes.put = () => {
        throw new DOMException('full', 'QuotaExceededError');
      };
      addEventListener('room', () => Object.assign(writes, real));
    });
    await app.say('没有地方放的话');
    await expect(page.getByText('手机存储已满，发出前先别关掉页面')).toBeVisible();
    await page.getByRole('button', { name: '取消', exact: true }).click();
    await expect(app.question).toHaveValue('没有地方放的话');
    await page.evaluate(() => dispatchEvent(new Event('room')));
    expect(await humans(client, uuid)).toEqual(['只有本人看的会话']);

    // Refused by the server, once it is back.
    await app.say('太长了'.repeat(5));
    await expect(page.getByText('等待发送')).toBeVisible();
    await page.route('**/api/send_message**', (route) =>
      route.fulfill({ json: { code: 1425, message: '暂时不收', data: null } }),
    );
    line.state = 'well';
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await expect(page.getByText('发送失败：暂时不收')).toBeVisible({ timeout: 15_000 });
    await page.unroute('**/api/send_message**');
    await page.getByRole('button', { name: '重试' }).click();
    await expect.poll(() => humans(client, uuid), { timeout: 15_000 }).toHaveLength(2);
    await app.settled();

    // The login ends while something waits: kept, asked for, and sent by nobody else.
    line.state = 'down';
    await app.say('登录以后才发');
    await expect(page.getByText('等待发送')).toBeVisible();
    await page.route('**/api/**', (route) =>
      route.fulfill({ status: 401, json: { code: 401, message: '登录已失效', data: null } }),
    );
    line.state = 'well';
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await expect
      .poll(() => page.evaluate(() => localStorage.getItem('queqiao.token')).catch(() => ''), {
        timeout: 15_000,
      })
      .toBeNull();
    await page.unroute('**/api/**');
    await page.goto(`${line.baseURL}/login`);
    await expect(page.getByText(/还有 1 条内容没有发出/)).toBeVisible();
    const other = await TestClient.register(baseURL ?? '');
    await page.evaluate((token) => localStorage.setItem('queqiao.token', token), other.token);
    await page.reload();
    await page.waitForTimeout(4_000);
    expect(await humans(client, uuid)).toHaveLength(2);
    await page.evaluate(() => {
      localStorage.removeItem('queqiao.token');
      localStorage.removeItem('queqiao.user');
    });
    await app.page.goto(`${line.baseURL}/login`);
    await page.getByRole('textbox', { name: '用户名' }).fill(account);
    await page.getByLabel('密码', { exact: true }).fill('password-1');
    await page.getByRole('button', { name: '登录', exact: true }).click();
    await expect.poll(() => humans(client, uuid), { timeout: 20_000 }).toHaveLength(3);

    // A shared phone: nothing of the person stays.
    await page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
    await app.settled();
    await app.question.fill('一份草稿');
    await page.goto(`${line.baseURL}/account`);
    await expect.poll(() => keptIn(page, 'queqiao-outbox', 'drafts')).toContain('一份草稿');
    await page.evaluate(async () => {
      const shown = (await caches.keys()).filter((name) =>
        /avatar|thumbnails|pictures|shared/.test(name),
      );
      for (const name of new Set([...shown, 'queqiao-thumbnails']))
        await (await caches.open(name)).put('/files/left-by-a-person', new Response(''));
    });
    await page.getByRole('button', { name: '退出登录' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: '退出' }).click();
    await page.waitForURL((url) => url.pathname === '/');
    await expect
      .poll(() => page.evaluate(leftovers, [account, uuid, '只有本人看的会话', '一份草稿']), {
        timeout: 10_000,
      })
      .toEqual({ storage: [], rows: [], caches: [] });
    expect(app.problems).toEqual([]);
  } finally {
    await phone.end();
    await line.close();
  }
});

test('a picture, a question to people and an edit that were written offline are done when there is a network @O3', async ({
  baseURL,
}) => {
  test.setTimeout(120_000);
  const client = await TestClient.register(baseURL ?? '');
  const { uuid } = await client.call('newSession', { type: 2, private: 1 });
  await client.call('sendMessage', { session_id: uuid, msg: '写错的内容', title: '一个问题' });
  const line = await openLine(baseURL ?? '');
  const phone = await startPhone(client);
  const { page } = phone;
  const app = new App(page);
  try {
    await page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
    await settleIn(page, 1);
    await page.goto(`${line.baseURL}/?tab=imagine`);
    await expect(page.getByRole('textbox', { name: '输入问题' })).toBeVisible();
    await shellComplete(page);
    await page.waitForTimeout(5_000);

    await phone.context.setOffline(true);
    line.state = 'down';
    await page.getByRole('textbox', { name: '输入问题' }).fill('黄昏的雪山，湖面倒影');
    await page.getByRole('button', { name: '发送 内置 免费', exact: true }).click();
    await page.waitForURL(/\/chat\?/);
    const painted = app.uuid();
    await expect(app.log).toContainText('黄昏的雪山');
    await expect(page.getByText('等待发送')).toHaveCount(1);

    await page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
    await expect(app.log).toContainText('写错的内容');
    await page.getByRole('button', { name: '修改', exact: true }).click();
    await page.getByRole('textbox', { name: '内容' }).fill('改好的内容');
    await page.getByRole('button', { name: '保存', exact: true }).click();
    await expect(page.getByText('联网后自动同步')).toBeVisible();
    await expect(app.log).toContainText('改好的内容');

    await page.goto(`${line.baseURL}/`);
    await page.getByRole('button', { name: '添加图片或文件' }).click();
    await page.getByRole('button', { name: /^发起提问/ }).click();
    await page.getByRole('textbox', { name: '标题' }).fill('没网时的问题');
    await page.getByRole('textbox', { name: '内容' }).fill('写在地铁里');
    await page.getByRole('button', { name: '发表', exact: true }).click();
    await page.waitForURL(/\/chat\?/);
    const asked = app.uuid();
    await expect(page.getByText('等待发送')).toHaveCount(1);

    /** What was asked to be drawn and answered, by the page or by the worker. */
    const begun: string[] = [];
    phone.context.on('response', (response) => {
      if (response.url().includes('/api/image/generate'))
        begun.push(response.request().postData() ?? '');
    });
    line.state = 'well';
    await phone.context.setOffline(false);
    await expect
      .poll(() => humans(client, asked).catch(() => []), { timeout: 30_000 })
      .toEqual(['写在地铁里']);
    await expect.poll(() => humans(client, uuid)).toEqual(['改好的内容']);
    // The pictures are begun by themselves, and drawn.
    await page.goto(`${line.baseURL}/chat?uuid=${painted}`);
    await expect(page.getByRole('list', { name: '画好的图片' })).toBeVisible({ timeout: 40_000 });
    expect(await humans(client, painted)).toHaveLength(1);
    // Once (page and worker may ask for the same, by the same number), and nothing refused stands
    // beside what was drawn.
    expect((await client.call('jobList', {})).total).toBe(1);
    expect(new Set(begun).size).toBeLessThanOrEqual(1);
    await expect(app.log.getByRole('alert')).toHaveCount(0);
    expect(app.problems).toEqual([]);
  } finally {
    await phone.end();
    await line.close();
  }
});

/** Runs in the page: all that it keeps and that could tell of a person. */
/** What a person left behind in this browser; a visitor's own reading of public things is none of it. */
const leftovers = async (words: string[]) => {
  const theirs = (text: string) =>
    words.some((word) => text.includes(word)) || text.includes('eyJ');
  const rows: string[] = [];
  for (const { name = '' } of await indexedDB.databases()) {
    const db = await new Promise<IDBDatabase>((resolve, reject) => {
      const asked = indexedDB.open(name);
      asked.addEventListener('success', () => resolve(asked.result));
      asked.addEventListener('error', () => reject(asked.error ?? new Error(name)));
    });
    for (const store of db.objectStoreNames) {
      const found = await new Promise<{ keys: IDBValidKey[]; values: unknown[] }>((resolve) => {
        const objects = db.transaction(store).objectStore(store);
        const keys = objects.getAllKeys();
        const values = objects.getAll();
        values.addEventListener('success', () =>
          resolve({ keys: keys.result, values: values.result }),
        );
      });
      for (const [at, key] of found.keys.entries())
        if (
          theirs(JSON.stringify([key, found.values[at]])) ||
          !/workbox|queqiao/.test(name) ||
          // An empty draft only says that it is over.
          (name === 'queqiao-outbox' && (found.values[at] as { text?: string }).text !== '')
        )
          rows.push(`${name}/${store}/${JSON.stringify(key)}`);
    }
    db.close();
  }
  const held: string[] = [];
  for (const name of await caches.keys())
    for (const request of await (await caches.open(name)).keys())
      if (request.url.includes('left-by-a-person')) held.push(`${name} ${request.url}`);
  return {
    storage: Object.entries(localStorage).flatMap(([key, value]: [string, string]) =>
      theirs(value) || /token|user|draft|outbox|sending|heard|running/.test(key) ? [key] : [],
    ),
    rows,
    caches: held,
  };
};
