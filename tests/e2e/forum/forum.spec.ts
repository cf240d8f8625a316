import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium } from '@playwright/test';
import { App, expect, test } from '#tests/support/app.ts';
import { wholeBrowser } from '#tests/support/browser.ts';
import { TestClient } from '#tests/support/client.ts';
import { keptIn } from '#tests/support/phone.ts';
import { limits } from '#contract/limits.ts';
import { ADMIN_PASSWORD } from '#tests/support/server.ts';
import { xssPayloads } from '#tests/support/xss-payloads.ts';

const question = async (client: TestClient, title: string, msg: string) => {
  const { uuid } = await client.call('newSession', { type: 2, private: 0 });
  const { id } = await client.call('sendMessage', { session_id: uuid, title, msg });
  return { uuid, id };
};

test(
  'a question is asked, survives a killed page, is found and answered @F1 @F2 @O3',
  { tag: '@wide' },
  async ({ app, page, person, context }) => {
    await app.enterAs(person);
    await page.goto('/forum?show-create-dialog');
    const editor = page.getByRole('dialog', { name: '发起提问' });
    await editor.getByRole('button', { name: '发表' }).click();
    await expect(page.getByText('请输入内容和标题')).toBeVisible();
    const title = `怎样过桥 ${Date.now()}`;
    await editor.getByRole('textbox', { name: '标题' }).fill(title);
    await editor.getByRole('textbox', { name: '内容' }).fill('桥上有没有**栏杆**？');
    await editor.getByLabel('分组').selectOption({ label: '编程开发' });
    await editor.getByRole('switch', { name: '只给自己看' }).click();
    // The page is gone without a word.
    await page.close();
    const again = await context.newPage();
    const next = new App(again);
    await next.enterAs(person);
    await again.goto('/forum?show-create-dialog');
    const restored = again.getByRole('dialog', { name: '发起提问' });
    await expect(restored.getByRole('textbox', { name: '标题' })).toHaveValue(title);
    await expect(restored.getByRole('textbox', { name: '内容' })).toHaveValue(
      '桥上有没有**栏杆**？',
    );
    await expect(restored.getByLabel('分组')).toHaveValue(/^[2-9]$/);
    // What was written for oneself alone does not go out to all after a crash.
    const alone = restored.getByRole('switch', { name: '只给自己看' });
    await expect(alone).toBeChecked();
    await alone.click();
    // Closing asks first.
    await restored.getByRole('button', { name: '关闭' }).click();
    await expect(again.getByText('放弃的话，写的内容就没有了。')).toBeVisible();
    await again.getByRole('button', { name: '取消' }).click();
    await restored.getByRole('button', { name: '发表' }).click();
    await expect(again.getByText('发表成功')).toBeVisible();
    await expect(again).toHaveURL(/\/chat\?/);

    const other = await TestClient.register(new URL(again.url()).origin);
    const uuid = next.uuid();
    const { id } = await other.call('sendMessage', { session_id: uuid, msg: '有栏杆' });
    await again.goto(`/chat?uuid=${uuid}`);
    const row = again.getByRole('article').filter({ hasText: '有栏杆' }).last();
    await row.getByRole('button', { name: '采纳' }).click();
    await expect(row.getByText('已采纳')).toBeVisible();
    expect(id).toBeGreaterThan(0);

    await again.goto('/forum?category=answered');
    await expect(again.getByRole('button', { name: '已解决' })).toHaveAttribute(
      'aria-pressed',
      'true',
    );
    await expect(again.getByRole('main').getByRole('link', { name: title })).toBeVisible();
    await again.getByRole('button', { name: '未解决' }).click();
    await expect(again).toHaveURL(/category=unanswered/);
    await expect(again.getByRole('main').getByRole('link', { name: title })).toBeHidden();
    expect(next.problems).toEqual([]);
  },
);

/** The processes of the browser with this profile. */
const processesOf = (profile: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(profile);
      } catch {
        return false;
      }
    })
    .map(Number);

test('what was typed outlasts a browser whose processes are killed: a question, an edit of one and of an answer, without a network, too @F2 @O3', async ({
  person,
  baseURL,
}) => {
  test.skip(process.platform !== 'linux', 'finds the processes of its browser as Linux lists them');
  const { uuid } = await question(person.client, '桥有多长', '想知道桥长');
  await person.client.call('sendMessage', { session_id: uuid, msg: '自己量了一次' });
  const profile = mkdtempSync(path.join(tmpdir(), 'queqiao-profile-'));
  const open = async () => {
    const context = await chromium.launchPersistentContext(profile, {
      ...wholeBrowser,
      serviceWorkers: 'allow',
      ...(baseURL === undefined ? {} : { baseURL }),
    });
    const page = await context.newPage();
    await new App(page).enterAs(person);
    const editing = async (message: string) => {
      const row = page.getByRole('article').filter({ hasText: message });
      await row.getByRole('button', { name: '修改' }).click();
      const editor = page.getByRole('dialog', { name: '修改消息' });
      return { editor, text: editor.getByRole('textbox', { name: '内容' }) };
    };
    const asking = page.getByRole('dialog', { name: '发起提问' });
    return { context, page, editing, asking };
  };
  try {
    const { context, page, editing, asking } = await open();
    await page.goto('/forum?show-create-dialog');
    const words = `桥断了怎么办 ${Date.now()}`;
    await asking.getByRole('textbox', { name: '标题' }).fill(words);
    await asking.getByRole('textbox', { name: '内容' }).pressSequentially('写到一半');
    await page.goto(`/chat?uuid=${uuid}`);
    const ofQuestion = await editing('想知道桥长');
    await ofQuestion.editor.getByRole('textbox', { name: '标题' }).fill('桥有多长多宽');
    await ofQuestion.text.fill('想知道桥长和桥宽');
    await ofQuestion.editor.getByLabel('分组').selectOption({ label: '编程开发' });
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    await page.reload();
    await expect(page.getByRole('article')).toHaveCount(2);
    await expect.poll(() => keptIn(page, 'queqiao-cache', 'messages')).toContain('自己量了一次');
    await expect.poll(() => keptIn(page, 'queqiao-cache', 'sessions')).toContain('"detail":{');
    await context.setOffline(true);
    const ofAnswer = await editing('自己量了一次');
    await ofAnswer.text.fill('自己量了两次');
    for (const text of [words, '写到一半', '桥有多长多宽', '想知道桥长和桥宽', '自己量了两次'])
      await expect.poll(() => keptIn(page, 'queqiao-outbox', 'drafts')).toContain(text);
    const gone = context.waitForEvent('close');
    for (const id of processesOf(profile)) process.kill(id, 'SIGKILL');
    await gone;

    const again = await open();
    await again.context.setOffline(true);
    await again.page.goto(`/chat?uuid=${uuid}`);
    const answer = await again.editing('自己量了一次');
    await expect(answer.text).toHaveValue('自己量了两次');
    await answer.editor.getByRole('button', { name: '关闭' }).click();
    await expect(again.page.getByText('放弃的话，写的内容就没有了。')).toBeVisible();
    await again.page.getByRole('button', { name: '放弃' }).click();
    await expect(answer.editor).toBeHidden();
    await again.context.setOffline(false);
    // What was given up of one message is gone with it alone.
    const changed = await again.editing('想知道桥长');
    await expect(changed.editor.getByText('已恢复上次没有保存的内容')).toBeVisible();
    await expect(changed.text).toHaveValue('想知道桥长和桥宽');
    await expect(changed.editor.getByRole('textbox', { name: '标题' })).toHaveValue('桥有多长多宽');
    await changed.editor.getByRole('button', { name: '保存' }).click();
    await expect(changed.editor).toBeHidden();
    const saved = await person.client.call('getSession', { uuid });
    expect(saved.prompt).toContain('桥有多长多宽');
    expect(saved.group_id).not.toBe(1);
    await again.editing('自己量了一次');
    await expect(answer.text).toHaveValue('自己量了一次');
    await again.page.goto('/forum?show-create-dialog');
    await expect(again.asking.getByRole('textbox', { name: '标题' })).toHaveValue(words);
    await expect(again.asking.getByRole('textbox', { name: '内容' })).toHaveValue('写到一半');
    await again.context.close();
  } finally {
    rmSync(profile, { recursive: true, force: true });
  }
});

test('hostile texts run nothing in the forum, in news and on the page of a question @F1', async ({
  app,
  page,
  person,
}) => {
  const bad = '<img src=x onerror="window.hacked=1"><svg onload="window.hacked=1">';
  const { uuid } = await question(
    person.client,
    bad,
    xssPayloads
      .filter((_, at) => at % 9 === 0)
      .join('\n\n')
      .slice(0, 30_000),
  );
  const other = await TestClient.register(person.client.baseURL);
  await other.call('sendMessage', { session_id: uuid, msg: bad });
  await app.enterAs(person);
  await page.goto('/forum');
  await expect(page.getByText('onerror="window.hacked=1"').first()).toBeVisible();
  await page.goto('/forum/news');
  await expect(page.getByText('回复了您的问题').first()).toBeVisible();
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(page.getByRole('article').last()).toBeVisible();
  expect(await page.evaluate(() => (window as { hacked?: number }).hacked)).toBeUndefined();
});

test('a question opens at itself, a link to an answer at the answer, and 回到底部 leads to the newest @F1', async ({
  app,
  page,
  person,
}) => {
  const { uuid, id } = await question(person.client, '从头读起', '这是问题');
  const ids: number[] = [];
  for (let at = 1; at <= limits.historyPageSize + 15; at += 1) {
    const msg = `第 ${at} 个回答：${'一块一块砌起来。'.repeat(12)}`;
    ids.push((await person.client.call('sendMessage', { session_id: uuid, msg })).id);
  }
  await app.enterAs(person);
  await page.goto('/forum?category=mine');
  await page.getByRole('main').getByRole('link', { name: '从头读起' }).click();
  await expect(page.locator(`[data-message="${id}"]`)).toBeInViewport();
  // Nor does it run away when the list is measured, or looked at again.
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
  await expect(page.locator(`[data-message="${id}"]`)).toBeInViewport();
  await page.getByRole('button', { name: '回到底部' }).click();
  await expect(page.locator(`[data-message="${ids.at(-1)}"]`)).toBeInViewport();
  await page.goto(`/chat?uuid=${uuid}&history_id=${ids[20]}`);
  await expect(page.locator(`[data-message="${ids[20]}"]`)).toBeInViewport();
  await expect(page.locator(`[data-message="${id}"]`)).toHaveCount(0);
});

test('a scenario is found, filled in and begun; the model list begins one, too @F3 @F4', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  await page.goto('/scenario');
  await page.getByRole('searchbox', { name: '查找场景' }).fill('外语陪练');
  const card = page.getByRole('listitem').filter({ hasText: '外语陪练' });
  await card.getByRole('button', { name: '开始' }).click();
  const form = page.getByRole('dialog', { name: '外语陪练' });
  for (const [name, value] of [
    ['语言', '法语'],
    ['场景', '买面包'],
    ['水平', '初级'],
    ['内容', '你好'],
  ] as const)
    await form.getByLabel(name, { exact: true }).fill(value);
  await form.getByRole('button', { name: '开始' }).click();
  await expect(page).toHaveURL(/\/chat\?/);
  await expect(app.log.getByText('请和我用 法语 练习对话').first()).toBeVisible();

  await page.goto('/model?kind=free');
  // Looking makes nothing.
  await page.getByRole('button', { name: '内置助手', exact: true }).first().click();
  const facts = page.getByRole('dialog', { name: '内置助手' });
  await expect(facts.getByText('builtin-assistant')).toBeVisible();
  await facts.getByRole('button', { name: '用它新建会话' }).click();
  await expect(page).toHaveURL(/\/chat\?/);
  // Prompts stand behind a slash.
  await app.question.fill('/');
  const prompts = page.getByRole('listbox', { name: '提示词' });
  await prompts.getByRole('option', { name: /^改得更短/ }).click();
  await expect(app.question).toHaveValue(/压缩到原来的一半/);
});

test('the forum and the model list on a desktop: menu, hover card, two models side by side @F1 @F4', async ({
  app,
  page,
  person,
}) => {
  await question(person.client, '宽屏上的问题', '看得清吗');
  await app.enterAs(person);
  await page.goto('/');
  await page.getByRole('navigation', { name: '主菜单' }).getByText('社区').click();
  await expect(page.getByRole('link', { name: '宽屏上的问题' }).first()).toBeVisible();
  await page.getByRole('button', { name: '分组' }).click();
  await page.getByRole('dialog', { name: '分组' }).getByText('图片创作').click();
  await expect(page).toHaveURL(/group_id=/);
  await page.goto('/model');
  await page.getByRole('button', { name: '关于内置助手' }).hover();
  const card = page.getByRole('tooltip').filter({ hasText: '代码' });
  await expect(card).toContainText('builtin-assistant');
  // It is whole beside the first card and the last, in a small window, too.
  await page.setViewportSize({ width: 1024, height: 768 });
  const cards = page.getByRole('list', { name: '模型' });
  const logos = cards.getByRole('button', { name: /^关于/ });
  for (const logo of [logos.first(), logos.last()]) {
    await logo.hover();
    await expect(card).toBeInViewport({ ratio: 1 });
  }
  await page.setViewportSize({ width: 1680, height: 1050 });

  await page.getByRole('button', { name: '多模型对比' }).click();
  await cards.getByRole('button', { name: '选它' }).first().click();
  await cards.getByRole('button', { name: '选它' }).first().click();
  await page.getByRole('button', { name: /^比较 .+ 与 / }).click();
  const compared = page.getByRole('dialog', { name: '比较' });
  await expect(compared.getByRole('columnheader')).toHaveCount(3);
  await expect(compared.getByRole('row', { name: /^计费/ })).toBeVisible();
  await compared.getByRole('button', { name: '用这两个模型对比' }).click();
  await expect(page).toHaveURL(/\/chat\?/);
});

test('managers mark a question, judge a report, keep groups, prompts and scenarios on a desktop @F1 @F3 @G6', async ({
  app,
  page,
  person,
}) => {
  const stamp = Date.now().toString(36);
  const title = `要管的问题 ${stamp}`;
  const { uuid } = await question(person.client, title, '有人乱说');
  const other = await TestClient.register(person.client.baseURL);
  const { id } = await other.call('sendMessage', { session_id: uuid, msg: `乱说 ${stamp}` });
  await person.client.call('report', {
    session_id: uuid,
    history_id: id,
    reason: 'other',
    note: '乱说',
  });
  await app.login('admin', ADMIN_PASSWORD);
  await page.goto('/forum');
  await page.getByRole('button', { name: '分组' }).click();
  await page.getByRole('button', { name: '新建分组' }).click();
  const group = page.getByRole('dialog', { name: '新建分组' });
  await group.getByLabel('名称').fill(`组 ${stamp}`);
  await group.getByRole('button', { name: '保存' }).click();
  await expect(page.getByText('分组已保存')).toBeVisible();

  await page.goto(`/chat?uuid=${uuid}`);
  await page.getByRole('button', { name: '管理', exact: true }).click();
  const sheet = page.getByRole('dialog', { name: '管理这个问题' });
  await sheet.getByRole('switch', { name: '精华' }).click();
  await sheet.getByLabel('分组').selectOption({ label: `组 ${stamp}` });
  await sheet.getByRole('button', { name: '保存' }).click();
  await expect(page.getByText('精华', { exact: true }).first()).toBeVisible();

  await page.goto('/forum/reports');
  const report = page.getByRole('row').filter({ hasText: `乱说 ${stamp}` });
  await report.getByRole('button', { name: '删除内容' }).click();
  await page.getByRole('button', { name: '删除', exact: true }).click();
  await expect(report).toHaveCount(0);
  const { list } = await person.client.call('historyList', { session_id: uuid });
  expect(JSON.stringify(list)).not.toContain(`乱说 ${stamp}`);

  await page.goto('/manager/prompt');
  await page.getByRole('button', { name: '新建模板' }).click();
  const prompt = page.getByRole('dialog', { name: '新建模板' });
  await prompt.getByLabel('标题').fill(`模板 ${stamp}`);
  await prompt.getByLabel('内容').fill('说说{{城市}}');
  await prompt.getByRole('button', { name: '保存' }).click();
  await expect(page.getByText('保存成功').first()).toBeVisible();
  await page.getByRole('searchbox', { name: '关键词' }).fill(`模板 ${stamp}`);
  await expect(page.getByRole('row').filter({ hasText: `模板 ${stamp}` })).toHaveCount(1);

  await page.goto('/manager/scenario');
  await page.getByRole('button', { name: '新建场景' }).click();
  const scenario = page.getByRole('dialog', { name: '新建场景' });
  await scenario.getByLabel('名称').fill(`场景 ${stamp}`);
  await scenario.getByLabel('提示词').fill('你是一位桥梁工程师');
  await scenario.getByRole('button', { name: '保存' }).click();
  await expect(page.getByRole('row').filter({ hasText: `场景 ${stamp}` })).toHaveCount(1);

  await page.goto('/scenario');
  await page.getByRole('button', { name: '管理分类' }).click();
  const categories = page.getByRole('dialog', { name: '场景分类' });
  await categories.getByRole('button', { name: '新建分类' }).click();
  const category = page.getByRole('dialog', { name: '新建分类' });
  await category.getByLabel('名称').fill(`类 ${stamp}`.slice(0, 10));
  await category.getByRole('button', { name: '保存' }).click();
  const kept = categories.getByRole('listitem').filter({ hasText: `类 ${stamp}`.slice(0, 10) });
  await expect(kept).toHaveCount(1);
  await kept.getByRole('button', { name: /^删除分类/ }).click();
  await page.getByRole('button', { name: '删除', exact: true }).click();
  await expect(kept).toHaveCount(0);
});
