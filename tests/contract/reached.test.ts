import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '#contract/limits.ts';
import { TestClient } from '../support/client.ts';
import { type FakePushService, startPushService } from '../support/push-service.ts';
import { stage } from '../support/stage.ts';

/** Whom somebody's words reach, and for how long. */

let push: FakePushService;
let key = '';
const env: Record<string, string> = { RATE_LIMIT: '1000000' };
beforeAll(async () => {
  push = await startPushService(() => key);
  env['FETCH_ALLOWED'] = push.host;
});
const here = stage({ env });
beforeAll(async () => {
  const client = await TestClient.register(here.server.baseURL);
  ({ key } = await client.call('pushKey', {}));
});
afterAll(() => push.close());

let count = 0;
const someone = async (name = '路人') => {
  count += 1;
  const client = new TestClient(here.server.baseURL);
  const password = 'password-1';
  const form = { account: `reached-${count}`, name, password, password2: password };
  client.token = (await client.call('register', form)).token ?? '';
  const { id } = await client.call('userInfo', {});
  return { client, id };
};
type Someone = Awaited<ReturnType<typeof someone>>;

const spokenTo = (id: number, prompt = '我知道您住在哪里') =>
  ({ msg: JSON.stringify({ prompt, at_user: { id } }), format: 1 }) as const;
const ask = async ({ client }: Someone, to: number, prompt?: string) => {
  const { uuid } = await client.call('newSession', { type: 2, private: 0 });
  const sent = { session_id: uuid, title: '请看', ...spokenTo(to, prompt) };
  return { uuid, sent: await client.raw('sendMessage', sent) };
};
const kinds = async ({ client }: Someone) =>
  (await client.call('newsList', {})).list.map(({ kind }) => kind);
const bodies = (since: number, word: string) =>
  push.pushed
    .slice(since)
    .map(({ message }) => message.body)
    .filter((body) => body.includes(word));

test('who blocks somebody hears nothing of them, wherever they write', async () => {
  const [victim, writer] = [await someone('受扰'), await someone('骚扰')];
  await victim.client.call('pushSubscribe', push.browser());
  const { uuid: question } = await victim.client.call('newSession', { type: 2, private: 0 });
  const answer = { session_id: question, msg: '我来回答' };
  await victim.client.call('sendMessage', { ...answer, msg: '河上怎样架桥', title: '架桥' });
  // Before that they are told as everybody is.
  await writer.client.call('sendMessage', answer);
  await ask(writer, victim.id);
  expect(await kinds(victim)).toEqual(['mention', 'reply']);
  await victim.client.call('readNews', {});

  const { uuid: talk } = await victim.client.call('newFriend', { friend_user_id: writer.id });
  await victim.client.call('answerFriend', { session_id: talk, act: 'block' });
  const pushed = push.pushed.length;
  const asked = await ask(writer, victim.id);
  expect(asked.sent.code).toBe(0);
  await writer.client.call('sendMessage', answer);
  await writer.client.call('sendMessage', { ...answer, msg: '@受扰 您好' });
  const mine = await victim.client.call('sendMessage', { session_id: asked.uuid, msg: '不要再写' });
  const accept = { session_id: asked.uuid, history_id: mine.id };
  await writer.client.call('acceptAnswer', accept);
  expect(await kinds(victim)).toEqual(['mention', 'reply']);
  expect((await victim.client.call('userInfo', {})).news_unread).toBe(0);
  // Others reach them still; by then a push of before would have come, too.
  const other = await someone('朋友');
  await other.client.call('sendMessage', { ...answer, msg: '用石头' });
  await expect.poll(() => bodies(pushed, '用石头'), { timeout: 10_000 }).toHaveLength(1);
  expect(bodies(pushed, '骚扰')).toEqual([]);
});

test('strangers are spoken to a few a day, and one’s mentions push now and then', async () => {
  const writer = await someone('发问');
  const strangers: Someone[] = [];
  while (strangers.length <= limits.strangersMentioned) strangers.push(await someone());
  const [first, ...more] = strangers as [Someone, ...Someone[]];
  await first.client.call('pushSubscribe', push.browser());
  const pushed = push.pushed.length;
  const last = more.pop()!;
  for (const each of [first, first, first, ...more])
    expect((await ask(writer, each.id)).sent.code).toBe(0);
  const refused = (await ask(writer, last.id)).sent;
  expect(refused.status).toBe(429);
  expect(refused.message).toContain(`${limits.strangersMentioned} 位没有说过话的人`);
  expect(await kinds(last)).toEqual([]);
  // Who was met is no stranger: they wrote here, or are a friend.
  const { uuid } = await last.client.call('newSession', { type: 2, private: 0 });
  await last.client.call('sendMessage', { session_id: uuid, msg: '请问各位', title: '问' });
  await writer.client.call('sendMessage', { session_id: uuid, ...spokenTo(last.id, '看这里') });
  expect(await kinds(last)).toEqual(['mention']);
  // All of them are told in the list; the device rings once.
  expect(await kinds(first)).toEqual(['mention', 'mention', 'mention']);
  const other = await someone('另一位');
  await ask(other, first.id, '您看呢');
  await expect.poll(() => bodies(pushed, '另一位'), { timeout: 10_000 }).toHaveLength(1);
  expect(bodies(pushed, '发问')).toHaveLength(1);
});

test('a name that a message speaks to stands in no row, and ends with its account', async () => {
  const [named, writer] = [await someone('王小明真名'), await someone()];
  // Of whom nobody has seen anything there is the number alone.
  const unseen = (await ask(writer, named.id)).sent.data as { msg: string };
  expect(JSON.parse(unseen.msg)).toMatchObject({
    at_user: { id: named.id, name: `用户 ${named.id}` },
  });
  await ask(named, writer.id, '大家好');
  const { uuid, sent } = await ask(writer, named.id);
  const told = async () =>
    JSON.parse(
      (await writer.client.call('historyList', { session_id: uuid })).list[0]?.human ?? '',
    ) as { at_user: unknown };
  expect(JSON.parse((sent.data as { msg: string }).msg)).toMatchObject({
    at_user: { id: named.id, name: '王小明真名' },
  });
  expect((await told()).at_user).toEqual({ id: named.id, name: '王小明真名' });
  await named.client.call('deleteAccount', { password: 'password-1' });
  await expect
    .poll(async () => (await told()).at_user, { timeout: 20_000 })
    .toEqual({ id: named.id, name: '已注销用户' });
  const { rows } = await here.database.query(
    `SELECT 1 FROM history WHERE request::text LIKE '%王小明真名%'`,
  );
  expect(rows).toEqual([]);
});

test('news say what a message says now: of one that is deleted nothing', async () => {
  const [asker, answerer] = [await someone(), await someone('答题')];
  const { uuid } = await asker.client.call('newSession', { type: 2, private: 0 });
  await asker.client.call('sendMessage', { session_id: uuid, msg: '请问一个问题', title: '问' });
  const { id } = await answerer.client.call('sendMessage', { session_id: uuid, msg: '旧的**话**' });
  const item = async () => (await asker.client.call('newsList', {})).list[0];
  expect(await item()).toMatchObject({ excerpt: '旧的话', history_id: id });
  await answerer.client.call('updateMessage', { session_id: uuid, id, content: '新的话' });
  expect(await item()).toMatchObject({ excerpt: '新的话' });
  await answerer.client.call('deleteHistory', { session_id: uuid, id });
  expect(await item()).toMatchObject({ excerpt: '', history_id: null, kind: 'reply' });
  const { rows } = await here.database.query(`SELECT 1 FROM news WHERE excerpt <> ''`);
  expect(rows).toEqual([]);
});
