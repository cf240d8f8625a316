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
