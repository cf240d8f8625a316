import { App, expect, test } from '../../support/app.ts';
import { TestClient } from '../../support/client.ts';
import { xssPayloads } from '../../support/xss-payloads.ts';

const question = async (client: TestClient, title: string, msg: string) => {
  const { uuid } = await client.call('newSession', { type: 2, private: 0 });
  const { id } = await client.call('sendMessage', { session_id: uuid, title, msg });
  return { uuid, id };
};

test('a question is asked, survives a killed page, is found and answered @F1 @F2 @O3', async ({
  app,
  page,
  person,
  context,
}) => {
  await app.enterAs(person);
  await page.goto('/forum?show-create-dialog');
  const editor = page.getByRole('dialog', { name: '发起提问' });
  await editor.getByRole('button', { name: '发表' }).click();
  await expect(page.getByText('请输入内容和标题')).toBeVisible();
  const title = `怎样过桥 ${Date.now()}`;
  await editor.getByRole('textbox', { name: '标题' }).fill(title);
  await editor.getByRole('textbox', { name: '内容' }).fill('桥上有没有**栏杆**？');
  await editor.getByLabel('分组').selectOption({ label: '编程开发' });
  // The page is gone without a word.
  await page.close();
  const again = await context.newPage();
  const next = new App(again);
  await next.enterAs(person);
  await again.goto('/forum?show-create-dialog');
  const restored = again.getByRole('dialog', { name: '发起提问' });
  await expect(restored.getByRole('textbox', { name: '标题' })).toHaveValue(title);
  await expect(restored.getByRole('textbox', { name: '内容' })).toHaveValue('桥上有没有**栏杆**？');
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
  await again.getByRole('button', { name: '按点赞' }).click();
  await expect(again.getByRole('article').filter({ hasText: '有栏杆' }).first()).toBeVisible();
  expect(id).toBeGreaterThan(0);

  await again.goto('/forum?category=answered');
  await expect(again.getByRole('button', { name: '已解决' })).toHaveAttribute(
    'aria-pressed',
    'true',
  );
  await expect(again.getByRole('link', { name: title })).toBeVisible();
  await again.getByRole('button', { name: '未解决' }).click();
  await expect(again).toHaveURL(/category=unanswered/);
  await expect(again.getByRole('link', { name: title })).toBeHidden();
  expect(next.problems).toEqual([]);
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

test('a scenario is found, filled in and begun; the model list begins one, too @F3 @F4', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  await page.goto('/scenario');
  await page.getByRole('searchbox', { name: '查找场景' }).fill('外语陪练');
  const card = page.getByRole('listitem').filter({ hasText: '外语陪练' });
  await card.getByRole('button', { name: '创建会话' }).click();
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
  await page.getByRole('button', { name: '关于内置助手' }).first().click();
  const facts = page.getByRole('dialog', { name: '内置助手' });
  await expect(facts.getByText('builtin-assistant')).toBeVisible();
  await facts.getByRole('button', { name: '用它新建会话' }).click();
  await expect(page).toHaveURL(/\/chat\?/);
  // Prompts stand behind a slash.
  await app.question.fill('/');
  const prompts = page.getByRole('dialog', { name: '提示词' });
  await prompts.getByRole('button', { name: /^改得更短/ }).click();
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
  await page.getByRole('navigation', { name: '主菜单' }).getByText('问答社区').click();
  await expect(page.getByRole('link', { name: '宽屏上的问题' }).first()).toBeVisible();
  await page.getByRole('button', { name: '分组' }).click();
  await page.getByRole('dialog', { name: '分组' }).getByText('图片创作').click();
  await expect(page).toHaveURL(/group_id=/);
  await page.goto('/model');
  await page.getByRole('button', { name: '关于内置助手' }).hover();
  await expect(page.getByRole('tooltip').first()).toContainText('builtin-assistant');
});
