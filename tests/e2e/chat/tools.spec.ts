import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, foreignServer, test } from '#tests/support/app.ts';
import { TestClient } from '#tests/support/client.ts';
import { startMcpServer } from '#tests/support/mcp-server.ts';
import { resultsIn, startScriptedModel } from '#tests/support/scripted-model.ts';
import { startServer } from '#tests/support/server.ts';

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
    const consent = app.log.getByRole('group', { name: '读网页：等您同意' });
    await expect(consent).toContainText(`http://${host}/more?of=bridge`);
    expect(opened).toEqual(['/bridge']);
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
    await page.getByRole('button', { name: '添加' }).click();
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
    const consent = app.log.getByRole('group', { name: '回声 · echo：等您同意' });
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
