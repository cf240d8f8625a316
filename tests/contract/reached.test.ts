import { expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { stage } from '../support/stage.ts';

/** Whom somebody's words reach, and for how long. */

const here = stage({ env: { RATE_LIMIT: '1000000' } });

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
test('a name that a message speaks to stands in no row, and ends with its account', async () => {
  const [named, writer] = [await someone('王小明真名'), await someone()];
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
