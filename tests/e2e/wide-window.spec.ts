import { randomUUID } from 'node:crypto';
import type { Locator } from '@playwright/test';
import sharp from 'sharp';
import { expect, foreignServer, test } from '../support/app.ts';
import { bringTalks } from '../support/talks.ts';

// What a wide window, a mouse and a keyboard change; all else is tried on the phone.

const boxOf = async (on: Locator) => {
  const box = await on.boundingBox();
  if (!box) throw new Error('it is not there');
  return box;
};

/** A menu stands right below or above its button, one of its sides in line with it. */
const expectBeside = async (menu: Locator, button: Locator) => {
  const [at, from] = [await boxOf(menu), await boxOf(button)];
  const below = at.y - (from.y + from.height);
  const above = from.y - (at.y + at.height);
  expect(Math.max(below, above)).toBeGreaterThanOrEqual(0);
  expect(Math.max(below, above)).toBeLessThan(20);
  const aligned = [at.x - from.x, at.x + at.width - from.x - from.width];
  expect(Math.min(...aligned.map(Math.abs))).toBeLessThan(20);
};

test('a wide window: the fifteen used last, found and opened, and a model; cards side by side @H1 @H3 @H4 @S5', async ({
  app,
  page,
  person,
}) => {
  const talks = Array.from({ length: 17 }, (_, at) => ({
    title: `会话 ${at + 1} 号`,
    exchanges: [[`问 ${at + 1}`, `第 ${at + 1} 个答案`]] as const,
  }));
  await bringTalks(person.client, talks);
  await app.enterAs(person);
  const side = page.getByRole('complementary', { name: '最近会话' });
  await page.goto('/help');
  // It stands beside conversations alone.
  await expect(page.getByRole('main').getByRole('heading').first()).toBeVisible();
  await expect(side).toBeHidden();
  await page.goto('/');
  await expect(side.locator('li')).toHaveCount(15);
  // One search for all of it: words within a conversation, too.
  await side.getByRole('button', { name: /^搜索会话、页面、操作/ }).click();
  const palette = page.getByRole('dialog', { name: '搜索和命令' });
  await palette.getByRole('combobox').fill('第 9 个答');
  await expect(palette.getByRole('option', { name: /会话 9 号/ })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(app.log).toContainText('第 9 个答案');
  await side.getByRole('radio', { name: /内置助手/ }).click();
  // Folded away it stays so, here.
  await page.getByRole('button', { name: '收起会话' }).click();
  await expect(side).toBeHidden();
  await page.reload();
  await expect(app.log).toContainText('第 9 个答案');
  await expect(side).toBeHidden();
  await page.getByRole('button', { name: '展开会话' }).click();
  await expect(side.locator('li')).toHaveCount(15);
  await app.walk('/');
  const main = page.getByRole('main');
  await expect(main.getByRole('button', { name: /内置助手/ })).toBeVisible();
  await app.walk('/?channel=private');

  const cards = main.locator('[data-sessions] > [data-session]');
  await expect(cards).toHaveCount(17);
  const [left, right] = [await boxOf(cards.nth(0)), await boxOf(cards.nth(1))];
  expect(right.y).toBe(left.y);
  expect(right.x).toBeGreaterThanOrEqual(left.x + left.width);
  // The search stands open in the head; a menu stands beside its button.
  await expect(page.getByRole('button', { name: '搜索', exact: true })).toBeHidden();
  await page.getByRole('searchbox', { name: '搜索会话和消息' }).fill('第 9 个答');
  await expect(cards).toHaveCount(1);
  const card = cards.filter({ hasText: '会话 9 号' });
  await card.getByRole('button', { name: /更多操作/ }).click();
  const keep = page.getByRole('dialog').getByRole('button', { name: '收藏', exact: true });
  await expect(keep).toBeVisible();
  await expectBeside(page.getByRole('dialog'), card.getByRole('button', { name: /更多操作/ }));
  await keep.click();
  await expect(card.getByText('已收藏')).toBeAttached();
});

test('a wide window: a mouse and a keyboard in a conversation; two answers beside each other @C3 @C8 @C10', async ({
  app,
  page,
  person,
}) => {
  test.skip(foreignServer, 'needs the service that the tests connect');
  const { client } = person;
  const { uuid, id } = await client.ask('第一种问法是什么？', { model: 'mock-chat' });
  await client.read(uuid, id);
  const pair = await client.call(
    'sendMessage',
    { session_id: uuid, msg: '两个模型怎么说？', beside: 'mock-vision' },
    { 'idempotency-key': randomUUID() },
  );
  await Promise.all([pair.id, pair.beside ?? 0].map((each) => client.read(uuid, each)));
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}&back=${encodeURIComponent('/help')}`);
  const first = app.log.getByRole('region', { name: 'Mock Chat的回答' });
  const second = app.log.getByRole('region', { name: 'Mock Vision的回答' });
  await expect(first).toContainText('您说：两个模型');
  await expect(second).toContainText('您说：两个模型');
  await expect(app.log.getByRole('tab')).toHaveCount(0);
  const [left, right] = [await boxOf(first), await boxOf(second)];
  expect(right.y).toBe(left.y);
  expect(right.x).toBeGreaterThanOrEqual(left.x + left.width);
  await second.getByRole('button', { name: '用这个回答继续' }).click();
  await expect(second.getByRole('button', { name: '正在用这个回答' })).toHaveAttribute(
    'aria-pressed',
    'true',
  );

  // What can be done with a question is seen while the mouse is there.
  const edit = app.log.getByRole('button', { name: '编辑后重新生成' }).first();
  await expect(edit).toHaveCSS('opacity', '0');
  await app.log.getByText('第一种问法是什么？', { exact: true }).hover();
  await expect(edit).toHaveCSS('opacity', '1');
  await edit.click();
  await page.getByRole('textbox', { name: '编辑问题' }).fill('第二种问法是什么？');
  await page.getByRole('button', { name: '发送', exact: true }).first().click();
  await expect(app.log).toContainText('您说：第二种问法');
  const branches = app.log.getByRole('group', { name: '分支' });
  await expect(branches).toContainText('2/2');
  await app.settled();
  const sort = page.getByRole('button', { name: /^最新在/ });
  await expect(sort).toHaveText('最新在下');

  await expect(page.getByText('Enter 发送，Shift + Enter 换行')).toBeVisible();
  await app.question.fill('第一行');
  await app.question.press('Shift+Enter');
  await app.question.pressSequentially('[[bench tokens=600 rate=0 id=keys]]');
  await expect(app.question).toHaveValue('第一行\n[[bench tokens=600 rate=0 id=keys]]');
  await app.question.press('Enter');
  await expect(app.log).toContainText('END-keys-DONE');
  await app.settled();
  await app.question.fill('[[bench tokens=4000 rate=100 id=escape]]');
  await app.question.press('Enter');
  await expect(app.stopButton).toBeVisible();
  await page.keyboard.press('Escape');
  await app.settled();
  await expect(app.log.getByText('已停止')).toBeVisible();
  await app.log.focus();
  const top = app.log.getByText('第二种问法是什么？', { exact: true }).first();
  await page.keyboard.press('Control+ArrowUp');
  await expect(top).toBeInViewport();
  await page.keyboard.press('Control+ArrowDown');
  await expect(app.log.getByText('已停止')).toBeInViewport();
  await expect(top).not.toBeInViewport();
  // An arrow up in the empty box edits the last question; a press steps back.
  await app.question.press('ArrowUp');
  await expect(page.getByRole('textbox', { name: '编辑问题' })).toHaveValue(/id=escape/);
  await page.getByRole('button', { name: '取消' }).click();
  await page.keyboard.press('Control+ArrowLeft');
  await page.waitForURL(/\/help/);
  // Everything can be gone to by its name: sessions by their words, pages, models.
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: '搜索和命令' });
  await expect(palette.getByRole('combobox')).toBeFocused();
  await page.keyboard.type('第二种问法');
  await expect(palette.getByRole('option', { selected: true })).toContainText(/问法|两个模型/);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/chat\?uuid=/);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('问答');
  await expect(palette.getByRole('group', { name: '页面' })).toContainText('问答社区');
  await page.keyboard.press('Escape');
  await expect(palette).toBeHidden();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('发现');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/image\/explore/);
  await page.keyboard.press('Control+/');
  await expect(page.getByRole('dialog', { name: '快捷键' })).toContainText('修改上一个问题');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+Shift+O');
  await page.waitForURL(/\/\?new=1/);
});

test('a wide window: the image tool stands beside the conversation, all of its tabs in sight @I2 @I8 @I15', async ({
  app,
  page,
  person,
}) => {
  const { uuid } = await person.client.call('newSession', { type: 1, model: 'builtin-canvas' });
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}&open=img-tool&tab=img2img`);
  const tool = page.getByRole('complementary', { name: '画图工具' });
  await expect(tool).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  const words = page.getByRole('textbox', { name: '画图提示词' });
  const [box, panel] = [await boxOf(words), await boxOf(tool)];
  expect(panel.x).toBeGreaterThanOrEqual(box.x + box.width);
  for (const tab of await tool.getByRole('tab').all())
    await expect(tab).toBeInViewport({ ratio: 1 });

  // No camera here, but what was copied.
  await tool.getByRole('button', { name: /选一张参考图/ }).click();
  const picker = page.getByRole('dialog', { name: '选择参考图' });
  await expect(picker.getByRole('button', { name: '上传图片' })).toBeVisible();
  await expect(picker.getByRole('button', { name: '拍照' })).toHaveCount(0);
  const small = await sharp({
    create: { width: 64, height: 64, channels: 3, background: '#2266cc' },
  })
    .png()
    .toBuffer();
  await page.evaluate(
    (bytes) => {
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File([new Uint8Array(bytes)], 'b.png', { type: 'image/png' }));
      document.dispatchEvent(new ClipboardEvent('paste', { clipboardData, cancelable: true }));
    },
    [...small],
  );
  await expect(picker).toBeHidden();
  await expect(tool.getByRole('img', { name: '参考图' })).toBeVisible();

  const size = tool.getByRole('tab', { name: '尺寸', exact: true });
  await size.click();
  await tool.getByRole('slider', { name: '张数' }).fill('1');
  await size.press('ArrowRight');
  await expect(size).toHaveAttribute('aria-selected', 'false');
  await words.fill('一只猫');
  await tool.getByRole('button', { name: /^生成 ·/ }).click();
  // For a few frames the first rows stand twice.
  await expect(page.getByText('参考图').first()).toBeVisible();
  // It stays for the next picture.
  await expect(tool).toBeVisible();
  await expect(page.getByRole('list', { name: '画好的图片' }).getByRole('img')).toHaveCount(1, {
    timeout: 30_000,
  });
});

test('a wide window: the box has the focus when a conversation opens and after sending, and arrows go through a menu @C10 @O6', async ({
  app,
  page,
  person,
}) => {
  await bringTalks(person.client, [{ title: '键盘', exchanges: [['问', '第一个答案']] }]);
  await app.enterAs(person);
  await page.goto('/?channel=private');
  await page.getByRole('main').getByRole('link', { name: '键盘' }).first().click();
  const box = page.getByRole('textbox', { name: '输入消息' });
  await expect(box).toBeFocused();
  await page.keyboard.type('12 × 12 等于多少？');
  await page.keyboard.press('Enter');
  await expect(app.log).toContainText('144');
  await expect(box).toBeFocused();
  const menu = page.getByRole('dialog');
  const acts = menu.getByRole('button');
  const answer = app.log.getByText('144').last();
  await answer.hover();
  const mores = [
    page.getByRole('button', { name: '更多', exact: true }),
    app.log.getByRole('button', { name: '更多操作' }).last(),
  ];
  for (const more of mores) {
    await more.click();
    await expectBeside(menu, more);
    await page.keyboard.press('ArrowDown');
    await expect(acts.first()).toBeFocused();
    await page.keyboard.press('ArrowDown');
    await expect(acts.nth(1)).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(menu).toBeHidden();
    await expect(more).toBeFocused();
  }
});

test('a wide window: choices stand at their button without a veil and go by keys; one palette, one list for / and @ @C10 @H3 @S5', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  await page.goto('/');
  const box = page.getByRole('textbox', { name: '输入问题' });
  await expect(box).toBeFocused();
  const choice = page.getByRole('dialog');

  const model = page.getByRole('button', { name: /^选择模型/ });
  await model.click();
  await expectBeside(choice, model);
  // What helps to choose stands beside each name.
  for (const each of await choice.getByRole('radio').all())
    await expect(each).toContainText(/免费|￥/);
  await expect(page.locator('.adm-mask')).toHaveCount(0);
  await page.keyboard.press('Escape');
  await expect(choice).toBeHidden();
  await expect(model).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(choice).toBeVisible();
  await page.keyboard.press('End');
  await expect(choice.getByRole('radio').last()).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(choice).toBeHidden();

  // What the ＋ leads to stands where it stood; letters go to its filter, and Enter takes the first.
  const plus = page.getByRole('button', { name: /^添加图片或文件/ });
  await plus.click();
  await expectBeside(choice, plus);
  await choice.getByRole('button', { name: '场景', exact: true }).click();
  const scenarios = page.getByRole('dialog', { name: '选择场景' });
  await expectBeside(scenarios, plus);
  const filter = scenarios.getByRole('searchbox', { name: '查找场景' });
  await expect(filter).toBeFocused();
  await filter.fill('翻译');
  await expect(scenarios.locator('[data-row]').first()).toContainText(/译/);
  await page.keyboard.press('ArrowDown');
  await expect(filter).not.toBeFocused();
  await page.keyboard.press('Escape');
  await expect(choice).toBeHidden();

  await box.click();
  await page.keyboard.type('先写一句 @builtin');
  const list = page.getByRole('listbox', { name: '请谁回答' });
  await expect(list.getByRole('option')).toHaveCount(1);
  await page.keyboard.press('Enter');
  await expect(box).toHaveValue('先写一句 ');
  await expect(model).toHaveAccessibleName(/内置助手/);
  await box.fill('/译');
  const prompts = page.getByRole('listbox', { name: '提示词' });
  await expect(prompts.getByText('场景', { exact: true })).toBeVisible();
  await expect(prompts.getByRole('option').first()).toHaveText('新建与管理提示词');
  await page.keyboard.press('Escape');
  await expect(prompts).toBeHidden();
  await expect(box).toHaveValue('/译');

  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: '搜索和命令' });
  await expect(palette.getByRole('combobox')).toBeFocused();
  await page.keyboard.type('ctrl /');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: '快捷键' })).toContainText('局部重绘');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: '搜索和命令' }).click();
  await page.keyboard.type('发现');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/image\/explore/);
});
