import type { Locator, Page } from '@playwright/test';
import pg from 'pg';
import sharp from 'sharp';
import { type App, expect, foreignServer, type Person, test as base } from '../support/app.ts';
import { type MockMidjourney, startMockMidjourney } from '../support/mock-midjourney.ts';
import { type MockOpenAiImages, startMockOpenAiImages } from '../support/mock-openai-images.ts';
import { type MockSdWebui, startMockSdWebui } from '../support/mock-sd-webui.ts';
import { startServer } from '../support/server.ts';

/** A server with every kind of service for pictures, each faked at its wire. */
interface Services {
  midjourney: MockMidjourney;
  webui: MockSdWebui;
  images: MockOpenAiImages;
  url: string;
  database: pg.Client;
  databaseUrl: string;
}

const test = base.extend<object, { services: Services }>({
  services: [
    async ({ browser: _browser }, use) => {
      const midjourney = await startMockMidjourney();
      const webui = await startMockSdWebui({ controlnet: true, rembg: true });
      const images = await startMockOpenAiImages({});
      const server = await startServer({
        env: {
          MJ_PROXY_URL: midjourney.url,
          SD_WEBUI_URL: webui.url,
          OPENAI_BASE_URL: `${images.url}/v1`,
          OPENAI_API_KEY: 'sk-images',
          OPENAI_MODELS: 'dall-e-3,gpt-image-1,sd3.5-large,qwen-image',
          SIGNUP_TOKENS: '100000',
          TRUST_PROXY: 'loopback',
        },
      });
      const database = new pg.Client({ connectionString: server.databaseUrl });
      await database.connect();
      const { baseURL: url, databaseUrl } = server;
      await use({ midjourney, webui, images, url, database, databaseUrl });
      await database.end();
      await server.stop();
      for (const service of [midjourney, webui, images]) await service.close();
    },
    { scope: 'worker', timeout: 90_000 },
  ],
  baseURL: async ({ services }, use) => use(services.url),
});

// One server for all of them.
test.describe.configure({ mode: 'default' });
test.skip(foreignServer, 'needs services of its own');

const soon = { timeout: 30_000 };
const words = (page: Page) => page.getByRole('textbox', { name: '画图提示词' });
const go = (page: Page) => page.getByRole('button', { name: /^生成，/ });
const messages = (page: Page) => page.locator('[data-message]');
const newest = (page: Page): Locator => messages(page).last();
const pictures = (page: Page) => newest(page).getByRole('list', { name: '画好的图片' });
const toolOf = (page: Page): Locator =>
  page
    .getByRole('dialog', { name: '画图工具' })
    .or(page.getByRole('complementary', { name: '画图工具' }));

const open = async (app: App, person: Person, model: string): Promise<string> => {
  const { page } = app;
  const { uuid } = await person.client.call('newSession', { type: 1, model });
  const address = `/chat?uuid=${uuid}`;
  if (page.url() === 'about:blank') await page.goto(address);
  else await app.walk(address);
  await expect(words(page)).toBeVisible(soon);
  return uuid;
};

const say = async (page: Page, text: string): Promise<void> => {
  await words(page).fill(text);
  await go(page).click();
  await expect(newest(page)).toContainText(text);
};

/** Opens the tool on one of its tabs. */
const tool = async (page: Page, tab: string): Promise<Locator> => {
  const found = toolOf(page);
  if (!(await found.isVisible())) await page.getByRole('button', { name: '画图工具' }).click();
  await found.getByRole('tab', { name: tab, exact: true }).click();
  return found;
};

const bodyOf = (service: { asked: { path: string; body: Record<string, unknown> }[] }) =>
  service.asked.at(-1)?.body ?? {};

test('Midjourney: four of one, its buttons, a region, a view drawn back, several made into one @I1 @I6 @I10', async ({
  app,
  page,
  person,
  services: { midjourney },
}) => {
  test.setTimeout(120_000);
  await app.enterAs(person);
  await open(app, person, 'midjourney');
  await expect(go(page)).toHaveAccessibleName(/8000 tokens/);
  await say(page, 'a magpie on a bridge --ar 16:9');
  await expect(pictures(page).getByRole('img')).toHaveCount(4, soon);
  expect(bodyOf(midjourney)['prompt']).toBe('a magpie on a bridge --ar 16:9 --v 6');
  const chip = (name: string) => newest(page).getByRole('button', { name, exact: true });
  // One row to enlarge, one to vary, a column for each picture.
  const box = async (name: string) => (await chip(name).boundingBox())!;
  const [first, last, below] = await Promise.all([
    box('🔍 放大 1，2000 tokens'),
    box('🔍 放大 4，2000 tokens'),
    box('🪄 变体 1，8000 tokens'),
  ]);
  expect(last.y).toBe(first.y);
  expect(below.x).toBe(first.x);
  expect(below.y).toBeGreaterThan(first.y);
  await chip('🔍 放大 2，2000 tokens').click();
  await expect(newest(page)).toContainText('放大 2');
  await expect(pictures(page).getByRole('img')).toHaveCount(1, soon);

  // A part of it is marked in the same editor as everywhere.
  await chip('🖌️ 局部重绘，8000 tokens').click();
  const sheet = page.getByRole('dialog', { name: '局部重绘' });
  const repaint = sheet.getByRole('button', { name: '重绘这块 · 8000 tokens', exact: true });
  await repaint.click();
  await expect(page.getByText('请先在图片上标出要重绘的地方')).toBeVisible();
  const painted = sheet.locator('canvas');
  const stroke = async (y: number) => {
    const now = await painted.boundingBox();
    if (!now) throw new Error('there is nothing to paint on');
    await page.mouse.move(now.x + now.width * 0.2, now.y + now.height * y);
    await page.mouse.down();
    await page.mouse.move(now.x + now.width * 0.8, now.y + now.height * y, { steps: 4 });
    await page.mouse.up();
  };
  await sheet.getByRole('slider', { name: '画笔大小' }).fill('10');
  await stroke(0.2);
  await stroke(0.6);
  await expect(painted).toHaveAccessibleName('标了 2 处');
  await sheet.getByRole('button', { name: '撤销' }).click();
  await expect(painted).toHaveAccessibleName('标了 1 处');
  await sheet.getByRole('button', { name: '清空' }).click();
  await stroke(0.5);
  await expect(painted).toHaveAccessibleName('标了 1 处');
  await sheet.getByRole('textbox', { name: '这里画什么' }).fill('灯');
  await repaint.click();
  await expect(page.getByText('长度在 2 到 512 个字符')).toBeVisible();
  await sheet.getByRole('textbox', { name: '这里画什么' }).fill('a red lantern');
  await repaint.click();
  await expect(newest(page)).toContainText('a red lantern');
  await expect(pictures(page).getByRole('img')).toHaveCount(4, soon);
  const told = bodyOf(midjourney);
  expect(told['prompt']).toMatch(/^a red lantern /);
  const mask = await sharp(Buffer.from(String(told['maskBase64']).split(',')[1] ?? '', 'base64'))
    .greyscale()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, channels } = mask.info;
  const at = (x: number, y: number) =>
    mask.data[(Math.round(y * mask.info.height) * width + Math.round(x * width)) * channels];
  expect([at(0.25, 0.5), at(0.5, 0.5), at(0.75, 0.5)]).toEqual([255, 255, 255]);
  expect([at(0.1, 0.5), at(0.5, 0.2), at(0.5, 0.58), at(0.9, 0.5)]).toEqual([0, 0, 0, 0]);

  await page.getByRole('button', { name: '🔍 自定扩图' }).click();
  const zoom = page.getByRole('dialog', { name: '自定扩图' });
  await zoom.getByRole('slider', { name: '视野扩大到' }).fill('135');
  await zoom.getByRole('button', { name: '扩图 · 8000 tokens', exact: true }).click();
  await expect(newest(page)).toContainText('自定扩图 1.35 倍');
  await expect(pictures(page).getByRole('img')).toHaveCount(4, soon);
  expect(bodyOf(midjourney)['prompt']).toMatch(/ --zoom 1\.35$/);

  // Two of one's own are made into one; words are not needed for that.
  const blend = (await tool(page, '参考图')).getByRole('group', { name: '融图图片' });
  await blend.getByRole('button', { name: '添加融图图片' }).click();
  const picker = page.getByRole('dialog', { name: '选择融图图片' });
  const drawn = picker.getByRole('tab', { name: '画过的' });
  await drawn.click();
  const own = picker.getByRole('list', { name: '画过的' }).getByRole('button');
  await own.nth(0).click();
  await picker.getByRole('button', { name: /^选好了/ }).click();
  await expect(blend.getByRole('img')).toHaveCount(1);
  await toolOf(page)
    .getByRole('button', { name: /^生成 ·/ })
    .click();
  await expect(page.getByText('融图要选 2 到 5 张图片')).toBeVisible();
  await blend.getByRole('button', { name: '添加融图图片' }).click();
  await drawn.click();
  await own.nth(1).click();
  await picker.getByRole('button', { name: /^选好了/ }).click();
  await expect(blend.getByRole('img')).toHaveCount(2);
  await toolOf(page)
    .getByRole('button', { name: /^生成 ·/ })
    .click();
  await expect(newest(page)).toContainText('融图 2 张');
  await expect(pictures(page).getByRole('img')).toHaveCount(4, soon);
  expect(midjourney.asked.at(-1)?.path).toBe('/mj/submit/blend');
  expect(midjourney.faults).toEqual([]);

  // What it does not allow says so and costs nothing; a full queue is waited for.
  const { chatgpt_balance: before } = await person.client.call('userInfo', {});
  midjourney.scenario = 'banned';
  await say(page, 'a banned one');
  const refusal = newest(page).getByRole('alert');
  await expect(refusal).toContainText('提示词里有 Midjourney 不允许的内容', soon);
  await expect(refusal).toContainText('没有扣费');
  midjourney.scenario = 'normal';
  // The same words would be refused again: they are changed.
  await expect(newest(page).getByRole('button', { name: /^重试/ })).toHaveCount(0);
  await newest(page).getByRole('button', { name: '修改提示词' }).click();
  await expect(words(page)).toHaveValue('a banned one');
  await say(page, 'a kind one');
  await expect(pictures(page).getByRole('img')).toHaveCount(4, soon);
  const { chatgpt_balance: after } = await person.client.call('userInfo', {});
  expect(before - after).toBe(8000);
  await page.goto('/tasks');
  const refusedTask = page.getByRole('listitem').filter({ hasText: 'a banned one' });
  await expect(refusedTask.getByRole('link', { name: '修改提示词' })).toBeVisible(soon);
  await expect(refusedTask.getByRole('button', { name: /^重试/ })).toHaveCount(0);
});

test('stable-diffusion-webui and OpenAI-compatible services: each with its own tool, its failures by number @I1 @I7 @I8 @I9 @I11 @C18', async ({
  app,
  page,
  person,
  services: { webui, images, database },
}) => {
  await person.client.call('saveSettings', { show_token_usage: 1 });
  await app.enterAs(person);
  await open(app, person, 'stable-diffusion');
  // What a service takes is offered, and nothing that would do nothing.
  let panel = await tool(page, '参考图');
  await expect(panel.getByText('缩放方式', { exact: true })).toBeVisible();
  await page.keyboard.press('Escape');
  await open(app, person, 'sd3.5-large');
  panel = await tool(page, '参考图');
  await expect(panel.getByText('重绘幅度', { exact: true })).toBeVisible();
  await expect(panel.getByText('缩放方式', { exact: true })).toBeHidden();
  await page.keyboard.press('Escape');
  await open(app, person, 'stable-diffusion');
  panel = await tool(page, '底模');
  await panel.getByRole('button', { name: '水墨' }).click();
  await panel.getByRole('slider', { name: '水墨' }).fill('40');
  panel = await tool(page, '参数');
  await panel.getByRole('slider', { name: '步数' }).fill('12');
  panel = await tool(page, '提示词');
  await panel.getByRole('textbox', { name: '不要出现' }).fill('fog');
  await panel.getByRole('textbox', { name: '画面描述' }).fill('a magpie');
  webui.scenario = 'truncated';
  await panel.getByRole('button', { name: /^生成 ·/ }).click();
  // Of two, one is broken: it is named, and costs nothing.
  await expect(newest(page).getByRole('alert')).toHaveText(/^第 1 张：\p{Script=Han}/u, soon);
  await expect(newest(page).getByText('生成失败')).toBeVisible();
  webui.scenario = 'normal';
  expect(webui.asked.find(({ path }) => path.endsWith('txt2img'))?.body).toMatchObject({
    prompt: 'a magpie <lora:ink:0.4>',
    negative_prompt: 'fog',
    steps: 12,
  });
  await page.keyboard.press('Escape');
  await newest(page).getByRole('button', { name: '第 2 张的更多操作' }).click();
  await page.getByRole('dialog', { name: '第 2 张' }).getByRole('button', { name: '抠图' }).click();
  await expect(pictures(page).getByRole('img')).toHaveCount(1, soon);
  await newest(page).getByRole('button', { name: '第 1 张的更多操作' }).click();
  await page.getByRole('button', { name: /^选放大算法/ }).click();
  const larger = page.getByRole('dialog', { name: '高清放大' });
  await larger.getByRole('radio', { name: '4 倍' }).click();
  await larger.getByRole('radio', { name: '4x-UltraSharp' }).click();
  await larger.getByRole('button', { name: '高清放大 · 1000 tokens', exact: true }).click();
  await expect(newest(page)).toContainText('高清放大 4×');
  await expect(pictures(page).getByRole('img')).toHaveCount(1, soon);
  expect(webui.asked.find(({ path }) => path.endsWith('extra-single-image'))?.body).toMatchObject({
    upscaler_1: '4x-UltraSharp',
    upscaling_resize: 4,
  });
  expect(webui.faults).toEqual([]);

  // DALL·E: its styles; of two one fails.
  const fields = () => images.asked.at(-1)?.fields ?? {};
  await open(app, person, 'dall-e-3');
  panel = await tool(page, '风格');
  await panel.getByRole('radio', { name: '自然' }).check();
  panel = await tool(page, '提示词');
  await panel.getByRole('textbox', { name: '画面描述' }).fill('a lighthouse');
  images.next.push('normal', 'truncated');
  await panel.getByRole('button', { name: /^生成 ·/ }).click();
  await expect(newest(page).getByRole('alert')).toHaveText(/^第 2 张：\p{Script=Han}/u, soon);
  expect(fields()).toMatchObject({ model: 'dall-e-3', style: 'natural', size: '1024x1024' });
  await page.keyboard.press('Escape');
  await newest(page).getByRole('button', { name: '参数', exact: true }).click();
  await expect(newest(page)).toContainText('a detailed picture of a lighthouse');
  await expect(newest(page)).toContainText('15000 tokens');

  // The cloud model: eighteen styles, its mark, its polishing.
  await open(app, person, 'qwen-image');
  panel = await tool(page, '风格');
  await panel.getByRole('radio', { name: '青花瓷' }).check();
  panel = await tool(page, '参数');
  await panel.getByRole('switch', { name: /标识/ }).check();
  await panel.getByRole('switch', { name: /润色/ }).uncheck();
  panel = await tool(page, '尺寸');
  await panel.getByRole('slider', { name: '张数' }).fill('1');
  panel = await tool(page, '提示词');
  await panel.getByRole('textbox', { name: '画面描述' }).fill('a vase');
  await panel.getByRole('button', { name: /^生成 ·/ }).click();
  await expect(pictures(page).getByRole('img')).toHaveCount(1, soon);
  expect(fields()).toMatchObject({ style: 'qinghuaci', watermark: true, prompt_extend: false });

  // What cannot be paid says so with its ways out: 1025, and of a member's 1026.
  await database.query(
    'UPDATE wallets SET balance = 0 WHERE user_id = (SELECT id FROM users WHERE account = $1)',
    [person.account],
  );
  const refused = async (code: number, reason: string) => {
    await page.keyboard.press('Escape');
    await open(app, person, 'sd3.5-large');
    await say(page, `a bridge ${code}`);
    const alert = newest(page).getByRole('alert');
    await expect(alert).toContainText(reason, soon);
    await expect(alert.getByRole('link', { name: '去充值' })).toBeVisible();
    await expect(alert.getByRole('button', { name: '换免费模型' })).toBeVisible();
  };
  await refused(1025, '余额不足，请充值');
  await database.query(
    `UPDATE users SET vip_activated_at = now(), vip_expired_at = now() + interval '30 days'
      WHERE account = $1`,
    [person.account],
  );
  await refused(1026, '会员不包含这个模型，余额又不足');
});

test('a drawing that went out says what stopping it costs, on its button and before it is done @I1 @I11', async ({
  app,
  page,
  person,
  services: { images },
}) => {
  await app.enterAs(person);
  await open(app, person, 'sd3.5-large');
  const { length } = images.asked;
  images.scenario = 'late';
  try {
    await say(page, 'a lighthouse in the fog');
    const stop = newest(page).getByRole('button', { name: '停止（已发出，仍需付费）' });
    await expect(stop).toBeVisible(soon);
    await stop.click();
    const sure = page.getByRole('alertdialog', { name: '停止吗？' });
    await expect(sure).toContainText(/退不回来：做好后照样给您，最多收 \d+ token/);
    await sure.getByRole('button', { name: '停止', exact: true }).click();
    await expect(newest(page)).toContainText('已停止：已经发出的，做好后会放在这里');
  } finally {
    images.scenario = 'normal';
  }
  await expect(pictures(page).getByRole('img').first()).toBeVisible(soon);
  // Of the others none was ordered any more.
  expect(images.asked.length - length).toBeLessThanOrEqual(2);
});

test('a visitor who chose a paid model of pictures comes back from signing in to it; what nobody chose stays within the balance @I1 @A1', async ({
  app,
  page,
  person,
  services: { database },
}) => {
  await page.goto('/');
  await page.getByRole('tab', { name: '画图' }).click();
  await page.getByRole('button', { name: /^选择模型/ }).click();
  await page
    .getByRole('dialog')
    .getByRole('radio', { name: /DALL-E 3/ })
    .click();
  await page.getByRole('textbox', { name: '输入问题' }).fill('a lighthouse by the sea');
  await app.sendButton.or(page.getByRole('button', { name: /^发送/ })).click();
  await page.waitForURL(/\/login/);
  await expect(page.getByText('这是付费模型，登录后才能使用。')).toBeVisible();
  await page.getByRole('textbox', { name: '用户名' }).fill(person.account);
  await page.getByLabel('密码', { exact: true }).fill(person.password);
  await page.getByRole('button', { name: '登录', exact: true }).click();
  await page.waitForURL(/\/\?tab=imagine/);
  await expect(page.getByRole('tab', { name: '画图' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByRole('button', { name: /^选择模型，现在是 DALL-E 3/ })).toBeVisible();
  await expect(page.getByRole('textbox', { name: '输入问题' })).toHaveValue(
    'a lighthouse by the sea',
  );

  // Two of them would be dearer than what is left.
  await database.query(
    'UPDATE wallets SET balance = 16000 WHERE user_id = (SELECT id FROM users WHERE account = $1)',
    [person.account],
  );
  await page.reload();
  await expect(page.getByRole('button', { name: /^发送.*15000 tokens/ })).toBeVisible(soon);
  await open(app, person, 'dall-e-3');
  await expect(page.getByRole('button', { name: '张数：1' })).toBeVisible();
});

test('a member’s tag, replies read from an accelerator and without it, an account that is closed @C2 @C20 @C21', async ({
  app,
  page,
  person,
  context,
  services: { url, database, databaseUrl },
}) => {
  // A header that no page sends would not be let through to another address.
  await context.setExtraHTTPHeaders({});
  const second = await startServer({ databaseUrl, env: { TRUST_PROXY: 'loopback' } });
  const set = (change: string) =>
    database.query(`UPDATE users SET ${change} WHERE account = $1`, [person.account]);
  const reads: string[] = [];
  const logins: string[] = [];
  page.on('request', (request) => {
    const address = new URL(request.url());
    if (address.pathname === '/api/event_stream') reads.push(address.origin);
    const told = `${address.search}${JSON.stringify(request.headers())}`;
    if (address.origin !== url && told.includes('eyJ')) logins.push(request.url());
  });
  try {
    await database.query("UPDATE models SET accelerator = $1 WHERE name = 'builtin-assistant'", [
      second.baseURL,
    ]);
    const policy = async () => (await fetch(url)).headers.get('content-security-policy');
    await expect.poll(policy, soon).toContain(second.baseURL);

    await app.openNew(person, 'builtin-assistant');
    const tags = page.locator('[data-chat-title]');
    const tag = tags.getByText('VIP', { exact: true });
    await expect(tags).toContainText('私有');
    await expect(tag).toBeHidden();
    await app.say('鹊桥是什么，请介绍一下');
    await app.settled();
    await expect(app.log.getByRole('button', { name: '复制回复' })).toHaveCount(1);
    expect(reads).toEqual([second.baseURL]);
    expect(logins).toEqual([]);

    // It goes away: the reply is read from where the page came from.
    await second.stop();
    reads.length = 0;
    await app.say('3 + 4 是多少？');
    await expect(app.log).toContainText('7', soon);
    await app.settled();
    expect(reads.slice(0, 2)).toEqual([second.baseURL, second.baseURL]);
    expect(reads.at(-1)).toBe(url);
    expect(logins).toEqual([]);

    await set("vip_activated_at = now(), vip_expired_at = now() + interval '30 days'");
    await page.reload();
    await expect(tag).toBeVisible();

    await set('disabled = true');
    await page.reload();
    await page.waitForURL(/\/error\?code=3001/);
    await expect(page.getByText('账号已被禁用，请联系管理员')).toBeVisible();
  } finally {
    await second.stop();
  }
});
