import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { asOwner, expect, foreignServer, test } from '#tests/support/manager-place.ts';
import { TestClient } from '#tests/support/client.ts';
import { startMediaService } from '#tests/support/mock-media.ts';
import { startMockMidjourney } from '#tests/support/mock-midjourney.ts';
import { startMockSdWebui } from '#tests/support/mock-sd-webui.ts';
import { startMockTraining } from '#tests/support/mock-training.ts';

test.skip(foreignServer, 'needs a server of its own');

const sheetOf = (page: Page) => page.getByRole('dialog');
const rowOf = (page: Page, words: string) => page.getByRole('row').filter({ hasText: words });

test('services of every kind are connected by form, a wrong key is told before, on a desktop @G7', async ({
  page,
  place,
}) => {
  test.setTimeout(120_000);
  const webui = await startMockSdWebui({ auth: 'me:secret' });
  const proxy = await startMockMidjourney({ secret: 'mj-secret' });
  const media = await startMediaService();
  const training = await startMockTraining();
  media.keys = ['sk-media'];
  media.speech = Buffer.alloc(2000, 7);
  const kinds = [
    {
      preset: /^stable-diffusion-webui/,
      url: webui.url,
      key: 'me:secret',
      said: /1 个大模型/,
      name: '我的画图',
    },
    {
      preset: /^Midjourney 代理/,
      url: proxy.url,
      key: 'mj-secret',
      said: /密钥没有被拒绝/,
      name: '我的代理',
    },
    {
      preset: /^语音/,
      url: `${media.url}/v1`,
      key: 'sk-media',
      said: /读出了“你好”/,
      name: '我的语音',
      models: ['gpt-4o-mini-tts', 'gpt-4o-mini-transcribe'],
    },
    {
      preset: /^视频（OpenAI/,
      url: `${media.url}/v1`,
      key: 'sk-media',
      said: /没有试做/,
      name: '我的视频',
      models: ['sora-2'],
    },
    {
      preset: /^Stability/,
      url: media.url,
      key: 'sk-media',
      said: /密钥可以用/,
      name: '我的影片',
    },
    {
      preset: /^向量服务/,
      url: `${media.url}/v1`,
      key: 'sk-media',
      said: /给出 2 维向量/,
      name: '我的向量',
      models: ['BAAI/bge-m3'],
    },
    {
      preset: /^Replicate/,
      url: `${training.url}/replicate`,
      key: 'r8_test',
      said: /密钥可以用/,
      name: '我的训练',
    },
  ];
  try {
    await asOwner(page);
    for (const { preset, url, key, said, name, models } of kinds) {
      media.models = models ?? [];
      await page.goto('/manager/start');
      await page.getByRole('button', { name: preset }).click();
      await page.locator('[data-field=api_key] textarea:not([readonly])').fill('wrong:key');
      if (preset.source.includes('Replicate')) {
        await page.getByLabel('训练器').fill('someone/lora:v1');
        await page.getByLabel('结果放到').fill('me/style');
      }
      const more = page.getByText(/^高级/);
      await more.click();
      await page.getByLabel('名称').fill(name);
      await page.getByLabel('地址').fill(url);
      const connect = page.getByRole('button', { name: '测试并接入' });
      await connect.click();
      await expect(page.getByText(/密钥不对/)).toBeVisible();
      await page.locator('[data-field=api_key] textarea:not([readonly])').fill(key);
      await connect.click();
      await expect(page.getByText(/接好了/)).toContainText(said);
    }
    await page.goto('/manager/model');
    for (const { name } of kinds) await expect(rowOf(page, name)).toBeVisible();
    // Tried from the list, and what came of it stands there.
    await rowOf(page, '我的语音').getByRole('button', { name: '测试' }).click();
    await expect(page.getByText(/听了一秒静音/)).toBeVisible();
    await expect(rowOf(page, '我的语音')).toContainText('正常', { timeout: 20_000 });
    await rowOf(page, '我的语音').getByRole('button', { name: '停用' }).click();
    await expect(rowOf(page, '我的语音')).toContainText('已停用');
    const { list } = await place.owner.call('channelList', {});
    for (const { id, source } of list)
      if (source === 'manager') await place.owner.call('delChannel', { id });
  } finally {
    for (const service of [webui, proxy, media]) await service.close();
    await training.stop();
  }
});

test('a table is sorted, paged, chosen from, saved, and gone through by keys on a desktop @G1 @G4', async ({
  page,
  place,
}) => {
  const { owner } = place;
  await asOwner(page);
  for (let at = 1; at <= 12; at += 1)
    await owner.call('newSession', { type: 0, private: 0 }).then(() => undefined);

  // Ranges at a touch stand in the address.
  await page.goto('/manager/order');
  await page.getByRole('button', { name: '最近一周' }).click();
  await expect(page).toHaveURL(/range=/);
  await expect(rowOf(page, place.person.name).first()).toBeVisible();
  await page.reload();
  await expect(page.getByRole('button', { name: '最近一周' })).toHaveAttribute(
    'aria-pressed',
    'true',
  );

  await page.goto('/manager/session');
  const rows = page.locator('tbody tr');
  await expect(rows).toHaveCount(10);
  // Columns: one goes, and stays away.
  await page.getByRole('button', { name: '列', exact: true }).click();
  await sheetOf(page).getByRole('switch', { name: '模型' }).click();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('columnheader', { name: '模型' })).toHaveCount(0);
  await page.reload();
  await expect(rows).toHaveCount(10);
  await expect(page.getByRole('columnheader', { name: '模型' })).toHaveCount(0);
  // Sorted, up and down: the whole list, of which this is a page.
  const most = await owner.call('adminSessionList', { sort: 'reply_count' });
  await expect(rows.first()).not.toContainText(most.list[0]!.prompt);
  const replies = page.getByRole('columnheader', { name: /回复/ });
  await replies.getByRole('button').click();
  await expect(replies).toHaveAttribute('aria-sort', 'descending');
  await expect(page).toHaveURL(/sort=-reply_count/);
  await expect(rows.first()).toContainText(most.list[0]!.prompt);
  await replies.getByRole('button').click();
  await expect(replies).toHaveAttribute('aria-sort', 'ascending');
  // By keys: down, choose, choose another, open.
  await rows.first().focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Space');
  await expect(page.getByText('已选 2 行')).toBeVisible();
  await page.keyboard.press('End');
  await expect(rows.last()).toBeFocused();
  // What is chosen is what is saved.
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe('会话.csv');
  const csv = await readFile(await file.path(), 'utf8');
  const lines = csv.trim().split(/\r?\n/);
  expect(lines).toHaveLength(3);
  expect(csv.startsWith('\uFEFF')).toBe(true);
  expect(lines[0]).toContain('标题');
  expect(lines[0]).not.toContain('模型');
  // And what is done to them is done to both.
  await page.getByRole('button', { name: '设为私有', exact: true }).first().click();
  await expect
    .poll(
      async () =>
        (await owner.call('adminActList', { call: 'adminSetSession' })).list.map((act) => act.call)
          .length,
    )
    .toBeGreaterThanOrEqual(2);
  await page
    .getByRole('button', { name: /^(下一页|2)$/ })
    .first()
    .click();
  await expect(page).toHaveURL(/page=2/);
  await rows.first().focus();
  await page.keyboard.press('Enter');
  await expect(sheetOf(page)).toBeVisible();
});

test('orders, apps and trainings are changed together; a switch pressed twice is sent once, on a desktop @G1 @G3 @G7', async ({
  page,
  place,
}) => {
  const { owner, person } = place;
  const total = async (call: string) => (await owner.call('adminActList', { call })).total;
  const buyer = await TestClient.register(place.url);
  const { id } = await buyer.call('userInfo', {});
  const orders = [1, 2].map(() => buyer.call('recharge', { type: 'token', num: 1 }));
  const [first, second] = await Promise.all(orders);
  const key = new URL(second!.url, place.url).searchParams.get('key') ?? '';
  await asOwner(page);
  const chooseAll = () => page.getByRole('checkbox', { name: '选择本页全部' }).check();
  const act = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const confirm = (name: string) =>
    page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click();

  await page.goto(`/manager/order?user_id=${id}`);
  await expect(page.getByRole('row')).toHaveCount(3);
  await chooseAll();
  await buyer.call('sandboxSettle', { key, pay: 1 });
  await buyer.call('tradeStatus', { platform_order_id: second!.trade_no });
  const closed = await total('closeOrder');
  await act('关闭未付款的');
  await confirm('关闭未付款的');
  const told = page.getByRole('alertdialog');
  await expect(told).toContainText('1 个成功，1 个没有成功');
  // Whether the server has heard of the payment by now, or hears of it as it closes the order.
  await expect(told).toContainText(
    new RegExp(`（${second!.trade_no}）：(只能取消还没有付款的订单|它刚刚付了款，没有关闭)`),
  );
  await confirm('知道了');
  // What failed stays chosen.
  await expect(page.getByText('已选 1 行')).toBeVisible();
  await expect(rowOf(page, first!.trade_no)).toContainText('已关闭');
  expect(await total('closeOrder')).toBe(closed + 1);

  for (const name of ['甲', '乙'])
    await buyer.call('newTrainModel', { name, key: `k${id}_${name === '甲' ? 1 : 2}`, type: 0 });
  await page.goto(`/manager/train?user_id=${id}`);
  await expect(page.getByRole('row')).toHaveCount(3);
  await chooseAll();
  await act('删除');
  await confirm('删除');
  await expect(page.getByText('删除：2 个')).toBeVisible();
  await expect(page.getByText('没有符合的项目')).toBeVisible();

  let sent = 0;
  let go = () => undefined as void;
  const held = new Promise<void>((resolve) => (go = resolve));
  await page.route('**/api/admin/update_user', async (route) => {
    sent += 1;
    await held;
    await route.continue();
  });
  await page.goto(`/manager/user?person=${person.id}`);
  const barred = sheetOf(page).getByRole('switch', { name: '禁止新建会话' });
  const was = await barred.isChecked();
  await barred.click({ noWaitAfter: true });
  await expect(barred).toHaveAttribute('aria-busy', 'true');
  await barred.click({ noWaitAfter: true });
  go();
  await expect(barred).toBeChecked({ checked: !was });
  await expect(barred).not.toHaveAttribute('aria-busy', 'true');
  expect(sent).toBe(1);
  await barred.click();
  await expect(barred).toBeChecked({ checked: was });
});

test('words for pictures are added, changed and taken away; a draft outlives the sheet on a desktop @G6', async ({
  page,
}) => {
  await asOwner(page);
  await page.goto('/manager/prompt?tab=keywords');
  await page.getByRole('button', { name: '添加关键词' }).click();
  await sheetOf(page).getByLabel('中文').fill('漆画');
  await sheetOf(page).getByLabel('英文').fill('lacquer painting');
  await expect
    .poll(() => page.evaluate(() => localStorage.getItem('queqiao.draft.form:keyword.new') ?? ''))
    .toContain('lacquer painting');
  await page.reload();
  await page.getByRole('button', { name: '添加关键词' }).click();
  await expect(sheetOf(page).getByText('接着上次没有保存的内容')).toBeVisible();
  await expect(sheetOf(page).getByLabel('英文')).toHaveValue('lacquer painting');
  await sheetOf(page).getByRole('button', { name: '保存' }).click();
  await expect(page.getByText('保存成功')).toBeVisible();
  await page.getByRole('searchbox', { name: '找一个词' }).fill('漆');
  await expect(rowOf(page, '漆画')).toContainText('自己添加');
  await rowOf(page, '漆画').click({ position: { x: 60, y: 12 } });
  // What was saved is no draft any more.
  await expect(sheetOf(page).getByText('接着上次没有保存的内容')).toHaveCount(0);
  await sheetOf(page).getByLabel('中文').fill('大漆画');
  await sheetOf(page).getByRole('button', { name: '保存' }).click();
  await expect(rowOf(page, '大漆画')).toBeVisible();
  await rowOf(page, '大漆画').getByRole('button', { name: '删除' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: '删除' }).click();
  await expect(page.getByText('没有符合的关键词')).toBeVisible();
});

const twelve = [
  ['首页', '管理'],
  ['概览', '概览'],
  ['趋势', '使用趋势'],
  ['用户', '用户'],
  ['订单', '订单'],
  ['会话', '会话'],
  ['公告', '公告'],
  ['场景', '场景'],
  ['训练', '训练'],
  ['排行', '消耗排行'],
  ['提示词', '提示词'],
  ['模型统计', '模型统计'],
] as const;

test('on a phone the twelve are in the thumb’s reach; a balance, a refund and a deletion are done @G1 @G3 @G4', async ({
  app,
  page,
  place,
}) => {
  test.setTimeout(120_000);
  const { person, owner } = place;
  await asOwner(page);
  // A fresh place leads its owner to the first steps, whose menu lies below them.
  await page.goto('/manager/default');
  const menu = page
    .getByRole('button', {
      name: /^(管理|起步|首页|概览|趋势|用户|订单|会话|公告|场景|训练|排行|提示词|模型统计|模型与服务)$/,
    })
    .last();
  const { height } = page.viewportSize()!;
  for (const [entry, title] of twelve) {
    await expect(menu).toBeVisible();
    const box = (await menu.boundingBox())!;
    expect(box.y, entry).toBeGreaterThan(height / 2);
    expect(box.height).toBeGreaterThanOrEqual(44);
    await menu.click();
    await sheetOf(page).getByRole('link', { name: entry, exact: true }).click();
    await expect(page.getByRole('heading', { name: title, level: 1 })).toBeVisible();
    await expect(page.locator('[aria-busy=true], .skeleton')).toHaveCount(0);
    // Cards instead of tables, and nothing beyond the edge.
    await expect(page.locator('main table, #root table')).toHaveCount(0);
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(beyond, entry).toBeLessThanOrEqual(0);
  }

  const card = (words: string) => page.getByRole('listitem').filter({ hasText: words }).first();
  const confirm = (name: string) =>
    page.getByRole('alertdialog').getByRole('button', { name }).click();

  await page.goto('/manager/user');
  await page.getByRole('searchbox').first().fill(person.name);
  await card(person.name).click();
  const sheet = sheetOf(page);
  await sheet.getByRole('button', { name: '余额', exact: true }).click();
  const before = (await owner.call('adminUserInfo', { user_id: person.id })).user.chatgpt_balance;
  await sheet.getByLabel('数量').fill('5000');
  await sheet.getByRole('button', { name: '修改余额' }).click();
  await expect(sheet.getByText('请填写备注')).toBeVisible();
  await sheet.getByLabel('备注').fill('路上补偿');
  await sheet.getByRole('button', { name: '修改余额' }).click();
  await expect(page.getByText(/修改成功，余额/)).toBeVisible();
  const after = await owner.call('adminUserInfo', { user_id: person.id });
  expect(after.user.chatgpt_balance).toBe(before + 5000);
  await sheet.getByRole('button', { name: '账本', exact: true }).click();
  await expect(sheet.getByText('路上补偿')).toBeVisible();

  await page.goto('/manager/order?type=sandbox');
  await card(person.name).click({ position: { x: 120, y: 16 } });
  await sheet.getByLabel('退款金额').fill('1');
  await sheet.getByLabel('原因').fill('多付了');
  await sheet.getByRole('button', { name: '退款', exact: true }).click();
  await confirm('退款');
  await expect(page.getByText(/退款成功|已申请退款/)).toBeVisible();
  await expect(sheet.getByText(/多付了/)).toBeVisible();

  const { uuid } = await owner.call('newSession', { type: 0 });
  await page.goto(`/manager/session?uuid=${uuid}`);
  await page.getByRole('button', { name: '删除', exact: true }).first().click();
  await confirm('删除');
  await expect(page.locator('li[data-tone=bad]')).toBeVisible();
  const acts = await owner.call('adminActList', {});
  const done = acts.list.map(({ call }) => call);
  expect(done).toEqual(
    expect.arrayContaining(['adminDeleteSession', 'refundOrder', 'updateTokens']),
  );
  expect(app.problems).toEqual([]);
});
