import { randomUUID } from 'node:crypto';
import { expect, foreignServer, test } from '../support/app.ts';
import { TestClient } from '../support/client.ts';
import { keptIn } from '../support/phone.ts';

test.skip(foreignServer, 'needs the service that the tests connect');

test('questions and answers branch, are paged through, liked, kept and found @C1 @C8 @C9', async ({
  app,
  page,
  person,
}) => {
  const { uuid, id } = await person.client.ask('第一种问法是什么？', { model: 'mock-chat' });
  await person.client.read(uuid, id);
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(app.log).toContainText('您说：第一种问法');

  await app.log.getByRole('button', { name: '重新回答' }).click();
  const branches = app.log.getByRole('group', { name: '分支' });
  await expect(branches).toContainText('2/2');
  await app.settled();

  await app.log.getByRole('button', { name: '更多操作' }).last().click();
  await page.getByRole('dialog').getByRole('button', { name: '关闭' }).click();
  await app.log.getByText('第一种问法是什么？', { exact: true }).dispatchEvent('touchstart', {
    touches: [{ identifier: 0, clientX: 200, clientY: 200 }],
  });
  await page.getByRole('dialog').getByRole('button', { name: '编辑后重新生成' }).click();
  const box = page.getByRole('textbox', { name: '编辑问题' });
  await box.fill('第二种问法是什么？');
  await page.getByRole('button', { name: '发送', exact: true }).first().click();
  await expect(app.log).toContainText('您说：第二种问法');
  await expect(branches).toContainText('3/3');

  const back = branches.getByRole('button', { name: '上一个分支' });
  await back.focus();
  await page.keyboard.press('ArrowLeft');
  await expect(branches).toContainText('2/3');
  await expect(app.log).toContainText('您说：第一种问法');
  await expect(back).toBeFocused();

  await app.log.getByRole('button', { name: '点赞' }).click();
  await expect(app.log.getByRole('button', { name: '取消点赞 1' })).toBeVisible();
  await app.log.getByRole('button', { name: '收藏' }).click();
  await expect(app.log.getByRole('button', { name: '取消收藏' })).toBeVisible();
  await expect
    .poll(async () => {
      const [kept] = (await person.client.call('historyList', { session_id: uuid })).list;
      return [kept?.like_count, kept?.in_favorites, kept?.siblings.length];
    })
    .toEqual([1, true, 3]);

  await app.say('后来又问了一句');
  await app.settled();
  const { list } = await person.client.call('historyList', { session_id: uuid });
  await page.goto(`/chat?uuid=${uuid}&favorite=1&history_id=${list[0]?.id}`);
  await expect(app.log).toContainText('第一种问法是什么？');
  await expect(app.log).not.toContainText('后来又问了一句');
  await expect(app.question).toBeHidden();
  await page.getByRole('link', { name: '查看完整会话' }).click();
  await expect(app.log).toContainText('后来又问了一句');
  await expect(app.question).toBeVisible();

  await page.getByRole('button', { name: '更多', exact: true }).click();
  await page.getByRole('button', { name: '查找' }).click();
  await page.getByRole('searchbox', { name: '在这个会话里查找' }).fill('第一种');
  await page.getByRole('list', { name: '找到的消息' }).getByRole('button').first().click();
  await expect(app.log.locator('[data-found]').first()).toBeVisible();
});

test('two models answer beside each other; one is gone on with @C3 @C8', async ({
  app,
  page,
  person,
}) => {
  const { uuid } = await person.client.call('newSession', { type: 0, model: 'mock-chat' });
  const sent = await person.client.call(
    'sendMessage',
    {
      session_id: uuid,
      msg: '[[bench tokens=90 rate=30 id=pair]]',
      beside: 'mock-vision',
    },
    { 'idempotency-key': randomUUID() },
  );
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  const first = app.log.getByRole('region', { name: 'Mock Chat的回答' });
  const second = app.log.getByRole('region', { name: 'Mock Vision的回答' });
  await expect(first).toContainText('第 1 节');
  await expect(second).toContainText('第 1 节');
  await expect(first).toContainText('END-pair-DONE');
  await expect(second).toContainText('END-pair-DONE');
  await app.settled();
  await app.log.getByRole('tab', { name: 'Mock Vision' }).click();
  await second.getByRole('button', { name: '用这个回答继续' }).click();
  const chosen = second.getByRole('button', { name: '正在用这个回答' });
  await expect(chosen).toHaveAttribute('aria-pressed', 'true');
  await expect
    .poll(async () => {
      const [kept] = (await person.client.call('historyList', { session_id: uuid })).list;
      return [kept?.id, kept?.beside?.id];
    })
    .toEqual([sent.beside, sent.id]);
});

test('of two answers the one that failed offers 重试, and only the other is gone on with @C3 @C8', async ({
  app,
  page,
  person,
}) => {
  const { uuid } = await person.client.call('newSession', { type: 0, model: 'mock-chat' });
  await person.client.call(
    'sendMessage',
    { session_id: uuid, msg: '[[mock 500]] 你能做什么', beside: 'builtin-assistant' },
    { 'idempotency-key': randomUUID() },
  );
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  await app.settled();
  const first = app.log.getByRole('region', { name: 'Mock Chat的回答' });
  await expect(first.getByRole('alert')).toContainText('模型服务出错');
  await expect(first.getByRole('button', { name: '重试' })).toBeVisible();
  await expect(first.getByRole('button', { name: /用这个回答/ })).toHaveCount(0);
  await app.log.getByRole('tab', { name: '内置助手' }).click();
  const second = app.log.getByRole('region', { name: '内置助手的回答' });
  await expect(second.getByRole('button', { name: '用这个回答继续' })).toBeVisible();
  await expect(second.getByRole('button', { name: '重试' })).toHaveCount(0);
});

test('a temporary chat is nowhere but here; a public one can be taken over @C1 @C2', async ({
  app,
  page,
  person,
  baseURL,
}) => {
  const { uuid } = await person.client.call('newSession', {
    type: 0,
    model: 'mock-chat',
    temporary: 1,
  });
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(page.getByText('临时对话：不保存，关闭即消失')).toBeVisible();
  await app.say('不要记住这一句');
  await expect(app.log).toContainText('您说：不要记住这一句');
  await app.settled();
  await expect(app.log.getByText('不要记住这一句', { exact: true })).toBeVisible();
  const kept = await person.client.call('historyList', { session_id: uuid });
  expect(JSON.stringify(kept)).not.toContain('不要记住');
  await page.getByRole('button', { name: '返回' }).click();
  const warning = page.getByRole('alertdialog');
  await warning.getByRole('button', { name: '取消' }).click();
  await expect(app.log).toContainText('不要记住这一句');
  await page.getByRole('button', { name: '返回' }).click();
  await warning.getByRole('button', { name: '离开' }).click();
  await page.waitForURL((url) => url.pathname === '/');
  // Nothing of it is on the device, not even that it was.
  await page.goto('/model');
  await page.goto('/');
  await expect.poll(() => keptIn(page, 'queqiao-cache', 'answers')).toContain('models');
  for (const store of ['answers', 'sessions', 'messages'])
    expect(await keptIn(page, 'queqiao-cache', store)).not.toContain(uuid);

  const other = await TestClient.register(baseURL ?? '');
  await other.call('saveSettings', { private_global: 1 });
  const open = await other.ask('别人公开的问题', { model: 'builtin-assistant' });
  await other.read(open.uuid, open.id);
  await other.call('setSession', { session_id: open.uuid, private: 0 });
  await app.walk(`/chat?uuid=${open.uuid}`);
  await page.getByRole('button', { name: '接着聊' }).click();
  await page.waitForURL((url) => !url.search.includes(open.uuid));
  await expect(app.log).toContainText('别人公开的问题');
  await expect(app.question).toBeVisible();
});
