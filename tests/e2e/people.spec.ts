import { limits } from '#contract/limits.ts';
import { App, expect, foreignServer, test } from '../support/app.ts';
import { TestClient } from '../support/client.ts';

test.describe('with a model of a connected service', () => {
  test.skip(foreignServer, 'needs the service that the tests connect');

  test('an empty or too short message stays; one without balance leads away and is kept @C11 @C16 @C21', async ({
    app,
    page,
    person,
  }) => {
    // Most of the balance goes before, where no page has to show for what.
    const spent = await person.client.ask('[[bench tokens=17000 rate=0 id=most]]', {
      model: 'mock-chat',
    });
    await person.client.read(spent.uuid, spent.id);
    const uuid = await app.openNew(person, 'mock-chat');
    await expect(app.sendButton).toBeDisabled();
    await app.question.fill('   ');
    await expect(app.sendButton).toBeDisabled();
    await app.question.fill('嗨');
    await app.question.press('Enter');
    await expect(page.getByText('内容太短，至少需要 2 个汉字或 6 个英文字母')).toBeVisible();
    await expect(app.question).toHaveValue('嗨');
    await app.question.fill('长'.repeat(65_536));
    await app.sendButton.click();
    await expect(page.getByText('内容太长，该模型最多接受 65535 个字符')).toBeVisible();

    // A reply that costs more than is left takes all of it.
    await app.say('[[bench tokens=9000 rate=0 id=all]]');
    const left = async () => (await person.client.call('userInfo', {})).chatgpt_balance;
    await expect.poll(left, { timeout: 45_000 }).toBeLessThan(50);
    await app.settled();
    await expect(page.getByRole('button', { name: /Mock Chat/ })).toBeDisabled();
    await app.question.fill('余额还够这一条吗？');
    await expect(page.getByText(/余额不足：还剩/)).toBeVisible();
    await expect(page.getByRole('link', { name: '去充值' }).last()).toBeVisible();
    await app.sendButton.click();
    await expect(page).toHaveURL(/\/error\?code=1025/);
    // What costs nothing comes first, then the way back to what was written.
    const ways = page.getByRole('main').getByRole('link').filter({ hasNotText: '怎么办' });
    await expect(ways).toHaveText(['用免费模型', '去充值', '返回会话', '新建会话', '回到首页']);
    await expect(ways.first()).toHaveClass(/button-primary/);
    await ways.filter({ hasText: '返回会话' }).click();
    await expect(app.question).toHaveValue('余额还够这一条吗？');
    await page.getByRole('button', { name: '使用免费模型' }).click();
    await expect(page).not.toHaveURL(new RegExp(uuid));
    await expect(app.question).toHaveValue('余额还够这一条吗？');
  });

  test(
    'an @ opens who can answer; the one chosen answers among people @C14',
    { tag: '@wide' },
    async ({ app, page, person, isMobile }) => {
      await app.enterAs(person);
      const { uuid } = await person.client.call('newSession', { type: 2, private: 0 });
      await person.client.call('sendMessage', {
        session_id: uuid,
        msg: '搭一座桥要几天？',
        title: '搭桥',
      });
      await page.goto(`/chat?uuid=${uuid}`);
      await app.question.fill('@');
      const selector = page.getByRole('listbox', { name: '请谁回答' });
      await expect(selector).toBeVisible();
      await page.keyboard.press('Escape');
      await expect(selector).toBeHidden();
      await app.question.fill('');
      await app.question.fill('@');
      await expect(selector).toBeVisible();
      if (isMobile) {
        await selector.getByRole('option', { name: /Mock Chat/ }).click();
      } else {
        await app.question.press('ArrowDown');
        await app.question.press('ArrowUp');
        await app.question.press('Enter');
      }
      await expect(selector).toBeHidden();
      await expect(app.question).toHaveValue('');
      const chip = page.getByRole('button', { name: '不再请 Mock Chat 回答' });
      await chip.click();
      await expect(chip).toBeHidden();
      await page.getByRole('button', { name: '@ 请模型回答' }).click();
      await selector.getByRole('option', { name: /Mock Chat/ }).click();
      await app.say('你觉得呢？');
      await expect(app.log).toContainText('您说：');
      await app.settled();
      await expect(chip).toBeHidden();
    },
  );

  test('two people in two browsers write to each other and see what was changed @C14', async ({
    app,
    page,
    person,
    browser,
    baseURL,
  }) => {
    const client = await TestClient.register(baseURL ?? '');
    const friend = { account: '', password: '', client };
    const { id } = await client.call('userInfo', {});
    const { uuid } = await person.client.call('newFriend', { friend_user_id: id });
    await app.enterAs(person);
    const theirs = await browser.newContext({ ...(baseURL ? { baseURL } : {}), locale: 'zh-CN' });
    const there = new App(await theirs.newPage());
    await there.enterAs(friend);
    await Promise.all([page.goto(`/chat?uuid=${uuid}`), there.page.goto(`/chat?uuid=${uuid}`)]);
    await expect(there.question).toBeVisible();
    await app.say('周末一起去看桥吗？');
    await expect(app.log).toContainText('周末一起去看桥吗？');
    // Found by polling, or at once by who comes back to the page.
    const comesBack = (to: App) =>
      to.page.evaluate(() => dispatchEvent(new Event('visibilitychange')));
    await comesBack(there);
    await expect(there.log).toContainText('周末一起去看桥吗？', { timeout: 20_000 });

    const mine = page.getByRole('article').first();
    await mine.hover();
    await mine.getByRole('button', { name: '修改' }).click();
    const editor = page.getByRole('dialog', { name: '修改消息' });
    await editor.getByRole('textbox', { name: '内容' }).fill('');
    await editor.getByRole('button', { name: '保存' }).click();
    await expect(page.getByText('请输入内容', { exact: true })).toBeVisible();
    await editor.getByRole('textbox', { name: '内容' }).fill('周六去');
    await editor.getByRole('textbox', { name: '内容' }).selectText();
    await editor.getByRole('button', { name: '粗体' }).click();
    await expect(editor.getByRole('textbox', { name: '内容' })).toHaveValue('**周六去**');
    await page.keyboard.press('Escape');
    const leave = page.getByRole('alertdialog', { name: '还没有保存' });
    await leave.getByRole('button', { name: '取消' }).click();
    await editor.getByRole('button', { name: '保存' }).click();
    await expect(page.getByText('修改成功')).toBeVisible();
    await expect(editor).toBeHidden();
    await expect(app.log).toContainText('周六去');
    await comesBack(there);
    await expect(there.log).toContainText('周六去', { timeout: 20_000 });
    await expect(there.log).toContainText('已编辑');

    await client.call('sendMessage', { session_id: uuid, msg: '请模型说说', ai: 'mock-chat' });
    await comesBack(app);
    await expect(app.log).toContainText('请模型说说', { timeout: 20_000 });
    await expect(app.log).toContainText('您说：');

    // What the other one takes back is gone here as well.
    const slip = await client.call('sendMessage', { session_id: uuid, msg: '发错了的一句' });
    await comesBack(app);
    await expect(app.log).toContainText('发错了的一句', { timeout: 20_000 });
    await client.call('deleteHistory', { session_id: uuid, id: slip.id });
    await comesBack(app);
    await expect(app.log).not.toContainText('发错了的一句', { timeout: 20_000 });
    await expect(app.log).toContainText('请模型说说');

    // Also where a long session was opened in its middle, far from the newest messages.
    const said: number[] = [];
    for (let at = 1; at <= limits.historyPageSize + 10; at++)
      said.push(
        (await client.call('sendMessage', { session_id: uuid, msg: `往事第 ${at} 件` })).id,
      );
    await app.walk(`/chat?uuid=${uuid}&history_id=${said[1]}`);
    const told = (text: string) => page.getByRole('article').filter({ hasText: text });
    await expect(told('往事第 4 件')).toBeVisible();
    const [, , second = 0, third = 0, fourth = 0] = said;
    await client.call('updateMessage', { session_id: uuid, id: second, content: '往事改过了' });
    await client.call('deleteHistory', { session_id: uuid, id: third });
    await client.call('historyLike', { session_id: uuid, history_id: fourth });
    await comesBack(app);
    await expect(told('往事改过了')).toContainText('已编辑');
    await expect(told('往事第 4 件')).toHaveCount(0);
    await expect(told('往事第 5 件').getByRole('button', { name: /1/ })).toBeVisible();
    await expect(told('往事第 40 件')).toHaveCount(0);
    expect(there.problems).toEqual([]);
    await theirs.close();
  });
});
