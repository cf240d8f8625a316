import { expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { startServer } from '../support/server.ts';

test('what the other one of two wrote is unread until it was looked at, and only for whom it was written', async () => {
  const server = await startServer();
  try {
    const one = await TestClient.register(server.baseURL);
    const other = await TestClient.register(server.baseURL);
    const { id } = await other.call('userInfo', {});
    const { uuid } = await one.call('newFriend', { friend_user_id: id });
    await one.call('sendMessage', { session_id: uuid, msg: '在吗？' });
    await other.call('answerFriend', { session_id: uuid, act: 'accept' });
    await one.call('sendMessage', { session_id: uuid, msg: '想请教一件事' });
    const unread = async (client: TestClient) =>
      (await client.call('sessionList', { channel: 'private' })).list.find(
        (session) => session.uuid === uuid,
      )?.unread;
    expect(await unread(one)).toBe(0);
    expect(await unread(other)).toBe(2);
    await other.call('historyList', { session_id: uuid, newest: 1 });
    expect(await unread(other)).toBe(0);
    const { id: answer } = await other.call('sendMessage', { session_id: uuid, msg: '请说' });
    expect(await unread(one)).toBe(1);
    await one.call('lastMessages', { sessionId: uuid, maxHistoryId: answer - 1 });
    expect(await unread(one)).toBe(0);
  } finally {
    await server.stop();
  }
});
