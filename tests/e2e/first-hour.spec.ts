import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { expect, foreignServer, test as base } from '#tests/support/app.ts';
import { startMockOpenAi } from '#tests/support/mock-openai.ts';
import { scratchFolder } from '#tests/support/scratch.ts';
import { startServer } from '#tests/support/server.ts';
import { tinyGguf } from '#tests/support/tiny-gguf.ts';

/**
 * What somebody reaches in their first hour who knows nothing but the aim: on a phone, from the link
 * that the first start printed or from the plain address, by what can be pressed alone.
 */
interface Fresh {
  /** The printed link. */
  link: string;
  url: string;
  service: Awaited<ReturnType<typeof startMockOpenAi>>;
}

const startMirror = async (file: Buffer) => {
  const mirror = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': file.length }).end(file);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => mirror.once('listening', resolve));
  return { mirror, host: `127.0.0.1:${(mirror.address() as AddressInfo).port}` };
};

const test = base.extend<{ fresh: Fresh }>({
  fresh: async ({ browser: _browser }, use) => {
    const model = tinyGguf();
    const { mirror, host } = await startMirror(model);
    const service = await startMockOpenAi();
    const dataDir = scratchFolder('first-hour');
    const models = path.join(dataDir, 'models');
    mkdirSync(models, { recursive: true });
    const entry = { key: 'qwen3-0.6b', kind: 'chat', label: 'Qwen3 0.6B' };
    const sha256 = createHash('sha256').update(model).digest('hex');
    const file = 'Qwen3-0.6B-Q8_0.gguf';
    writeFileSync(
      path.join(models, 'shelf.json'),
      JSON.stringify([{ ...entry, file, size: model.length, sha256 }]),
    );
    writeFileSync(path.join(models, 'mirrors.json'), JSON.stringify([`http://${host}/{file}`]));
    const server = await startServer({
      dataDir,
      env: { ADMIN_PASSWORD: '', FETCH_ALLOWED: host, LOCAL_MODELS: 'off' },
    });
    const link = /http\S+\/manager\/setup#[\w-]+/.exec(server.log())?.[0] ?? '';
    await use({ link, url: server.baseURL, service });
    await server.stop();
    await service.close();
    mirror.close();
  },
  baseURL: async ({ fresh }, use) => use(fresh.url),
});
test.skip(foreignServer, 'needs a server of its own');
test.use({ viewport: { width: 390, height: 844 } });

/** In through the printed link, to what brings an answer. */
const comeIn = async (page: Page, { link }: Fresh) => {
  await page.goto(link);
  await page.getByRole('button', { name: '进入，开始起步' }).tap();
};

test('a stranger has a model of their own machine answer', async ({ app, fresh, page }) => {
  test.setTimeout(120_000);
  await comeIn(page, fresh);
  const card = page
    .getByRole('region', { name: '聊天' })
    .getByRole('listitem')
    .filter({ hasText: 'Qwen3 0.6B' });
  await card.getByRole('button', { name: '下载' }).tap();
  await card.getByRole('link', { name: '问一句', exact: true }).tap();
  await expect(page.getByRole('region', { name: '起步' })).not.toContainText('用什么回答');
  await page.getByRole('textbox', { name: '输入问题' }).fill('你好，山间明月');
  await app.sendButton.tap();
  await page.waitForURL(/\/chat\?/);
  await expect(page.getByRole('main')).toContainText('Qwen3 0.6B');
  // Its first words take their time on a busy machine; one of random numbers says anything.
  await expect
    .poll(() => app.log.innerText(), { timeout: 60_000 })
    .toMatch(/山间明月\s+(?!正在|已停止|回复由)\S/);
});

test('a stranger with a key has its service answer', async ({ app, fresh, page }) => {
  await comeIn(page, fresh);
  await page.getByRole('radio', { name: '我有密钥' }).tap();
  const key = page.getByLabel('密钥（API Key）');
  const connect = page.getByRole('button', { name: '测试并接入' });
  const chosen = page.getByRole('radio', { checked: true });
  // A key that tells whose it is chooses; a person chooses after that.
  await key.fill(`gsk_${'a1'.repeat(20)}`);
  await expect(chosen.filter({ hasText: 'Groq' })).toBeVisible();
  await key.fill('sk-first');
  await page.getByRole('radio', { name: /^其他/ }).tap();
  await expect(key).toHaveValue('sk-first');
  // What goes wrong is said, and nothing that was typed is lost.
  await page.getByLabel('地址').fill('http://127.0.0.1:9/v1');
  await connect.tap();
  await expect(page.getByText('连不上：这个地址没有服务在听')).toBeVisible();
  await expect(connect).toBeInViewport();
  await expect(key).toHaveValue('sk-first');
  await page.getByLabel('地址').fill(`${fresh.service.baseURL}/chat/completions`);
  await connect.tap();
  await expect(page.getByText(/现在默认由 Mock Mini 回答/)).toBeVisible();
  // What is left is settled by a press each, on the same screen.
  await page.getByRole('button', { name: /换一个密码/ }).tap();
  await page.getByLabel('新的密码').fill('a-password-of-mine');
  await page.getByRole('button', { name: '换成这个密码' }).tap();
  await page.getByRole('button', { name: '只在自己的网络里用' }).tap();
  await page.getByRole('button', { name: '不收款', exact: true }).tap();
  await page.getByText('凭邀请', { exact: true }).tap();
  await page.getByRole('button', { name: '保存', exact: true }).tap();
  await expect(page.getByText('五步都好了')).toBeVisible();
  await page.getByRole('button', { name: /用什么回答/ }).tap();
  await page.getByRole('link', { name: '开始聊' }).tap();
  await page.getByRole('textbox', { name: '输入问题' }).fill('请介绍一下你自己吧');
  await app.sendButton.tap();
  await expect(app.log).toContainText(fresh.service.textFor('请介绍一下你自己吧').slice(0, 8));
});

test('a stranger asks their own documents, without any key', async ({ app, page }) => {
  await page.goto('/');
  await page.getByRole('button', { name: '添加' }).tap();
  await page.getByRole('button', { name: '知识库' }).tap();
  // That it wants an account is told before anything is begun.
  const sheet = page.getByRole('dialog', { name: '选择知识库' });
  await expect(sheet).toContainText('想建自己的知识库，要先登录');
  await sheet.getByRole('link', { name: '注册' }).tap();
  await page.getByRole('textbox', { name: '名称' }).fill('江南');
  await page.getByRole('textbox', { name: '用户名' }).fill('jiangnan');
  await page.getByLabel('密码', { exact: true }).fill('mima-12345');
  await page.getByLabel('再次输入密码', { exact: true }).fill('mima-12345');
  await page.getByRole('button', { name: '注册', exact: true }).tap();
  const chooser = page.waitForEvent('filechooser');
  await page.getByText('选择文件：变成可以提问的知识库').tap();
  await (
    await chooser
  ).setFiles({
    name: '员工手册.md',
    mimeType: 'text/markdown',
    buffer: Buffer.from('# 报销\n\n差旅费在回来后十天内报销，住宿每晚不超过四百元。\n'),
  });
  await page.getByRole('button', { name: '向它提问' }).tap();
  await page.getByRole('textbox', { name: /输入/ }).fill('住宿每晚不超过多少？');
  await app.sendButton.tap();
  await expect(app.log).toContainText('四百元');
});
