import { expect, foreignServer, test, type App, type Person } from '../support/app.ts';
import type { Page } from '@playwright/test';

/** Asks over HTTP and waits for the whole reply. */
const talked = async ({ client }: Person, text: string) => {
  const { uuid, id } = await client.ask(text);
  await client.read(uuid, id);
  return { uuid, id };
};

const cards = (page: Page) => page.getByRole('main').locator('[data-sessions] > [data-session]');

/** A finger from one place to another, in steps as a hand makes them. */
const drag = async (page: Page, from: [number, number], to: [number, number]) => {
  const touch = await page.context().newCDPSession(page);
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', points: [number, number][]) =>
    touch.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: points.map(([x, y]) => ({ x, y })),
    });
  const move = (step: number) => {
    const at = (index: 0 | 1) => from[index] + ((to[index] - from[index]) * step) / 8;
    return send('touchMove', [[at(0), at(1)]]);
  };
  // Sent together: a busy machine would let the finger rest, which opens the menu.
  await Promise.all([send('touchStart', [from]), move(1)]);
  for (let step = 2; step <= 8; step += 1) {
    await page.waitForTimeout(16);
    await move(step);
  }
  await send('touchEnd', []);
};

const open = async (app: App, person: Person, address: string) => {
  await app.enterAs(person);
  await app.page.goto(address);
};

test('words inside a message are found, marked, and open at their message @H1 @S1', async ({
  app,
  page,
  person,
}) => {
  const found = await talked(person, '请记住：青瓷冰裂纹是一种开片');
  await talked(person, '26.2 英里是多少公里？');
  await open(app, person, '/?channel=private');
  await expect(cards(page)).toHaveCount(2);
  await page.getByRole('button', { name: '搜索', exact: true }).click();
  await page.getByRole('searchbox', { name: '搜索会话和消息' }).fill('冰裂');
  await expect(page).toHaveURL(/query=%E5%86%B0%E8%A3%82/);
  await expect(cards(page)).toHaveCount(1);
  await expect(cards(page).locator('mark').first()).toHaveText('冰裂');
  await cards(page).getByRole('link').first().click();
  await page.waitForURL(new RegExp(`uuid=${found.uuid}.*history_id=${found.id}`));
  await expect(app.log).toContainText('青瓷冰裂纹');
  await expect(page.locator('[data-found]')).toContainText('冰裂');
  // Back, and what narrows the list can be taken away again.
  await page.goBack();
  await expect(cards(page)).toHaveCount(1);
  await app.walk('/?channel=private&query=没有这样的词');
  await page.getByRole('link', { name: '去掉筛选' }).click();
  await expect(cards(page)).toHaveCount(2);
});

test('favourites, authors and scenarios narrow the list, and each can be left @H1 @C8 @C9', async ({
  app,
  page,
  person,
}) => {
  const { client } = person;
  const whole = await talked(person, '请介绍一下自己的用法');
  const marked = await talked(person, '(128 + 36) × 2.5 等于多少？');
  await client.call('addToFavorites', { session_id: marked.uuid, history_id: marked.id });
  await open(app, person, '/?channel=private');
  // The card's menu is the way for those who do not swipe.
  const card = cards(page).filter({ hasText: '请介绍一下自己的用法' });
  await card.getByRole('button', { name: /更多操作/ }).click();
  await page.getByRole('button', { name: '收藏', exact: true }).click();
  await expect(card.getByText('已收藏')).toBeAttached();
  await page.getByRole('main').getByRole('link', { name: '收藏', exact: true }).click();
  await expect(page).toHaveTitle(/我的收藏/);
  await expect(cards(page)).toHaveCount(2);
  await cards(page).getByRole('link', { name: '(128 + 36)' }).click();
  await page.waitForURL(new RegExp(`history_id=${marked.id}&favorite=1|favorite=1.*history_id`));
  await expect(page.getByRole('textbox', { name: '输入消息' })).toBeHidden();
  await app.walk('/?channel=favorites');
  await cards(page).filter({ hasText: '请介绍' }).getByRole('button').click();
  await page.getByRole('button', { name: '取消收藏' }).click();
  await expect(cards(page)).toHaveCount(1);
  expect(whole.uuid).not.toBe(marked.uuid);

  const { id } = await client.call('userInfo', {});
  await app.walk(`/?channel=private&user_id=${id}`);
  await page.getByRole('button', { name: /去掉筛选：作者：测试用户/ }).click();
  await expect(page).not.toHaveURL(/user_id/);
  // Somebody else's are never one's own.
  await app.walk('/?user_id=999999999');
  await expect(page).toHaveTitle(/公共频道/);
  await expect(cards(page)).toHaveCount(0);
  const { list } = await client.call('scenarioList', {});
  await page.goto(`/?channel=private&scenario_id=${list[0]?.id}&model=builtin-assistant`);
  await expect(page.getByRole('combobox', { name: '按模型筛选' })).toHaveValue('builtin-assistant');
  await page.getByRole('button', { name: `去掉筛选：场景：${list[0]?.name}` }).click();
  await expect(page).not.toHaveURL(/scenario_id/);
  await page.getByRole('combobox', { name: '按模型筛选' }).selectOption('');
  await expect(cards(page)).toHaveCount(2);
});

test('a finger acts on a card and renews the list, and scrolling stays scrolling @H1 @O5', async ({
  app,
  page,
  person,
}) => {
  await talked(person, '26.2 英里是多少公里？');
  await open(app, person, '/?channel=private');
  // Not one of the grey ones that stand there while the list is on its way.
  await expect(cards(page)).toHaveCount(1);
  const middle = async () => {
    const box = await cards(page).first().boundingBox();
    if (!box) throw new Error('no card');
    return { right: box.x + box.width - 60, y: box.y + box.height / 2 };
  };
  const sweep = async () => {
    const { right, y } = await middle();
    await drag(page, [right, y], [right - 180, y]);
    await expect(page.getByRole('button', { name: '置顶', exact: true })).toBeVisible();
  };
  // The first touch brings the code along, which makes room for pulling.
  await page.getByRole('heading', { level: 1 }).tap();
  await expect(page.locator('[data-pull]')).toBeAttached();
  await sweep();
  await page.getByRole('button', { name: '删除', exact: true }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: '取消' }).click();
  await expect(page.getByText('已取消删除')).toBeVisible();
  expect(new URL(page.url()).pathname).toBe('/');
  // Straight up scrolls; nothing opens and nothing is swept aside.
  const { right, y } = await middle();
  await drag(page, [right, y], [right, y - 160]);
  await expect(page.getByRole('button', { name: '删除', exact: true })).toBeHidden();
  await page.evaluate(() => scrollTo(0, 0));
  const late = await person.client.ask('后来才问的问题');
  await person.client.read(late.uuid, late.id);
  await expect(cards(page)).toHaveCount(1);
  await drag(page, [190, 120], [190, 420]);
  await expect(cards(page)).toHaveCount(2);
  await expect(page.getByText('正在刷新')).toBeHidden();
  await sweep();
  await page.getByRole('button', { name: '删除', exact: true }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: '删除', exact: true }).click();
  await expect(page.getByText('会话已删除')).toBeVisible();
  await expect(cards(page)).toHaveCount(1);
});

test('what was just read is there without a network at once, after a reload, too @H1 @O2', async ({
  app,
  page,
  person,
}) => {
  const { uuid } = await talked(person, '26.2 英里是多少公里？');
  await open(app, person, `/chat?uuid=${uuid}`);
  await expect(app.log).toContainText('流式输出');
  // The page itself comes from its worker then; its calls reach nobody.
  await page.route('**/api/**', (route) => route.abort());
  await page.reload();
  await expect(app.log).toContainText('流式输出');
});

test('without a network the list and its search answer from what was read @H1 @C1', async ({
  app,
  page,
  context,
  person,
}) => {
  await talked(person, '青瓷和汝窑有什么不同？');
  await talked(person, '26.2 英里是多少公里？');
  // What was read is written down once the page has come to rest.
  const kept = page.waitForResponse(/cache-store/, { timeout: 25_000 });
  await open(app, person, '/?channel=private');
  await page.getByRole('main').getByRole('link', { name: '青瓷和汝窑有什么不同？' }).click();
  await expect(app.log).toContainText('青瓷');
  await page.goBack();
  await expect(cards(page)).toHaveCount(2);
  await kept;
  await context.setOffline(true);
  await page.getByRole('main').getByRole('link', { name: '收藏', exact: true }).click();
  await page.getByRole('main').getByRole('link', { name: '我的', exact: true }).click();
  await page.getByRole('button', { name: '搜索', exact: true }).click();
  await page.getByRole('searchbox', { name: '搜索会话和消息' }).fill('汝窑');
  await expect(cards(page)).toHaveCount(1);
  await expect(page.getByText('现在没有网络，显示的是已保存的内容')).toBeVisible();
  await context.setOffline(false);
  await expect(page.getByText('现在没有网络，显示的是已保存的内容')).toBeHidden({
    timeout: 15_000,
  });
});

test('a session begins free, with a scenario, a knowledge base, or from its address @H3 @S8 @C20', async ({
  app,
  page,
  person,
}) => {
  await open(app, person, '/');
  await page.getByRole('tab', { name: '免费' }).click();
  await page.getByRole('button', { name: /选择模型，现在是 .+，免费/ }).click();
  const models = page.getByRole('dialog');
  await expect(models.getByRole('radio').first()).toBeVisible();
  for (const name of await models.getByRole('radio').allTextContents())
    expect(name).toContain('免费');
  await page.keyboard.press('Escape');
  await expect(models).toBeHidden();
  // What is seldom wanted is behind the ＋, and what was chosen there stands as a chip.
  await page.getByRole('button', { name: '添加图片或文件' }).click();
  await page.getByRole('button', { name: /^临时对话/ }).click();
  await page.getByRole('button', { name: '不用临时对话' }).click();
  await page.getByRole('button', { name: '添加图片或文件' }).click();
  await page.getByRole('button', { name: '场景', exact: true }).click();
  await page.getByRole('searchbox', { name: '查找场景' }).fill('翻译');
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /翻译|互译/ })
    .first()
    .click();
  await expect(page.getByRole('button', { name: /不用场景/ })).toBeVisible();
  await page.getByRole('textbox', { name: '输入问题' }).fill('今天天气很好');
  await app.sendButton.click();
  await page.waitForURL(/\/chat\?/);
  await expect(app.log.getByRole('button', { name: '复制回复' })).toBeVisible();
  const made = await person.client.call('getSession', { uuid: app.uuid() });
  expect(made.scenario?.name).toMatch(/译/);

  // The address of a knowledge base makes a session, which then stands on top.
  await page.goto('/?embedding=help');
  await page.waitForURL((url) => url.pathname === '/' && !url.search.includes('embedding'));
  await expect(cards(page).first()).toContainText('鹊桥使用帮助');
  // Who wants answers from it alone says so once; it goes along with each question.
  await cards(page).first().click();
  await page.getByRole('button', { name: '更多', exact: true }).first().click();
  await page.getByRole('button', { name: '设置', exact: true }).click();
  const alone = page.getByRole('switch', { name: /只按知识库回答/ });
  await expect(alone).not.toBeChecked();
  await alone.click();
  await expect(alone).toBeChecked();
  await page.keyboard.press('Escape');
  await app.say('怎样给账号充值？[[told]]');
  if (!foreignServer) await expect(app.log).toContainText('只能依据下面的资料回答');
  await app.settled();
  await app.walk('/chat?embedding=no-such-key');
  await page.waitForURL(/\/error\?code=1415/);
  await expect(page.getByText('没有这个知识库')).toBeVisible();
});

test('words that stand in an answer are marked there, from the list and within the talk @H1', async ({
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
    state: 'done',
    error_code: '',
    error_message: '',
    created_at: new Date().toISOString(),
  });
  const messages = [message(1, '说说瓷器', '汝窑以天青色著称。'), message(2, '还有呢', '没有了。')];
  const sessions = [{ title: '瓷器', model: 'builtin-assistant', messages }];
  const data = { queqiao: 1, sessions };
  const { uuid } = await person.client.call('importSessions', { data });
  await open(app, person, '/?channel=private&query=天青色');
  await cards(page).getByRole('link').first().click();
  const found = app.log.locator('[data-reply][data-found]');
  await expect(found).toContainText('天青色');
  await app.walk(`/chat?uuid=${uuid}`);
  await page.getByRole('button', { name: '更多', exact: true }).first().click();
  await page.getByRole('button', { name: '查找' }).click();
  await page.getByRole('searchbox', { name: '在这个会话里查找' }).fill('天青色');
  await page.getByRole('list', { name: '找到的消息' }).getByRole('button').click();
  await expect(found).toContainText('天青色');
});

test('a system notice is read once, or put away until the next load @S6', async ({
  app,
  page,
  person,
}) => {
  // A real one would stand in the way of every other test: only what the page does with it is tried.
  let read = false;
  let told = Promise.resolve();
  const answer = (data: unknown) => ({ json: { code: 0, message: '', data } });
  await page.route('**/api/notice_info', async (route) => {
    await told;
    const notice = {
      id: 7,
      content:
        '# 维护通知\n\n今晚 **23:00** 起维护 <script>document.title = "no"</script> [去充值](/account?tab=recharge) [不能](/chat?prompt=a&send=1)',
      created_at: '2026-11-01T02:00:00.000Z',
      code_url: '',
      bucket_key: '',
    };
    return route.fulfill(answer({ list: read ? [] : [notice] }));
  });
  await page.route('**/api/update_notice', (route) => {
    read = route.request().postData()?.includes('7') === true;
    return route.fulfill(answer({}));
  });
  await open(app, person, '/');
  const notice = page.getByRole('dialog', { name: '系统公告' });
  await expect(notice.getByRole('heading', { name: '维护通知' })).toBeVisible();
  // It tells something; it is no failure.
  await expect(notice.getByText('今晚')).toHaveCSS('background-color', 'rgba(0, 0, 0, 0)');
  await notice.getByRole('button', { name: '关闭' }).click();
  await expect(notice).toBeHidden();
  expect(read).toBe(false);
  // Who is in mid-sentence finishes it first.
  let tell = () => {};
  told = new Promise((resolve) => (tell = resolve));
  // Before the app is there: the notice is known here, and would come with that.
  await page.reload({ waitUntil: 'commit' });
  const box = page.getByRole('textbox', { name: '输入问题' });
  await box.click();
  tell();
  // The keyboard is up, and the first word is thought of.
  await page.waitForTimeout(1_500);
  await page.keyboard.type('写到一半的一句话，还没有写完', { delay: 150 });
  await expect(box).toHaveValue('写到一半的一句话，还没有写完');
  await expect(notice).toBeHidden();
  await box.fill('');
  await expect(notice).toBeVisible();
  // Its links lead to our own pages, but start nothing.
  await expect(notice.getByRole('link', { name: '不能' })).toHaveCount(0);
  await notice.getByRole('link', { name: '去充值' }).click();
  await page.waitForURL(/\/account\?tab=recharge/);
  await expect(notice).toBeHidden();
  await page.goto('/');
  await page.reload();
  await notice.getByRole('button', { name: '知道了' }).click();
  await expect(notice).toBeHidden();
  expect(read).toBe(true);
  await page.reload();
  await expect(page.getByRole('textbox', { name: '输入问题' })).toBeVisible();
  await expect(notice).toBeHidden();
});

test('a tap stays a tap, sessions are pinned and renamed under the headings of their time, and a visitor is led to sign in and back @H1 @C8', async ({
  app,
  page,
  person,
  browser,
}) => {
  const older = await talked(person, '先问的一个问题');
  await talked(person, '后问的一个问题');
  await person.client.call('setSession', { session_id: older.uuid, private: 0 });
  await open(app, person, '/?channel=private');
  await expect(page.getByRole('heading', { name: '今天', exact: true })).toBeVisible();
  await cards(page)
    .filter({ hasText: '先问的' })
    .getByRole('button', { name: /更多操作/ })
    .tap();
  await page.getByRole('button', { name: '置顶', exact: true }).tap();
  await expect(page.getByRole('heading', { name: '置顶' })).toBeVisible();
  await expect(cards(page).first()).toContainText('先问的');
  await cards(page)
    .first()
    .getByRole('button', { name: /更多操作/ })
    .tap();
  await page.getByRole('button', { name: '重命名', exact: true }).tap();
  await page.getByRole('textbox', { name: '会话的名字' }).fill('换了名字');
  await page.getByRole('button', { name: '保存', exact: true }).tap();
  await expect(cards(page).first()).toContainText('换了名字');
  // A page beyond the last is the last.
  await app.walk('/?channel=private&page=9');
  await expect(page).toHaveURL(/page=1/);
  await expect(cards(page)).toHaveCount(2);

  const context = await browser.newContext({ ...test.info().project.use, serviceWorkers: 'block' });
  const visitor = await context.newPage();
  await visitor.goto('/?channel=public');
  // The first touch: its finger has left before the code of gestures is there.
  await visitor
    .getByRole('main')
    .locator('[data-session]', { hasText: '换了名字' })
    .getByRole('link', { name: /只看/ })
    .tap();
  await expect(visitor).toHaveURL(/user_id/);
  await visitor.waitForTimeout(700);
  await expect(visitor.getByRole('dialog')).toHaveCount(0);
  await visitor.goto(`/chat?uuid=${older.uuid}`);
  await visitor.getByRole('button', { name: '点赞', exact: true }).first().tap();
  await expect(visitor).toHaveURL(/\/login\?back=.*uuid/);
  await context.close();
});
