import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { strToU8, zipSync } from 'fflate';
import { expect, test } from '../support/app.ts';
import type { TestClient } from '../support/client.ts';
import { pdfText } from '../support/exports.ts';

const missing = 'https://127.0.0.1:9/gone.png';

const asked = [
  [
    '银河有多宽？',
    '# 银河\n\n很宽，**非常**宽。公式 $E=mc^2$。\n\n| 星 | 光年 |\n|---|---|\n| 织女 | 25 |',
  ],
  ['有图吗？', `有一张：\n\n![找不到](${missing})`],
  ['最后一问', '最后一答，<img src=x onerror=alert(1)> 只是文字。'],
] as const;

type Exchange = readonly [human: string, ai: string];

/** A conversation that stands there at once. */
const talk = async (client: TestClient, said: readonly Exchange[] = asked): Promise<string> => {
  const messages = said.map(([human, ai], at) => ({
    id: at + 1,
    prev: at,
    shown: true,
    human,
    ai,
    model: 'builtin-assistant',
    state: 'done',
    created_at: new Date(Date.now() - 3_600_000 + at * 1000).toISOString(),
  }));
  const data = {
    queqiao: 1,
    sessions: [{ title: '鹊桥相会', model: 'builtin-assistant', messages }],
  };
  const { uuid } = await client.call(
    'importSessions',
    { data },
    { 'idempotency-key': randomUUID() },
  );
  return uuid ?? '';
};

const openSheet = async (page: Page) => {
  await page
    .getByRole('button', { name: /更多|会话菜单/ })
    .first()
    .click();
  await page.getByRole('button', { name: '导出与分享' }).click();
  return page.getByRole('dialog', { name: '导出与分享' });
};

test('out as PDF and JSON, in again; the picture that failed is named @C13', async ({
  app,
  page,
  person,
}) => {
  const uuid = await talk(person.client);
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  const sheet = await openSheet(page);
  const pdf = page.waitForEvent('download', { timeout: 30_000 });
  await sheet.getByRole('button', { name: /^PDF/ }).click();
  const file = await pdf;
  expect(file.suggestedFilename()).toMatch(/^鹊桥相会 \d{4}-\d\d-\d\d\.pdf$/);
  const { text } = await pdfText(await readFile(await file.path()));
  let at = 0;
  for (const part of [
    '鹊桥相会',
    '银河有多宽？',
    '很宽，非常宽',
    '织女',
    '25',
    '有图吗？',
    missing,
    '最后一答',
  ])
    expect((at = text.indexOf(part, at)), part).toBeGreaterThanOrEqual(0);
  await expect(sheet.getByRole('alert')).toContainText(missing);

  const json = page.waitForEvent('download', { timeout: 30_000 });
  await sheet.getByRole('button', { name: /^JSON/ }).click();
  const path = await (await json).path();
  const data: unknown = JSON.parse(await readFile(path, 'utf8'));
  const again = await person.client.call('importSessions', { data });
  expect(again).toMatchObject({ sessions: 1, messages: 3, skipped: [] });
  const { list } = await person.client.call('historyList', { session_id: again.uuid ?? '' });
  expect(list.map((message) => [message.human, message.ai])).toEqual(asked);
});

test('a zip of ChatGPT comes in by the page, one that is none is refused @C13', async ({
  app,
  page,
  person,
}) => {
  const said = (id: string, parent: string | null, role: string, text: string) => ({
    id,
    parent,
    children: [],
    message: {
      id,
      author: { role },
      create_time: 1_760_000_000,
      content: { content_type: 'text', parts: [text] },
    },
  });
  const talks = ['去敦煌看壁画', '学做红烧肉'].map((title) => ({
    title,
    create_time: 1_760_000_000,
    current_node: 'b',
    mapping: {
      a: said('a', null, 'user', `怎样${title}？`),
      b: said('b', 'a', 'assistant', `${title}要慢慢来。`),
    },
  }));
  const zip = zipSync({
    'user.json': strToU8('{}'),
    'conversations.json': strToU8(JSON.stringify(talks)),
  });
  await app.enterAs(person);
  await page.goto('/account');
  await page.getByRole('button', { name: /导入/ }).click();
  const sheet = page.getByRole('dialog', { name: /导入/ });
  const choose = (name: string, buffer: Buffer) =>
    sheet.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/zip', buffer });
  await choose('坏的.zip', Buffer.from('PK 不是压缩包'));
  await expect(sheet.getByRole('alert')).toBeVisible();
  await choose('chatgpt.zip', Buffer.from(zip));
  await expect(sheet.getByRole('status')).toContainText('已导入 2 个会话，共 2 条消息');
  await sheet.getByRole('link', { name: '打开导入的会话' }).click();
  await expect(app.log).toContainText('要慢慢来。');
});

test('a long shared conversation is read from either end @C13', async ({ page, person }) => {
  const uuid = await talk(
    person.client,
    Array.from({ length: 75 }, (_, at) => [`第 ${at + 1} 问`, `第 ${at + 1} 答，不长也不短。`]),
  );
  const { key } = await person.client.call('shareSession', { session_id: uuid });
  await page.goto(`/share?key=${key}`);
  const log = page.getByRole('log', { name: '分享的对话' });
  await expect(log).toContainText('第 1 问');
  await page.getByRole('link', { name: '看最后一页' }).click();
  await expect(page).toHaveURL(/page=3/);
  await expect(log).toContainText('第 75 答');
  await expect(log).not.toContainText('第 60 问');
  const top = page.getByText('第 61 问', { exact: true });
  await page.getByRole('button', { name: '看前面的消息' }).scrollIntoViewIfNeeded();
  const before = (await top.boundingBox())?.y ?? 0;
  await page.getByRole('button', { name: '看前面的消息' }).click();
  await expect(log).toContainText('第 60 问');
  // What was read stays where it was, whatever came in above it.
  await expect
    .poll(async () => Math.abs(((await top.boundingBox())?.y ?? 0) - before))
    .toBeLessThan(40);
  await page.getByRole('button', { name: '看前面的消息' }).click();
  await expect(log).toContainText('第 1 问');
  await expect(page.getByRole('button', { name: '看前面的消息' })).toBeHidden();
  await page.getByRole('link', { name: '从头看' }).click();
  await expect(log).not.toContainText('第 75 答');
});

test('a session of 10,000 messages is found by its words and opens at each of them @H1 @C1 @C7', async ({
  app,
  page,
  person,
}) => {
  // On a busy machine the index alone takes more than half a minute.
  test.setTimeout(240_000);
  const marked = (at: number) => at % 2500 === 1200;
  const uuid = await talk(
    person.client,
    Array.from({ length: 10_000 }, (_, at) => [
      `第 ${at + 1} 问`,
      marked(at) ? `第 ${at + 1} 答：说到了霁蓝釉` : `第 ${at + 1} 答`,
    ]),
  );
  const known = async () =>
    (await person.client.call('sessionList', { channel: 'private', query: '第 9600 答' })).total;
  await expect.poll(known, { timeout: 120_000, intervals: [1_000] }).toBe(1);
  await app.enterAs(person);
  await page.goto('/?channel=private&query=霁蓝釉');
  const card = page.getByRole('main').locator('[data-sessions] > [data-session]').first();
  await expect(card).toContainText('第 8701 答：说到了霁蓝釉', { timeout: 20_000 });
  await card.getByRole('link').first().click();
  await expect(page).toHaveURL(new RegExp(`uuid=${uuid}.*history_id=`));
  await expect(app.log.getByText('第 8701 答：说到了霁蓝釉')).toBeInViewport();
  await expect(app.log.getByText('第 8702 问', { exact: true })).toBeVisible();

  await page
    .getByRole('button', { name: /更多|会话菜单/ })
    .first()
    .click();
  await page.getByRole('button', { name: '查找', exact: true }).click();
  await page.getByRole('searchbox', { name: '在这个会话里查找' }).fill('霁蓝');
  const hits = page.getByRole('list', { name: '找到的消息' }).getByRole('button');
  await expect(hits).toHaveCount(4);
  await hits.last().click();
  await expect(app.log.getByText('第 1201 答：说到了霁蓝釉')).toBeInViewport();
  await expect(app.log.getByText('第 1202 问', { exact: true })).toBeVisible();
});

test('a public link is read without an account until it is taken back; a long picture is drawn @C13', async ({
  app,
  page,
  person,
  browser,
}) => {
  const uuid = await talk(person.client);
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  const sheet = await openSheet(page);
  await sheet.getByRole('button', { name: /^分享链接/ }).click();
  await page.getByRole('button', { name: '创建分享链接' }).click();
  const address = await page.getByRole('textbox', { name: '分享链接' }).inputValue();
  const stranger = await browser.newContext();
  const reader = await stranger.newPage();
  await reader.goto(address);
  await expect(reader.getByRole('heading', { name: '鹊桥相会' })).toBeVisible();
  const log = reader.getByRole('log', { name: '分享的对话' });
  await expect(log).toContainText('最后一答，<img src=x onerror=alert(1)> 只是文字。');
  await expect(reader.getByRole('link', { name: '用鹊桥继续聊' })).toBeVisible();
  await page.getByRole('button', { name: '停止分享' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: '停止分享' }).click();
  await expect(page.getByRole('button', { name: '创建分享链接' })).toBeVisible();
  await reader.reload();
  await expect(reader.getByText('这个链接不存在，或者已停止分享。')).toBeVisible();
  await stranger.close();

  await page.getByRole('button', { name: '其他方式' }).click();
  await sheet.getByRole('button', { name: /^长图/ }).click();
  const picture = page.getByRole('img', { name: '长图' });
  await expect(picture).toBeVisible({ timeout: 20_000 });
  const size = await picture.evaluate((image: HTMLImageElement) => [
    image.naturalWidth,
    image.naturalHeight,
  ]);
  expect(size[0]).toBe(780);
  expect(size[1]).toBeGreaterThan(600);
});

test('a long picture too tall for one comes in parts, cut between messages; the phone’s own sharing gets them, or the link @C13', async ({
  app,
  page,
  person,
}) => {
  const messages = Array.from({ length: 14 }, (_, at) => ({
    id: at + 1,
    prev: at,
    shown: true,
    human: `第 ${at + 1} 问`,
    ai: `第 ${at + 1} 答，写得长一些，好占满屏幕。`.repeat(40),
    model: 'builtin-assistant',
    state: 'done',
    created_at: new Date(Date.now() - 3_600_000 + at * 1000).toISOString(),
  }));
  const sessions = [{ title: '长谈', model: 'builtin-assistant', messages }];
  const { uuid } = await person.client.call('importSessions', { data: { queqiao: 1, sessions } });
  await app.enterAs(person);
  // What the phone's sheet would be handed.
  await page.addInitScript(() => {
    const shared: unknown[] = [];
    Object.assign(window, { shared });
    navigator.canShare = () => true;
    navigator.share = ({ files = [], title = '', url = '' } = {}) => {
      shared.push({
        title,
        url,
        files: files.map(({ name, type, size }) => [name, type, size > 1]),
      });
      return shared.length === 1
        ? Promise.reject(new DOMException('stepped back', 'AbortError'))
        : Promise.resolve();
    };
  });
  const shared = () => page.evaluate(() => Reflect.get(window, 'shared') as unknown);
  await page.goto(`/chat?uuid=${uuid}`);
  const sheet = await openSheet(page);
  await sheet.getByRole('button', { name: /^长图/ }).click();
  await page.getByRole('button', { name: '最近 30 条' }).click();
  const parts = page.getByRole('img', { name: /^长图第 \d 张/ });
  await expect(parts.first()).toBeVisible({ timeout: 30_000 });
  const heights = await parts.evaluateAll((images) =>
    images.map((image) => [
      (image as HTMLImageElement).naturalWidth,
      (image as HTMLImageElement).naturalHeight,
    ]),
  );
  expect(heights.length).toBeGreaterThan(1);
  for (const [width, height] of heights) {
    expect(width).toBe(780);
    // None is blank, and none is more than a phone's canvas holds.
    expect(height).toBeGreaterThan(300);
    expect(height).toBeLessThanOrEqual(12_000);
  }
  const names = heights.map((_, at) => [`长谈 ${at + 1}.png`, 'image/png', true]);
  for (let times = 0; times < 2; times += 1)
    await page.getByRole('button', { name: '分享…' }).click();
  await expect.poll(shared).toEqual([1, 2].map(() => ({ title: '长谈', url: '', files: names })));
  // Stepping back is no failure.
  await expect(page.getByText('没有分享出去')).toBeHidden();
  const saved: string[] = [];
  page.on('download', (file) => saved.push(file.suggestedFilename()));
  await page.getByRole('button', { name: `保存 ${heights.length} 张图片` }).click();
  await expect.poll(() => saved.sort()).toEqual(names.map(([name]) => name));

  await page.getByRole('button', { name: '其他方式' }).click();
  await sheet.getByRole('button', { name: /^分享链接/ }).click();
  await page.getByRole('button', { name: '创建分享链接' }).click();
  const address = await page.getByRole('textbox', { name: '分享链接' }).inputValue();
  await page.getByRole('button', { name: '分享…' }).click();
  await expect
    .poll(async () => ((await shared()) as unknown[]).at(-1))
    .toEqual({ title: '长谈', url: address, files: [] });
  await page.keyboard.press('Escape');

  const markdown = page.waitForEvent('download', { timeout: 30_000 });
  const again = await openSheet(page);
  await again.getByRole('button', { name: /^Markdown/ }).click();
  const text = await readFile(await (await markdown).path(), 'utf8');
  let place = 0;
  for (const part of ['长谈', '第 1 问', '第 1 答', '第 14 问', '第 14 答'])
    expect((place = text.indexOf(part, place)), part).toBeGreaterThanOrEqual(0);
});
