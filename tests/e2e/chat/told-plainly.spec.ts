import { expect, test } from '../../support/app.ts';
import { TestClient } from '../../support/client.ts';

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
