import { readFile } from 'node:fs/promises';
import { expect, test } from '#tests/support/app.ts';
import { TestClient } from '#tests/support/client.ts';
import { ADMIN_PASSWORD } from '#tests/support/server.ts';

test('a key is made, copied whole, filled into code, tried in the console and counted', async ({
  app,
  page,
}) => {
  // The first administrator may use the API.
  await app.login('admin', ADMIN_PASSWORD);
  await page.goto('/api');
  const name = `程序 ${Date.now()}`;
  const rows = page.getByRole('listitem').filter({ hasText: name });
  // Another run may have left its keys.
  const remove = page.getByRole('button', { name: /^删除 / });
  await expect(page.getByText(/ \/ 5 个/)).toBeVisible();
  while ((await remove.count()) > 3) {
    const before = await remove.count();
    await remove.first().click();
    await page.getByRole('button', { name: '删除', exact: true }).click();
    await expect(remove).toHaveCount(before - 1);
  }
  await page.getByRole('button', { name: '创建 API-KEY' }).click();
  await page.getByRole('textbox', { name: '名称' }).fill(name);
  await page.getByRole('button', { name: '创建', exact: true }).click();
  await expect(page.getByText('创建 API-KEY 成功')).toBeVisible();
  const key = (await page.getByTestId('fresh-key').textContent()) ?? '';
  expect(key).toMatch(/^\d+-\w{48}$/);
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText(key.slice(-10));
  await expect(rows).not.toContainText(key);
  // Masked on the page, and all of it where it is copied to.
  const copied = page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        navigator.clipboard.writeText = async (text) => resolve(text);
      }),
  );
  await rows.getByRole('button', { name: `复制 ${name}` }).click();
  expect(await copied).toBe(key);

  await page.getByRole('link', { name: '代码示例', exact: true }).click();
  await page.getByRole('tab', { name: 'OpenAI · Node' }).click();
  await expect(page.getByTestId('example')).toContainText(key);
  await expect(page.getByTestId('example')).toContainText('/v1');

  // A key that is chosen by its name is asked with, and does not stand in the field.
  await page.getByRole('link', { name: '试一试' }).click();
  await page.getByLabel('自己的 API-KEY').selectOption({ label: name });
  await expect(page.getByLabel('或粘贴')).toHaveValue('');
  await page.getByRole('combobox', { name: '模型', exact: true }).selectOption('builtin-assistant');
  await page.getByRole('textbox', { name: '问题', exact: true }).fill('7*8');
  await page.getByRole('button', { name: '发送' }).click();
  await expect(page.getByRole('region', { name: '回答' })).toContainText('56');
  await expect(page.getByRole('region', { name: '回答' })).toContainText('200');

  await page.getByRole('link', { name: '接口列表' }).click();
  await page.getByRole('button', { name: '/v1/chat 对话' }).click();
  const body = page.getByRole('textbox', { name: '请求内容（JSON）' });
  await body.fill(
    JSON.stringify({ model: 'builtin-assistant', messages: [{ role: 'user', content: '6*7' }] }),
  );
  await page.getByRole('button', { name: '发送' }).click();
  await expect(page.getByRole('region', { name: '回答' })).toContainText('42');
  await page.getByRole('button', { name: '关闭' }).click();

  // What one answer gives, the next call asks for; words are spoken by what can speak.
  const tried = page.getByRole('region', { name: '回答' });
  const tryCall = async (path: RegExp, answer: string) => {
    await page.getByRole('button', { name: path }).click();
    await page.getByRole('button', { name: '发送' }).click();
    await expect(tried).toContainText(answer);
    await page.getByRole('button', { name: '关闭' }).click();
    await expect(tried).toBeHidden();
  };
  await tryCall(/^POST \/v1\/image /, 'request_id');
  await tryCall(/^GET \/v1\/progress /, '"state"');
  await tryCall(/\/v1\/audio\/speech /, 'audio/mpeg');

  await page.getByRole('link', { name: '用量统计' }).click();
  await page.getByRole('combobox', { name: 'API-KEY' }).selectOption({ label: name });
  await expect(page.getByText('builtin-assistant').first()).toBeVisible();
  await expect(page.getByText(/合计 [23] 次/)).toBeVisible();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  const csv = await readFile(await (await saved).path(), 'utf8');
  expect(csv).toContain(
    '模型,请求次数,提问 token,其中缓存,回答 token,其中思考,合计,实际扣除,元,API-KEY',
  );
  // Once in the playground and once in the console.
  expect(csv).toContain('builtin-assistant,2,');
  const month = page.waitForEvent('download');
  await page.getByRole('button', { name: '导出本月' }).click();
  const whole = await readFile(await (await month).path(), 'utf8');
  expect(whole).toContain('日期,API-KEY,模型,请求次数,');
  expect(whole).toMatch(new RegExp(`\n\\d{4}-\\d\\d-\\d\\d,${name},builtin-assistant,2,`));
  await page.getByLabel('日期').fill('2026-01-05');
  await expect(page.getByText('这一天没有数据')).toBeVisible();

  await page.getByRole('link', { name: 'API-KEY', exact: true }).click();
  await rows.getByRole('button', { name: /^删除/ }).click();
  await page.getByRole('button', { name: '删除', exact: true }).click();
  await expect(page.getByText('删除成功')).toBeVisible();
  await expect(rows).toHaveCount(0);
});

test('a key is bounded, tried, looked up, turned and switched off by its owner’s forms @wide', async ({
  app,
  baseURL,
  page,
  person,
}) => {
  const owner = new TestClient(baseURL ?? '');
  await owner.login('admin', ADMIN_PASSWORD);
  const { id } = await person.client.call('userInfo', {});
  await owner.call('updateTokens', { user_id: id, tokens: 100_000 });
  await app.enterAs(person);
  await page.goto('/api');
  const tab = (name: string) =>
    page.getByRole('navigation', { name: '开发者 API' }).getByRole('link', { name, exact: true });
  const sheet = page.getByRole('dialog');
  const confirm = (name: string) =>
    page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click();
  await page.getByRole('button', { name: '创建 API-KEY' }).click();
  await sheet.getByLabel('名称').fill('夜里的翻译');
  await sheet.getByLabel('用在哪里').fill('书房的机器');
  await sheet.getByLabel('同时进行的请求').fill('2');
  await sheet.getByRole('button', { name: '加一条限制' }).click();
  await sheet.getByLabel('第 1 条的时间').selectOption({ label: '每天' });
  await sheet.getByLabel('第 1 条的单位').selectOption({ label: '次请求' });
  await sheet.getByLabel('第 1 条的数量').fill('1.5');
  await sheet.getByRole('switch', { name: '记下请求和回答的内容' }).click();
  await sheet.getByRole('button', { name: '创建', exact: true }).click();
  await expect(sheet.getByText(/每天的次：请填大于 0 的整数/)).toBeVisible();
  await sheet.getByLabel('第 1 条的数量').fill('2');
  await sheet.getByRole('button', { name: '创建', exact: true }).click();
  const first = (await page.getByTestId('fresh-key').textContent()) ?? '';
  const card = page.getByRole('listitem').filter({ hasText: '书房的机器' });
  await expect(card).toContainText('还剩 2');
  await expect(card).toContainText('2 个');

  await tab('试一试').click();
  await page.getByLabel('自己的 API-KEY').selectOption({ label: '夜里的翻译' });
  await page.getByRole('combobox', { name: '模型', exact: true }).selectOption('builtin-assistant');
  const answer = page.getByRole('region', { name: '回答' });
  for (const [question, said] of [
    ['7*8', '56'],
    ['6*7', '42'],
    ['5*5', '最多 2 次请求'],
  ] as const) {
    await page.getByRole('textbox', { name: '问题', exact: true }).fill(question);
    await page.getByRole('button', { name: '发送' }).click();
    await expect(answer).toContainText(said);
  }
  const code = page.getByTestId('playground-code');
  for (const [language, words] of [
    ['curl', 'curl http'],
    ['Python', 'from openai import OpenAI'],
    ['JavaScript', "import OpenAI from 'openai'"],
  ] as const) {
    await page.getByRole('tab', { name: language }).click();
    await expect(code).toContainText(words);
    await expect(code).toContainText('5*5');
  }

  await tab('调用记录').click();
  const calls = page.getByRole('listitem').filter({ hasText: 'builtin-assistant' });
  // They are written down a moment later.
  await expect(async () => {
    await page.reload();
    await expect(calls).toHaveCount(3, { timeout: 2_000 });
  }).toPass({ timeout: 20_000 });
  await expect(calls.first()).toContainText('402');
  await calls.nth(1).getByRole('button').click();
  await expect(sheet.getByRole('region', { name: '请求' })).toContainText('6*7');
  await expect(sheet.getByRole('region', { name: '回答' })).toContainText('data: [DONE]');
  await page.keyboard.press('Escape');
  await expect(sheet).toHaveCount(0);

  await tab('API-KEY').click();
  await expect(card).toContainText('还剩 0');
  await card.getByRole('button', { name: '换新' }).click();
  await sheet.getByText('立刻作废').click();
  await sheet.getByRole('button', { name: '换新', exact: true }).click();
  await expect(page.getByTestId('fresh-key')).not.toHaveText(first);
  const fresh = (await page.getByTestId('fresh-key').textContent()) ?? '';
  const listed = async (key: string) =>
    (await fetch(`${baseURL}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;
  expect([await listed(first), await listed(fresh)]).toEqual([401, 200]);
  await card.getByRole('button', { name: '停用' }).click();
  await confirm('停用');
  await expect(card).toContainText('已停用');
  expect(await listed(fresh)).toBe(403);
  // What is kept no more cannot be copied, and its mask is not offered in its place.
  await expect(card.getByRole('button', { name: '复制' })).toHaveCount(1);
  await page.getByRole('switch', { name: '只显示一次' }).click();
  await confirm('打开');
  await expect(card.getByRole('button', { name: '复制' })).toHaveCount(0);
  const beyond = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(beyond).toBe(0);
});

test('a visitor reads code and calls, and is led to sign in for the rest', async ({ page }) => {
  await page.goto('/api?tab=interface');
  await expect(page.getByText('/v1/chat/completions')).toBeVisible();
  await page.goto('/api');
  await expect(page.getByRole('link', { name: '登录', exact: true }).last()).toBeVisible();
});
