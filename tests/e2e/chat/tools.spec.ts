import { createServer } from 'node:http';
import { copyFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { readFile } from '#server/reading/read.ts';
import { expect, foreignServer, test } from '#tests/support/app.ts';
import { TestClient } from '#tests/support/client.ts';
import { startMcpServer } from '#tests/support/mcp-server.ts';
import { resultsIn, startScriptedModel } from '#tests/support/scripted-model.ts';
import { ADMIN_PASSWORD, startServer } from '#tests/support/server.ts';

test.skip(foreignServer, 'needs a server of its own');

/** A site of two pages, a model that reads both of them, and a server that knows the model. */
const stage = async () => {
  const opened: string[] = [];
  const site = createServer((request, response) => {
    opened.push(request.url ?? '');
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(
      `<title>赵州桥</title><body><article><h1>赵州桥</h1>${'<p>赵州桥建于隋代，由李春主持修建，是现存最早的敞肩石拱桥，横跨洨河之上。</p>'.repeat(9)}</article></body>`,
    );
  });
  await new Promise<void>((resolve) => {
    site.listen(0, '127.0.0.1', resolve);
  });
  const host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  const model = await startScriptedModel((body) => {
    const done = resultsIn(body).length;
    if (done === 0)
      return {
        reasoning: '先读网页，再算它有多少年。',
        calls: [
          { name: 'read_page', arguments: { url: `http://${host}/bridge` } },
          { name: 'run_code', arguments: { code: 'const year = 605;\n2026 - year' } },
        ],
      };
    if (done === 2)
      return {
        calls: [{ name: 'read_page', arguments: { url: `http://${host}/more?of=bridge` } }],
      };
    return { text: '赵州桥由**李春**主持修建[1]，到现在约有 1421 年。' };
  });
  const server = await startServer({
    env: {
      OPENAI_BASE_URL: model.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: 'deepseek-scripted',
      FETCH_ALLOWED: host,
    },
  });
  return {
    server,
    host,
    opened,
    end: async () => {
      await server.stop();
      await model.close();
      site.close();
    },
  };
};

test('a model reads pages and reckons, asks before it opens what nobody wrote, and cites what it opened', async ({
  app,
  page,
  person,
}) => {
  test.setTimeout(120_000);
  const { server, host, opened, end } = await stage();
  try {
    const client = await TestClient.register(server.baseURL);
    await app.enterAs({ ...person, client });
    const { uuid } = await client.call('newSession', { type: 0, model: 'deepseek-scripted' });
    await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
    await app.say(`请读 http://${host}/bridge，说说赵州桥有多少年了`);
    const cards = app.log.getByRole('list', { name: '用到的工具' });
    await expect(cards.getByRole('listitem')).toHaveCount(3, { timeout: 40_000 });
    const consent = page.getByRole('group', { name: '读网页：等您同意' });
    await expect(consent).toContainText(`http://${host}/more?of=bridge`);
    expect(opened).toEqual(['/bridge']);
    await expect(app.log).toContainText(/到这里用了 \d+ tokens/);
    const shot = process.env['SHOTS'];
    if (shot) await page.screenshot({ path: `${shot}-asks.png` });

    // The question is there again after a reload.
    await page.reload();
    await expect(consent).toBeVisible();
    await consent.getByRole('button', { name: '这一次' }).click();
    await expect(app.log).toContainText('约有 1421 年', { timeout: 40_000 });
    expect(opened).toEqual(['/bridge', '/more?of=bridge']);

    await cards.getByRole('button', { name: /运行代码/ }).click();
    await expect(cards).toContainText('const year = 605;');
    await expect(cards).toContainText('1421');
    if (shot) await page.screenshot({ path: `${shot}-open.png` });
    await app.log.getByRole('group', { name: '来源' }).getByRole('button').first().click();
    const sheet = page.getByRole('dialog');
    await expect(sheet).toContainText('李春主持修建');
    await expect(sheet).toContainText(/网页 · 读于 \d{4}/);
    await expect(sheet.getByRole('link', { name: '打开原网页' })).toHaveAttribute(
      'href',
      `http://${host}/bridge`,
    );
    if (shot) await page.screenshot({ path: `${shot}-source.png` });
  } finally {
    await end();
  }
});

test('a server of tools is added, its tool is chosen, and asked about before it is used', async ({
  app,
  page,
  person,
}) => {
  test.setTimeout(120_000);
  const echoes = await startMcpServer({ token: 'tok-1' });
  const model = await startScriptedModel((body) => {
    const echo = body.tools?.find(({ function: { name } }) => name.endsWith('_echo'));
    if (!echo) return { text: '没有这样的工具' };
    return resultsIn(body).length === 0
      ? { calls: [{ name: echo.function.name, arguments: { text: '山谷里有人吗' } }] }
      : { text: '山谷答应了。' };
  });
  const server = await startServer({
    env: {
      OPENAI_BASE_URL: model.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: 'deepseek-scripted',
      FETCH_ALLOWED: echoes.host,
    },
  });
  const shot = process.env['SHOTS'];
  const see = async (name: string) => {
    if (shot) await page.screenshot({ path: `${shot}-${name}.png` });
  };
  try {
    const client = await TestClient.register(server.baseURL);
    await app.enterAs({ ...person, client });
    await page.goto(`${server.baseURL}/tools`);
    await see('none');
    await page.getByRole('button', { name: '添加', exact: true }).click();
    const sheet = page.getByRole('dialog', { name: '添加工具服务' });
    await sheet.getByLabel('名称').fill('回声');
    await sheet.getByLabel('地址').fill(echoes.url);
    await sheet.getByLabel('令牌').fill('tok-1');
    await see('form');
    await sheet.getByRole('button', { name: '添加并检查' }).click();
    const card = page.getByRole('region', { name: '回声' });
    await expect(card.getByRole('switch', { name: 'echo' })).not.toBeChecked();
    await card.getByRole('switch', { name: 'echo' }).click();
    await expect(card.getByRole('switch', { name: 'echo' })).toBeChecked();
    await expect(card.getByRole('status')).toContainText('连上过');
    await see('chosen');

    const { uuid } = await client.call('newSession', { type: 0, model: 'deepseek-scripted' });
    await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
    await app.say('请对山谷喊一声');
    const consent = page.getByRole('group', { name: '回声 · echo：等您同意' });
    await expect(consent).toContainText('text：山谷里有人吗');
    expect(echoes.called).toEqual([]);
    await see('asks');
    await consent.getByRole('button', { name: '这一次' }).click();
    await expect(app.log).toContainText('山谷答应了。');
    expect(echoes.called).toEqual(['山谷里有人吗']);
    await see('done');
  } finally {
    await server.stop();
    await model.close();
    echoes.close();
  }
});

test('a question is searched, three pages are read, Python reckons and draws, and a table with sources ends it', async ({
  app,
  page,
  person,
}) => {
  test.setTimeout(150_000);
  const opened: string[] = [];
  const towns = ['赵州', '泉州', '潮州'];
  const lengths = [64, 834, 518];
  const site = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://x');
    const base = `http://${request.headers.host}`;
    if (url.pathname.startsWith('/searx')) {
      const results = towns.map((town, at) => ({
        url: `${base}/bridge-${at}`,
        title: `${town}的桥`,
        content: '一座古桥',
      }));
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ query: url.searchParams.get('q'), results }));
      return;
    }
    opened.push(url.pathname);
    const at = Number(url.pathname.at(-1));
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(
      `<title>${towns[at]}的桥</title><body><article><h1>${towns[at]}的桥</h1><p>${towns[at]}的古桥全长 ${lengths[at]} 米，横跨江面，是当地最有名的建筑。</p>${'<p>桥上行人来来往往，已经有许多年了，附近的居民都很喜欢在傍晚走一走。</p>'.repeat(8)}</article></body>`,
    );
  });
  await new Promise<void>((resolve) => {
    site.listen(0, '127.0.0.1', resolve);
  });
  const host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  const python = `lengths = {'赵州': 64, '泉州': 834, '潮州': 518}
chart(type='bar', title='三座古桥的长度（米）', labels=list(lengths), series=[{'name': '长度', 'values': list(lengths.values())}])
sum(lengths.values()) / len(lengths)`;
  const table = `# 古桥\n\n| 城市 | 长度 | 来源 |\n| --- | --- | --- |\n${towns
    .map((town, at) => `| ${town} | ${lengths[at]} | http://${host}/bridge-${at} |`)
    .join('\n')}`;
  const model = await startScriptedModel((body) => {
    const done = resultsIn(body).length;
    if (done === 0) return { calls: [{ name: 'web_search', arguments: { query: '古桥 长度' } }] };
    if (done === 1)
      return {
        calls: towns.map((_, at) => ({
          name: 'read_page',
          arguments: { url: `http://${host}/bridge-${at}` },
        })),
      };
    if (done === 4)
      return { calls: [{ name: 'run_code', arguments: { language: 'python', code: python } }] };
    if (done === 5)
      return {
        calls: [{ name: 'make_file', arguments: { name: '古桥', format: 'xlsx', content: table } }],
      };
    return {
      text: `赵州的古桥全长 64 米[1]，泉州的古桥全长 834 米[2]，潮州的古桥全长 518 米[3]。平均 472 米，表格在上面。`,
    };
  });
  const server = await startServer({
    env: {
      OPENAI_BASE_URL: model.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: 'deepseek-scripted',
      FETCH_ALLOWED: host,
    },
  });
  const shot = process.env['SHOTS'];
  try {
    const manager = new TestClient(server.baseURL);
    await manager.login('admin', ADMIN_PASSWORD);
    await manager.call('saveChannel', {
      kind: 'searxng',
      label: '搜索',
      base_url: `http://${host}/searx`,
      api_key: 'k',
    });
    const client = await TestClient.register(server.baseURL);
    await expect
      .poll(async () => (await client.call('siteInfo', {})).web_search, { timeout: 15_000 })
      .toBe(true);
    await app.enterAs({ ...person, client });
    const { uuid } = await client.call('newSession', { type: 0, model: 'deepseek-scripted' });
    await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
    await page.getByRole('button', { name: '联网' }).click();
    await app.say('比一比三座古桥的长度，画成图，做成表');
    await expect(app.log).toContainText('平均 472 米', { timeout: 90_000 });
    expect(opened.sort()).toEqual(['/bridge-0', '/bridge-1', '/bridge-2']);
    const cards = app.log.getByRole('list', { name: '用到的工具' });
    await expect(cards.getByRole('listitem')).toHaveCount(6);
    const chart = cards.getByRole('img', { name: '图表 1.svg' });
    await expect(chart).toBeVisible();
    await expect.poll(() => chart.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(440);
    const download = page.waitForEvent('download');
    await cards.getByRole('link', { name: /古桥\.xlsx/ }).click();
    const chunks: Buffer[] = [];
    for await (const chunk of await (await download).createReadStream())
      chunks.push(chunk as Buffer);
    const { blocks } = await readFile('xlsx', Buffer.concat(chunks), 100_000);
    const cells = JSON.stringify(blocks);
    for (const words of [...towns, '834', `http://${host}/bridge-2`])
      expect(cells).toContain(words);
    await expect(app.log.getByRole('group', { name: '来源' }).getByRole('button')).not.toHaveCount(
      0,
    );
    // It says what each mark rests on, also once it is read again.
    await page.reload();
    await expect(chart).toBeVisible();
    await app.log.getByRole('group', { name: '来源' }).getByRole('button').nth(1).click();
    await expect(page.getByRole('dialog')).toContainText('全长 834 米');
    if (shot) {
      await page.keyboard.press('Escape');
      for (const dark of ['0', '1']) {
        await page.emulateMedia({ colorScheme: dark === '1' ? 'dark' : 'light' });
        await chart.scrollIntoViewIfNeeded();
        await page.waitForTimeout(400);
        await page.screenshot({ path: `${shot}-chart-${dark}.png` });
        await cards.getByRole('button', { name: /运行代码/ }).click();
        await page.waitForTimeout(200);
        await page.screenshot({ path: `${shot}-code-${dark}.png` });
      }
    }
    // As a long picture it has what it used, the chart, and what it rests on.
    await page.goto(`${server.baseURL}/chat?uuid=${uuid}`);
    await page
      .getByRole('button', { name: /更多|会话菜单/ })
      .first()
      .click();
    await page.getByRole('button', { name: '导出与分享' }).click();
    await page.getByRole('button', { name: /^长图/ }).click();
    await page.getByRole('button', { name: '最近 1 条' }).click();
    const picture = page.getByRole('img', { name: '长图' });
    await expect(picture).toBeVisible({ timeout: 30_000 });
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: '保存图片' }).click();
    const png = await (await saved).path();
    const drawn = await sharp(png).removeAlpha().raw().toBuffer();
    // The bars of the chart (#3b82c4), which nothing else has.
    let bars = 0;
    for (let at = 0; at < drawn.length; at += 3)
      if (drawn[at] === 0x3b && drawn[at + 1] === 0x82 && drawn[at + 2] === 0xc4) bars += 1;
    expect(bars).toBeGreaterThan(5_000);
    if (shot) await copyFile(png, `${shot}-long.png`);
    // Whoever has a link to it reads what it used and rests on, and gets none of its files.
    const { key } = await client.call('shareSession', { session_id: uuid });
    await page.goto(`${server.baseURL}/share?key=${key}`);
    await expect(page.getByText('用了工具：联网搜索、读网页、运行代码、做文件')).toBeVisible();
    const told = page.getByRole('group', { name: '来源' });
    await expect(told.getByRole('listitem')).toHaveCount(3);
    await expect(told).toContainText(`泉州的桥 · ${host}`);
    await expect(page.getByText('古桥.xlsx')).toHaveCount(0);
    if (shot) await page.screenshot({ path: `${shot}-share.png` });
  } finally {
    await server.stop();
    await model.close();
    site.close();
  }
});
