import { expect, test } from '#tests/support/app.ts';
import { paint } from '#tests/support/images.ts';

const soon = { timeout: 30_000 };

test('on a desktop a picture has its acts below the mouse and opens with its words, its seed and all that can be made of it @I1 @I14', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  const { sent } = await paint(person.client, '雪山上的月亮', {
    image: { n: 2, size: 3, parameters: { seed: 4711 } },
  });
  await page.goto(`/chat?uuid=${sent.uuid}`);
  const tile = page.getByRole('button', { name: '查看第 1 张' });
  await tile.hover(soon);
  const asBase = page.getByRole('button', { name: '第 1 张作为参考图' });
  await expect(asBase.locator('xpath=..')).toHaveCSS('opacity', '1');
  // The pictures have the room that is there.
  const grid = (await page.getByRole('list', { name: '画好的图片' }).boundingBox())!;
  expect(grid.width).toBeGreaterThan(600);
  await asBase.click();
  await expect(page.getByRole('button', { name: '修改参考图' })).toBeVisible();
  await page.getByRole('button', { name: '不用参考图' }).click();

  const more = page.getByRole('button', { name: '第 1 张的更多操作' });
  await tile.hover();
  await more.click();
  const menu = page.getByRole('dialog', { name: '第 1 张' });
  const [at, from] = [(await menu.boundingBox())!, (await more.boundingBox())!];
  expect(Math.abs(at.x + at.width / 2 - from.x - from.width / 2)).toBeLessThan(at.width);
  await page.keyboard.press('Escape');
  await expect(menu).toHaveCount(0);
  await expect(more).toBeFocused();

  await tile.click();
  const viewer = page.getByRole('dialog', { name: '修改图片' });
  await expect(viewer.getByText('雪山上的月亮', { exact: true })).toBeVisible(soon);
  await expect(viewer.getByText('4711', { exact: true })).toBeVisible();
  await expect(viewer.getByRole('button', { name: /^局部重绘/ })).toBeVisible();
  await page.keyboard.press('ArrowRight');
  await expect(viewer.getByText('4712', { exact: true })).toBeVisible(soon);
  // It is gone on from here, not in another session.
  await viewer.getByRole('button', { name: '更多' }).click();
  await page
    .getByRole('dialog', { name: '这张图片' })
    .getByRole('button', { name: '作为参考图' })
    .click();
  await expect(viewer).toHaveCount(0);
  await expect(page.getByRole('button', { name: '修改参考图' })).toBeVisible();
  expect(app.uuid()).toBe(sent.uuid);
});
