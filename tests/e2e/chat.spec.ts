import { expect, foreignServer, test } from '../support/app.ts';

const model = 'builtin-assistant';

declare global {
  interface Window {
    /** For each time a formula was drawn: whether its fonts were there. */
    drawnInFonts: boolean[];
  }
}

test.describe('with a model of a connected service', () => {
  test.skip(foreignServer, 'needs the service that the tests connect');

  const connected = 'mock-chat';

  test('an answer streams as Markdown with a stop button; stopping keeps the text @C3', async ({
    app,
    page,
    person,
  }) => {
    const uuid = await app.openNew(person, connected);
    await app.say('[[bench tokens=4000 rate=100 id=stop]]');
    await expect(app.stopButton).toBeVisible();
    await expect(app.log.getByRole('heading').first()).toBeVisible();
    await expect(app.log).toContainText('第三点');
    await expect(page.getByText('停止仍需付费')).toBeVisible();
    await expect(app.stopButton).toHaveAttribute('title', /照常计费/);
    await app.stopButton.click();
    await app.settled();
    await expect(page.getByText('已停止')).toBeVisible();
    const [kept] = (await person.client.call('historyList', { session_id: uuid })).list;
    expect(kept?.state).toBe('stopped');
    expect(kept?.ai).toContain('第三点');
    await page.reload();
    await expect(app.log).toContainText('已停止');
    await expect(app.log).toContainText(
      kept?.ai
        .trim()
        .split(/[\n*`|#>$-]/)
        .at(-1)
        ?.trim() ?? '',
    );
    await expect(page.getByRole('button', { name: '重试' })).toBeVisible();
  });

  test('offline in mid-stream and back: the text is whole, with nothing twice @C3 @C5', async ({
    app,
    page,
    person,
    context,
  }) => {
    const uuid = await app.openNew(person, connected);
    await app.say('[[bench tokens=300 rate=40 id=off]]');
    await expect(app.stopButton).toBeVisible();
    await page.waitForTimeout(1500);
    await context.setOffline(true);
    await expect(page.getByText(/没有网络|网络/).first()).toBeVisible();
    await page.waitForTimeout(2500);
    await context.setOffline(false);
    await expect(app.log).toContainText('END-off-DONE', { timeout: 30_000 });
    await app.settled();
    const copies = await page.evaluate(() => {
      const text = document.querySelector('[role=log]')?.textContent ?? '';
      const sections = [...text.matchAll(/第 (\d+) 节/g)].map((match) => Number(match[1]));
      return { sections, ends: text.split('END-off-DONE').length - 1 };
    });
    expect(copies.ends).toBe(1);
    expect(copies.sections).toEqual([...new Set(copies.sections)].sort((a, b) => a - b));
    // What the page shows is what the server keeps.
    const kept = await person.client.call('historyList', { session_id: uuid });
    expect(kept.list[0]?.state).toBe('done');
    await page.reload();
    await expect(app.log).toContainText('END-off-DONE');
    // What belongs to a message that waits was never loaded here: the page stands all the same.
    await context.setOffline(true);
    await app.say('没网时写的');
    await expect(app.log.getByText('等待发送')).toBeVisible();
    await context.setOffline(false);
    await expect(app.log).toContainText('您说：没网时写的');
  });

  test('what is sent while an answer begins or is being written waits for its end, each once and in order @C3', async ({
    app,
    person,
  }) => {
    const uuid = await app.openNew(person, connected);
    await app.say('[[bench tokens=160 rate=20 id=first]]');
    for (const text of ['接着问', '接着问', '写的时候问']) {
      await expect(app.question).toHaveValue('');
      await app.say(text);
    }
    await expect(app.stopButton).toBeVisible();
    await expect(app.log.getByText('等待发送')).toHaveCount(3);
    await expect(app.log.getByText('等待发送')).toHaveCount(0, { timeout: 45_000 });
    await app.settled();
    const { list } = await person.client.call('historyList', { session_id: uuid, newest: 0 });
    expect(list.map(({ human }) => human)).toEqual([
      '[[bench tokens=160 rate=20 id=first]]',
      '接着问',
      '接着问',
      '写的时候问',
    ]);
    expect(list[0]?.ai).toContain('END-first-DONE');
  });

  test('leaving and coming back in mid-stream finds the answer being written, which is said once it is whole @C3', async ({
    app,
    page,
    person,
  }) => {
    const uuid = await app.openNew(person, connected);
    await app.say('[[bench tokens=180 rate=30 id=back]]');
    await expect(app.stopButton).toBeVisible();
    await page.goto('/');
    await page.goto(`/chat?uuid=${uuid}`);
    const spoken = page.locator('body > [role=status].sr-only');
    await expect(app.log).toContainText('第二点', { timeout: 30_000 });
    await expect(spoken).toHaveCount(0);
    await expect(app.log).toContainText('END-back-DONE', { timeout: 30_000 });
    await app.settled();
    // A screen reader says it when it is whole, and not word by word.
    await expect(spoken).toHaveText(/^回复完成：/);
  });

  test('the model is chosen while the session is empty, then fixed; thinking is folded, a formula is drawn once, in its own fonts; token usage is shown @C3 @C7 @C8 @C16', async ({
    app,
    page,
    person,
  }) => {
    await page.addInitScript(() => {
      window.drawnInFonts = [];
      new MutationObserver((changes) => {
        for (const { target } of changes)
          if (target instanceof HTMLElement && target.dataset['drawn'])
            window.drawnInFonts.push(document.fonts.check('1em KaTeX_Main'));
      }).observe(document, { subtree: true, attributeFilter: ['data-drawn'] });
    });
    await person.client.call('saveSettings', { show_token_usage: 1 });
    const uuid = await app.openNew(person, model);
    await page.getByTitle('选择模型').click();
    await page
      .getByRole('dialog')
      .getByRole('radio', { name: /mock chat/i })
      .click();
    await expect
      .poll(async () => (await person.client.call('getSession', { uuid })).model)
      .toBe(connected);

    await app.say('两个数的比是 $\\frac{a}{b}$ 吗');
    await app.settled();
    await expect(page.getByTitle('有了消息以后，模型不能再换')).toBeDisabled();
    await expect(app.log.getByText(/18 tokens/)).toBeVisible();
    await expect(app.log.locator('[data-formula] .katex .mfrac')).toBeVisible();
    const drawn = await page.evaluate(() => window.drawnInFonts);
    expect(drawn).not.toEqual([]);
    expect(drawn).not.toContain(false);

    await app.say('[[mock reasoning]] 想一想');
    const fold = page.getByRole('button', { name: /^思考(了|过程)/ });
    await expect(fold).toBeVisible();
    await app.settled();
    await expect(fold).toHaveAttribute('aria-expanded', 'false');
    await fold.click();
    await expect(fold).toHaveAttribute('aria-expanded', 'true');
  });

  test('a failing service is told and can be retried; too long a conversation offers a new session @C4 @C5', async ({
    app,
    page,
    person,
  }) => {
    const uuid = await app.openNew(person, connected);
    await app.say('[[mock 500]] 请回答');
    const alert = app.log.getByRole('alert');
    await expect(alert).toBeVisible();
    await expect(alert).not.toContainText('SECRET');
    await expect(alert.getByRole('button', { name: '重试' })).toBeVisible();
    const before = await person.client.call('userInfo', {});
    expect(before.chatgpt_balance).toBe(20_000);
    await alert.getByRole('button', { name: '重试' }).click();
    await expect(app.log.getByRole('alert')).toBeVisible();

    await app.say('[[mock context]] 很长的问题');
    await expect(app.log.getByRole('alert').last()).toContainText('最大长度');
    await app.log.getByRole('button', { name: '新建会话' }).click();
    await page.waitForURL((url) => !url.search.includes(uuid));
    await expect(app.question).toHaveValue(/很长的问题/);
  });
});

test('prompt and send in the address fill the box; what is typed survives a reload @C1 @C11', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  const { uuid } = await person.client.call('newSession', { type: 0, model });
  await page.goto(`/chat?uuid=${uuid}&prompt=${encodeURIComponent('今天星期几？')}&send=1`);
  await expect(app.question).toHaveValue('今天星期几？');
  await app.sendButton.click();
  await expect(app.log).toContainText('今天星期几？');
  await app.settled();
  await expect(app.question).toHaveValue('');
  await app.question.fill('还没写完的一句话');
  // What it reads at its start is over then, and not counted below.
  await page.reload({ waitUntil: 'networkidle' });
  await expect(app.question).toHaveValue('还没写完的一句话');
  await page.goto(`/chat?uuid=${uuid}&prompt=${encodeURIComponent('带来的话')}`);
  await expect(app.question).toHaveValue('还没写完的一句话\n带来的话');
  await expect(app.log).toContainText('今天星期几？');
  const kept = await person.client.call('historyList', { session_id: uuid });
  expect(kept.total).toBe(1);

  // A question makes the screen read its data once when it is sent, and once when it is answered.
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const times = (call: string) => asked.filter((path) => path === `/api/${call}`).length;
  await app.say('12 × 12 等于多少？');
  await app.settled();
  await page.waitForTimeout(600);
  expect(times('user_info')).toBeGreaterThan(0);
  for (const call of ['user_info', 'get_session', 'last_messages'])
    expect(times(call), call).toBeLessThanOrEqual(2);
});

test('only the owner writes; others read what is public @C2 @C15 @A4', async ({
  app,
  page,
  person,
  browser,
  baseURL,
}) => {
  await person.client.call('saveSettings', { private_global: 1 });
  const { uuid, id } = await person.client.ask('公开给大家看的问题', { model });
  await person.client.read(uuid, id);
  await person.client.call('setSession', { session_id: uuid, private: 0 });
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(page.getByText('公开', { exact: false }).first()).toBeVisible();
  await expect(app.question).toBeVisible();

  const stranger = await (await browser.newContext({ baseURL })).newPage();
  await stranger.goto(`/chat?uuid=${uuid}`);
  await expect(stranger.getByRole('log')).toContainText('公开给大家看的问题');
  await expect(stranger.getByRole('textbox', { name: '输入消息' })).toBeHidden();
  await stranger.context().close();
});

test('a message is copied, shown raw and deleted after a question @C8', async ({
  app,
  page,
  person,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await app.enterAs(person);
  const { uuid, id } = await person.client.ask('(1 + 2) × 3 等于多少？', { model });
  await person.client.read(uuid, id);
  await page.goto(`/chat?uuid=${uuid}`);
  await page.getByRole('button', { name: '复制回复' }).click();
  await expect(page.getByText('复制成功')).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('9');
  for (const act of ['看原文', '看排版']) {
    await app.log.getByRole('button', { name: '更多操作' }).last().click();
    await page.getByRole('dialog').getByRole('button', { name: act }).click();
    await expect(app.log.locator('pre[data-raw]')).toHaveCount(act === '看原文' ? 1 : 0);
  }
  const remove = async (answer: string) => {
    await app.log.getByRole('button', { name: '更多操作' }).last().click();
    await page.getByRole('button', { name: '删除这条消息' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: answer, exact: true }).click();
  };
  await remove('取消');
  await expect(page.getByText('已取消删除')).toBeVisible();
  await remove('删除');
  await expect(page.getByText('消息记录已删除')).toBeVisible();
  await expect(app.log.getByText('(1 + 2) × 3 等于多少？')).toBeHidden();
});

test('who is forced to be private is told why nothing can be opened @C6 @C21', async ({
  app,
  page,
  person,
}) => {
  // What a manager decides; the server's own rule has its tests on the wire.
  const force = (address: string, forced: object) =>
    page.route(address, async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { data?: object };
      await route.fulfill({ response, json: { ...body, data: { ...body.data, ...forced } } });
    });
  await force('**/api/get_session?*', { private_forced: true, private: 1 });
  await force('**/api/user_info*', { session_private: 1 });
  await app.openNew(person, model);
  await page.getByRole('button', { name: /更多/ }).first().click();
  await page.getByRole('button', { name: '设置', exact: true }).click();
  await expect(page.getByText('您的会话已被设为强制私有，请联系管理员').first()).toBeVisible();
  for (const name of [/^这个会话设为私有/, /^默认私有/]) {
    const choice = page.getByRole('switch', { name });
    await expect(choice).toBeDisabled();
    await expect(choice).toBeChecked();
  }
  // What is still asked for by the page that is left need not be answered.
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await force('**/api/user_info*', { session_private: 1 });
  await page.goto('/account?tab=settings');
  await expect(page.getByText(/管理员已把您的会话设为强制私有/)).toBeVisible();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('messages more than five minutes apart have a time between them; sorting turns the list @C7', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  const { uuid, id } = await person.client.ask('第一个问题是什么？', { model });
  await person.client.read(uuid, id);
  const second = await person.client.ask('第二个问题是什么？', { sessionId: uuid });
  await person.client.read(uuid, second.id);
  await page.goto(`/chat?uuid=${uuid}`);
  await app.log.focus();
  await page.keyboard.press('Control+ArrowUp');
  await expect(app.log.locator('time')).toHaveCount(1);
  const order = () =>
    page.evaluate(() => {
      const text = document.querySelector('[role=log]')?.textContent ?? '';
      return text.indexOf('第一个问题') < text.indexOf('第二个问题');
    });
  expect(await order()).toBe(true);
  await page.getByRole('button', { name: /更多/ }).first().click();
  await page.getByRole('button', { name: '改为最新在上' }).click();
  await expect.poll(order).toBe(false);
});
