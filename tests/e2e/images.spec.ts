import sharp from 'sharp';
import { expect, foreignServer, test } from '../support/app.ts';
import type { Page } from '@playwright/test';

const words = (page: Page) => page.getByRole('textbox', { name: '画图提示词' });
const go = (page: Page) => page.getByRole('button', { name: /^生成/ });
const made = (page: Page) => page.getByRole('list', { name: '画好的图片' });
const progress = (page: Page) => page.getByRole('progressbar', { name: '作画进度' });
/** A painting takes its second, and on a busy machine some more. */
const soon = { timeout: 30_000 };

test('a drawing is asked for at home, goes on while one is away, and leads to others @I1 @I11 @C2 @H2 @H3', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  await page.goto('/?tab=imagine');
  await expect(page.getByRole('tab', { name: '画图' })).toHaveAttribute('aria-selected', 'true');
  await page.getByRole('textbox', { name: '输入问题' }).fill('黄昏的雪山，湖面倒影');
  await page.getByRole('radio', { name: '水墨' }).click();
  await page.getByRole('button', { name: '发送 内置 免费', exact: true }).click();
  await page.waitForURL(/\/chat\?/);
  // What was chosen at home goes along.
  await expect(page.getByText('风格 水墨')).toBeVisible();
  await expect(page.getByText('图片', { exact: true })).toBeVisible();
  await expect(go(page)).toHaveAccessibleName(/内置 免费/);
  const pending = page.getByRole('list', { name: '正在画' });
  let before = 0;
  await expect
    .poll(async () => (before = (await pending.boundingBox())?.height ?? 0))
    .toBeGreaterThan(100);
  await expect(progress(page)).toBeVisible();

  // Away and back: the pictures stand where their place was kept.
  const address = page.url();
  await page.goto('/tasks');
  await expect(
    page.getByRole('main').getByRole('link', { name: '黄昏的雪山，湖面倒影' }),
  ).toBeVisible();
  await page.goto(address);
  await expect(made(page)).toBeVisible(soon);
  await expect(made(page).getByRole('img')).toHaveCount(2);
  const after = await made(page).boundingBox();
  expect(Math.abs((after?.height ?? 0) - before)).toBeLessThanOrEqual(2);

  await made(page).getByRole('button', { name: '查看第 2 张' }).click();
  const viewer = page.getByRole('dialog', { name: '修改图片' });
  await expect(viewer.getByText('2 / 2')).toBeVisible();
  await expect(viewer.getByRole('button', { name: '复制提示词' })).toBeVisible();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: '参数', exact: true }).click();
  await expect(page.getByText('种子')).toBeVisible();

  // One of them, larger; then it, as the base of another.
  const menu = page.getByRole('dialog', { name: '第 1 张' });
  await page.getByRole('button', { name: '第 1 张的更多操作' }).click();
  await menu.getByRole('button', { name: '高清放大 2×' }).click();
  await expect(page.getByText('高清放大 2×').first()).toBeVisible();
  await expect(made(page)).toHaveCount(2, soon);
  await page.getByRole('button', { name: '第 1 张的更多操作' }).last().click();
  await menu.getByRole('button', { name: '作为参考图' }).click();
  await expect(page.getByRole('button', { name: '不用参考图' })).toBeVisible();
  await words(page).fill('换成月夜');
  await page.getByRole('button', { name: /^张数/ }).click();
  await page.getByRole('radio', { name: '1', exact: true }).click();
  await page.keyboard.press('Escape');
  await go(page).click();
  await expect(page.getByRole('log').getByText('参考图', { exact: true })).toBeVisible();
  await expect(page.getByRole('button', { name: '不用参考图' })).toBeHidden();
  await expect(made(page).last().getByRole('img')).toHaveCount(1, soon);
  await page.getByRole('button', { name: '再来几张', exact: true }).last().click();
  await expect(page.getByText('再来几张').last()).toBeVisible();

  // Ten at once, and not after all.
  await page.getByRole('button', { name: /^张数/ }).click();
  await page.getByRole('radio', { name: '10', exact: true }).click();
  await page.keyboard.press('Escape');
  await words(page).fill('江南小城，雨后的花');
  await go(page).click();
  await page
    .locator('[data-message]', { hasText: '江南小城' })
    .getByRole('button', { name: '取消' })
    .click();
  await expect(page.getByText('已取消，没有扣费')).toBeVisible(soon);
  await app.walk('/?channel=private');
  const card = page.getByRole('main').locator('[data-sessions] > [data-session]').first();
  await expect(card.locator('img').first()).toBeVisible(soon);
  await app.walk('/tasks');
  await page.getByRole('button', { name: '没成功' }).click();
  await expect(page.getByRole('link', { name: '江南小城，雨后的花' })).toBeVisible();
  await expect(page.getByText('没有扣费').first()).toBeVisible();
});

test('another model has its own counts, sizes and price; a base picture is uploaded; what fails says why @I8 @I11 @I15 @C16 @C18', async ({
  app,
  page,
  person,
}) => {
  test.skip(foreignServer, 'needs the service that the tests connect');
  await app.enterAs(person);
  const { uuid } = await person.client.call('newSession', { type: 1, model: 'builtin-canvas' });
  await page.goto(`/chat?uuid=${uuid}`);
  await go(page).click();
  await expect(page.getByText('请输入画图提示内容')).toBeVisible();

  // Pictures from the device: a wrong one stays out, and says why.
  await page.getByRole('button', { name: '参考图', exact: true }).click();
  await page.getByRole('button', { name: /选一张参考图/ }).click();
  const picker = page.getByRole('dialog', { name: '选择参考图' });
  await expect(picker).toBeVisible();
  const paint = (kind: 'gif' | 'jpeg') =>
    sharp({ create: { width: 640, height: 480, channels: 3, background: '#33aa77' } })
      .toFormat(kind)
      .toBuffer();
  const file = page.getByLabel('从相册选择图片');
  await file.setInputFiles({ name: 'a.gif', mimeType: 'image/gif', buffer: await paint('gif') });
  await expect(picker.getByText('上传失败：只能选择 jpg 或 png 图片')).toBeVisible();
  await file.setInputFiles({ name: 'a.jpg', mimeType: 'image/jpeg', buffer: await paint('jpeg') });
  await expect(picker).toBeHidden();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: '修改参考图' })).toBeVisible();
  // It is among one's own from now on.
  await page.getByRole('button', { name: '修改参考图' }).click();
  await page.getByRole('button', { name: '换一张' }).click();
  await expect(
    picker.getByRole('list', { name: '上传的' }).getByRole('button').first(),
  ).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(picker).toBeHidden();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: '不用参考图' }).click();

  // The model is changed while nothing was asked; what is usual changes with it.
  await page.getByTitle('选择模型').click();
  await page.getByRole('radio', { name: /dall-e-3|DALL/i }).click();
  await expect(page.getByText('修改成功')).toBeVisible();
  // Two of them, which is usual, nobody here could pay: by itself it is one.
  await expect(page.getByRole('button', { name: '张数：1' })).toBeVisible();
  await expect(go(page)).toHaveAccessibleName(/15000 tokens/);
  await page.getByRole('button', { name: /^张数/ }).click();
  await page.getByRole('radio', { name: '2', exact: true }).click();
  await page.keyboard.press('Escape');
  await expect(go(page)).toHaveAccessibleName(/30000 tokens/);
  await expect(page.getByText('余额不足')).toBeVisible();
  await words(page).fill('a lighthouse in a storm');
  await go(page).click();
  // It can not be paid: the way out stands beside it.
  const notPaid = page.getByRole('alert').filter({ hasText: '余额不足' });
  await expect(notPaid).toBeVisible();
  await expect(page.getByRole('button', { name: '换免费模型' })).toBeVisible();
  await expect(page.getByTitle('有了消息以后，模型不能再换')).toBeDisabled();

  // One can be paid, but its service fails: nothing is taken, and it can be tried again.
  await page.getByRole('button', { name: /^张数/ }).click();
  await page.getByRole('radio', { name: '1', exact: true }).click();
  await page.keyboard.press('Escape');
  await expect(go(page)).toHaveAccessibleName(/15000 tokens/);
  await words(page).fill('a lighthouse at dawn');
  await go(page).click();
  const failed = page.locator('[data-message]', { hasText: 'at dawn' });
  await expect(failed.getByRole('alert')).toContainText('没有扣费', soon);
  await failed.getByRole('button', { name: '重试 · 15000 tokens', exact: true }).click();
  await expect(failed.getByRole('alert')).toContainText('没有扣费', soon);
  const { chatgpt_balance: left } = await person.client.call('userInfo', {});
  expect(left).toBe(20_000);
  await app.walk('/tasks');
  const again = page.getByRole('button', { name: '重试 · 15000 tokens', exact: true });
  await expect(again.first()).toBeVisible();
});
