import sharp from 'sharp';
import type { Model } from '#contract/model.ts';
import { expect, test } from '#tests/support/app.ts';
import { TestClient } from '#tests/support/client.ts';

const png = (background: string) =>
  sharp({ create: { width: 40, height: 30, channels: 3, background } })
    .png()
    .toBuffer();

test(
  'an untrained model warns and begins nothing; two are compared; speech says where it is used @F4',
  { tag: '@wide' },
  async ({ app, page, person }) => {
    let picture = '';
    await page.route('**/api/models*', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { data: { models: Model[] } };
      for (const model of body.data.models.filter(({ type }) => type === 1)) {
        model.status = 0;
        picture = model.label;
      }
      await route.fulfill({ response: answer, json: body });
    });
    await app.enterAs(person);
    await page.goto('/model');
    const lines = page.getByRole('list', { name: '模型' }).locator('> li');
    const untrained = lines.filter({ hasText: '未训练' });
    await expect(untrained.first()).toBeVisible();
    const { total } = await person.client.call('sessionList', { channel: 'private' });
    await untrained
      .filter({ hasText: picture })
      .getByRole('button', { name: '开始画' })
      .last()
      .click();
    await expect(page.getByText('这个模型还没有训练完成，请稍后再试')).toBeVisible();
    await expect(page).toHaveURL(/\/model$/);
    expect((await person.client.call('sessionList', { channel: 'private' })).total).toBe(total);

    const free = lines.filter({ hasText: '内置助手' });
    await expect(free).toContainText('免费');
    // Words that are all said of a model find it; they stay in the address.
    const search = page.getByRole('searchbox', { name: /^找模型/ });
    await search.fill('聊天 免费');
    await search.press('Enter');
    await expect(lines).toHaveCount(1);
    await expect(page).toHaveURL(/query=/);
    await search.fill('没有这样的');
    await expect(page.getByText('没有找到“没有这样的”')).toBeVisible();
    await search.fill('');
    await search.press('Enter');
    const priced = lines.getByLabel(/每个 token 按 [\d.]+ 个计/).first();
    await expect(priced).toHaveText(/×\d/);
    await expect(lines.filter({ hasText: '×' }).first()).toContainText(/￥[\d.]+ 每 100 万 tokens/);

    await page.getByRole('button', { name: '多模型对比' }).click();
    const compare = page.getByRole('button', { name: /^选两个|^比较 / });
    await lines.nth(0).getByRole('button', { name: '选它' }).click();
    await expect(compare).toBeDisabled();
    await lines.nth(1).getByRole('button', { name: '选它' }).click();
    await compare.click();
    const compared = page.getByRole('dialog', { name: '比较' });
    await expect(compared.getByRole('columnheader')).toHaveCount(3);
    await expect(compared.getByRole('row', { name: /^首字/ })).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(compared).toBeHidden();

    await page.getByRole('button', { name: '不比较了' }).click();
    await page.getByRole('button', { name: '语音合成', exact: true }).click();
    await page.getByRole('button', { name: '去会话里用' }).first().click();
    await expect(page.getByText('语音模型在会话里用')).toBeVisible();
  },
);

test('a scenario is tried before it is saved, is there on coming back, and saved as one’s own @F3', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  await page.goto('/scenario');
  await page.getByRole('button', { name: '新建场景' }).click();
  const editor = page.getByRole('dialog', { name: '新建场景' });
  const trial = editor.getByRole('button', { name: '试一下' });
  await expect(trial).toBeDisabled();
  await editor.getByLabel('名称').fill('桥');
  await editor.getByRole('button', { name: '保存' }).click();
  await expect(editor.getByRole('alert').first()).toBeVisible();
  const name = `造桥 ${Date.now()}`;
  await editor.getByLabel('名称').fill(name);
  await editor.getByLabel('提示词').fill('请用一句话介绍{{桥名}}');
  await trial.click();
  const filling = page.getByRole('dialog', { name: '试一下' });
  await expect(filling.getByRole('button', { name: '还差：桥名' })).toBeDisabled();
  await filling.getByLabel('桥名').fill('赵州桥');
  await filling.getByRole('button', { name: '发送' }).click();
  await expect(page).toHaveURL(/\/chat\?/);
  await expect(app.log.getByText('请用一句话介绍赵州桥').first()).toBeVisible();
  await app.settled();
  expect((await person.client.call('scenarioList', { scope: 'mine' })).total).toBe(0);

  await page.goto('/scenario');
  await page.getByRole('button', { name: '新建场景' }).click();
  await expect(editor.getByText('已恢复上次没有保存的内容')).toBeVisible();
  await expect(editor.getByLabel('名称')).toHaveValue(name);
  await expect(editor.getByLabel('提示词')).toHaveValue('请用一句话介绍{{桥名}}');
  await editor.getByRole('button', { name: '保存' }).click();
  await expect(page.getByText('场景已保存')).toBeVisible();
  await page
    .getByRole('navigation', { name: '分类' })
    .getByRole('button', { name: '我的' })
    .click();
  const card = page.getByRole('listitem').filter({ hasText: name });
  await expect(card.getByText('仅自己')).toBeVisible();
  await page.getByRole('button', { name: '新建场景' }).click();
  await expect(editor.getByLabel('名称')).toHaveValue('');
});

test('prompts in the image tool: one’s own is written, put first, hidden, found again, used @F1 @I5', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  const { uuid } = await person.client.call('newSession', { type: 1 });
  await page.goto(`/chat?uuid=${uuid}&open=img-tool&tab=prompt`);
  await page.getByRole('button', { name: '提示词模板' }).click();
  const sheet = page.getByRole('dialog', { name: '提示词', exact: true });
  const lines = sheet.getByRole('listitem');
  await expect(lines.nth(20)).toBeVisible();
  await sheet.getByRole('button', { name: '新建提示词' }).click();
  const form = page.getByRole('dialog', { name: '新建提示词' });
  await form.getByLabel('名称').fill('石拱');
  await form.getByLabel('内容').fill('一座{{年代}}的石拱桥');
  await form.getByRole('button', { name: '保存' }).click();
  await expect(page.getByText('提示词已保存')).toBeVisible();

  const own = lines.filter({ hasText: '石拱' });
  await own.getByRole('button', { name: '置顶石拱' }).click();
  await expect(lines.first()).toContainText('石拱');
  await own.getByRole('button', { name: '隐藏石拱', exact: true }).click();
  await expect(own).toHaveCount(0);
  await sheet.getByRole('switch', { name: '显示全部' }).click();
  await own.getByRole('button', { name: '不再隐藏石拱' }).click();
  await sheet.getByRole('searchbox', { name: '查找提示词' }).fill('石拱桥');
  await expect(lines).toHaveCount(1);
  await own.getByRole('button', { name: /^石拱/ }).click();
  const filling = page.getByRole('dialog', { name: '石拱' });
  await filling.getByLabel('年代').fill('隋代');
  // What was filled in outlasts the form.
  await filling.getByRole('button', { name: '关闭' }).click();
  await own.getByRole('button', { name: /^石拱/ }).click();
  await expect(filling.getByLabel('年代')).toHaveValue('隋代');
  await filling.getByRole('button', { name: '放进输入框' }).click();
  await expect(page.getByRole('textbox', { name: '画面描述' })).toHaveValue('一座隋代的石拱桥');
});

test(
  'pictures go into a question by picker, paste and drop, beside its preview; the card shows so many @F2',
  { tag: '@wide' },
  async ({ app, page, person }) => {
    await app.enterAs(person);
    await page.goto('/forum?show-create-dialog');
    const editor = page.getByRole('dialog', { name: '发起提问' });
    const title = `六张图 ${Date.now()}`;
    await editor.getByRole('textbox', { name: '标题' }).fill(title);
    const text = editor.getByRole('textbox', { name: '内容' });
    await text.fill('看看这些：\n');
    const colours = ['#a00', '#0a0', '#00a', '#aa0', '#0aa', '#a0a'];
    const pictures = await Promise.all(colours.map(png));
    const give = (event: 'paste' | 'drop', file: Buffer) =>
      text.evaluate(
        (area, [kind, data]) => {
          const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
          const files = new DataTransfer();
          files.items.add(new File([bytes], 'a.png', { type: 'image/png' }));
          const more = { bubbles: true, cancelable: true };
          area.dispatchEvent(
            kind === 'paste'
              ? new ClipboardEvent('paste', { clipboardData: files, ...more })
              : new DragEvent('drop', { dataTransfer: files, ...more }),
          );
        },
        [event, file.toString('base64')] as const,
      );
    const shown = async (count: number) =>
      expect.poll(async () => (await text.inputValue()).split('](/files/').length - 1).toBe(count);
    const [first, second, ...others] = pictures;
    if (!first || !second) throw new Error('no pictures');
    await give('paste', first);
    await shown(1);
    await give('drop', second);
    await shown(2);
    await editor
      .getByLabel('选择要插入的图片')
      .setInputFiles(
        others.map((buffer, at) => ({ name: `图 ${at}.png`, mimeType: 'image/png', buffer })),
      );
    await shown(6);
    // From 1680 px the preview stands beside what is written.
    const preview = editor.getByRole('tabpanel', { name: '预览', includeHidden: true });
    if ((page.viewportSize()?.width ?? 0) < 1680) {
      await expect(preview).toBeHidden();
      await editor.getByRole('tab', { name: '预览' }).click();
    } else await expect(text).toBeVisible();
    await expect(preview.getByRole('img')).toHaveCount(6);
    await editor.getByRole('button', { name: '发表' }).click();
    await expect(page.getByText('发表成功')).toBeVisible();
    await page.goto('/forum');
    const card = page
      .getByRole('list', { name: '问题' })
      .getByRole('listitem')
      .filter({ hasText: title });
    await expect(card.locator('img[src*="/files/"]')).toHaveCount(
      (page.viewportSize()?.width ?? 0) >= 750 ? 5 : 4,
    );

    // By who asked, by words, by nothing that fits; and the ways to begin something else.
    await card.getByRole('link', { name: /^只看/ }).click();
    await expect(page).toHaveURL(/user_id=\d+/);
    await expect(card).toBeVisible();
    await page.getByRole('searchbox', { name: '搜索问题' }).fill('没有人问过的事');
    await expect(page.getByText('暂无数据')).toBeVisible();
    await page.getByRole('button', { name: '去掉筛选：提问者' }).click();
    await expect(page).not.toHaveURL(/user_id/);
    await page.goto('/forum?category=history');
    await page.getByRole('button', { name: '我的提问' }).click();
    await expect(card).toBeVisible();
    await page.getByRole('link', { name: '开始画图' }).click();
    await expect(page).toHaveURL(/tab=imagine/);
    await page.goBack();
    await page.getByRole('link', { name: '开始聊天' }).click();
    await expect(page).toHaveURL(/new=1/);
  },
);

test('a question’s page: quoted, changed with its former texts, linked to for good, reported; all are told @F1', async ({
  app,
  page,
  person,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const other = await TestClient.register(person.client.baseURL);
  const { uuid } = await other.call('newSession', { type: 2, private: 0 });
  await other.call('sendMessage', { session_id: uuid, title: '桥有多长', msg: '赵州桥有多长？' });
  for (let at = 1; at <= 12; at++)
    await other.call('sendMessage', { session_id: uuid, msg: `猜 ${at} 米\n\n说明\n\n`.repeat(3) });
  const best = await person.client.call('sendMessage', { session_id: uuid, msg: '五十米左右' });
  await other.call('historyLike', { session_id: uuid, history_id: best.id });
  await app.enterAs(person);

  await page.goto(`/chat?uuid=${uuid}`);
  const votes = page.getByRole('button', { name: '赞同' });
  // On a phone, too, without pushing.
  await expect(votes).toBeInViewport({ ratio: 1 });
  await votes.click();
  const articles = page.getByRole('article');
  await expect(articles.nth(1)).toContainText('五十米左右');
  await page.getByRole('button', { name: '默认' }).click();
  const mine = articles.filter({ hasText: /五十|六十四/ }).last();
  const menu = page.getByRole('dialog', { name: '这个回答' });
  const choose = async (what: string) => {
    await mine.getByRole('button', { name: '更多操作' }).click();
    await menu.getByRole('button', { name: what }).click();
  };
  await choose('引用回复');
  await expect(app.question).toHaveValue('> 五十米左右\n\n');
  await app.question.fill('');

  await choose('修改');
  const editor = page.getByRole('dialog', { name: '修改消息' });
  await editor.getByRole('textbox', { name: '内容' }).fill('');
  await editor.getByRole('button', { name: '保存' }).click();
  await expect(page.getByText('请输入内容', { exact: true })).toBeVisible();
  await editor.getByRole('textbox', { name: '内容' }).fill('六十四米四');
  await editor.getByRole('button', { name: '保存' }).click();
  await expect(page.getByText('修改成功')).toBeVisible();
  await expect(mine.getByText('已编辑')).toBeVisible();
  await choose('修改记录');
  const edits = page.getByRole('dialog', { name: '修改记录' });
  await expect(edits.getByRole('listitem')).toContainText('五十米左右');
  await page.keyboard.press('Escape');
  await expect(edits).toBeHidden();

  await choose('复制链接');
  await expect(page.getByText('复制成功')).toBeVisible();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toContain(`history_id=${best.id}`);
  await page.goto('/forum');
  await page.goto(link);
  await expect(page.getByRole('article').filter({ hasText: '六十四米四' })).toBeInViewport();

  await page.getByRole('button', { name: '举报', exact: true }).click();
  const report = page.getByRole('dialog', { name: '举报这个问题' });
  await report.getByRole('button', { name: '举报', exact: true }).click();
  await expect(page.getByText('已收到举报')).toBeVisible();

  const { id } = await person.client.call('userInfo', {});
  await other.call('acceptAnswer', { session_id: uuid, history_id: best.id });
  const msg = JSON.stringify({ prompt: '谢谢您', at_user: { id } });
  await other.call('sendMessage', { session_id: uuid, msg, format: 1 });
  await page.goto('/forum');
  await page.getByRole('link', { name: /消息，\d+ 条未读/ }).click();
  const news = page.getByRole('list', { name: '消息' }).getByRole('listitem');
  await expect(news.filter({ hasText: '提到了您' })).toContainText('未读');
  await expect(news.filter({ hasText: '采纳了您的回答' })).toContainText('桥有多长');
  await news.filter({ hasText: '提到了您' }).getByRole('link').click();
  await expect(page.getByRole('article').filter({ hasText: '谢谢您' })).toBeInViewport();
  await page.goto('/forum/news');
  await expect(news.first()).toBeVisible();
  await expect(page.getByText('未读')).toHaveCount(0);
});

test('people’s answers come before a model’s, which is folded; an answer is written in the editor', async ({
  page,
  app,
  person,
}) => {
  const { uuid } = await person.client.call('newSession', { type: 2, private: 0 });
  const asked = { session_id: uuid, title: '怎样写文章', msg: '请各位说说怎样写好一篇长文章。' };
  const { id } = await person.client.call('sendMessage', { ...asked, ai: 'builtin-assistant' });
  await person.client.read(uuid, id);
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  const machine = page.getByRole('region', { name: 'AI 的回答' });
  await machine.getByRole('button', { name: /展开 AI 的回答/ }).click();
  await expect(machine.getByRole('button', { name: '收起 AI 的回答' }).last()).toBeVisible();

  await app.question.fill('我自己先');
  await page.getByRole('button', { name: '写回答' }).click();
  const editor = page.getByRole('dialog', { name: '写回答' });
  const words = editor.getByRole('textbox', { name: '内容' });
  await expect(words).toHaveValue('我自己先');
  await words.fill('我自己先答：**多写**');
  await editor.getByRole('button', { name: '发布' }).click();
  const mine = page.getByRole('article').filter({ hasText: '我自己先答' });
  await expect(mine).toBeVisible();
  await expect(app.question).toHaveValue('');

  await machine.first().getByRole('button', { name: '采纳', exact: true }).click();
  await expect(machine.first().getByText('✓ 已采纳')).toBeVisible();
  await expect(page.getByText('已解决', { exact: true })).toBeVisible();
});
