import type { Page } from '@playwright/test';
import { asOwner, expect, foreignServer, test } from '#tests/support/manager-place.ts';

test.skip(foreignServer, 'needs a server of its own');

const sheetOf = (page: Page) => page.getByRole('dialog');
const rowOf = (page: Page, words: string) => page.getByRole('row').filter({ hasText: words });

test('what another changed meanwhile stays, a gift is given once, and a page that emptied leads back on a desktop @G3 @G6 @G7', async ({
  page,
  place,
}) => {
  const { owner, person } = place;
  await asOwner(page);
  // Out of the page, not only out of sight: opened again it is another.
  const gone = () => expect(page.locator('[role=dialog]')).toHaveCount(0);

  // A model: this form stood open while another manager hid the model.
  await page.goto('/manager/model?tab=models');
  await rowOf(page, '内置助手').click();
  const sheet = sheetOf(page);
  await sheet.getByLabel('说明').fill('改过的说明');
  const { list: models } = await owner.call('adminModelList', { name: '内置助手' });
  const model = models.find((each) => each.label === '内置助手')!;
  await owner.call('setModel', { id: model.id, sort: 77, disable_api: 1 });
  await sheet.getByRole('button', { name: '保存' }).click();
  await expect(page.getByText('模型修改成功')).toBeVisible();
  const { list: after } = await owner.call('adminModelList', { name: '内置助手' });
  expect(after.find(({ id }) => id === model.id)).toMatchObject({
    remarks: '改过的说明',
    sort: 77,
    disable_api: 1,
  });
  await owner.call('setModel', { id: model.id, sort: model.sort, disable_api: 0 });

  // A person: the membership was prolonged while the form stood open; the gift is not given again.
  const { chatgpt_balance: before } = (await owner.call('adminUserInfo', { user_id: person.id }))
    .user;
  await page.goto(`/manager/user?user_id=${person.id}`);
  await rowOf(page, person.name).click();
  await sheet.getByRole('button', { name: '能力' }).click();
  await sheet.getByLabel('赠送余额').fill('5000');
  const until = '2031-05-06T07:08:09.000Z';
  await owner.call('activatedAbility', { user_id: person.id, vip_expired_at: until });
  await sheet.getByRole('button', { name: '保存' }).click();
  await expect(page.getByText('保存成功')).toBeVisible();
  await expect(sheet.getByLabel('赠送余额')).toHaveValue('');
  await sheet
    .getByRole('radio', { name: '基础' })
    .or(sheet.getByText('基础', { exact: true }))
    .first()
    .click();
  const saved = page.waitForResponse(/activated_ability/);
  await sheet.getByRole('button', { name: '保存' }).click();
  await saved;
  expect((await owner.call('adminUserInfo', { user_id: person.id })).user).toMatchObject({
    chatgpt_balance: before + 5000,
    vip_expired_at: until,
    subscribe: 1,
  });

  // The last page of a list, whose only row goes while it is looked at.
  const add = (at: number) =>
    owner.call('managePrompt', {
      type: 0,
      attrs: { include: [], exclude: [] },
      prompt_json: { title: `页尾 ${at}`, content: '内容' },
    });
  for (let at = 0; at < 16; at += 1) await add(at);
  await page.goto('/manager/prompt?query=页尾&page=2');
  await page.getByRole('button', { name: '删除' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: '删除' }).click();
  await expect(page.getByText('共 15 条')).toBeVisible();
  await expect(page.getByRole('row')).toHaveCount(16);

  // A form that is closed within the second is found again with the last word.
  await page.getByRole('button', { name: '新建模板' }).click();
  await sheet.getByLabel('内容').fill('写到一半的话');
  await page.keyboard.press('Escape');
  await gone();
  await page.getByRole('button', { name: '新建模板' }).click();
  await expect(sheet.getByLabel('内容')).toHaveValue('写到一半的话');

  // So are an app that is being published, its description, and a notice.
  await page.goto('/market/manager');
  const publish = page.getByRole('button', { name: '发布应用' });
  await publish.click();
  await sheet.getByLabel('名称').fill('写到一半的应用');
  await sheet.getByRole('button', { name: '添加一组预览图' }).click();
  await sheet.getByLabel('预览图 2', { exact: true }).fill('https://example.com/2.png');
  await sheet.getByLabel('开发者').fill('某人');
  await page.keyboard.press('Escape');
  await gone();
  await publish.click();
  await expect(sheet.getByLabel('名称')).toHaveValue('写到一半的应用');
  await expect(sheet.getByLabel('开发者')).toHaveValue('某人');
  await expect(sheet.getByLabel('预览图 2', { exact: true })).toHaveValue(
    'https://example.com/2.png',
  );
  await sheet.getByRole('button', { name: '放弃它' }).click();
  await expect(sheet.getByLabel('名称')).toHaveValue('');
  await page.goto('/manager/notice');
  await page.getByRole('button', { name: '写公告' }).click();
  await sheet.getByLabel('公告内容').fill('写到一半的公告');
  await page.keyboard.press('Escape');
  await gone();
  await page.getByRole('button', { name: '写公告' }).click();
  await expect(sheet.getByLabel('公告内容')).toHaveValue('写到一半的公告');
});
