import { readFile } from 'node:fs/promises';
import { expect, test } from '#tests/support/app.ts';
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
  expect(csv).toContain('builtin-assistant,1,');
  await page.getByLabel('日期').fill('2026-01-05');
  await expect(page.getByText('这一天没有数据')).toBeVisible();

  await page.getByRole('link', { name: 'API-KEY', exact: true }).click();
  await rows.getByRole('button', { name: /^删除/ }).click();
  await page.getByRole('button', { name: '删除', exact: true }).click();
  await expect(page.getByText('删除成功')).toBeVisible();
  await expect(rows).toHaveCount(0);
});

test('a visitor reads code and calls, and is led to sign in for the rest', async ({ page }) => {
  await page.goto('/api?tab=interface');
  await expect(page.getByText('/v1/chat/completions')).toBeVisible();
  await page.goto('/api');
  await expect(page.getByRole('link', { name: '登录', exact: true }).last()).toBeVisible();
});
