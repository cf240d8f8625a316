import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import sharp from 'sharp';
import { TestClient } from '#tests/support/client.ts';
import { enterAs } from '#tests/support/enter-as.ts';
import { docOf, pdfOf, pptxOf } from '#tests/support/sample-files.ts';
import { startServer } from '#tests/support/server.ts';

const baseURL = () => test.info().project.use.baseURL ?? '';

/** Somebody who is signed in from the first look. */
const enter = async (page: Page, at = baseURL()): Promise<TestClient> => {
  const person = await TestClient.register(at);
  await enterAs(page, person);
  return person;
};

const poems = Buffer.from(
  '# 唐诗\n\n## 静夜思\n\n床前明月光，疑是地上霜。\n\n## 登鹳雀楼\n\n白日依山尽，黄河入海流。欲穷千里目，更上一层楼。\n',
);

const handbook = Buffer.from(
  '# 员工手册\n\n## 假期\n\n每位员工入职满一年后享有十二天年假。年假可以分三次休完。\n\n## 报销\n\n差旅费在回来后十天内报销，住宿每晚不超过四百元。\n',
);

const shifts = Buffer.from(
  '班次,到岗,交接\n早班,06:30,赵班长\n中班,14:30,钱班长\n夜班,22:30,孙班长\n',
);

test('a knowledge base is made in three steps, followed in its log, and tried with a question', async ({
  page,
}) => {
  await enter(page);
  await page.goto('/train');
  await page.getByRole('button', { name: '新建' }).first().click();
  const sheet = page.getByRole('dialog', { name: '新建模型' });
  await sheet.getByRole('button', { name: '下一步' }).click();
  await expect(sheet.getByText('请输入模型名称')).toBeVisible();
  await sheet.getByLabel('模型名称').fill('读书笔记');
  await sheet.getByRole('button', { name: '下一步' }).click();
  await sheet.getByRole('button', { name: '下一步' }).click();
  await expect(page.getByText('请添加训练文件')).toBeVisible();
  const choose = sheet.locator('input[type=file]');
  await choose.setInputFiles({ name: 'a.exe', mimeType: 'text/plain', buffer: poems });
  await expect(page.getByText('上传文件只能是文本格式!')).toBeVisible();
  await choose.setInputFiles({ name: '唐诗.md', mimeType: 'text/markdown', buffer: poems });
  await expect(page.getByText('文件上传成功', { exact: true })).toBeVisible();
  await expect(sheet.getByText('已收到')).toBeVisible();
  await sheet.getByRole('button', { name: '下一步' }).click();
  await sheet.getByRole('button', { name: '开始训练 · 免费' }).click();
  await sheet.getByRole('button', { name: '看进度' }).click();
  await expect(page.getByRole('heading', { name: '读书笔记' })).toBeVisible();
  await page.getByRole('button', { name: '日志' }).click();
  await expect(page.getByRole('log')).toContainText('训练完成');
  await page.keyboard.press('Escape');
  await page.getByRole('textbox', { name: '问题', exact: true }).fill('更上一层楼');
  await page.getByRole('button', { name: '找找看' }).click();
  await page.getByRole('link', { name: /登鹳雀楼/ }).click();
  await expect(page.locator('mark')).toContainText('欲穷千里目');
});

test('a dropped document becomes a project whose language is found, and begins by one press', async ({
  page,
}) => {
  await enter(page);
  await page.goto('/translate');
  const pane = page.getByRole('region', { name: '翻译文字' });
  await pane.getByRole('textbox', { name: '原文' }).fill('桥上有风');
  await expect(pane).toContainText('中文');
  await pane.getByRole('button', { name: /^翻译 · 约 \d+ tokens$/ }).click();
  // The service of the tests says what it was told.
  await expect(pane).toContainText('您说：桥上有风');
  const text = '喜鹊每年搭一座桥，牛郎与织女在桥上相会。'.repeat(20);
  await page
    .locator('main input[type=file]')
    .setInputFiles([{ name: '鹊桥.txt', mimeType: 'text/plain', buffer: Buffer.from(text) }]);
  await expect(page.getByRole('heading', { name: '鹊桥' })).toBeVisible();
  const begin = page.getByRole('group', { name: '开始翻译' });
  await expect(begin).toContainText('中文 → 英文。1 个文件等您开始');
  await begin.getByRole('button', { name: /^开始翻译/ }).click();
  await expect(page.getByText(/已译完|完成/).first()).toBeVisible();
});

test('a document is translated, and a sentence of it is corrected side by side', async ({
  page,
}) => {
  const person = await enter(page);
  const { model } = await person.call('newTrainModel', {
    name: '来信',
    key: `letter_${Date.now()}`,
    type: 2,
    settings: { type: 1 },
  });
  await page.goto(`/translate?model_id=${model.id}`);
  await page.locator('input[type=file]').setInputFiles({
    name: '信.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('你好，世界。\n再见。'),
  });
  // Its language is not the one that was set, and nothing is done before the press.
  await expect(page.getByText('文件像是中文，而方向是“英文 → 中文”。')).toBeVisible();
  await page.getByRole('button', { name: '改成中文 → 英文' }).click();
  await expect(page.getByText('文件像是中文')).toBeHidden();
  await expect(page.getByText('等您开始', { exact: true }).first()).toBeVisible();
  await page.getByRole('button', { name: '开始翻译' }).click();
  await page.getByRole('button', { name: '对照' }).click();
  await page.getByRole('button', { name: /译文：.*你好/ }).click();
  await page.getByRole('textbox', { name: '译文' }).fill('Hello, world.');
  await page.reload();
  await page.getByRole('button', { name: '对照' }).click();
  await expect(page.getByRole('textbox', { name: '译文' })).toHaveValue('Hello, world.');
  await page.getByRole('button', { name: '保存', exact: true }).click();
  await expect(page.getByRole('button', { name: /译文：Hello/ })).toBeVisible();
  const { list } = await person.call('trainFileList', { model_id: model.id });
  const made = await (await fetch(baseURL() + String(list[0]?.output_url))).text();
  expect(made.split('\n')[0]).toBe('Hello, world.');
});

const picture = (r: number, g: number, b: number) =>
  sharp({ create: { width: 96, height: 96, channels: 3, background: { r, g, b } } })
    .png()
    .toBuffer();

test('a style is begun, left, found again where it was, described by keyboard, and trained', async ({
  page,
}) => {
  const person = await enter(page);
  const key = `red_${Date.now()}`;
  await page.goto('/train?new=1');
  const sheet = page.getByRole('dialog', { name: '新建模型' });
  await sheet.getByText('画风 LoRA').click();
  await sheet.getByLabel('模型名称').fill('朱红');
  await sheet.getByRole('switch', { name: /高级/ }).click();
  await sheet.getByLabel('模型唯一Key').fill(key);
  await sheet.getByRole('button', { name: '下一步' }).click();
  const kept = page.waitForResponse((answer) =>
    answer.url().includes('/api/train/set_lora_images'),
  );
  await sheet.locator('input[type=file]').setInputFiles([
    { name: '1.png', mimeType: 'image/png', buffer: await picture(200, 20, 20) },
    { name: '2.png', mimeType: 'image/png', buffer: await picture(220, 30, 10) },
  ]);
  await expect(sheet.getByRole('heading', { name: '2 张图片' })).toBeVisible();
  await kept;

  // Back is the step before, with what was said there; forward and a new load are where one was.
  await page.goBack();
  await expect(sheet.getByLabel('模型名称')).toHaveValue('朱红');
  await sheet.getByRole('button', { name: '下一步' }).click();
  await expect(sheet.getByRole('heading', { name: '2 张图片' })).toBeVisible();
  await page.reload();
  await expect(sheet.getByRole('heading', { name: '2 张图片' })).toBeVisible();
  await sheet.getByRole('textbox', { name: '第 1 张的说明' }).fill('朱红的墙');
  // Before the server has heard of it.
  await page.reload();
  await expect(sheet.getByRole('textbox', { name: '第 1 张的说明' })).toHaveValue('朱红的墙');
  await sheet.getByRole('textbox', { name: '第 1 张的说明' }).focus();
  await page.keyboard.press('Control+ArrowDown');
  await expect(sheet.getByRole('textbox', { name: '第 2 张的说明' })).toBeFocused();
  await sheet.getByRole('button', { name: '一键写说明（1）' }).click();
  await expect(sheet.getByRole('button', { name: '都有说明了' })).toBeVisible();
  await sheet.getByRole('button', { name: '开始训练' }).click();
  await sheet.getByRole('button', { name: '看进度' }).click();
  await expect(page.getByRole('heading', { name: '朱红', level: 1 })).toBeVisible();
  await expect(page.getByText('可以使用')).toBeVisible();
  const { list } = await person.call('trainModelList', { public: 0 });
  const settings = JSON.parse(list[0]?.settings ?? '{}') as { images?: { txt: string }[] };
  expect(settings.images?.map(({ txt }) => txt)).toEqual(['朱红的墙', expect.stringMatching(/./)]);
  await page.getByRole('button', { name: '去作画' }).click();
  await expect(page.getByRole('textbox', { name: /画面|消息|提示/ }).first()).toHaveValue(
    new RegExp(`lora:${key}`),
  );
});

test('the steps of a stranger’s project are as if it were not there', async ({ page }) => {
  const owner = await TestClient.register(baseURL());
  const { model } = await owner.call('newTrainModel', {
    name: '秘密',
    key: `secret_${Date.now()}`,
    type: 0,
  });
  await enter(page);
  await page.goto(`/train?new=1&model_id=${model.id}&step=2`);
  const sheet = page.getByRole('dialog', { name: '新建模型' });
  await expect(sheet.getByText('没有这个项目，它可能已被删除。')).toBeVisible();
  await sheet.getByRole('button', { name: '返回列表' }).click();
  await expect(sheet).toBeHidden();
});

test('what can only fail is tried no more; a base is opened, found by others, closed and deleted; translations are packed', async ({
  page,
}) => {
  const person = await enter(page);
  const stranger = await TestClient.register(baseURL());
  const name = `地方志${Date.now()}`;
  const { model } = await person.call('newTrainModel', {
    name,
    key: `annals_${Date.now()}`,
    type: 0,
  });
  await page.goto(`/train?model_id=${model.id}`);
  await page.locator('input[type=file]').setInputFiles([
    { name: '唐诗.md', mimeType: 'text/markdown', buffer: poems },
    { name: '坏.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7 nothing') },
    { name: '锁.doc', mimeType: 'application/msword', buffer: docOf('秘密', { locked: true }) },
    { name: '空.xlsx', mimeType: '', buffer: Buffer.alloc(0) },
    { name: '大.csv', mimeType: 'text/csv', buffer: Buffer.alloc(4 * 1024 * 1024, '1') },
  ]);
  // What is wrong before it is sent stays in sight, too.
  for (const [file, why] of [
    ['空.xlsx', '文件是空的'],
    ['大.csv', '不能超过 4MB'],
  ] as const) {
    const refused = page.getByRole('listitem').filter({ hasText: file });
    await expect(refused).toContainText(why);
    await refused.getByRole('button', { name: `不传 ${file}` }).click();
    await expect(refused).toHaveCount(0);
  }
  const files = page.getByRole('region', { name: '文件' }).getByRole('listitem');
  const broken = files.filter({ hasText: '坏.pdf' });
  await expect(broken).toContainText(/损坏|无法/);
  const locked = files.filter({ hasText: '锁.doc' });
  await expect(locked).toContainText('文件有密码，请去掉密码后再上传');
  // Nothing is paid, so it has begun by itself. What came through can be asked; what did not is not hidden by it.
  await expect(page.getByText('1 个完成 · 2 个没成功', { exact: true })).toBeVisible();
  // It is what it is: another try is offered to none.
  await expect(broken.getByRole('button', { name: '重试' })).toHaveCount(0);
  const sure = page.getByRole('alertdialog');
  for (const file of [broken, locked]) {
    await file.getByRole('button', { name: /^去掉 / }).click();
    await sure.getByRole('button', { name: '去掉' }).click();
    await expect(file).toHaveCount(0);
  }
  await expect(page.getByText('可以使用', { exact: true })).toBeVisible();

  // Its passages are changed and switched off, answers are written by hand.
  await page.getByRole('button', { name: '唐诗.md 的段落' }).click();
  const passages = page.getByRole('dialog', { name: '段落 · 唐诗.md' });
  const first = passages.getByRole('listitem').first();
  await first.getByRole('button', { name: '改', exact: true }).click();
  await first.getByRole('textbox').fill('春眠不觉晓，出自孟浩然。');
  await first.getByRole('button', { name: '保存' }).click();
  await expect(first).toContainText('出自孟浩然');
  await first.getByRole('button', { name: '停用' }).click();
  await expect(first).toContainText('已停用');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: '添加问答' }).click();
  const pair = page.getByRole('dialog', { name: '添加问答' });
  await pair.getByLabel('问题').fill('谁写了静夜思');
  await pair.getByLabel('回答').fill('李白写了静夜思。');
  await pair.getByRole('button', { name: '添加', exact: true }).click();
  await expect(page.getByRole('region', { name: '文件' })).toContainText('问答');

  const found = async () =>
    (await stranger.call('trainModelList', { public: 1, query: name })).list.map(({ id }) => id);
  expect(await found()).toEqual([]);
  const open = page.getByRole('switch', { name: /公开/ });
  await open.click();
  await expect(open).toBeChecked();
  await expect(page.getByRole('button', { name: '复制分享链接' })).toBeVisible();
  await expect.poll(found).toEqual([model.id]);
  await open.click();
  await expect.poll(found).toEqual([]);

  // Asked from its page, it stands in a session of one's own.
  await page.getByRole('button', { name: '向它提问' }).click();
  await page.waitForURL(/\/chat\?uuid=/);
  await expect(page.getByRole('textbox', { name: '输入消息' })).toBeVisible();
  const { list: sessions } = await person.call('sessionList', { channel: 'private' });
  expect(sessions).toHaveLength(1);

  await page.goto(`/train?model_id=${model.id}`);
  await page.getByRole('button', { name: '删除', exact: true }).click();
  await sure.getByRole('button', { name: '取消' }).click();
  await expect(page.getByText('已取消删除')).toBeVisible();
  await page.getByRole('button', { name: '删除', exact: true }).click();
  await sure.getByRole('button', { name: '删除' }).click();
  await expect(page.getByText('删除成功')).toBeVisible();
  expect((await person.call('trainModelList', { public: 0 })).list).toEqual([]);

  const { model: letters } = await person.call('newTrainModel', {
    name: '信',
    key: `letters_${Date.now()}`,
    type: 2,
    settings: { type: 2 },
  });
  await page.goto(`/translate?model_id=${letters.id}`);
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: '信.txt', mimeType: 'text/plain', buffer: Buffer.from('你好。') });
  await page.getByRole('button', { name: '开始翻译' }).click();
  const coming = page.waitForEvent('download');
  await page.getByRole('button', { name: '打包下载' }).click();
  const packed = await coming;
  expect(packed.suggestedFilename()).toMatch(/\.zip$/);
  await expect(page.getByRole('button', { name: '再次打包' })).toBeVisible();
});

test('a style that has not been trained draws nothing and says so', async ({ page }) => {
  const person = await enter(page);
  const { model } = await person.call('newTrainModel', {
    name: '未训练的画风',
    key: `raw_${Date.now()}`,
    type: 1,
  });
  await page.goto(`/train?model_id=${model.id}`);
  await expect(page.getByRole('heading', { name: '未训练的画风', level: 1 })).toBeVisible();
  const { total } = await person.call('sessionList', { channel: 'private' });
  await page.getByRole('button', { name: '去作画' }).click();
  await expect(page.getByText('模型还没有训练完成，请稍后再试')).toBeVisible();
  await expect(page).toHaveURL(/\/train\?/);
  expect((await person.call('sessionList', { channel: 'private' })).total).toBe(total);
});

test('projects are found by name, key and description; a base that is asked alone says what it does not have', async ({
  page,
}) => {
  const person = await enter(page);
  const made = (name: string, more: { key: string; desc?: string }) =>
    person.call('newTrainModel', { name, type: 0, ...more });
  await made('菜谱', { key: `cook_${Date.now()}`, desc: '外婆的家常菜' });
  await made('游记', { key: `trip_${Date.now()}` });
  // Files belong to the newest one where nothing else is said.
  await made('唐诗选', { key: `tang_${Date.now()}` });
  await person.upload('uploadTrainFile', new Blob([new Uint8Array(poems)]), '唐诗.md');
  await page.goto('/train');
  const cards = page.getByRole('listitem').getByRole('button', { name: /知识库/ });
  await expect(cards).toHaveCount(3);
  const search = page.getByRole('searchbox', { name: '搜索项目' });
  for (const [words, name] of [
    ['家常', '菜谱'],
    ['trip_', '游记'],
    ['唐诗', '唐诗选'],
  ] as const) {
    await search.fill(words);
    await expect(cards).toHaveCount(1);
    await expect(cards).toContainText(name);
  }
  await expect(page).toHaveURL(/query=/);
  // What was searched is the address's: it is there again on the next load and on the way back.
  await page.reload();
  await expect(search).toHaveValue('唐诗');
  await expect(cards).toHaveCount(1);
  await search.fill('没有这样的项目');
  await expect(page.getByText('没有找到“没有这样的项目”')).toBeVisible();
  await search.fill('唐诗');
  await cards.click();
  await expect(page.getByText('可以使用', { exact: true })).toBeVisible();

  await page.getByRole('button', { name: '向它提问' }).click();
  await page.waitForURL(/\/chat\?uuid=/);
  const { list } = await person.call('sessionList', { channel: 'private' });
  const uuid = list[0]?.uuid ?? '';
  await person.call('setSession', { session_id: uuid, model: 'mock-chat' });
  await page.goto(`/chat?uuid=${uuid}`);
  await page.getByRole('button', { name: '更多', exact: true }).first().click();
  await page.getByRole('button', { name: '设置', exact: true }).click();
  await page.getByRole('switch', { name: /只按知识库回答/ }).click();
  await page.keyboard.press('Escape');
  const log = page.locator('#root').getByRole('log');
  const say = async (text: string) => {
    await page.getByRole('textbox', { name: '输入消息' }).fill(text);
    await page.getByRole('button', { name: '发送', exact: true }).click();
  };
  // The service of the tests answers with what it was told.
  await say('欲穷千里目的下一句是什么？[[told]]');
  await expect(log).toContainText('更上一层楼');
  await say('怎样给摩托车换轮胎？[[told]]');
  const last = log.locator('[data-reply]').last();
  await expect(last).toContainText('没有找到与这个问题有关的资料');
  await expect(last).toContainText('资料里没有答案时，直接说明资料中没有，不要自己补充');
});

test('a folder that is dropped lands as what is in it and below it, under its name', async ({
  page,
}) => {
  const folder = test.info().outputPath('资料夹');
  for (const [name, text] of [
    ['一.md', '# 一\n\n最上面的一篇。'],
    ['里/二.txt', '里面的一篇。'],
    ['里/更里/三.md', '# 三\n\n最里面的一篇讲渡船。'],
    ['里/.hidden.md', '看不见的一篇。'],
  ] as const) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  const person = await enter(page);
  await page.goto('/train');
  const place = page.locator('label').filter({ hasText: '变成可以提问的知识库' });
  await expect(place).toContainText('免费');
  const box = (await place.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  // Only the browser itself can drop a folder.
  const browser = await page.context().newCDPSession(page);
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await browser.send('Input.dispatchDragEvent', {
      type,
      x: box.x + box.width / 2,
      y: box.y + box.height / 2,
      data: { items: [], files: [folder], dragOperationsMask: 1 },
    });
  await page.waitForURL(/model_id=/);
  await expect(page.getByText('可以使用', { exact: true })).toBeVisible();
  const id = Number(new URL(page.url()).searchParams.get('model_id'));
  const { list } = await person.call('trainFileList', { model_id: id });
  expect(list.map(({ name }) => name).sort()).toEqual(['一.md', '三.md', '二.txt'].sort());
  expect((await person.call('trainModel', { model_id: id })).model.name).toBe('资料夹');
});

test('on a fresh start without any key a base answers by quoting, with its source, or says that it has nothing', async ({
  browser,
}) => {
  const server = await startServer({ env: { ASSISTANT_RATE: '0' } });
  const context = await browser.newContext({ ...test.info().project.use, baseURL: server.baseURL });
  try {
    const page = await context.newPage();
    const person = await enter(page, server.baseURL);
    const { model } = await person.call('newTrainModel', {
      name: '员工手册',
      key: 'staff',
      type: 0,
      desc: '假期与报销的规定',
    });
    await page.goto(`/train?model_id=${model.id}`);
    await page.getByRole('button', { name: '设置', exact: true }).click();
    const form = page.getByRole('dialog', { name: '设置' });
    await form.getByLabel('示例问题').fill('年假有几天？\n差旅费怎么报销？');
    await form.getByRole('button', { name: '保存' }).click();
    await expect(form).toBeHidden();
    await page.locator('input[type=file]').setInputFiles([
      { name: '手册.md', mimeType: 'text/markdown', buffer: handbook },
      {
        name: '食堂.pdf',
        mimeType: 'application/pdf',
        buffer: await pdfOf(['食堂中午供应三菜一汤。']),
      },
      { name: '班次.csv', mimeType: 'text/csv', buffer: shifts },
      {
        name: '汇报.pptx',
        mimeType: '',
        buffer: pptxOf([
          { title: '目标', text: '今年营收增长三成。' },
          { title: '门店', text: '六月在兰州开设第九家门店。' },
        ]),
      },
    ]);
    await expect(page.getByText('可以使用', { exact: true })).toBeVisible();

    await page.getByRole('button', { name: '向它提问' }).click();
    await page.waitForURL(/\/chat\?uuid=/);
    const hint = page.locator('[data-hint]');
    await expect(hint.getByRole('heading', { name: '问「员工手册」' })).toBeVisible();
    await expect(hint).toContainText('假期与报销的规定');
    await hint.getByRole('button', { name: '年假有几天？' }).click();
    const reply = page.locator('[data-reply]').last();
    await expect(reply).toContainText('入职满一年后享有十二天年假');
    await expect(reply).not.toContainText('四百元');
    await reply.getByRole('button', { name: '来源 1', exact: true }).click();
    const source = page.getByRole('dialog', { name: '来源 1' });
    await expect(source).toContainText('手册.md');
    await expect(source.locator('mark').first()).toContainText('十二天年假');
    await page.keyboard.press('Escape');
    await expect(source).toBeHidden();
    await expect(reply.getByRole('group', { name: '来源' })).toContainText(
      '手册.md · 员工手册 › 假期',
    );

    const ask = async (text: string) => {
      await page.getByRole('textbox', { name: '输入消息' }).fill(text);
      await page.getByRole('button', { name: '发送', exact: true }).click();
    };
    // The words are marked on the page that they are printed on, the row within its table.
    await ask('食堂中午供应什么？');
    await expect(reply).toContainText('三菜一汤');
    await reply.getByRole('button', { name: '来源 1', exact: true }).click();
    await expect(source.getByRole('img', { name: '原页：第 1 页' })).toBeVisible();
    await expect(source.locator('[data-page-mark]')).toHaveCount(1);
    await page.keyboard.press('Escape');
    await ask('夜班几点到岗？');
    await expect(reply).toContainText('22:30');
    await reply.getByRole('button', { name: '来源 1', exact: true }).click();
    await expect(source.getByRole('row').filter({ hasText: '夜班' })).toHaveAttribute(
      'data-marked',
      'true',
    );
    await expect(source.getByRole('row').filter({ hasText: '早班' })).toContainText('06:30');
    await page.keyboard.press('Escape');
    await ask('第九家门店开在哪里？');
    await expect(reply).toContainText('六月在兰州');
    await reply.getByRole('button', { name: '来源 1', exact: true }).click();
    await expect(source.getByRole('figure')).toContainText('第 2 张');
    await expect(source.locator('mark').first()).toContainText('兰州');
    await page.keyboard.press('Escape');

    // What it has nothing on is told to its owner, who writes the answer.
    await ask('怎样给摩托车换轮胎？');
    await expect(reply).toContainText('资料里没有');
    const asked = page.url();
    await page.goto(`/train?model_id=${model.id}`);
    const gap = page.getByRole('listitem').filter({ hasText: '怎样给摩托车换轮胎？' });
    await gap.getByRole('button', { name: '补上回答' }).click();
    const pair = page.getByRole('dialog', { name: '添加问答' });
    await expect(pair.getByLabel('问题')).toHaveValue('怎样给摩托车换轮胎？');
    await pair.getByLabel('回答').fill('请送到后院的车间，由孙师傅更换。');
    await pair.getByRole('button', { name: '添加', exact: true }).click();
    await expect(gap).toHaveCount(0);
    // An address of the inside is not read for anybody, and what was typed stays.
    const addresses = page.getByRole('region', { name: '网址' });
    await addresses.getByRole('textbox').fill('http://127.0.0.1:9/');
    await addresses.getByRole('button', { name: '添加网址' }).click();
    await expect(page.getByText(/打不开/).first()).toBeVisible();
    await expect(addresses.getByRole('textbox')).toHaveValue('http://127.0.0.1:9/');
    await page.goto(asked);
    await ask('怎样给摩托车换轮胎？');
    await expect(reply).toContainText('孙师傅');

    // Two bases are asked at once; each source says whose it is.
    await person.call('newTrainModel', { name: '通讯录', key: 'phones', type: 0 });
    await person.upload('uploadTrainFile', new Blob(['前台的分机是 8017。']), '分机.txt');
    await page.goto('/');
    await page.getByRole('button', { name: '添加图片或文件' }).click();
    await page.getByRole('button', { name: '知识库', exact: true }).click();
    const bases = page.getByRole('dialog', { name: '选择知识库' });
    await bases.getByRole('button', { name: /员工手册/ }).click();
    await bases.getByRole('button', { name: /通讯录/ }).click();
    await bases.getByRole('button', { name: '用这 2 个' }).click();
    await page.getByRole('textbox', { name: '输入问题' }).fill('前台的分机是多少？');
    await page.getByRole('button', { name: '发送', exact: true }).click();
    await page.waitForURL(/\/chat\?/);
    await expect(reply).toContainText('8017');
    await expect(reply.getByRole('group', { name: '来源' })).toContainText('分机.txt');
    await ask('食堂中午供应什么？');
    await expect(reply).toContainText('三菜一汤');

    // Several files go at once.
    await page.goto(`/train?model_id=${model.id}`);
    for (const name of ['手册.md', '汇报.pptx'])
      await page
        .getByRole('listitem')
        .filter({ hasText: name })
        .getByRole('checkbox', { name: '选择这一行' })
        .check();
    await page.getByRole('button', { name: '去掉', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: '去掉' }).click();
    await expect
      .poll(async () => {
        const { list } = await person.call('trainFileList', { model_id: model.id });
        return list.map(({ name }) => name).toSorted();
      })
      .toEqual(['班次.csv', '问答', '食堂.pdf'].toSorted());
  } finally {
    await context.close();
    await server.stop();
  }
});
