import type { Page } from '@playwright/test';
import sharp from 'sharp';
import { type App, expect, foreignServer, test, type Person } from '#tests/support/app.ts';
import { fingers } from '#tests/support/fingers.ts';
import { paint } from '#tests/support/images.ts';

const soon = { timeout: 30_000 };
const words = (page: Page) => page.getByRole('textbox', { name: '画图提示词' });

const png = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#205080' } })
    .png()
    .toBuffer();

const open = async (app: App, person: Person, more = ''): Promise<string> => {
  const { uuid } = await person.client.call('newSession', { type: 1 });
  await app.page.goto(`/chat?uuid=${uuid}${more}`);
  await expect(words(app.page)).toBeVisible(soon);
  return uuid;
};

/** As a browser gives files to what they are pasted into or dropped on. */
const give = async (page: Page, event: 'paste' | 'drop', file: Buffer, type: string) =>
  page.evaluate(
    ([kind, data, mime]) => {
      const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
      const files = new DataTransfer();
      files.items.add(new File([bytes], 'a.png', { type: mime }));
      if (kind === 'paste')
        document
          .querySelector('[data-send-box] textarea')
          ?.dispatchEvent(
            new ClipboardEvent('paste', { clipboardData: files, bubbles: true, cancelable: true }),
          );
      else
        document.body.dispatchEvent(
          new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true }),
        );
    },
    [event, file.toString('base64'), type] as const,
  );

test('a pasted or dropped picture becomes the base; what is none says so; an address that cannot be had, too @I8 @I15', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  await open(app, person);
  const base = page.getByRole('button', { name: '修改参考图' });
  await give(page, 'paste', await png(300, 200), 'image/png');
  await expect(base).toBeVisible(soon);
  await page.getByRole('button', { name: '不用参考图' }).click();
  await expect(base).toHaveCount(0);
  await give(page, 'drop', await png(200, 300), 'image/png');
  await expect(base).toBeVisible(soon);
  await page.getByRole('button', { name: '不用参考图' }).click();
  await give(
    page,
    'drop',
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    'image/svg+xml',
  );
  await expect(page.getByText(/^(?:图片没有加上：|只支持图片)/)).toBeVisible();
  await open(app, person, `&image_url=${encodeURIComponent('http://127.0.0.1:9/a.png')}`);
  await expect(page.getByText(/^参考图没有取到/)).toBeVisible(soon);
  await expect(base).toHaveCount(0);
});

test('what was chosen once stands in the box until it is taken away; an idea is one press @I8 @I1', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  await open(app, person);
  const ideas = page.getByRole('list', { name: '试试这些' }).getByRole('button');
  await expect(ideas).toHaveCount(8);
  const shown = ideas.nth(3).locator('img');
  await expect.poll(() => shown.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(480);
  await ideas.nth(3).click();
  await expect(words(page)).toHaveValue('鹊桥，满天繁星');
  await page.getByRole('button', { name: '画图工具' }).click();
  const tool = page
    .getByRole('dialog', { name: '画图工具' })
    .or(page.getByRole('complementary', { name: '画图工具' }));
  const on = (tab: string) => tool.getByRole('tab', { name: tab, exact: true }).click();
  await on('风格');
  await tool.getByRole('radio', { name: '水墨' }).click();
  // How it looks is seen on it.
  const sample = tool.locator('label', { hasText: '水墨' }).locator('img');
  await expect.poll(() => sample.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(160);
  await on('LoRA');
  await tool.getByRole('button', { name: '敦煌壁画' }).click();
  await on('参数');
  await tool.getByRole('textbox', { name: '随机种子' }).fill('4711');
  await page.keyboard.press('Escape');
  for (const [change, drop] of [
    ['修改风格：水墨', '不用风格 水墨'],
    ['修改LoRA：敦煌壁画 70%', '不用LoRA 敦煌壁画 70%'],
    ['修改种子：4711', '不用种子 4711'],
  ] as const) {
    const chip = page.getByRole('button', { name: change });
    await expect(chip).toBeVisible();
    await page.getByRole('button', { name: drop }).click();
    await expect(chip).toHaveCount(0);
  }
});

test('translating is offered where it acts, and nowhere else @I8', async ({
  app,
  page,
  person,
}) => {
  test.skip(foreignServer, 'needs the service that the tests connect');
  await app.enterAs(person);
  const translation = page.getByRole('switch', { name: /译成英文|翻译成英文/ });
  const choices = page.getByRole('dialog', { name: '张数与尺寸' });
  for (const [model, offered] of [
    ['dall-e-3', 1],
    ['builtin-canvas', 0],
  ] as const) {
    const { uuid } = await person.client.call('newSession', { type: 1, model });
    await page.goto(`/chat?uuid=${uuid}&open=img-tool&tab=prompt`);
    await expect(page.getByRole('textbox', { name: '画面描述' })).toBeVisible(soon);
    await expect(translation).toHaveCount(offered);
    await page.goto(`/chat?uuid=${uuid}`);
    await page.getByRole('button', { name: /^张数：/ }).click();
    await expect(choices.getByRole('radiogroup').first()).toBeVisible();
    await expect(choices.getByRole('switch')).toHaveCount(offered);
    if (offered === 0) continue;
    // What the translation takes is in the button's price before it is pressed.
    await page.keyboard.press('Escape');
    await words(page).fill('雪山下的湖水与归来的渔船');
    await expect(page.getByRole('button', { name: /^生成，\d+ tokens$/ })).toBeVisible();
    await page.getByRole('button', { name: /^张数：/ }).click();
    await choices.getByRole('switch').click();
    await page.keyboard.press('Escape');
    await expect(
      page.getByRole('button', { name: /^生成，约 \d+ tokens，含翻译 [1-9]\d*$/ }),
    ).toBeVisible();
  }
});

test('what the canvas cannot draw stands under the picture @I1', async ({ app, page, person }) => {
  await app.enterAs(person);
  const { sent } = await paint(person.client, '雪山上的大熊猫吃苹果', { image: { n: 1, size: 0 } });
  await page.goto(`/chat?uuid=${sent.uuid}`);
  const unread = page.getByText(/^没听懂：大熊猫、苹果，/);
  await expect(unread).toBeVisible(soon);
  await expect(unread).toHaveText(/，(换成其他画图模型可画|连接模型可画)$/);
  // What a picture is drawn with stands in its settings, not what words are written with.
  await page.getByRole('button', { name: '更多', exact: true }).first().click();
  await page.getByRole('button', { name: '设置', exact: true }).click();
  const settings = page.getByRole('dialog', { name: '会话设置' });
  await expect(settings).toBeVisible();
  await expect(settings.getByRole('slider')).toHaveCount(0);
});

test('the selector tells in a row of its own why an address gives no picture @I15', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  await open(app, person);
  await page.getByRole('button', { name: '参考图', exact: true }).click();
  await page.getByRole('button', { name: /选一张参考图/ }).click();
  await page.getByRole('textbox', { name: '图片网址' }).fill('http://127.0.0.1:9/a.png');
  await page.getByRole('button', { name: '导入' }).click();
  const failed = page.getByRole('alert').filter({ hasText: '上传失败' });
  await expect(failed).toBeVisible(soon);
  const [tile, text] = await Promise.all([
    failed.locator('xpath=..').boundingBox(),
    failed.boundingBox(),
  ]);
  expect(text!.y).toBeGreaterThanOrEqual(tile!.y);
  expect(text!.y + text!.height).toBeLessThanOrEqual(tile!.y + tile!.height + 1);
  expect(text!.x + text!.width).toBeLessThanOrEqual(tile!.x + tile!.width + 1);
  await failed.getByRole('button', { name: '重试' }).click();
  await expect(failed).toBeVisible(soon);
  await page.getByRole('button', { name: '不上传这张' }).click();
  await expect(failed).toHaveCount(0);
});

test('in a chat, too, a part is marked on the whole screen; two fingers zoom and mark nothing @I10', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  const { sent } = await paint(person.client, '雪山上的月亮', { image: { n: 1, size: 0 } });
  await page.goto(`/chat?uuid=${sent.uuid}`);
  await page.getByRole('button', { name: '第 1 张的更多操作' }).click(soon);
  await page.getByRole('button', { name: '局部重绘' }).click();
  const editor = page.getByRole('dialog', { name: '局部重绘' });
  const paper = editor.locator('canvas');
  await expect(paper).toHaveAccessibleName(/还没有标出/);
  const whole = await editor.boundingBox();
  expect(whole).toMatchObject({ x: 0, y: 0, width: page.viewportSize()!.width });
  const box = (await paper.boundingBox())!;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const touch = await fingers(page);
  await touch.pinch([x, y], 30, 90);
  await expect(editor.getByRole('button', { name: /看全图/ })).toBeVisible();
  await expect(paper).toHaveAccessibleName(/还没有标出/);
  await editor.getByRole('button', { name: /看全图/ }).click();
  await touch.draw([
    [x - 60, y],
    [x, y + 20],
    [x + 60, y],
  ]);
  await expect(paper).toHaveAccessibleName('标了 1 处');
  await editor.getByRole('radio', { name: '橡皮' }).click();
  await editor.getByRole('button', { name: '反选' }).click();
  await expect(paper).toHaveAccessibleName(/^反选/);
  await editor.getByRole('textbox', { name: '这里画什么' }).fill('一盏红灯笼');
  await editor.getByRole('button', { name: /^重绘这块/ }).click();
  await expect(editor).toHaveCount(0);
  await expect(page.locator('[data-message]').last()).toContainText('一盏红灯笼');
});
