import { randomBytes, randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import sharp from 'sharp';
import { App, expect, foreignServer, test as base } from '../support/app.ts';
import { TestClient } from '../support/client.ts';
import { openLine, type FaultyLine } from '../support/faulty-line.ts';
import { keptIn, startPhone, type Phone } from '../support/phone.ts';
import { shellComplete } from '../support/shell.ts';

/** A phone of its own, signed in, whose line the test may spoil. */
const test = base.extend<{ line: FaultyLine; client: TestClient; phone: Phone }>({
  line: async ({ baseURL }, use) => {
    const line = await openLine(baseURL ?? '');
    await use(line);
    await line.close();
  },
  client: async ({ baseURL }, use) => {
    await use(await TestClient.register(baseURL ?? ''));
  },
  phone: async ({ client }, use) => {
    const phone = await startPhone(client);
    await use(phone);
    await phone.end();
  },
});

test.skip(foreignServer, 'needs a server whose line the tests may spoil');

/** Letters and digits of the replies: what unfinished blocks still show of their source is no word. */
const wordsOf = (page: Page): Promise<string> =>
  page.evaluate(() =>
    [...document.querySelectorAll('#root [data-reply]')]
      .map((each) => {
        const reply = each.cloneNode(true) as Element;
        for (const head of reply.querySelectorAll('[data-code-head]')) head.remove();
        return reply.textContent;
      })
      .join('')
      .replaceAll(/[^\p{L}\p{N}]/gu, ''),
  );

/** The worker stands, and the screens that were opened are written down. */
const settleIn = async (page: Page) => {
  const isThere = async () => {
    const names = (await indexedDB.databases()).map(({ name }) => name);
    return {
      read: names.includes('queqiao-cache'),
      written: names.includes('queqiao-outbox'),
      // It serves whatever is opened from now on.
      worker: Boolean((await navigator.serviceWorker.getRegistration())?.active),
    };
  };
  await expect
    .poll(() => page.evaluate(isThere), { timeout: 30_000 })
    .toEqual({ read: true, written: true, worker: true });
};

test('cut at any moment: the question and every word that was seen are there, and go on with the network @O2 @O3', async ({
  line,
  client,
  phone,
}) => {
  test.setTimeout(120_000);
  await phone.page.goto(`${line.baseURL}/`);
  await settleIn(phone.page);
  for (const [at, wait] of [0, 350, 900, 1_400].entries()) {
    const { uuid } = await client.call('newSession', { type: 0, model: 'mock-chat' });
    await phone.page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
    const app = new App(phone.page);
    // Two seconds of it.
    await app.say(`[[bench tokens=160 rate=80 id=cut${at}x${Date.now()}]] 第 ${at} 次`);
    await expect.poll(() => wordsOf(phone.page)).toMatch(/./);
    await phone.page.waitForTimeout(wait + Math.random() * 300);
    const seen = await wordsOf(phone.page);
    await phone.page.waitForTimeout(250);
    line.cut();
    if (at % 2 === 0) await phone.crash();
    await phone.page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
    const again = new App(phone.page);
    await expect(again.log).toContainText(`第 ${at} 次`);
    await expect.poll(() => wordsOf(phone.page)).toContain(seen.slice(0, -1));
    await expect(phone.page.getByText(/现在没有网络/)).toBeVisible();
    line.state = 'well';
    await expect(phone.page.getByText(/现在没有网络/)).toBeHidden({ timeout: 15_000 });
    await again.settled();
    const { list } = await client.call('historyList', { session_id: uuid, newest: 0 });
    expect(list.map(({ state }) => state)).toEqual(['done']);
    await expect(again.log).toContainText(`END-cut${at}`);
  }
});

test('a line that answers nothing: what is on the device is shown, a message has a clock, and all heals by itself @O2 @O3', async ({
  line,
  client,
  phone: { page },
}) => {
  test.setTimeout(120_000);
  const app = new App(page);
  const { uuid, id } = await client.ask('还记得这句话吗？', { model: 'mock-chat' });
  await client.read(uuid, id);
  await page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
  await expect(app.log).toContainText('您说：还记得这句话吗？');
  await page.goto(`${line.baseURL}/model`);
  await expect(page.getByRole('button', { name: '内置画板' }).first()).toBeVisible();
  await page.goto(`${line.baseURL}/image/private`);
  await expect(page.getByText('还没有画过图片')).toBeVisible();
  await settleIn(page);
  await expect.poll(() => keptIn(page, 'queqiao-cache', 'answers')).toContain('内置画板');

  line.state = 'hangs';
  await page.goto(`${line.baseURL}/model`);
  await expect(page.getByRole('button', { name: '内置画板' }).first()).toBeVisible();
  // Shown whole, as nothing better may come.
  const dimmed = (row: Element) => {
    for (let each: Element | null = row; each; each = each.parentElement)
      if (getComputedStyle(each).opacity !== '1') return each.className;
    return '';
  };
  expect(await page.getByText('内置画板').first().evaluate(dimmed)).toBe('');
  await page.goto(`${line.baseURL}/image/private`);
  await expect(page.getByText('还没有画过图片')).toBeVisible();
  await expect(page.getByText('网络没有回应，显示的是已保存的内容')).toBeVisible();
  await page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
  await expect(app.log).toContainText('您说：还记得这句话吗？');
  await app.say('在电梯里写的');
  await expect(page.getByRole('img', { name: '正在发送' })).toBeVisible();
  await expect(page.getByRole('status', { name: '正在回复' })).toHaveCount(0);
  await expect(page.getByText(/网络没有回应/)).toBeVisible();
  // The box is free again: what follows waits behind it.
  await app.say('又写了一句');
  await expect(page.getByText(/等待发送|正在发送…/).first()).toBeVisible();

  line.state = 'well';
  await expect(page.getByText(/网络没有回应/)).toBeHidden({ timeout: 20_000 });
  await expect(app.log).toContainText('您说：又写了一句', { timeout: 20_000 });
  const { list } = await client.call('historyList', { session_id: uuid, newest: 0 });
  expect(list.map(({ human }) => human)).toEqual([
    '还记得这句话吗？',
    '在电梯里写的',
    '又写了一句',
  ]);
  expect(app.problems).toEqual([]);
});

test('a full device: what is on it opens, and what waits is sent all the same @O2 @O3', async ({
  line,
  client,
  phone: { page },
}) => {
  test.setTimeout(90_000);
  const app = new App(page);
  const { uuid, id } = await client.ask('满了也要看得到', { model: 'mock-chat' });
  await client.read(uuid, id);
  await page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
  await expect(app.log).toContainText('您说：满了也要看得到');
  await settleIn(page);
  line.cut();
  await app.say('等着发送的话');
  await expect(page.getByText('等待发送')).toBeVisible();
  // From the next page on there is no room for anything.
  await page.addInitScript(() => {
    const full = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
    Object.assign(IDBObjectStore.prototype, { add: full, put: full });
    Storage.prototype.setItem = full;
  });
  await page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
  await expect(app.log).toContainText('您说：满了也要看得到');
  await expect(page.getByText('等待发送')).toBeVisible();
  // What is said of it above is what the box says of it.
  const strip = page.getByRole('status').filter({ hasText: '现在没有网络' });
  await expect(strip).toContainText('自动发出');
  await app.question.fill('这句留不下来');
  await expect(strip).toContainText('手机存储已满');
  await expect(strip).not.toContainText('自动发出');
  await app.sendButton.click();
  await expect(page.getByText('手机存储已满，发出前先别关掉页面')).toHaveCount(1);
  await expect(app.question).toHaveValue('');
  line.state = 'well';
  await expect(app.log).toContainText('您说：等着发送的话', { timeout: 20_000 });
  await expect(app.log).toContainText('您说：这句留不下来', { timeout: 20_000 });
  await expect(page.getByText(/等待发送|手机存储已满，发出前/)).toHaveCount(0);
  await app.say('满了也发得出去');
  await expect(app.log).toContainText('您说：满了也发得出去');
  const { list } = await client.call('historyList', { session_id: uuid, newest: 0 });
  expect(list.map(({ human }) => human)).toEqual([
    '满了也要看得到',
    '等着发送的话',
    '这句留不下来',
    '满了也发得出去',
  ]);

  // A disk without a free byte does not even let the database be opened.
  await page.addInitScript(() => {
    const words = 'Internal error opening backing store for indexedDB.open.';
    IDBFactory.prototype.open = () => {
      const asked = Object.assign(new EventTarget(), {
        error: new DOMException(words, 'UnknownError'),
        onerror: null as ((event: Event) => void) | null,
      });
      asked.addEventListener('error', (event) => asked.onerror?.(event));
      setTimeout(() => asked.dispatchEvent(new Event('error', { cancelable: true })));
      return asked as unknown as IDBOpenDBRequest;
    };
  });
  line.cut();
  await page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
  await expect(page.getByText(/手机存储又满了，存在这里的内容打不开/)).toBeVisible();
  await page.goto(`${line.baseURL}/`);
  await page.getByRole('textbox', { name: '输入问题' }).fill('打不开也要发出去');
  await app.sendButton.click();
  await expect(page.getByText('手机存储已满，发出前先别关掉页面')).toHaveCount(1);
  line.state = 'well';
  await expect(app.log).toContainText('您说：打不开也要发出去', { timeout: 20_000 });
  await expect(page.getByText(/等待发送|手机存储已满，发出前/)).toHaveCount(0);
  const begun = await client.call('historyList', { session_id: app.uuid(), newest: 0 });
  expect(begun.list.map(({ human }) => human)).toEqual(['打不开也要发出去']);
  expect(app.problems).toEqual([]);
});

test('a file on a slow line goes on by itself after a cut, and is stored once @O3 @C18', async ({
  line,
  client,
  phone: { page },
}) => {
  const { uuid } = await client.call('newSession', { type: 0, model: 'mock-chat' });
  const keys: (string | undefined)[] = [];
  page.on('request', (asked) => {
    if (asked.url().includes('/api/upload_file')) keys.push(asked.headers()['idempotency-key']);
  });
  await page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
  await page.getByRole('button', { name: '添加图片或文件' }).click();
  await expect(page.getByRole('dialog', { name: '添加' })).toBeVisible();
  // As 870 KB are to 6 KB a second, with some 12 seconds to go.
  line.upSpeed = 20_000;
  const begun = page.waitForRequest('**/api/upload_file**');
  await page.getByLabel('选择文件').setInputFiles({
    name: '游记.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('桥上看水，水里看云。\n'.repeat(8_000)),
  });
  await begun;
  const item = page.getByRole('list', { name: '要发送的附件' }).getByRole('listitem');
  await expect(item).toContainText('游记.txt');
  const failed = page.waitForEvent('requestfailed', (asked) =>
    asked.url().includes('/api/upload_file'),
  );
  line.cut();
  await failed;
  await expect(item).toContainText(/即将上传|正在上传|%/);
  line.upSpeed = 120_000;
  const answered = page.waitForResponse('**/api/upload_file**');
  line.state = 'well';
  expect((await answered).status()).toBe(200);
  await expect(item).toContainText(/\d 字/);
  await expect(page.getByRole('alert')).toHaveCount(0);
  // Under one key the server stores it once, however much of the first try had arrived.
  expect(keys.length).toBeGreaterThan(1);
  expect(new Set(keys).size).toBe(1);
});

test('a large file goes in pieces: what arrived before a cut and a kill is not sent again @O3 @C18', async ({
  line,
  client,
  phone,
}) => {
  test.setTimeout(90_000);
  const { uuid } = await client.call('newSession', { type: 0, model: 'mock-chat' });
  const text = Buffer.from('桥上看水，水里看云。\n'.repeat(80_000));
  const from: number[] = [];
  const watch = (page: Page) =>
    page.on('response', (answer) => {
      const address = new URL(answer.url());
      if (address.pathname === '/api/upload_piece' && answer.ok())
        from.push(Number(address.searchParams.get('offset')));
    });
  watch(phone.page);
  await phone.page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
  await phone.page.getByRole('button', { name: '添加图片或文件' }).click();
  await expect(phone.page.getByRole('dialog', { name: '添加' })).toBeVisible();
  line.upSpeed = 400_000;
  await phone.page
    .getByLabel('选择文件')
    .setInputFiles({ name: '长游记.txt', mimeType: 'text/plain', buffer: text });
  await expect.poll(() => from.length, { timeout: 30_000 }).toBeGreaterThan(1);
  line.cut();
  await expect.poll(() => keptIn(phone.page, 'queqiao-outbox', 'drafts')).toContain('长游记.txt');
  await phone.crash();
  const before = Math.max(...from);
  from.length = 0;
  line.upSpeed = Infinity;
  line.state = 'well';
  watch(phone.page);
  await phone.page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
  const item = phone.page.getByRole('list', { name: '要发送的附件' }).getByRole('listitem');
  await expect(item).toContainText(/\d 字/, { timeout: 30_000 });
  expect(Math.min(...from)).toBeGreaterThan(before);
});

test('several files and pictures for projects: cut and killed in the middle they go on by themselves, each once @O3 @T1', async ({
  line,
  client,
  phone,
}) => {
  test.setTimeout(120_000);
  const key = Date.now();
  const base = await client.call('newTrainModel', { type: 0, name: '游记', key: `base_${key}` });
  const style = await client.call('newTrainModel', { type: 1, name: '雪', key: `snow_${key}` });
  const [baseId, styleId] = [base.model.id, style.model.id];
  const names = ['一', '二', '三'];
  const files = names.map((name) => ({
    name: `${name}.txt`,
    mimeType: 'text/plain',
    buffer: Buffer.from(`${name}：桥上看水，水里看云。\n`.repeat(8_000)),
  }));
  const pictures = await Promise.all(
    names.map(async (name) => ({
      name: `${name}.png`,
      mimeType: 'image/png',
      buffer: await sharp(randomBytes(400 * 400 * 3), {
        raw: { width: 400, height: 400, channels: 3 },
      })
        .png()
        .toBuffer(),
    })),
  );
  const stored = async () =>
    (await client.call('trainFileList', { model_id: baseId })).list.map(({ name }) => name).sort();
  const learned = async () => {
    const { model } = await client.call('trainModel', { model_id: styleId });
    return (JSON.parse(model.settings) as { images?: { url: string }[] }).images ?? [];
  };
  const choose = (chosen: typeof files) =>
    phone.page.locator('input[type=file]').first().setInputFiles(chosen);
  await phone.page.goto(`${line.baseURL}/train?model_id=${baseId}`);
  await settleIn(phone.page);
  line.upSpeed = 300_000;
  await choose(files);
  await expect.poll(async () => (await stored()).length).toBe(1);
  line.cut();
  await expect(phone.page.getByText(/^上传失败/).first()).toBeVisible();
  line.state = 'well';
  await expect.poll(async () => (await stored()).length, { timeout: 30_000 }).toBe(2);
  await phone.crash();
  line.upSpeed = Infinity;
  await phone.page.goto(`${line.baseURL}/train?model_id=${baseId}`);
  await expect.poll(stored, { timeout: 30_000 }).toEqual(files.map(({ name }) => name).sort());
  await expect(phone.page.getByText(/即将上传|正在上传|上传失败/)).toHaveCount(0);

  const steps = `${line.baseURL}/train?new=1&model_id=${styleId}&step=2`;
  await phone.page.goto(steps);
  line.upSpeed = 200_000;
  await choose(pictures);
  await expect(phone.page.getByText('正在上传第 2 / 3 张')).toBeVisible({ timeout: 20_000 });
  await phone.crash();
  line.state = 'hangs';
  await phone.page.goto(steps);
  line.upSpeed = Infinity;
  line.state = 'well';
  await expect.poll(async () => (await learned()).length, { timeout: 60_000 }).toBe(3);
  await expect(phone.page.getByRole('heading', { name: '3 张图片' })).toBeVisible();
  expect(new Set((await learned()).map(({ url }) => url)).size).toBe(3);
});

test('a file whose answers never arrive is at last sent again by 重试, and stored once @O3 @C18', async ({
  line,
  client,
  phone: { page },
}) => {
  test.setTimeout(120_000);
  const { uuid } = await client.call('newSession', { type: 0, model: 'mock-chat' });
  const keys: (string | undefined)[] = [];
  page.on('request', (asked) => {
    if (asked.url().includes('/api/upload_file')) keys.push(asked.headers()['idempotency-key']);
  });
  await page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
  await page.getByRole('button', { name: '添加图片或文件' }).click();
  await expect(page.getByRole('dialog', { name: '添加' })).toBeVisible();
  const file = {
    name: '菜谱.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('青椒炒蛋，盐少许。\n'.repeat(40)),
  };
  const item = page.getByRole('list', { name: '要发送的附件' }).getByRole('listitem');
  const again = page.getByRole('alert').getByRole('button', { name: '重试' });
  // The server has it from the first try on.
  line.state = 'deaf';
  await page.getByLabel('选择文件').setInputFiles(file);
  await expect(again).toBeVisible({ timeout: 60_000 });
  const tried = keys.length;
  expect(tried).toBeGreaterThan(1);
  // A server that refuses is another end of it, and no other file either.
  line.state = 'busy';
  await again.click();
  await expect.poll(() => keys.length).toBe(tried + 1);
  await expect(again).toBeVisible();
  line.state = 'well';
  const answered = page.waitForResponse('**/api/upload_file**');
  await again.click();
  expect((await answered).status()).toBe(200);
  await expect(item).toContainText(/\d 字/);
  await expect(again).toHaveCount(0);
  expect(new Set(keys).size).toBe(1);
});

test('without a network home says so under no offer, and a shared link that is not kept is only out of reach @O2', async ({
  line,
  phone: { page },
}) => {
  await page.goto(`${line.baseURL}/`);
  await settleIn(page);
  await page.reload();
  await expect(page.getByRole('textbox', { name: '输入问题' })).toBeVisible();
  await page.goto(`${line.baseURL}/share?key=never-read-here-00`);
  await expect(page.getByText('这个链接不存在，或者已停止分享。')).toBeVisible();
  line.cut();
  await page.goto(`${line.baseURL}/`);
  // Offers and toasts make room for what is marked so.
  await expect(page.locator('[data-banner]')).toContainText('现在没有网络');
  await page.goto(`${line.baseURL}/share?key=another-one-000000`);
  await expect(page.locator('main')).toContainText('网络不通，请检查网络后再试');
  await expect(page.getByText('这个链接不存在，或者已停止分享。')).toHaveCount(0);
});

test('on a line that hangs an empty session that was opened here is open, and one that never was says why it is not @O2', async ({
  line,
  client,
  phone: { page },
}) => {
  const app = new App(page);
  const { uuid: empty } = await client.call('newSession', { type: 0, model: 'mock-chat' });
  const { uuid: other, id } = await client.ask('这台设备没看过', { model: 'mock-chat' });
  await client.read(other, id);
  await page.goto(`${line.baseURL}/chat?uuid=${empty}`);
  await expect(app.question).toBeVisible();
  await settleIn(page);
  await expect.poll(() => keptIn(page, 'queqiao-cache', 'answers')).toContain(empty);
  line.state = 'hangs';
  await page.goto(`${line.baseURL}/chat?uuid=${empty}`);
  await expect(app.question).toBeVisible();
  await expect(page.getByText(/网络没有回应，显示的是已保存的内容。发送的消息/)).toBeVisible();
  await page.goto(`${line.baseURL}/chat?uuid=${other}`);
  await expect(page.getByText('网络没有回应。联网后自动打开这个会话')).toBeVisible();
  // Nothing stands before it.
  await expect(page.locator('#first')).toHaveCount(0);
  line.state = 'well';
  await expect(app.log).toContainText('您说：这台设备没看过', { timeout: 20_000 });
});

test('asked from home on a line that hangs, the words stand in their session before any read is given up @O3', async ({
  line,
  phone: { page },
}) => {
  const app = new App(page);
  await page.goto(`${line.baseURL}/`);
  await settleIn(page);
  line.state = 'hangs';
  await page.reload();
  await expect(page.getByText(/网络没有回应/)).toBeVisible();
  const box = page.getByRole('textbox', { name: '输入问题' });
  await box.fill('在隧道里问的第一句');
  const asked = new Set<unknown>();
  page.on('request', (request) => {
    // The line itself is asked for more briefly.
    if (!request.url().endsWith('/api/health')) asked.add(request);
  });
  let givenUp = 0;
  page.on('requestfailed', (request) => {
    if (asked.has(request) && !page.url().includes('/chat')) givenUp += 1;
  });
  await app.sendButton.click();
  await expect(app.log).toContainText('在隧道里问的第一句', { timeout: 30_000 });
  expect(givenUp).toBe(0);
  line.state = 'well';
  await expect(app.log).toContainText('您说：在隧道里问的第一句', { timeout: 30_000 });
});

test('asked from home on a line that hangs once the session is made, the question stays in sight, waits on the device and outlives the page @O3', async ({
  line,
  client,
  phone: { page },
}) => {
  const app = new App(page);
  await page.goto(`${line.baseURL}/`);
  await settleIn(page);
  line.hangsAfter = '/api/new_session';
  await page.getByRole('textbox', { name: '输入问题' }).fill('进隧道那一刻问的');
  let givenUp = 0;
  page.on('requestfailed', (request) => {
    if (request.url().includes('/api/history_list')) givenUp += 1;
  });
  await app.sendButton.click();
  // In the place of home, or in its conversation; the box below has it until then.
  await expect(page.getByText('进隧道那一刻问的').first()).toBeVisible();
  await expect(page).toHaveURL(/\/chat\?/);
  // The device has it before any read is given up.
  await expect(page.getByText('等待发送')).toBeVisible();
  expect(givenUp).toBe(0);
  // Longer than words on their way are shown in a session that is open.
  await page.waitForTimeout(9_000);
  await expect(app.log).toContainText('进隧道那一刻问的');
  await expect(page.getByText(/网络没有回应/)).toBeVisible();
  await page.reload();
  await expect(app.log).toContainText('进隧道那一刻问的');
  line.hangsAfter = '';
  line.state = 'well';
  await expect(app.log).toContainText('您说：进隧道那一刻问的', { timeout: 30_000 });
  const uuid = new URL(page.url()).searchParams.get('uuid') ?? '';
  const { list } = await client.call('historyList', { session_id: uuid, newest: 0 });
  expect(list.map(({ human }) => human)).toEqual(['进隧道那一刻问的']);
});

test('sent with a file that is on its way when the line stops answering, it waits on the device and outlives a kill @O3 @C18', async ({
  line,
  client,
  phone,
}) => {
  test.setTimeout(90_000);
  const { uuid } = await client.call('newSession', { type: 0, model: 'mock-chat' });
  await phone.page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
  await settleIn(phone.page);
  await shellComplete(phone.page);
  await phone.page.getByRole('button', { name: '添加图片或文件' }).click();
  await expect(phone.page.getByRole('dialog', { name: '添加' })).toBeVisible();
  line.state = 'hangs';
  const begun = phone.page.waitForRequest('**/api/upload_file**');
  await phone.page.getByLabel('选择文件').setInputFiles({
    name: '游记.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('桥上看水，水里看云。\n'.repeat(40)),
  });
  await begun;
  const app = new App(phone.page);
  await app.say('这篇写了什么？');
  await expect(app.log).toContainText('这篇写了什么？', { timeout: 20_000 });
  await expect(phone.page.getByText(/等待发送|正在发送…/).first()).toBeVisible();
  await phone.crash();
  line.state = 'well';
  await phone.page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
  await expect(new App(phone.page).log).toContainText('您说：这篇写了什么？', { timeout: 30_000 });
  const { list } = await client.call('historyList', { session_id: uuid, newest: 0 });
  expect(list.length).toBe(1);
  expect(list[0]?.human).toContain('游记.txt');
});

test('what waits is there at once after a kill that took the quick storage with it @O3', async ({
  line,
  phone: { page },
}) => {
  const app = new App(page);
  await page.goto(`${line.baseURL}/`);
  await settleIn(page);
  line.cut();
  await page.getByRole('textbox', { name: '输入问题' }).fill('关机前问的');
  await app.sendButton.click();
  await expect(app.log).toContainText('关机前问的');
  const uuid = app.uuid();
  // The server is there for who reads, and has never heard of the session.
  line.state = 'busy';
  await page.addInitScript(() => localStorage.removeItem('queqiao.outbox'));
  await page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
  await expect(app.log).toContainText('关机前问的');
  line.state = 'well';
  await expect(app.log).toContainText('您说：关机前问的', { timeout: 30_000 });
});

base(
  'a part of the app that is out of reach takes no page away, and comes with the line @O2',
  async ({ page, baseURL }) => {
    // No worker stands here: all code comes over the line.
    const line = await openLine(baseURL ?? '');
    const stays = () => page.evaluate(() => 'stays' in window);
    const phonePart = /\/assets\/phone-/;
    // A page at rest fetches it, too: here it is not to be had before the line was cut.
    let wasCut = false;
    await page.route(phonePart, (route) => (wasCut ? route.continue() : route.abort()));
    try {
      const failed = page.waitForEvent('requestfailed', (asked) => phonePart.test(asked.url()));
      await page.goto(`${line.baseURL}/`);
      const box = page.getByRole('textbox', { name: '输入问题' });
      // The app itself has come, and not only what stands before it.
      await expect(page.locator('#first')).toHaveCount(0);
      await expect(box).toBeVisible();
      line.cut();
      wasCut = true;
      await page.evaluate(() => Object.assign(window, { stays: true }));
      await box.fill('写到一半');
      await failed;
      // A screen says so, and does not take the page with it either.
      await page.getByRole('link', { name: '社区' }).click();
      await expect(page.getByText(/现在没有网络，这个页面还没有存到这台设备上/)).toBeVisible();
      expect(await stays()).toBe(true);
      await page.goBack();
      await expect(box).toHaveValue('写到一半');
      const came = page.waitForResponse((answer) => phonePart.test(answer.url()));
      line.state = 'well';
      await came;
      expect(await stays()).toBe(true);
      await expect(box).toHaveValue('写到一半');
    } finally {
      await line.close();
    }
  },
);

base(
  'a screen whose part was lost on a line that is well again opens by itself @O2',
  async ({ page }) => {
    let lost = 0;
    await page.route(/\/assets\/forum-screen-/, (route) => {
      lost += 1;
      return lost === 1 ? route.abort() : route.continue();
    });
    await page.goto('/forum', { waitUntil: 'commit' });
    await expect(page.getByRole('heading', { name: '问答社区' })).toBeVisible();
    expect(lost).toBeGreaterThan(1);
  },
);

base('a part that a new version took away takes the page with it once @O2', async ({ page }) => {
  await page.addInitScript(() => {
    Object.assign(window, { isAnew: sessionStorage.getItem('queqiao.reloaded') !== null });
  });
  await page.route(/\/assets\/forum-screen-/, (route) => route.fulfill({ status: 404 }));
  await page.goto('/forum', { waitUntil: 'commit' });
  await page.waitForFunction(() => 'isAnew' in window && window.isAnew === true);
  // A lasting fault is shown.
  await expect(page.getByText(/这个页面的代码没有取到/)).toBeVisible();
});

test('killed between the two calls of a question, no empty session stays, and the words are in the box @O3', async ({
  line,
  client,
  phone,
}) => {
  test.setTimeout(90_000);
  await phone.page.goto(`${line.baseURL}/`);
  await settleIn(phone.page);
  const box = (page: Page) => page.getByRole('textbox', { name: '输入问题' });
  const sessions = async () =>
    (await client.call('sessionList', { channel: 'private' })).list.map(({ uuid }) => uuid);
  // The server makes the session at once; its answer takes seconds.
  line.state = 'late';
  await box(phone.page).fill('还没有问出去的话');
  const begun = phone.page.waitForRequest('**/api/new_session**');
  await new App(phone.page).sendButton.click();
  await begun;
  await expect.poll(sessions).toHaveLength(1);
  await expect.poll(() => keptIn(phone.page, 'queqiao-outbox', 'drafts')).toContain('start:begun');
  await phone.crash();
  line.state = 'well';
  await phone.page.goto(`${line.baseURL}/`);
  await expect(box(phone.page)).toHaveValue('还没有问出去的话');
  await expect.poll(sessions, { timeout: 20_000 }).toEqual([]);
  await new App(phone.page).sendButton.click();
  await expect(new App(phone.page).log).toContainText('您说：还没有问出去的话');
  // What was asked stays.
  await phone.page.goto(`${line.baseURL}/`);
  await expect(phone.page.getByText('还没有问出去的话').first()).toBeVisible();
  expect(await sessions()).toHaveLength(1);
});

test('a login that ends while a message is on its way: the message waits for it, once, and not in the box, too @O3 @A3', async ({
  baseURL,
  line,
}) => {
  test.setTimeout(180_000);
  const account = `e2e${randomUUID().slice(0, 10)}`;
  const client = await TestClient.register(baseURL ?? '', account);
  const elsewhere = new TestClient(client.baseURL);
  await elsewhere.login(account, 'password-1');
  const { uuid, id } = await client.ask('第一句', { model: 'mock-chat' });
  await client.read(uuid, id);
  const phone = await startPhone(client);
  try {
    const { page } = phone;
    const app = new App(page);
    const signIn = async () => {
      await page.goto(`${line.baseURL}/login`);
      await page.getByRole('textbox', { name: '用户名' }).fill(account);
      await page.getByLabel('密码', { exact: true }).fill('password-1');
      await page.getByRole('button', { name: '登录', exact: true }).click();
      await page.waitForURL((url) => url.pathname !== '/login');
    };
    const endLogin = async () => {
      const token = await page.evaluate(() => localStorage.getItem('queqiao.token') ?? '');
      await new TestClient(client.baseURL, token).call('logout', {});
    };
    const asked = async () =>
      (await elsewhere.call('historyList', { session_id: uuid, newest: 0 })).list.map(
        ({ human }) => human,
      );
    // Refused at once; or the server has it, the answer is lost, and the login ends before it is asked again.
    for (const [text, spoilt] of [
      ['登录正好结束', false],
      ['答案没有到，登录就结束了', true],
    ] as const) {
      await page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
      await expect(app.log).toContainText('第一句');
      await settleIn(page);
      await app.question.fill(text);
      if (spoilt) line.state = 'deaf';
      else await endLogin();
      await app.sendButton.click();
      if (spoilt) {
        await expect.poll(asked).toContain(text);
        await endLogin();
        line.state = 'well';
        // It is asked again, and nobody is told that it was refused. The page may load itself anew at
        // the same time, and stays where it is then.
        await page.goto(`${line.baseURL}/account`).catch(() => undefined);
      }
      await expect(page.getByText(/条内容没有发出，登录同一个账号后继续发送/)).toBeVisible({
        timeout: 20_000,
      });
      await signIn();
      await page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
      await expect(app.log).toContainText(`您说：${text}`, { timeout: 20_000 });
      await app.settled();
      await expect(app.question).toHaveValue('');
      await expect(page.getByText('发送失败')).toHaveCount(0);
      expect((await asked()).filter((each) => each === text)).toEqual([text]);
    }
  } finally {
    await phone.end();
  }
});
