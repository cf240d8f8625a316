import { type Person, expect, foreignServer, test as base } from '#tests/support/app.ts';
import { TestClient } from '#tests/support/client.ts';
import { ADMIN_PASSWORD } from '#tests/support/server.ts';
import { onePixel } from '#tests/support/world.ts';

const test = base.extend<{ manager: Person }>({
  manager: async ({ baseURL }, use) => {
    const client = new TestClient(baseURL ?? '');
    await client.login('admin', ADMIN_PASSWORD);
    await use({ account: 'admin', password: ADMIN_PASSWORD, client });
  },
});
test.skip(foreignServer, 'needs its administrator');

const named = (name: string) => `${name}${Date.now().toString(36)}`;
const file = Buffer.from('PK-program-'.repeat(500));

const publish = async (
  { client }: Person,
  fields: Readonly<Record<string, string>>,
): Promise<number> => {
  const form = new FormData();
  for (const [name, value] of Object.entries({
    version: '1.0',
    version_desc: '第一版',
    md_description: '## 能做什么\n\n- 写文章\n- <script>document.title="坏"</script>',
    ...fields,
  }))
    form.set(name, value);
  form.set('cover_image', new Blob([new Uint8Array(onePixel)]), 'cover.png');
  form.set('file', new Blob([new Uint8Array(file)]), 'tool.zip');
  const answer = await fetch(`${client.baseURL}/api/product/save_app`, {
    method: 'POST',
    headers: client.headers(),
    body: form,
  });
  return ((await answer.json()) as { data: { id: number } }).data.id;
};

test('from the entries to the market: chosen by type, bought, downloaded, commented on @M1', async ({
  app,
  page,
  person,
  manager,
  browser,
}) => {
  const [type, title] = [named('效率'), named('写作助手')];
  const picture = new Blob([new Uint8Array(onePixel)]);
  const { image } = await manager.client.upload('uploadImage', picture, 'a.png');
  const images_url = JSON.stringify([image.url, 'https://example.com/b.png']);
  const id = await publish(manager, {
    type,
    title,
    price: '990',
    developer: '鹊桥',
    images_url,
  });
  await app.enterAs(person);
  await page.goto('/account');
  await page.getByRole('main').getByRole('link', { name: '应用市场' }).click();
  const chip = page.getByRole('group', { name: '类型' }).getByRole('link', { name: type });
  await chip.click();
  await expect(chip).toHaveClass(/chip-on/);
  await expect(page.getByRole('listitem').filter({ hasText: title })).toContainText('￥9.90');
  await page.getByRole('link', { name: new RegExp(title) }).click();
  await expect(page).toHaveURL(/\/apps\/details\?appid=\d+/);
  await expect(page.getByRole('heading', { name: '能做什么' })).toBeVisible();
  await expect(page).toHaveTitle(new RegExp(title));
  await expect(page.getByText('取得这个应用之后可以评论')).toBeVisible();
  await page.getByText('校验').click();
  await expect(page.getByText(/SHA-256 [0-9a-f]{64}/)).toBeVisible();
  await expect(page.getByText('还没有人评论')).toBeVisible();
  await page.getByRole('button', { name: '放大预览图 1' }).click();
  const close = page.getByRole('button', { name: '关闭' });
  await close.click();
  await expect(close).toBeHidden();

  // A stranger reads it all, and is led to sign in and back instead of getting it.
  const context = await browser.newContext({ ...test.info().project.use, serviceWorkers: 'block' });
  const stranger = await context.newPage();
  await stranger.goto(page.url());
  await expect(stranger.getByRole('heading', { name: '能做什么' })).toBeVisible();
  await expect(stranger.getByRole('button', { name: '下载', exact: true })).toHaveCount(0);
  await expect(stranger.getByRole('textbox', { name: '评论' })).toHaveCount(0);
  await stranger.getByRole('link', { name: '登录后购买' }).click();
  await expect(stranger).toHaveURL(/\/login\?back=.*appid/);
  await context.close();

  // It was free when this page was read, and is no longer when it is pressed: the price comes.
  await manager.client.call('saveAppGeneralInfo', { id, price: 0 });
  await page.reload();
  const free = page.getByRole('button', { name: '下载', exact: true }).first();
  await expect(free).toBeVisible();
  await manager.client.call('saveAppGeneralInfo', { id, price: 990 });
  await free.click();
  await expect(page.getByText('取得这个应用之后才能下载')).toBeVisible();
  await page.getByRole('button', { name: '购买 ￥9.90' }).click();
  await expect(page.getByRole('img', { name: '沙箱收银台二维码' })).toBeVisible();
  const opened = page.waitForEvent('popup');
  await page.getByRole('link', { name: '打开收银台' }).click();
  const cashier = await opened;
  await cashier.getByRole('button', { name: '确认付款' }).click();
  await expect(cashier.getByText('付款成功')).toBeVisible();
  await cashier.close();

  const get = page.getByRole('button', { name: '下载', exact: true }).first();
  await expect(get).toBeVisible();
  expect((await get.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  const begun = page.waitForEvent('download');
  await get.click();
  const download = await begun;
  expect(download.suggestedFilename()).toBe('tool.zip');

  await page.getByRole('textbox', { name: '评论' }).fill('很好用，推荐');
  // No stars are chosen for anybody.
  await page.getByRole('button', { name: '发表评论' }).click();
  await expect(page.getByText('请点几颗星')).toBeVisible();
  // Keys and screen readers have a slider, fingers the stars.
  const slider = page.getByRole('slider', { name: '评分' });
  await slider.press('End');
  await expect(slider).toHaveAttribute('aria-valuetext', '5 星');
  await slider.press('Home');
  const stars = page.locator('[role="radio"]').last();
  await stars.evaluate((each) => each.scrollIntoView({ block: 'center' }));
  const { width = 0, height = 0 } = (await stars.boundingBox()) ?? {};
  // Each star lies over half of itself.
  await stars.tap({ force: true, position: { x: width - 3, y: height / 2 } });
  await page.getByRole('button', { name: '发表评论' }).click();
  await expect(page.getByText('发表成功')).toBeVisible();
  await expect(page.getByRole('listitem').filter({ hasText: '很好用，推荐' })).toBeVisible();
  await expect(page.getByText('★ 5.0（1 人）')).toBeVisible();
  await expect(page.getByText('还没有人评论')).toBeHidden();
  await page.getByRole('main').getByRole('link', { name: '应用市场' }).click();
  await expect(page).toHaveURL(/\/apps$/);
});

test('a manager publishes in two steps, mends, adds a version, removes a comment, takes down @M2', async ({
  app,
  page,
  manager,
}) => {
  const title = named('代码助手');
  await app.enterAs(manager);
  await page.goto('/market/manager');
  await page.waitForURL(/\/market\/manager\/apps/);
  const sheet = page.getByRole('dialog');
  await page.getByRole('button', { name: '发布应用' }).click();
  await page.getByRole('button', { name: '下一步' }).click();
  for (const text of ['名称不能为空', '版本号不能为空', '版本描述不能为空'])
    await expect(sheet.getByText(text)).toBeVisible();
  await sheet.getByLabel('名称').fill(title);
  await sheet.getByLabel('价格').fill('9.9');
  await sheet.getByLabel('版本号').fill('1.0');
  await sheet.getByLabel('版本描述').fill('第一版');
  for (let at = 0; at < 3; at += 1)
    await sheet.getByRole('button', { name: '添加一组预览图' }).click();
  await expect(sheet.getByRole('button', { name: '添加一组预览图' })).toBeHidden();
  await sheet.getByRole('button', { name: '下一步' }).click();
  await expect(sheet.getByText('链接不能为空')).toBeVisible();
  for (let at = 0; at < 2; at += 1)
    await sheet.getByRole('button', { name: '去掉这一组' }).first().click();
  await sheet.getByLabel('上传预览图 1').setInputFiles({
    name: 'a.png',
    mimeType: 'image/png',
    buffer: onePixel,
  });
  await expect(sheet.getByLabel('预览图 1', { exact: true })).toHaveValue(/^\/files\//);
  await sheet.getByLabel('预览图 2', { exact: true }).fill('https://example.com/b.png');
  await sheet.getByLabel('封面（一张）').setInputFiles({
    name: 'cover.png',
    mimeType: 'image/png',
    buffer: onePixel,
  });
  await sheet.getByLabel('应用文件（一个）').setInputFiles({
    name: 'tool.zip',
    mimeType: 'application/zip',
    buffer: file,
  });
  await sheet.getByRole('button', { name: '存草稿' }).click();
  await expect(page.getByText('草稿已保存')).toBeVisible();
  const row = page.locator('[data-row]').filter({ hasText: title });
  await expect(row).toContainText('草稿');

  await row.click();
  await sheet.getByRole('button', { name: '接着写' }).click();
  await expect(sheet.getByLabel('版本描述')).toHaveValue('第一版');
  await expect(sheet.getByText('tool.zip')).toBeVisible();
  await sheet.getByRole('button', { name: '下一步' }).click();
  await sheet.getByLabel('介绍').fill('# 会写代码');
  await sheet.getByRole('button', { name: '预览' }).click();
  await expect(sheet.getByRole('heading', { name: '会写代码' })).toBeVisible();
  await sheet.getByRole('button', { name: '发布', exact: true }).click();
  await expect(page.getByText('应用发布成功')).toBeVisible();
  await expect(row).toContainText('已上架');
  await expect(row).toContainText('￥9.90');
  await expect(row.getByRole('img')).toHaveCount(0);
  const id = Number(await row.getAttribute('data-row'));

  await row.click();
  await sheet.getByRole('button', { name: '基本信息' }).click();
  await sheet.getByLabel('价格').fill('0');
  await sheet.getByRole('button', { name: '保存' }).click();
  await expect(row).toContainText('免费');

  await row.click();
  await sheet.getByRole('button', { name: '版本' }).click();
  await sheet.getByRole('button', { name: '添加版本' }).click();
  await sheet.getByLabel('版本号').fill('1.1');
  await sheet.getByLabel('版本描述').fill('更快');
  await sheet.getByLabel('应用文件（一个）').setInputFiles({
    name: 'tool.zip',
    mimeType: 'application/zip',
    buffer: file,
  });
  await sheet.getByRole('button', { name: '添加版本' }).click();
  await expect(sheet.getByText('2 个版本')).toBeVisible();
  await sheet.getByRole('button', { name: '关闭' }).click();

  const person = await TestClient.register(manager.client.baseURL);
  await person.call('sendAppComment', { app_id: id, comment_content: '骂人的话', rating: 0.5 });
  await row.click();
  await sheet.getByRole('button', { name: '评论' }).click();
  await sheet
    .getByRole('listitem')
    .filter({ hasText: '骂人的话' })
    .getByRole('button', { name: '删除' })
    .click();
  await page.getByRole('alertdialog').getByRole('button', { name: '删除' }).click();
  await expect(sheet.getByText('还没有人评论')).toBeVisible();
  await sheet.getByRole('button', { name: '关闭' }).click();

  await row.click();
  await sheet.getByRole('button', { name: '下架' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: '下架' }).click();
  await expect(row).toContainText('已下架');
  await page.getByRole('combobox', { name: '状态' }).selectOption('published');
  await expect(row).toBeHidden();
  const { list } = await manager.client.call('adminActList', { subject: `app:${id}` });
  expect(list.map(({ call }) => call)).toEqual(
    expect.arrayContaining(['saveApp', 'saveAppGeneralInfo', 'addAppVersion', 'delAppComment']),
  );
});
