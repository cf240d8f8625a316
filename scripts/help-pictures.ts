import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Page } from '@playwright/test';
import sharp from 'sharp';
import { chromiumArgs, chromiumPath } from '#tests/support/browser.ts';
import { enterAs } from '#tests/support/enter-as.ts';
import { TestClient } from '#tests/support/client.ts';
import { ADMIN_PASSWORD, startServer } from '#tests/support/server.ts';

/**
 * `npx tsx scripts/help-pictures.ts` after a build: takes the pictures of the help's pages
 * (public/help/, named in server/areas/help/pages/) from the product as it is, so that they stay
 * true. They are committed; a test looks that pages and pictures agree.
 */
const out = fileURLToPath(new URL('../public/help/', import.meta.url));
mkdirSync(out, { recursive: true });
const server = await startServer({ embedded: true });
const browser = await chromium.launch({
  args: chromiumArgs,
  ...(chromiumPath ? { executablePath: chromiumPath } : {}),
});

const text = `# 员工手册

## 差旅
出差先在系统里申请，经主管同意后订票。住宿每晚不超过三百五十元，回来后十天内报销。

## 请假
年假每年十天，提前三天申请。病假凭医院证明。

## 工牌
工牌丢失当天告诉前台，补办要二十元。`;

/** What somebody uses it has in it after a first day. */
const furnished = async () => {
  const client = await TestClient.register(server.baseURL);
  const ask = async (question: string) => {
    const { uuid, id } = await client.ask(question);
    await client.read(uuid, id);
    return uuid;
  };
  await ask('26.2 英里是多少公里？');
  const shown = await ask('给我一个包含表格、代码和公式的 Markdown 示例');
  const { model } = await client.call('newTrainModel', { name: '员工手册', key: 'staff', type: 0 });
  const form = new FormData();
  form.set('model_id', String(model.id));
  form.set('file', new Blob([text]), '员工手册.md');
  await fetch(`${server.baseURL}/api/train/upload_file`, {
    method: 'POST',
    headers: client.headers(),
    body: form,
  });
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await client.call('trainModel', { model_id: model.id })).model.over_num > 0) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return { client, shown, base: model.id };
};

const pageFor = async (client: TestClient): Promise<Page> => {
  const context = await browser.newContext({
    viewport: { width: 390, height: 640 },
    hasTouch: true,
    isMobile: true,
    locale: 'zh-CN',
    timezoneId: 'Asia/Shanghai',
  });
  await enterAs(context, client);
  return context.newPage();
};

const take = async (
  page: Page,
  name: string,
  address: string,
  before?: (page: Page) => Promise<void>,
) => {
  await page.goto(server.baseURL + address, { waitUntil: 'networkidle' });
  await before?.(page);
  const { size } = await sharp(await page.screenshot({ animations: 'disabled' }))
    .webp({ quality: 72 })
    .toFile(path.join(out, `${name}.webp`));
  console.log(`${name}.webp ${Math.round(size / 1000)} KB`);
};

try {
  const { client, shown, base } = await furnished();
  const own = await pageFor(client);
  await take(own, 'home', '/?channel=private');
  await take(own, 'chat', `/chat?uuid=${shown}`, (page) =>
    page.getByRole('table').first().scrollIntoViewIfNeeded(),
  );
  await take(own, 'models', '/model');
  await take(own, 'drawing', '/?new=1&tab=imagine');
  await take(own, 'knowledge', `/train?model_id=${base}`, async (page) => {
    await page.getByPlaceholder(/问/).first().fill('住宿每晚不超过多少');
    await page.getByPlaceholder(/问/).first().press('Enter');
    await page.getByText('三百五十元').first().waitFor();
  });
  await take(own, 'account', '/account');
  await take(own, 'devices', '/account?tab=security', (page) =>
    page
      .getByRole('heading', { name: '登录的设备' })
      .evaluate((heading) => heading.closest('section')?.scrollIntoView({ block: 'center' })),
  );
  await take(own, 'api', '/api');
  const owner = new TestClient(server.baseURL);
  await owner.login('admin', ADMIN_PASSWORD);
  const manager = await pageFor(owner);
  await take(manager, 'setup', '/manager/setup');
  await take(manager, 'services', '/manager/start');
} finally {
  await browser.close();
  await server.stop();
}
