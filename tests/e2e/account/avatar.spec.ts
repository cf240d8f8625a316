import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { expect, foreignServer, test } from '#tests/support/app.ts';
import { TestClient } from '#tests/support/client.ts';
import { startPhone } from '#tests/support/phone.ts';
import { shellComplete } from '#tests/support/shell.ts';
import { openRoughLine, type RoughState } from '#tests/load/lib/rough-line.ts';

test.skip(foreignServer, 'needs a server whose line the test may spoil');

test('a face that is sent on a train is there once, by itself, when the line is, and until then it is said why not @O3 @P1', async ({
  baseURL,
}) => {
  test.setTimeout(240_000);
  const client = await TestClient.register(baseURL ?? '');
  const line = await openRoughLine(baseURL ?? '');
  const phone = await startPhone(client);
  try {
    const { page } = phone;
    const keys: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/upload_avatar'))
        keys.push(request.headers()['idempotency-key'] ?? '');
    });
    const face = async () => (await client.call('userInfo', {})).avatar;
    const sheet = page.getByRole('dialog', { name: '选取头像' });
    const use = sheet.getByRole('button', { name: '使用这张' });
    const choose = async () => {
      const noise = { width: 300, height: 200, channels: 3 as const };
      const buffer = await sharp(randomBytes(300 * 200 * 3), { raw: noise })
        .jpeg()
        .toBuffer();
      const file = { name: 'a.jpg', mimeType: 'image/jpeg', buffer };
      await page.getByLabel('选择头像').setInputFiles(file);
      await expect(use).toBeEnabled();
      await expect(sheet.locator('img')).toBeVisible();
    };
    await page.goto(`${line.baseURL}/account?tab=profile`);
    await shellComplete(page);
    await choose();
    line.set('down');
    const before = await face();
    await use.click();
    await expect(sheet.getByText(/现在没有网络.*自动上传/)).toBeVisible();
    await expect(sheet.locator('img')).toBeVisible();
    line.set('well');
    await expect(page.getByText('头像已更新')).toBeVisible();
    const first = await face();
    expect(first).not.toBe(before);

    // A line that comes for some seconds and goes: each time it comes with another connection.
    await choose();
    line.set('silent');
    await use.click();
    await expect(sheet.getByText(/网络没有回应.*自动上传/)).toBeVisible();
    const away: RoughState[] = ['silent', 'down', 'silent', 'silent'];
    for (const state of away) {
      line.set('well');
      const gone = sheet.waitFor({ state: 'hidden', timeout: 7_000 });
      const isGone = await gone.then(
        () => true,
        () => false,
      );
      if (isGone) break;
      line.set(state);
      await sleep(6_000);
    }
    await expect(sheet).toBeHidden();
    expect(await face()).not.toBe(first);

    // Who closes it while it waits wants it no more.
    const second = await face();
    await choose();
    line.set('down');
    await use.click();
    await expect(sheet.getByText(/自动上传/)).toBeVisible();
    await sheet.getByRole('button', { name: '关闭' }).click();
    line.set('well');
    await expect(page.getByText('现在没有网络')).toBeHidden();
    await sleep(2_000);
    expect(await face()).toBe(second);
    // Each was one upload, however often it was sent.
    expect(new Set(keys).size).toBe(3);
    expect(keys.length).toBeGreaterThan(3);
  } finally {
    await phone.end();
    await line.close();
  }
});
