import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { App, expect, foreignServer, test } from '../support/app.ts';
import { TestClient } from '../support/client.ts';
import { bringTalks } from '../support/talks.ts';

const model = 'builtin-assistant';

const openPanel = async (page: Page, name: string) => {
  await page.getByRole('button', { name: '更多', exact: true }).first().click();
  await page.getByRole('button', { name, exact: true }).click();
};

test('what stands in an address is done, once, and what would lead away is dropped @S1 @S8 @S10 @H1 @C1 @I1', async ({
  app,
  page,
  person,
}) => {
  const talks = Array.from({ length: 23 }, (_, at) => ({
    title: `第 ${at + 1} 个会话`,
    exchanges: [[`问 ${at + 1}`, '答']] as const,
  }));
  await bringTalks(person.client, talks);
  const long = await bringTalks(person.client, [
    {
      title: '很长的会话',
      exchanges: Array.from({ length: 200 }, (_, at) => [`问题 ${at + 1}。`, `回答 ${at + 1}。`]),
    },
  ]);
  await app.enterAs(person);
  const cards = page.getByRole('main').locator('[data-sessions] > [data-session]');
  await page.goto('/?channel=private&page=2');
  await expect(cards).toHaveCount(4);
  await expect(page).toHaveTitle(/我的会话/);
  await page
    .getByRole('navigation', { name: '分页' })
    .getByRole('button', { name: '第 1 页' })
    .click();
  await expect(cards).toHaveCount(20);
  await expect(page).not.toHaveURL(/page=2/);
  await app.walk('/?new=1');
  await expect(page.getByRole('textbox', { name: '输入问题' })).toBeFocused();
  await app.walk('/chat');
  await page.waitForURL(/\/404$/);
  await app.walk(`/redirect?to=${encodeURIComponent('/help?query=图片')}`);
  await page.waitForURL(/\/help\?query=/);
  await page.goto(`/redirect?to=${encodeURIComponent('//evil.example/')}`);
  await page.waitForURL((url) => url.pathname === '/' && url.hostname !== 'evil.example');
  await page.goto('/chat?embedding=help');
  await page.waitForURL((url) => url.pathname === '/' && !url.search.includes('embedding'));
  await expect(cards.first()).toContainText('鹊桥使用帮助');
  await expect(cards.first()).toContainText('刚刚');

  // At a message in the middle; the way back is the one that was asked for.
  const { list } = await person.client.call('historyList', { session_id: long, page: 4 });
  const middle = list[10];
  await page.goto(
    `/chat?uuid=${long}&history_id=${middle?.id}&back=${encodeURIComponent('/help')}`,
  );
  await expect(app.log.getByText(middle?.human ?? '', { exact: true })).toBeInViewport();
  await expect(app.log).not.toContainText('问题 200。');
  await page.getByRole('button', { name: '返回' }).click();
  await page.waitForURL(/\/help/);
  await app.walk(`/chat?uuid=${long}&prompt=${encodeURIComponent('先放在框里')}`);
  await expect(app.question).toHaveValue('先放在框里');
  await expect(app.log).toContainText('问题 200。');
  await page.goto(`/chat?uuid=${long}&back=${encodeURIComponent('//evil.example')}`);
  await page.getByRole('button', { name: '返回' }).click();
  await page.waitForURL((url) => url.hostname !== 'evil.example' && url.pathname !== '/chat');

  // In a session of pictures: the tool at its tab, with the picture to begin from.
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const { image } = await person.client.upload('uploadImage', new Blob([png]), 'a.png');
  const drawing = await person.client.call('newSession', { type: 1, model: 'builtin-canvas' });
  const picture = encodeURIComponent(image.url);
  await page.goto(`/chat?uuid=${drawing.uuid}&open=img-tool&tab=img2img&image_url=${picture}`);
  await expect(page.getByRole('tab', { name: '参考图' })).toHaveAttribute('aria-selected', 'true');
  await expect(page).not.toHaveURL(/img-tool|image_url/);
});

test.describe('with a model of a connected service', () => {
  test.skip(foreignServer, 'needs the service that the tests connect');

  test('a balance that runs out, a question without a reply and a line that fails each offer a way on @C3 @C4 @C5 @C19 @S9', async ({
    app,
    page,
    person,
  }) => {
    // Fetched here: the browser may drop the body of an answer that nobody waits for.
    const reports: unknown[] = [];
    await page.route('**/api/model_stat', async (route) => {
      const response = await route.fetch();
      reports.push(await response.json());
      await route.fulfill({ response });
    });
    // A question that nobody answered.
    const left = await bringTalks(person.client, [
      { title: '没有回复', exchanges: [['一加一等于几？', '']] },
    ]);
    await app.enterAs(person);
    await page.goto(`/chat?uuid=${left}`);
    await expect(app.log).toContainText('这条消息还没有回复');
    await app.log.getByRole('button', { name: '重试' }).click();
    await expect(app.log).not.toContainText('这条消息还没有回复');
    await app.settled();
    await expect(app.log.getByRole('button', { name: '复制回复' })).toBeVisible();
    await expect.poll(() => reports.length).toBe(1);

    // The hold runs out in mid-reply: the text stays, and there are three ways on.
    const spent = await person.client.ask('[[bench tokens=17000 rate=0 id=rich]]', {
      model: 'mock-chat',
    });
    await person.client.read(spent.uuid, spent.id);
    const { uuid } = await person.client.call('newSession', { type: 0, model: 'mock-chat' });
    await page.goto(`/chat?uuid=${uuid}`);
    await app.say('[[bench tokens=9000 rate=1500 id=poor]]');
    const alert = app.log.getByRole('alert');
    await expect(alert).toContainText('余额不足', { timeout: 30_000 });
    await expect(alert.getByRole('button', { name: '重试' })).toBeVisible();
    await expect(alert.getByRole('link', { name: '去充值' })).toBeVisible();
    // How long both took was told, in a form that the server takes.
    await expect.poll(() => reports.length).toBe(2);
    for (const report of reports) expect(report).toMatchObject({ code: 0 });
    await alert.getByRole('button', { name: '换免费模型' }).click();
    await expect(page).not.toHaveURL(new RegExp(uuid));
    await expect(app.question).toHaveValue(/id=poor/);
    const fresh = await person.client.call('getSession', { uuid: app.uuid() });
    expect(fresh.model).toBe(model);

    // A new token is taken from any answer's header; what a server says badly is said in its place.
    const second = new TestClient(person.client.baseURL);
    await second.login(person.account, person.password);
    await page.route('**/api/session_list?*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({
        response,
        headers: { ...response.headers(), authorization: `Bearer ${second.token}` },
      });
    });
    await app.walk('/?channel=private');
    await expect
      .poll(() => page.evaluate(() => localStorage.getItem('queqiao.token')))
      .toBe(second.token);
    await page.unroute('**/api/session_list?*');
    const answers = [
      { status: 502, body: '<h1>Bad Gateway</h1>', says: '服务器异常，请稍后重试' },
      {
        status: 200,
        body: '{"code":1410,"message":"会话已经关门","data":null}',
        says: '会话已经关门',
      },
    ];
    let at = 0;
    await page.route('**/api/share_session', (route) => {
      const { status, body = '' } = answers[at] ?? {};
      at += 1;
      return route.fulfill({ status: status ?? 500, body, contentType: 'application/json' });
    });
    await app.walk(`/chat?uuid=${left}`);
    await openPanel(page, '导出与分享');
    await page.getByRole('button', { name: /^分享链接/ }).click();
    for (const { says } of answers) {
      await page.getByRole('button', { name: '创建分享链接' }).click();
      await expect(page.getByText(says)).toBeVisible();
    }
    await page.keyboard.press('Escape');
    // Who must log in comes back to where they were; a closed account is told so.
    await page.route('**/api/history_like', (route) =>
      route.fulfill({
        json: { code: 1001, message: '请先登录', data: { login_url: '/login?back=%2Fhelp' } },
      }),
    );
    await app.log.getByRole('button', { name: '点赞' }).first().click();
    await page.waitForURL(/\/login\?back=%2Fhelp/);
    await page.route('**/api/get_session?*', (route) =>
      route.fulfill({ json: { code: 3001, message: '账号已被禁用，请联系管理员', data: null } }),
    );
    await page.goto(`/chat?uuid=${left}`);
    await page.waitForURL(/\/error\?code=3001/);
    await expect(page.getByText('账号已被禁用，请联系管理员')).toBeVisible();
  });

  test('all settings are kept and obeyed: ranges, keys, privacy, usage @C6 @C8 @C10 @C15 @C20', async ({
    app,
    page,
    person,
  }) => {
    const uuid = await app.openNew(person, 'mock-chat');
    await openPanel(page, '设置');
    const panel = page.getByRole('dialog', { name: '会话设置' });
    const ends = {
      随机性: [1, 20],
      新话题倾向: [0, 10],
      避免重复: [0, 10],
      带上前面的对话: [0, 10],
    };
    for (const [name, [least, most]] of Object.entries(ends)) {
      const slider = panel.getByRole('slider', { name });
      await slider.focus();
      await slider.press('End');
      await expect(slider).toHaveValue(String(most));
      await slider.press('Home');
      await expect(slider).toHaveValue(String(least));
      await slider.press('ArrowRight');
    }
    // A session of its own privacy there is only while new ones are private by default.
    const own = panel.getByRole('switch', { name: /这个会话设为私有/ });
    await expect(own).toBeChecked();
    await own.click();
    // What becomes public is shown before it does.
    const sheet = page.getByRole('dialog', { name: '公开这个会话' });
    await expect(sheet).toContainText('全部问题与回答');
    await expect(own).toBeHidden();
    await sheet.getByRole('button', { name: '公开', exact: true }).click();
    await expect(page.getByText('会话状态更改').first()).toBeVisible();
    await expect(page.locator('[data-chat-title]')).toContainText('公开');
    await own.click();
    await expect(own).toBeChecked();
    await panel.getByRole('switch', { name: /默认私有/ }).click();
    await expect(own).toBeDisabled();
    await panel.getByRole('switch', { name: /Enter 键换行/ }).click();
    await panel.getByRole('switch', { name: /显示 token 用量/ }).click();
    await expect(page.getByText('修改成功').first()).toBeVisible();
    await expect
      .poll(async () => JSON.parse((await person.client.call('userInfo', {})).setting) as object)
      .toMatchObject({
        temperature: 2,
        presence_penalty: 1,
        frequency_penalty: 1,
        max_history: 1,
        private_global: 0,
        disable_enter: 1,
        show_token_usage: 1,
      });
    const kept = await person.client.call('getSession', { uuid });
    expect(kept.private).toBe(1);
    await page.keyboard.press('Escape');
    await expect(panel).toBeHidden();

    await app.question.fill('第一行');
    await app.question.press('Enter');
    await app.question.pressSequentially('第二行');
    await expect(app.question).toHaveValue('第一行\n第二行');
    await app.question.press('Control+Enter');
    await expect(app.log).toContainText('您说：第一行');
    await app.settled();
    await expect(app.log.getByText(/18 tokens/)).toBeVisible();
  });

  test('a public question: others like it and answer a person, ask a model, and the question takes all with it @C8 @C14', async ({
    app,
    page,
    person,
    browser,
    baseURL,
  }) => {
    const other = await TestClient.register(baseURL ?? '');
    const { uuid } = await person.client.call('newSession', { type: 2, private: 0 });
    const asked = { session_id: uuid, msg: '搭一座桥要几天？', title: '搭桥' };
    await person.client.call('sendMessage', asked, { 'idempotency-key': randomUUID() });
    await app.enterAs(person);
    await page.goto(`/chat?uuid=${uuid}`);
    const theirs = await browser.newContext({ ...(baseURL ? { baseURL } : {}), locale: 'zh-CN' });
    const there = new App(await theirs.newPage());
    await there.enterAs({ account: '', password: '', client: other });
    await there.page.goto(`/chat?uuid=${uuid}`);
    const question = there.page.getByRole('article').first();
    await expect(question).toContainText('搭一座桥要几天？');
    await expect(question.getByRole('button', { name: '修改' })).toHaveCount(0);
    await question.getByRole('button', { name: '点赞' }).click();
    await expect(question.getByRole('button', { name: '取消点赞 1' })).toBeVisible();
    await question.getByRole('button', { name: '回复', exact: true }).click();
    await there.say('喜鹊一天就搭好');
    await expect(there.log).toContainText('喜鹊一天就搭好');
    await page.evaluate(() => dispatchEvent(new Event('visibilitychange')));
    const answer = page.getByRole('article').filter({ hasText: '喜鹊一天就搭好' });
    await expect(answer).toContainText('@测试用户', { timeout: 20_000 });
    await expect(answer.getByRole('button', { name: '修改' })).toHaveCount(0);
    await expect(
      page
        .getByRole('button', { name: '取消点赞 1' })
        .or(page.getByRole('button', { name: '点赞 1' })),
    ).toBeVisible();

    // The menu of one's own question; the warning says what goes with it.
    const mine = page.getByRole('article').first();
    await mine.getByRole('button', { name: '更多操作' }).click();
    await page.getByRole('button', { name: '删除这个问题' }).click();
    const warning = page.getByRole('alertdialog');
    await expect(warning).toContainText('问题和大家的全部回答都会删除');
    await warning.getByRole('button', { name: '删除', exact: true }).click();
    await page.waitForURL((url) => url.pathname === '/');
    await there.page.reload();
    await there.page.waitForURL(/\/error\?code=1433/);
    await expect(there.page.getByText('会话已删除')).toBeVisible();
    expect(there.problems).toEqual([]);
    await theirs.close();
  });
});

test('the 129th session of a month is refused with a way on, and nothing written is lost @C21 @H3', async ({
  app,
  page,
  person,
}) => {
  for (let at = 0; at < 128; at += 8)
    await Promise.all(
      Array.from({ length: 8 }, () => person.client.call('newSession', { type: 0, model })),
    );
  await app.enterAs(person);
  await page.goto('/');
  await expect(page.getByText(/本月还可新建 0 个会话/)).toBeVisible();
  await page.getByRole('textbox', { name: '输入问题' }).fill('还能再问一句吗？');
  await app.sendButton.click();
  await page.waitForURL(/\/error\?code=1024/);
  await expect(page.getByText('最多 128 个')).toBeVisible();
  await expect(page.getByRole('main').getByRole('link', { name: '开通会员' })).toBeVisible();
  await page.getByRole('link', { name: '回到首页' }).click();
  await expect(page.getByRole('textbox', { name: '输入问题' })).toHaveValue('还能再问一句吗？');
});
