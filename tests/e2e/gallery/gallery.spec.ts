import { randomUUID } from 'node:crypto';
import type { Locator, Page } from '@playwright/test';
import sharp from 'sharp';
import { TestClient } from '#tests/support/client.ts';
import { expect, test, type Person } from '#tests/support/app.ts';
import { fingers } from '#tests/support/fingers.ts';
import { paint, replyOf } from '#tests/support/images.ts';

/** A painting takes its second, and on a busy machine some more. */
const soon = { timeout: 30_000 };
const viewerOf = (page: Page, name = '修改图片') => page.getByRole('dialog', { name });

const painted = async (client: TestClient, words: string, open: boolean) => {
  const { sent, message } = await paint(client, words, { image: { n: 1, size: 0 } });
  if (open) await client.call('setSession', { session_id: sent.uuid, private: 0 });
  return replyOf(message).images[0]!;
};

const photo = (times = 1) =>
  sharp({
    create: { width: 320 * times, height: 240 * times, channels: 3, background: '#f4f4f4' },
  })
    .composite([
      {
        input: { create: { width: 100, height: 100, channels: 3, background: '#205080' } },
        left: 110,
        top: 70,
      },
    ])
    .png()
    .toBuffer();

const middleOf = async (locator: Locator): Promise<[number, number]> => {
  const box = (await locator.boundingBox())!;
  return [box.x + box.width / 2, box.y + box.height / 2];
};

test('others’ pictures are found, liked and gone on from; one’s own change in the same viewer @I12 @I13 @I14', async ({
  app,
  page,
  person,
}) => {
  const words = `青瓷花瓶${randomUUID().slice(0, 6)}`;
  const other = await TestClient.register(person.client.baseURL);
  const theirs = await painted(other, words, true);
  const mine = await painted(person.client, `${words}在窗边`, true);
  await app.enterAs(person);
  await page.goto('/image/explore');
  const search = page.getByRole('searchbox', { name: '按提示词找图片' });
  await search.fill(words);
  await search.press('Enter');
  await expect(page).toHaveURL(/query=/);
  const list = page.getByRole('list', { name: '发现' });
  await expect(list.getByRole('listitem')).toHaveCount(2);
  // On the tile, without opening it.
  const tile = list
    .getByRole('listitem')
    .filter({ has: page.getByRole('button', { name: words, exact: true }) });
  await tile.getByRole('button', { name: '赞，0 人' }).click();
  await expect(tile.getByRole('button', { name: '赞，1 人' })).toHaveAttribute(
    'aria-pressed',
    'true',
  );
  await page.getByRole('link', { name: '历史最佳' }).click();
  await expect(page).toHaveURL(/rank=all/);
  await expect(list.getByRole('button', { name: words, exact: true })).toBeVisible();

  // Until the whole picture is there, the viewer shows the very one that its tile shows.
  const thumbnail = tile.locator('img');
  const shownBy = (image: HTMLImageElement) => (image.naturalWidth > 0 ? image.currentSrc : '');
  await expect.poll(() => thumbnail.evaluate(shownBy)).toMatch(/size=\d+$/);
  const small = await thumbnail.evaluate(shownBy);
  let letIn = () => {};
  const held = new Promise<void>((resolve) => {
    letIn = resolve;
  });
  const whole = (url: URL) => url.pathname === theirs.url && url.search === '';
  await page.route(whole, async (route) => {
    await held;
    await route.continue();
  });
  await list.getByRole('button', { name: words, exact: true }).click();
  const viewer = viewerOf(page, '查看图片');
  await expect.poll(() => viewer.locator('img').first().evaluate(shownBy)).toBe(small);
  letIn();
  await expect(viewer.locator('img[aria-hidden]')).toHaveCount(0);
  await expect
    .poll(() => viewer.getByRole('img', { name: words }).evaluate(shownBy))
    .toBe(new URL(theirs.url, page.url()).href);
  await expect(viewer.getByText(words, { exact: true })).toBeVisible();
  await expect(viewer.getByRole('button', { name: '赞，1 人' })).toBeVisible();
  await viewer.getByRole('button', { name: '踩，0 人' }).click();
  await expect(viewer.getByRole('button', { name: '赞，0 人' })).toBeVisible();
  await expect(viewer.getByRole('button', { name: '局部重绘' })).toHaveCount(0);
  await expect(page).toHaveURL(new RegExp(`image_id=${theirs.id}`));
  // A swipe turns to one's own, which may be changed.
  const [x, y] = await middleOf(viewer.getByRole('img', { name: words }));
  const touch = await fingers(page);
  await touch.draw([
    [x + 100, y],
    [x + 40, y],
    [x - 60, y],
    [x - 120, y],
  ]);
  const own = viewerOf(page);
  await expect(own.getByText(`${words}在窗边`, { exact: true })).toBeVisible();
  await expect(page).toHaveURL(new RegExp(`image_id=${mine.id}`));
  await page.goBack();
  await expect(own).toBeHidden();
  await expect(page).toHaveURL(/\/image\/\w+(\?(?!.*image_id)|$)/);
  await page.goForward();
  await own.getByRole('button', { name: '更多' }).click();
  await page.getByRole('button', { name: '画同款' }).click();
  await page.waitForURL(/\/chat\?/);
  await expect(page.getByRole('textbox', { name: '画图提示词' })).toHaveValue(`${words}在窗边`);

  // The web gallery: to look at, and to go on from.
  await page.goto(`/image/explore?sort=newest&image_id=${theirs.id}`);
  await expect(viewer.getByRole('button', { name: '画同款' })).toBeVisible();
  await expect(viewer.getByRole('button', { name: '反推提示词' })).toHaveCount(0);
  await expect(viewer.getByRole('button', { name: '图生视频' })).toBeVisible();
  await viewer.getByRole('button', { name: '作为参考图' }).click();
  await page.waitForURL(/\/chat\?/);
  await expect(page.getByRole('img', { name: '参考图' })).toBeVisible();

  // What is drawn from another's words says whose they were, and leads there.
  await page.goto(`/image/explore?sort=newest&image_id=${theirs.id}`);
  await viewer.getByRole('button', { name: '画同款' }).click();
  await expect(page.getByRole('textbox', { name: '画图提示词' })).toHaveValue(words);
  await expect(page.getByRole('button', { name: '不注明源自哪张图片' })).toBeVisible();
  await page.getByRole('button', { name: /^生成/ }).click();
  const drawn = page.getByRole('list', { name: '画好的图片' }).getByRole('img').first();
  await expect(drawn).toBeVisible(soon);
  await expect(page.getByRole('button', { name: '不注明源自哪张图片' })).toHaveCount(0);
  const { list: all } = await person.client.call('imageIndex', { private: 1 });
  await page.goto(`/image/private?image_id=${all[0]!.id}`);
  await own.getByRole('button', { name: '源自 测试用户' }).click();
  await expect(viewer.getByText(words, { exact: true })).toBeVisible();
  await expect(viewer.getByRole('button', { name: '返回原图' })).toBeVisible();
});

const editing = async (page: Page, person: Person) => {
  const file = new Blob([new Uint8Array(await photo())], { type: 'image/png' });
  const { image } = await person.client.upload('uploadImage', file, 'a.png');
  await page.goto(`/image/private?rank=upload&image_id=${image.id}`);
  await viewerOf(page)
    .getByRole('button', { name: /^局部重绘/ })
    .click();
  return image;
};

test('a part is marked with the finger and drawn anew; two fingers zoom and mark nothing; the result stands beside the original @I14', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  const image = await editing(page, person);
  const dialog = page.getByRole('dialog', { name: '局部重绘' });
  const paper = dialog.locator('canvas');
  await expect(paper).toHaveAccessibleName(/还没有标出/);
  const touch = await fingers(page);
  const [x, y] = await middleOf(paper);
  await touch.pinch([x, y], 30, 90);
  await expect(dialog.getByRole('button', { name: /看全图/ })).toBeVisible();
  await expect(paper).toHaveAccessibleName(/还没有标出/);
  await dialog.getByRole('button', { name: /看全图/ }).click();

  await touch.draw([
    [x - 60, y],
    [x, y + 20],
    [x + 60, y],
  ]);
  await expect(paper).toHaveAccessibleName('标了 1 处');
  await dialog.getByRole('radio', { name: '套索' }).click();
  await touch.draw([
    [x - 40, y - 60],
    [x + 40, y - 60],
    [x, y - 20],
  ]);
  await dialog.getByRole('radio', { name: '橡皮' }).click();
  await touch.draw([
    [x, y],
    [x + 10, y],
  ]);
  await expect(paper).toHaveAccessibleName('标了 3 处');
  await dialog.getByRole('button', { name: '撤销' }).click();
  await expect(paper).toHaveAccessibleName('标了 2 处');
  await dialog.getByRole('button', { name: '反选' }).click();
  await expect(paper).toHaveAccessibleName('反选，标了 2 处');
  await dialog.getByRole('button', { name: '反选' }).click();

  await dialog.getByRole('button', { name: /^重绘/ }).click();
  await expect(dialog.getByRole('alert')).toHaveText('请填写修改图片的提示内容');
  await dialog.getByRole('textbox', { name: '修改图片的提示内容' }).fill('一轮红色的月亮');
  await dialog.getByRole('radio', { name: '2 张' }).click();
  await dialog.getByRole('button', { name: /^重绘/ }).click();
  await expect(dialog.getByRole('progressbar', { name: '进度' })).toBeVisible();
  const slider = dialog.getByRole('slider', { name: '对比原图与新图' });
  await expect(slider).toBeVisible(soon);
  await slider.fill('20');
  await expect(dialog.getByRole('group', { name: '结果' }).getByRole('button')).toHaveCount(2);
  const { list } = await person.client.call('imageIndex', { private: 1 });
  const { info } = await person.client.call('imageInfo', { image_id: list[0]!.id });
  expect(info.parents.map(({ id }) => id)).toEqual([image.id]);
  // The frame around what was marked: not all of it, nor nothing.
  expect(info.parameters.mask?.width).toBeGreaterThan(60);
  expect(info.parameters.mask?.height).toBeLessThan(230);
  await dialog.getByRole('button', { name: '看这一张' }).click();
  const viewer = viewerOf(page);
  await expect(viewer.getByText('由它局部重绘而来')).toBeVisible();
  await viewer.getByRole('button', { name: '看来历：上传的' }).click();
  await expect(viewer.getByRole('heading', { name: '用它做成的' })).toBeVisible();
});

test('the viewer takes a picture no larger than the screen shows it, and the whole one once it is enlarged @I13', async ({
  app,
  page,
  person,
}) => {
  const file = new Blob([new Uint8Array(await photo(6))], { type: 'image/png' });
  const { image } = await person.client.upload('uploadImage', file, 'large.png');
  await app.enterAs(person);
  await page.goto(`/image/private?rank=upload&image_id=${image.id}`);
  const viewer = viewerOf(page);
  const shown = viewer.locator('img:not([aria-hidden])').first();
  const source = () =>
    shown.evaluate((each: HTMLImageElement) => each.currentSrc.replace(location.origin, ''));
  await expect.poll(source).toBe(`${image.url}?size=640`);
  await expect(viewer.locator('img[aria-hidden]')).toHaveCount(0);
  const touch = await fingers(page);
  await touch.pinch(await middleOf(shown), 30, 120);
  await expect.poll(source).toBe(image.url);
  // What was there stays until the sharp one can take its place.
  expect(await shown.evaluate((each) => getComputedStyle(each).opacity)).toBe('1');
});

test('own pictures are uploaded, packed, hidden and deleted; the newest stands first @I12 @I15', async ({
  app,
  page,
  person,
}) => {
  await painted(person.client, '石阶上的落叶', true);
  await painted(person.client, '山顶的小亭子', true);
  await app.enterAs(person);
  await page.goto('/image/private');
  const list = page.getByRole('list', { name: '我的图片' });
  await expect(list.getByRole('listitem')).toHaveCount(2);
  // What is drawn meanwhile comes to the head, without a reload.
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await list.getByRole('button', { name: '山顶的小亭子', exact: true }).click();
  const viewer = viewerOf(page);
  await viewer.getByRole('button', { name: '高清放大' }).click();
  const enlarging = page.getByRole('dialog', { name: '高清放大' });
  await expect(enlarging.getByText(/^(\d+)×\1 放大成/)).toBeVisible();
  await enlarging.getByRole('button', { name: /^高清放大/ }).click();
  await expect(enlarging.getByRole('slider', { name: '对比原图与新图' })).toBeVisible(soon);
  await enlarging.getByRole('button', { name: '返回' }).click();
  await viewer.getByRole('button', { name: '关闭' }).click();
  await expect(list.getByRole('listitem')).toHaveCount(3);

  await page.getByRole('button', { name: '选择', exact: true }).click();
  const bar = page.getByRole('toolbar', { name: '对选中的图片' });
  await bar.getByRole('button', { name: '全选' }).click();
  await expect(bar.getByRole('status')).toHaveText('已选 3 张');
  const packed = page.waitForEvent('download');
  await bar.getByRole('button', { name: '下载' }).click();
  expect((await packed).suggestedFilename()).toMatch(/^图片-.*\.zip$/);
  await page.getByRole('button', { name: '选择', exact: true }).click();
  await list.getByRole('button', { name: '石阶上的落叶', exact: true }).click();
  const asked = page.getByRole('alertdialog', { name: '删除图片' });
  await bar.getByRole('button', { name: '删除' }).click();
  await asked.getByRole('button', { name: '取消' }).click();
  await expect(page.getByText('已取消删除')).toBeVisible();
  await bar.getByRole('button', { name: '隐藏' }).click();
  await expect(list.getByText('已隐藏')).toHaveCount(1);

  await page.getByRole('button', { name: '上传', exact: true }).click();
  const sheet = page.getByRole('dialog', { name: '上传图片' });
  await page
    .getByLabel('选择要上传的图片')
    .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: await photo() });
  await expect(sheet.getByText('已上传 1 张')).toBeVisible();
  await sheet.getByRole('button', { name: '关闭' }).click();
  await expect(page).toHaveURL(/rank=upload/);
  await expect(page.getByRole('group', { name: '排序' }).locator('[aria-current]')).toHaveText([
    '我的上传',
  ]);
  const uploads = page.getByRole('list', { name: '我的上传' });
  await expect(uploads.getByRole('listitem')).toHaveCount(1);
  await uploads.getByRole('button').first().click();
  const more = page.getByRole('dialog', { name: '这张图片' });
  for (const answer of ['取消', '删除']) {
    await expect(page.getByText('已取消删除')).toBeHidden();
    if (!(await more.isVisible())) await viewer.getByRole('button', { name: '更多' }).click();
    await more.getByRole('button', { name: '删除' }).click();
    await expect(asked).toContainText('确定要删除此图片?');
    await asked.getByRole('button', { name: answer, exact: true }).click();
    if (answer === '取消') await expect(page.getByText('已取消删除')).toBeVisible();
  }
  await expect(page.getByText('图片已删除').first()).toBeVisible();
  await expect.poll(async () => (await person.client.call('uploadedFiles', {})).total).toBe(0);
});
