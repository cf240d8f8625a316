import type { Page } from '@playwright/test';
import sharp from 'sharp';
import { expect, test, type Person } from '#tests/support/app.ts';

const soon = { timeout: 30_000 };
const viewerOf = (page: Page, name = '修改图片') => page.getByRole('dialog', { name });

/** One of those behind 更多. */
const choose = async (page: Page, name: string) => {
  await viewerOf(page).getByRole('button', { name: '更多' }).click();
  await page.getByRole('dialog', { name: '这张图片' }).getByRole('button', { name }).click();
};

const photo = () =>
  sharp({ create: { width: 320, height: 240, channels: 3, background: '#f4f4f4' } })
    .composite([
      {
        input: { create: { width: 100, height: 100, channels: 3, background: '#205080' } },
        left: 110,
        top: 70,
      },
    ])
    .png()
    .toBuffer();

const uploaded = async (person: Person) => {
  const file = new Blob([new Uint8Array(await photo())], { type: 'image/png' });
  return (await person.client.upload('uploadImage', file, 'a.png')).image;
};

/** Which corner and middle the newest own picture has: red, green, blue, opacity. */
const newest = async (person: Person) => {
  const { list } = await person.client.call('imageIndex', { private: 1 });
  const response = await fetch(person.client.baseURL + list[0]!.url);
  const { data, info } = await sharp(Buffer.from(await response.arrayBuffer()))
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number) => [...data.subarray((y * info.width + x) * 4).subarray(0, 4)];
  return { count: list.length, corner: at(4, 4), side: at(300, 120), middle: at(160, 120) };
};

test('in the viewer a picture is cut out, set before a colour, varied and put into words @I14', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  const image = await uploaded(person);
  await page.goto(`/image/private?rank=upload&image_id=${image.id}`);
  const viewer = viewerOf(page);
  const mode = async (name: string) => {
    if (name === '再来几张') await viewer.getByRole('button', { name: '再来几张' }).click();
    else await choose(page, name);
    return page.getByRole('dialog', { name, exact: true });
  };
  const result = page.getByRole('slider', { name: '对比原图与新图' });

  const cutting = await mode('抠图');
  await cutting.getByRole('button', { name: '抠图 · 免费' }).click();
  await expect(result).toBeVisible(soon);
  const cut = await newest(person);
  expect(cut.corner[3]).toBe(0);
  expect(cut.middle[3]).toBe(255);
  await cutting.getByRole('button', { name: '返回' }).click();

  const ground = await mode('换背景');
  await ground.getByRole('radio', { name: '红' }).click();
  await ground.getByRole('button', { name: '换背景 · 免费' }).click();
  await expect(result).toBeVisible(soon);
  const red = await newest(person);
  expect(red.corner[0]! - red.corner[2]!).toBeGreaterThan(120);
  expect(red.middle[2]! - red.middle[0]!).toBeGreaterThan(60);
  await ground.getByRole('button', { name: '再改一次' }).click();
  // Of the frame's part alone: it is drawn first.
  await ground.getByRole('button', { name: '只换框里的' }).click();
  const submit = ground.getByRole('button', { name: '换背景 · 免费' });
  await expect(submit).toBeDisabled();
  const paper = (await ground.locator('canvas').boundingBox())!;
  await page.mouse.move(paper.x + 2, paper.y + 2);
  await page.mouse.down();
  await page.mouse.move(paper.x + paper.width * 0.3, paper.y + paper.height - 2, { steps: 4 });
  await page.mouse.up();
  await submit.click();
  await expect(result).toBeVisible(soon);
  const part = await newest(person);
  expect(part.corner[0]! - part.corner[2]!).toBeGreaterThan(120);
  expect(Math.abs(part.side[0]! - part.side[2]!)).toBeLessThan(20);
  await ground.getByRole('button', { name: '返回' }).click();

  const varying = await mode('再来几张');
  await varying.getByRole('textbox', { name: '再来几张的提示词' }).fill('雪山上的月亮');
  await varying.getByRole('radio', { name: '2 张' }).click();
  await varying.getByRole('button', { name: '再来几张 · 免费' }).click();
  await expect(varying.getByRole('group', { name: '结果' }).getByRole('button')).toHaveCount(
    2,
    soon,
  );
  expect((await newest(person)).count).toBe(5);
  await varying.getByRole('button', { name: '返回' }).click();

  const looking = await mode('反推提示词');
  await expect(looking.getByText(/内置画板 看的/)).toBeVisible(soon);
  await looking.getByRole('button', { name: '用它画图' }).first().click();
  await page.waitForURL(/\/chat\?/);
  await expect(page.getByRole('textbox', { name: '画图提示词' })).not.toHaveValue('');
});

test('from the viewer others like it are asked for at once, and a film is begun with it @I14 @V2', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  const image = await uploaded(person);
  const address = `/image/private?rank=upload&image_id=${image.id}`;
  await page.goto(address);
  await viewerOf(page).getByRole('button', { name: '再来几张' }).click();
  const varying = page.getByRole('dialog', { name: '再来几张', exact: true });
  await varying.getByRole('radio', { name: '1 张' }).click();
  const elsewhere = varying.getByRole('button', { name: '到新会话里画 · 内置 免费' });
  await expect(elsewhere).toBeInViewport({ ratio: 1 });
  await elsewhere.click();
  await page.waitForURL(/\/chat\?/);
  const answer = page.locator('[data-message]').last();
  await expect(answer.getByRole('img', { name: '参考图' })).toBeVisible(soon);
  await expect(
    answer.getByRole('list', { name: '画好的图片' }).getByRole('img').first(),
  ).toBeVisible(soon);
  await app.walk(address);
  await viewerOf(page).getByRole('button', { name: '图生视频' }).click();
  await page.waitForURL(/\/chat\?/);
  const film = page.getByRole('dialog', { name: /视频/ });
  await expect(film.getByRole('img').first()).toBeVisible(soon);
});

test('Escape leads one step back each time; what is marked is undone, done again and not thrown away unasked @I14', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  const image = await uploaded(person);
  await page.goto(`/image/private?rank=upload&image_id=${image.id}`);
  const edit = page.getByRole('dialog', { name: '局部重绘', exact: true });
  await expect(viewerOf(page).getByRole('button', { name: '局部重绘' })).toBeVisible();
  await page.keyboard.press('e');
  const paper = edit.locator('canvas');
  const box = (await paper.boundingBox())!;
  const stroke = async (y: number) => {
    await page.mouse.move(box.x + 20, box.y + y);
    await page.mouse.down();
    await page.mouse.move(box.x + 80, box.y + y, { steps: 4 });
    await page.mouse.up();
  };
  const marked = (count: number) => expect(paper).toHaveAccessibleName(`标了 ${count} 处`);
  await stroke(20);
  await stroke(60);
  await marked(2);
  await page.keyboard.press('Control+z');
  await marked(1);
  await page.keyboard.press('Control+Shift+z');
  await marked(2);
  // The pen is made larger and turned round by keys; with the space bar held nothing is marked.
  const size = edit.getByRole('slider', { name: '画笔大小' });
  const thick = Number(await size.inputValue());
  await page.keyboard.press(']');
  await expect(size).toHaveValue(String(thick + 2));
  await page.keyboard.press('x');
  await expect(edit.getByRole('radio', { name: '橡皮' })).toBeChecked();
  await page.keyboard.press('x');
  await expect(edit.getByRole('radio', { name: '画笔' })).toBeChecked();
  await page.keyboard.down('Space');
  await stroke(40);
  await page.keyboard.up('Space');
  await marked(2);

  // It is kept like words that were typed: a page that is killed begins with it again.
  await page.waitForTimeout(500);
  await page.reload();
  await viewerOf(page)
    .getByRole('button', { name: /^局部重绘/ })
    .click();
  await marked(2);

  const sure = page.getByRole('alertdialog', { name: '放弃涂抹？' });
  for (const _ of [1, 2]) {
    await page.keyboard.press('Escape');
    await expect(sure).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(sure).toBeHidden();
    await marked(2);
  }
  await page.keyboard.press('Escape');
  await sure.getByRole('button', { name: '放弃' }).click();
  await expect(viewerOf(page)).toBeVisible();
  await viewerOf(page)
    .getByRole('button', { name: /^局部重绘/ })
    .click();
  await expect(paper).toHaveAccessibleName(/还没有标出/);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expect(viewerOf(page)).toBeHidden();
});
