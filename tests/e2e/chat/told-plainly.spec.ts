import { App, expect, test } from '#tests/support/app.ts';
import { TestClient } from '#tests/support/client.ts';
import { paint } from '#tests/support/images.ts';
import { keptIn } from '#tests/support/phone.ts';

test('the end of a reply that a restart lost is told of, and written anew on a press @C11', async ({
  app,
  page,
  person,
}) => {
  const message = (id: number, human: string, ai: string) => ({
    id,
    prev: id - 1,
    shown: true,
    human,
    ai,
    model: 'builtin-assistant',
    state: 'interrupted',
    error_code: 'interrupted',
    error_message: '',
    created_at: new Date().toISOString(),
  });
  const messages = [
    message(1, '前面的问题', '前面写了一半'),
    message(2, '12 乘以 12 等于多少？', '十二乘以'),
  ];
  const data = {
    queqiao: 1,
    sessions: [{ title: '断了的', model: 'builtin-assistant', messages }],
  };
  const { uuid } = await person.client.call('importSessions', { data });
  const { key } = await person.client.call('shareSession', { session_id: uuid ?? '' });
  await page.goto(`/share?key=${key}`);
  await expect(page.getByText('这条回复的结尾丢了')).toHaveCount(2);

  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  const told = app.log.getByRole('alert').filter({ hasText: '服务器重启过，这条回复的结尾丢了' });
  await expect(told).toHaveCount(2);
  await told.getByRole('button', { name: '重新生成' }).click();
  await app.settled();
  await expect(told).toHaveCount(1);
  await expect(app.log).toContainText('144');
});

test('whoever writes in private is blocked and reported from the chat’s own menu too @C14', async ({
  app,
  page,
  person,
  baseURL,
}) => {
  const stranger = await TestClient.register(baseURL ?? '');
  const { id } = await person.client.call('userInfo', {});
  const { uuid } = await stranger.call('newFriend', { friend_user_id: id });
  await stranger.call('sendMessage', { session_id: uuid, msg: '您好，想认识一下' });
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  const bar = page.getByRole('group', { name: '私聊请求' });
  await expect(bar.getByRole('button', { name: '屏蔽' })).toBeVisible();
  await bar.getByRole('button', { name: '接受' }).click();
  await expect(bar).toBeHidden();

  const choose = async (name: string) => {
    await page.getByRole('button', { name: '更多', exact: true }).last().click();
    await page.getByRole('button', { name, exact: true }).click();
  };
  await choose('屏蔽对方');
  await expect(bar).toContainText('您屏蔽了对方');
  expect((await stranger.raw('sendMessage', { session_id: uuid, msg: '在吗' })).code).toBe(1422);
  await choose('举报对方');
  const report = page.getByRole('dialog', { name: '举报对方' });
  await report.getByRole('button', { name: '举报', exact: true }).click();
  await expect(page.getByText('已收到举报')).toBeVisible();
  await choose('取消屏蔽对方');
  await expect(bar).toBeHidden();
  expect((await stranger.raw('sendMessage', { session_id: uuid, msg: '在吗' })).code).toBe(0);
});

test('a session deleted elsewhere says so at every act, and nothing fails unheard @C15', async ({
  app,
  page,
  person,
}) => {
  const { uuid, id } = await person.client.ask('12*12 等于多少？');
  await person.client.read(uuid, id);
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(app.log).toContainText('您说：12*12 等于多少？');
  await person.client.call('deleteSession', { session_id: uuid });
  const gone = page.getByText('会话已删除').first();
  await app.log.getByRole('button', { name: '点赞' }).click();
  await expect(gone).toBeVisible();
  await app.log.getByRole('button', { name: '收藏' }).click();
  await app.say('再说一句');
  await expect(page).toHaveURL(/\/error\?code=1433/);
  // Nothing leads back to it; what was written goes along to the next one.
  await expect(page.getByRole('link', { name: '返回会话' })).toBeHidden();
  await page.getByRole('main').getByRole('link', { name: '新建会话' }).click();
  await expect(page.getByRole('textbox', { name: '输入问题' })).toHaveValue('再说一句');
  await app.walk(`/chat?uuid=${uuid}&history_id=${id}`);
  await expect(gone).toBeVisible();
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(gone).toBeVisible();
  // What the page threw or refused unheard is found by the fixture at the end.
  await page.evaluate(() => dispatchEvent(new Event('visibilitychange')));
  await page.waitForLoadState('networkidle');
});

test('a session whose model was put out of use says so before one asks, and leads on @C4 @C16', async ({
  app,
  page,
  person,
}) => {
  const { uuid, id } = await person.client.ask('12*12 等于多少？', {
    model: 'builtin-assistant',
  });
  await person.client.read(uuid, id);
  const told = await person.client.call('models', {});
  const asked = told.models.find(({ name }) => name === 'builtin-assistant');
  const models = [
    { ...asked, name: 'other', label: '别的助手' },
    { ...asked, display: false, disable: 1 },
  ];
  await page.route('**/api/models', (route) =>
    route.fulfill({ json: { code: 0, message: '', data: { ...told, models } } }),
  );
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(page.getByText('内置助手 已经停用，这里不能再提问。')).toBeVisible();
  await expect(page.getByTitle('内置助手：有了消息以后，模型不能再换')).toHaveText('内置助手');
  const start = page.waitForRequest('**/api/new_session');
  await app.question.fill('还想再问一句');
  await page.getByRole('button', { name: '新建会话，问 别的助手' }).click();
  expect((await start).postDataJSON()).toMatchObject({ model: 'other' });
});

test('a sign-in that ended is told of, and leads to signing in again @C21', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  await page.goto('/');
  await expect(page.getByRole('textbox', { name: '输入问题' })).toBeVisible();
  // Signed out on another device.
  await person.client.call('logout', {});
  // The page loads itself anew at its next question, which may end the walk that asks it.
  await app.walk('/account?tab=usage').catch(() => {});
  await expect(page.getByText('登录已失效，请重新登录')).toBeVisible();
  await page.getByRole('button', { name: '去登录' }).click();
  await expect(page).toHaveURL(/\/login/);
});

test('words written after a sign-in ended go out as nobody else’s, and one’s own chat comes back @C21', async ({
  app,
  page,
  person,
}) => {
  const { uuid } = await person.client.ask('只有我能看的问题');
  await app.enterAs(person);
  await page.goto('/');
  await expect(page.getByRole('textbox', { name: '输入问题' })).toBeVisible();
  // The page at home would load itself anew while it is left.
  await page.goto('/icon.svg');
  await person.client.call('logout', {});
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(page.getByText('登录已失效，登录之后就回到这个会话')).toBeVisible();
  await page.getByRole('link', { name: '回到首页' }).click();
  const sent: string[] = [];
  page.on('request', (request) => void sent.push(new URL(request.url()).pathname));
  await page.getByRole('textbox', { name: '输入问题' }).fill('这句话是我的账号要问的');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/login/);
  await expect(page.getByText(/登录之后接着发送/)).toBeVisible();
  expect(sent).not.toContain('/api/new_session');
  await page.getByLabel('用户名').fill(person.account);
  await page.getByLabel('密码', { exact: true }).fill(person.password);
  await page.getByRole('button', { name: '登录', exact: true }).click();
  await expect(page.getByRole('textbox', { name: '输入问题' })).toHaveValue(
    '这句话是我的账号要问的',
  );
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(page.getByText('只有我能看的问题').first()).toBeVisible();
});

test('what a reply took is told where that is switched on, and nowhere else @C16', async ({
  app,
  page,
  person,
}) => {
  const { uuid } = await person.client.call('newSession', { type: 0, model: 'mock-chat' });
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  const reply = (words: string) => app.log.getByText(words);
  await app.say('第一句说点什么');
  await expect(reply('您说：第一句说点什么')).toBeVisible();
  await app.settled();
  await expect(app.log.getByRole('button', { name: '复制回复' })).toBeVisible();
  await expect(app.log.getByText(/tokens/)).toHaveCount(0);
  await person.client.call('saveSettings', { show_token_usage: 1 });
  await page.reload();
  await expect(app.log.getByText(/\d+ tokens/)).toBeVisible();
});

test('a refused message and a refused picture are reported of their models @C5', async ({
  app,
  page,
  person,
}) => {
  const reports: { model: string; state: string }[] = [];
  await page.route('**/api/model_stat', async (route) => {
    reports.push(route.request().postDataJSON() as { model: string; state: string });
    await route.continue();
  });
  await page.route('**/api/send_message*', (route) =>
    route.fulfill({
      json: { code: 1413, message: '这个模型暂时不可用，请换一个', data: null },
    }),
  );
  await app.openNew(person, 'mock-chat');
  await app.say('会被拒绝的一句话');
  await expect
    .poll(() => reports)
    .toContainEqual(expect.objectContaining({ model: 'mock-chat', state: 'error' }));
  await page.unroute('**/api/send_message*');
  await page.route('**/api/image/generate', (route) =>
    route.fulfill({ json: { code: 1025, message: '余额不足，请充值', data: null } }),
  );
  const { uuid } = await person.client.call('newSession', { type: 1, model: 'builtin-canvas' });
  await page.goto(`/chat?uuid=${uuid}`);
  await page.getByRole('textbox', { name: '画图提示词' }).fill('黄昏的雪山，湖面倒影');
  await page.getByRole('button', { name: /^生成/ }).click();
  // A balance says nothing of the model.
  await expect
    .poll(() => reports)
    .toContainEqual(expect.objectContaining({ model: 'builtin-canvas', state: 'stop' }));
  await page.unroute('**/api/image/generate');
  await page
    .getByRole('button', { name: /重试|重新/ })
    .first()
    .click();
  await expect
    .poll(() => reports, { timeout: 30_000 })
    .toContainEqual(expect.objectContaining({ model: 'builtin-canvas', state: 'success' }));
});

test('two models whose names begin alike are told apart in the box and above their answers @C3', async ({
  app,
  page,
  person,
}) => {
  await page.route('**/api/models', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: { models: { name: string; label: string }[] } };
    const names: Record<string, string> = {
      'mock-chat': 'Hidden Model Alpha 70B',
      'mock-vision': 'Hidden Model Beta 70B',
    };
    for (const model of body.data.models) model.label = names[model.name] ?? model.label;
    await route.fulfill({ json: body });
  });
  await app.openNew(person, 'mock-chat');
  await page.getByRole('button', { name: '再加一个模型对比' }).click();
  await page.getByRole('radio', { name: /Hidden Model Beta/ }).click();
  await expect(page.getByText('…Alpha 70B', { exact: true })).toBeVisible();
  await expect(page.getByText('＋ …Beta 70B')).toBeVisible();
  await app.say('比一比两个模型');
  const tabs = page.getByRole('tablist', { name: '两个模型的回答' }).getByRole('tab');
  await expect(tabs).toHaveText(['…Alpha 70B', '…Beta 70B']);
  await app.settled();
});

test('an attached text is opened where it hangs, beside the words it came with @C12', async ({
  app,
  page,
  person,
}) => {
  const { file } = await person.client.upload(
    'uploadFile',
    new Blob(['鹊桥计划在七月初七上线。\n第二行']),
    '计划.txt',
  );
  const { uuid } = await person.client.call('newSession', { type: 0, model: 'mock-chat' });
  const message = { type: 'chat', prompt: '什么时候上线？', files: [{ uuid: file.uuid }] };
  const before = await person.client.call('sendMessage', { session_id: uuid, msg: '先问一句别的' });
  await person.client.read(uuid, before.id);
  const { id } = await person.client.call('sendMessage', {
    session_id: uuid,
    msg: JSON.stringify(message),
    format: 1,
  });
  await person.client.read(uuid, id);
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  const question = app.log.locator(`[data-message="${id}"]`).first();
  const chip = question.getByRole('button', { name: '打开计划.txt' });
  await chip.click();
  const sheet = page.getByRole('dialog', { name: '计划.txt' });
  await expect(sheet).toContainText('鹊桥计划在七月初七上线。');
  await page.keyboard.press('Escape');
  await expect(sheet).toBeHidden();
  // At the side of one's own words, not at the other's.
  const [hung, said] = [
    await chip.boundingBox(),
    await question.locator('[data-bubble]').boundingBox(),
  ];
  const right = (box: { x: number; width: number } | null) => (box?.x ?? 0) + (box?.width ?? 0);
  expect(Math.abs(right(hung) - right(said))).toBeLessThan(6);
});

test('what the manager set is told as it is set, before anything is sent @C16', async ({
  app,
  page,
  person,
}) => {
  const data = { official_site: '', min_prompt_bytes: 30, signup_tokens: 777 };
  await page.route('**/api/site_info', (route) =>
    route.fulfill({ json: { code: 0, message: '', data } }),
  );
  await page.goto('/register');
  await expect(page.getByText('注册即送 777 tokens')).toBeVisible();
  await app.openNew(person, 'mock-chat');
  await expect(page.getByText('第一句至少 10 个汉字或 30 个英文字母')).toBeVisible();
  await app.say('不到十个汉字');
  const refused = page.getByText('内容太短，至少需要 10 个汉字或 30 个英文字母');
  await expect(refused).toBeVisible();
  // What is said of a page does not follow to another; only what has just been said goes along.
  await page.evaluate(() => {
    for (const shown of document.querySelectorAll<HTMLElement>('.toast'))
      shown.dataset['at'] = String(performance.now() - 1_100);
  });
  await app.walk('/help');
  await expect(page.getByRole('heading', { level: 1, name: /帮助/ })).toBeVisible();
  expect(await refused.count()).toBe(0);
});

test('the first question from home stands there from the first frame of its conversation on @H3 @C3', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  // Slow enough that whatever stands there meanwhile would be seen.
  await page.route('**/api/get_session*', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 700));
    await route.continue();
  });
  await page.goto('/');
  const watchFrames = () =>
    page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(window, { seen });
      const there = (selector: string, words = '') =>
        [...document.querySelectorAll(`#root ${selector}`)].some(
          (each) =>
            each.checkVisibility({ visibilityProperty: true }) &&
            (each.textContent ?? '').includes(words),
        );
      const look = () => {
        // A new chat asks for its first question until that is sent.
        if (there('[data-chat]') && (seen.length > 0 || !there('[data-hint]'))) {
          const state = [
            there('[data-bubble=mine]', '12*12') ? 'question' : 'no question',
            there('[data-opening]') ? 'skeleton' : '',
          ];
          seen.push(state.filter((each) => each !== '').join(' '));
        }
        requestAnimationFrame(look);
      };
      look();
    });
  const seen = () => page.evaluate(() => Reflect.get(window, 'seen') as string[]);
  const box = page.getByRole('textbox', { name: '输入问题' });
  await box.fill('12*12 等于多少？');
  await watchFrames();
  await app.sendButton.click();
  await page.waitForURL(/\/chat\?/);
  await app.settled();
  await expect(app.log).toContainText('12*12');
  expect(new Set(await seen())).toEqual(new Set(['question']));

  await app.openNew(person, 'builtin-assistant');
  await expect(page.locator('[data-hint]')).toBeVisible();
  await watchFrames();
  await app.say('12*12 等于多少？');
  await app.settled();
  await expect(app.log).toContainText('144');
  expect(new Set(await seen())).toEqual(new Set(['question']));
});

test('a refused session or question leads to the page that says why, wherever it was begun @S7', async ({
  app,
  page,
  person,
}) => {
  await paint(person.client, '湖上的小船', { image: { n: 1, size: 0 } });
  await app.enterAs(person);
  const refused = { code: 1024, message: '本月免费会话已达上限，想用更多请购买会员', data: null };
  await page.route('**/api/new_session', (route) => route.fulfill({ json: refused }));
  const told = async () => {
    await expect(page).toHaveURL(/\/error\?code=1024/);
    await expect(page.getByText(refused.message)).toBeVisible();
  };
  await page.goto('/image/private');
  await page.getByRole('list', { name: '我的图片' }).getByRole('button').first().click();
  await page.getByRole('dialog').getByRole('button', { name: '更多' }).click();
  await page.getByRole('button', { name: '画同款' }).click();
  await told();
  const { uuid } = await person.client.call('newSession', { type: 0 });
  await app.walk(`/chat?uuid=${uuid}&open=img-tool`);
  await told();
  await page.goto('/model?kind=free');
  await page.getByRole('button', { name: '关于内置助手' }).first().click();
  await page.getByRole('button', { name: '用它新建会话' }).click();
  await told();
  await page.goto('/forum?show-create-dialog');
  const editor = page.getByRole('dialog', { name: '发起提问' });
  await editor.getByRole('textbox', { name: '标题' }).fill('桥在哪里');
  await editor.getByRole('textbox', { name: '内容' }).fill('河上有几座桥？');
  await editor.getByRole('button', { name: '发表' }).click();
  await told();
  await page.unroute('**/api/new_session');
  await page.route('**/api/send_message?*', (route) =>
    route.fulfill({ json: { ...refused, code: 1025 } }),
  );
  await page.goto('/forum?show-create-dialog');
  await expect(editor.getByRole('textbox', { name: '标题' })).toHaveValue('桥在哪里');
  await editor.getByRole('button', { name: '发表' }).click();
  await expect(page).toHaveURL(/\/error\?code=1025/);
});

test('a name that is a telephone number is hidden wherever another person stands @C14', async ({
  app,
  page,
  person,
  baseURL,
}) => {
  const other = await TestClient.register(baseURL ?? '');
  const number = `139${String(Date.now()).slice(-8)}`;
  await other.call('saveUser', { user_name: number });
  // A name is told of who has shown themselves.
  const { uuid: asked } = await other.call('newSession', { type: 2, private: 0 });
  await other.call('sendMessage', { session_id: asked, title: '问', msg: '请问各位一个问题' });
  const { id } = await other.call('userInfo', {});
  const { uuid } = await person.client.call('newFriend', { friend_user_id: id });
  const hidden = `139****${number.slice(-4)}`;
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(page.getByRole('textbox', { name: '输入消息' })).toHaveAttribute(
    'placeholder',
    `对 ${hidden} 说…`,
  );
  await expect(page).toHaveTitle(new RegExp(hidden.replaceAll('*', '\\*'), 'u'));
  await app.say('你好');
  await other.call('sendMessage', { session_id: uuid, msg: '收到了' });
  await page.reload();
  await expect(app.log).toContainText('收到了');
  const shown = async () => {
    await expect(page.getByText(hidden).first()).toBeVisible();
    expect(await page.locator('#root').innerHTML()).not.toContain(number);
  };
  await shown();
  await page.goto('/?channel=private');
  await shown();
});

test('a list leads back from a page that is gone @H1', async ({ app, page, person }) => {
  await app.enterAs(person);
  await page.goto('/scenario?page=900');
  await expect(page).toHaveURL(/page=\d{1,2}$/);
  await expect(page.getByRole('button', { name: '开始' }).first()).toBeVisible();
});

test('a message stands below the head of the page and says why copying failed; an error has its picture @S5 @S7', async ({
  app,
  page,
  person,
}) => {
  const { uuid, id } = await person.client.ask('12*12 等于多少？');
  await person.client.read(uuid, id);
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'clipboard', {
      value: { writeText: () => Promise.reject(new DOMException('no', 'NotAllowedError')) },
    });
    document.execCommand = () => false;
  });
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  await app.log.getByRole('button', { name: '更多操作' }).last().click();
  await page.getByRole('dialog').getByRole('button', { name: /^复制/ }).first().click();
  const told = page.getByRole('region', { name: '通知' }).getByRole('alert');
  await expect(told).toHaveText('复制失败：浏览器没有允许，请长按文字手动复制');
  const head = await page.locator('#root header').first().boundingBox();
  const box = await told.boundingBox();
  expect(box?.y).toBeGreaterThanOrEqual((head?.y ?? 0) + (head?.height ?? 0));
  await app.walk('/error?code=1433');
  await expect(page.getByText('会话已删除')).toBeVisible();
  const drawn = page.locator('img[src^="/samples/bridge-"]:visible');
  await expect(drawn).toHaveCount(1);
  await expect
    .poll(() => drawn.evaluate((image: HTMLImageElement) => image.naturalWidth))
    .toBeGreaterThan(0);
});

test('a visitor who wants to reply, or to write to somebody, signs in first and is back where they were @A1 @C14', async ({
  app,
  page,
  person,
  browser,
  baseURL,
}) => {
  const other = await TestClient.register(baseURL ?? '');
  const { uuid } = await other.call('newSession', { type: 2, private: 0 });
  await other.call('sendMessage', { session_id: uuid, msg: '河上有几座桥？', title: '桥' });
  const signIn = async (at: App) => {
    await expect(at.page).toHaveURL(/\/login/);
    await at.page.getByRole('textbox', { name: '用户名' }).fill(person.account);
    await at.page.getByLabel('密码', { exact: true }).fill(person.password);
    await at.page.getByRole('button', { name: '登录', exact: true }).click();
    await expect(at.page).toHaveURL(new RegExp(`uuid=${uuid}`));
    await expect(at.log).toContainText('河上有几座桥？');
  };
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(app.log).toContainText('河上有几座桥？');
  await page.getByRole('button', { name: '登录', exact: true }).last().click();
  await signIn(app);
  await expect(app.question).toBeVisible();

  const another = await browser.newContext({ ...(baseURL ? { baseURL } : {}), locale: 'zh-CN' });
  const visitor = new App(await another.newPage());
  // A private one may be their own.
  const own = await person.client.ask('自己的问题');
  await visitor.page.goto(`/chat?uuid=${own.uuid}`);
  await visitor.page.getByRole('main').getByRole('link', { name: '去登录' }).click();
  await expect(visitor.page).toHaveURL(new RegExp(`/login\\?back=.*${own.uuid}`));
  await visitor.page.goto(`/chat?uuid=${uuid}`);
  await visitor.log.getByRole('button', { name: /^关于/ }).first().click();
  await visitor.page.getByRole('button', { name: '发私信' }).click();
  await signIn(visitor);
  await another.close();
});

test('an answer that failed is nothing to go on from', async ({ app, page, person }) => {
  const { uuid } = await person.client.call('newSession', { type: 0, model: 'mock-chat' });
  await person.client.call('sendMessage', {
    session_id: uuid,
    msg: '[[mock 500]]',
    beside: 'mock-vision',
  });
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  const first = app.log.getByRole('region', { name: 'Mock Chat的回答' });
  await expect(first.getByRole('button', { name: /重试|重新生成/ })).toBeVisible();
  await app.settled();
  await expect(first.getByRole('button', { name: /用这个回答/ })).toHaveCount(0);
});

test('a model that is named by hand answers, and understands what it is asked among people', async ({
  app,
  page,
  person,
}) => {
  const { uuid } = await person.client.call('newSession', { type: 2, private: 0 });
  await person.client.call('sendMessage', {
    session_id: uuid,
    msg: '马拉松有多长，跑一趟要多久？',
    title: '马拉松',
  });
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  await app.question.fill('@内置助手 26.2 英里是多少公里');
  await expect(page.locator('[data-price]')).toHaveText('免费');
  await app.sendButton.click();
  await expect(app.log).toContainText('42.16');
  await expect(app.log).not.toContainText('@内置助手 26.2');
});

test('a slash lists the prompts that fit beside the box, here and at home; any other word behind it stays one @C5', async ({
  app,
  page,
  person,
}) => {
  const { uuid } = await person.client.call('newSession', { type: 0, model: 'builtin-assistant' });
  for (const [title, content] of [
    ['桥名翻译', '把下面的桥名译成英文'],
    ['周报', '写一份周报，关于{{主题}}'],
  ] as const)
    await person.client.call('savePrompt', { type: 0, prompt_json: { title, content } });
  await app.enterAs(person);
  for (const [address, box] of [
    [`/chat?uuid=${uuid}`, app.question],
    ['/', page.getByRole('textbox', { name: '输入问题' })],
  ] as const) {
    await page.goto(address);
    const list = page.getByRole('listbox', { name: '提示词' });
    await box.pressSequentially('/');
    await expect(list.getByRole('option', { name: '桥名翻译' })).toBeVisible();
    await page.keyboard.type('桥名');
    await expect(list.getByRole('option')).toHaveCount(2);
    await page.keyboard.press('Enter');
    await expect(list).toBeHidden();
    await expect(box).toHaveValue('把下面的桥名译成英文');
    // One with gaps asks for what fills them.
    await box.fill('/周报');
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: '主题' }).fill('修桥');
    await page.getByRole('button', { name: '放进输入框' }).click();
    await expect(box).toHaveValue('写一份周报，关于修桥');
    await box.fill('/');
    await expect(list).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(list).toBeHidden();
    await box.fill('');
    await box.pressSequentially('/home/magpie');
    await expect(list).toBeHidden();
    await expect(box).toHaveValue('/home/magpie');
    await box.fill('');
  }
});

test('where the server fails, what is on the device is shown, and its answer once it is well @O2', async ({
  app,
  page,
  person,
}) => {
  const { uuid, id } = await person.client.ask('26.2 英里是多少公里？');
  await person.client.read(uuid, id);
  const cards = page.locator('[data-sessions] [data-session]');
  await app.enterAs(person);
  await page.goto('/');
  await expect(cards).toHaveCount(1);
  await app.walk(`/chat?uuid=${uuid}`);
  await expect(app.log).toContainText('您说：26.2');
  await expect.poll(() => keptIn(page, 'queqiao-cache', 'messages')).toContain('您说：26.2');
  await page.route('**/api/**', (route) =>
    route.fulfill({ status: 502, body: '<h1>Bad Gateway</h1>' }),
  );
  await page.reload();
  await expect(app.log).toContainText('您说：26.2');
  await app.walk('/');
  await expect(cards).toHaveCount(1);
  await page.unroute('**/api/**');
  await person.client.ask('12 × 12 等于多少？');
  await expect(cards).toHaveCount(2, { timeout: 30_000 });
});
