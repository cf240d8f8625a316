import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { stage } from '../support/stage.ts';
import { sendRaw, talk } from '../support/world.ts';

const here = stage();

const person = () => TestClient.register(here.server.baseURL);
const stranger = () => new TestClient(here.server.baseURL);
const statusOf = async (key: string) =>
  (await sendRaw(stranger(), 'sharedSession', { key })).status;

test('a link shows strangers a private session as it was then, and nothing of its cost', async () => {
  const owner = await person();
  const own = await talk(owner, '分享出去的问题');
  const request = {
    type: 'chat',
    images: [],
    image_detail: 'low',
    files: [{ uuid: randomUUID(), name: '笔记.txt', size: 3 }],
    at_user: null,
    at_ai: '',
  };
  await here.database.query(
    `UPDATE history SET deduct_tokens = 99, prompt_tokens = 88, completion_tokens = 77,
       request = $2 WHERE id = $1`,
    [own.historyId, request],
  );
  const { key } = await owner.call('shareSession', { session_id: own.uuid });
  expect(key.length).toBeGreaterThanOrEqual(22);
  const later = await owner.call('sendMessage', { session_id: own.uuid, msg: '之后的问题' });
  await owner.read(own.uuid, later.id);

  const shown = await stranger().call('sharedSession', { key });
  expect(shown).toMatchObject({ title: '分享出去的问题', user_name: '测试用户', total: 1 });
  expect(shown.list).toHaveLength(1);
  expect(shown.list[0]).toMatchObject({
    id: own.historyId,
    format: 1,
    prompt_tokens: 0,
    completion_tokens: 0,
    deduct_tokens: 0,
    liked: false,
    beside: null,
    siblings: [],
  });
  expect(JSON.parse(shown.list[0]?.human ?? '')).toEqual({
    prompt: '分享出去的问题',
    ...request,
    // A file is its owner's alone to open.
    files: request.files.map((file) => ({ ...file, uuid: '00000000-0000-0000-0000-000000000000' })),
  });
  expect(JSON.stringify(shown)).not.toContain('之后的问题');
  // The owner's own token changes nothing about it.
  expect((await owner.call('sharedSession', { key })).list[0]?.deduct_tokens).toBe(0);

  const again = await owner.call('shareSession', { session_id: own.uuid });
  expect(again.key).toBe(key);
  expect((await stranger().call('sharedSession', { key })).total).toBe(2);
  expect((await owner.call('shareInfo', { session_id: own.uuid })).key).toBe(key);
});

test('what is not shown is not shared, and likes are the viewer’s', async () => {
  const [owner, viewer] = [await person(), await person()];
  const own = await talk(owner, '有分支的问题');
  await here.database.query(
    `INSERT INTO history (session_id, user_id, human, ai, model, state, shown)
     SELECT id, user_id, '藏起来的问题', '藏起来的回答', model, 'done', false FROM sessions WHERE id = $1`,
    [own.id],
  );
  const { id } = await viewer.call('userInfo', {});
  await here.database.query('INSERT INTO likes (user_id, history_id) VALUES ($1, $2)', [
    id,
    own.historyId,
  ]);
  const { key } = await owner.call('shareSession', { session_id: own.uuid });
  const shown = await viewer.call('sharedSession', { key });
  expect(JSON.stringify(shown)).not.toContain('藏起来');
  expect(shown.list[0]?.liked).toBe(true);
  expect((await owner.call('sharedSession', { key })).list[0]?.liked).toBe(false);
});

test('two answers beside each other are both shared, once they are whole', async () => {
  const owner = await person();
  const own = await talk(owner, '两个模型一起回答');
  await here.database.query('UPDATE history SET beside_group = id WHERE id = $1', [own.historyId]);
  const { rows } = await here.database.query<{ id: string }>(
    `INSERT INTO history (session_id, user_id, human, ai, model, state, shown, place, prev_id,
       beside_group, deduct_tokens)
     SELECT session_id, user_id, human, '另一个回答', 'other-model', 'streaming', false, 1, prev_id,
       id, 55 FROM history WHERE id = $1 RETURNING id`,
    [own.historyId],
  );
  const { key } = await owner.call('shareSession', { session_id: own.uuid });
  const besides = async () =>
    (await stranger().call('sharedSession', { key })).list.map(({ beside }) => beside);
  expect(await besides()).toEqual([null]);
  await here.database.query(`UPDATE history SET state = 'done' WHERE id = $1`, [rows[0]?.id]);
  expect(await besides()).toMatchObject([
    { ai: '另一个回答', model: 'other-model', deduct_tokens: 0, in_favorites: false },
  ]);
});

test('a link ends when it is taken back, and a new one is another', async () => {
  const owner = await person();
  const own = await talk(owner, '要收回的分享');
  const first = await owner.call('shareSession', { session_id: own.uuid });
  await owner.call('unshareSession', { session_id: own.uuid });
  expect(await statusOf(first.key)).toBe(404);
  expect(await owner.call('shareInfo', { session_id: own.uuid })).toEqual({
    key: null,
    created_at: null,
  });
  const second = await owner.call('shareSession', { session_id: own.uuid });
  expect(second.key).not.toBe(first.key);
  expect(await statusOf(first.key)).toBe(404);
  expect(await statusOf(second.key)).toBe(200);
  const many = await Promise.all(
    Array.from({ length: 10 }, () => owner.call('shareSession', { session_id: own.uuid })),
  );
  expect(new Set(many.map(({ key }) => key))).toEqual(new Set([second.key]));
});

test('a link leads nowhere once the owner may not show the session', async () => {
  const owner = await person();
  const { id } = await owner.call('userInfo', {});
  const own = await talk(owner, '之后不能分享的会话');
  const share = async () => (await owner.call('shareSession', { session_id: own.uuid })).key;
  for (const [column, on] of [
    ['session_private', 'true'],
    ['disabled', 'true'],
  ] as const) {
    const key = await share();
    expect(await statusOf(key), column).toBe(200);
    await here.database.query(`UPDATE users SET ${column} = ${on} WHERE id = $1`, [id]);
    expect(await statusOf(key), column).toBe(404);
    await here.database.query(`UPDATE users SET ${column} = false WHERE id = $1`, [id]);
    expect(await statusOf(key), column).toBe(200);
  }
  const key = await share();
  expect(await statusOf(key)).toBe(200);
  await owner.call('deleteSession', { session_id: own.uuid });
  expect(await statusOf(key)).toBe(404);
  expect(await statusOf('A'.repeat(24))).toBe(404);
});

test('only the owner makes, sees and takes back a link, and not of everything', async () => {
  const [owner, other] = [await person(), await person()];
  const open = await talk(owner, '别人也看得到的会话');
  await owner.call('setSession', { session_id: open.uuid, private: 0 });
  const closed = await talk(owner, '别人看不到的会话');
  await owner.call('shareSession', { session_id: open.uuid });
  for (const name of ['shareSession', 'shareInfo', 'unshareSession'] as const) {
    expect(await other.raw(name, { session_id: open.uuid }), name).toMatchObject({ code: 1403 });
    expect(await other.raw(name, { session_id: closed.uuid }), name).toMatchObject({ code: 1432 });
  }
  const temporary = await owner.call('newSession', { temporary: 1 });
  const empty = await owner.call('newSession', {});
  for (const { uuid } of [temporary, empty])
    expect((await sendRaw(owner, 'shareSession', { session_id: uuid })).status).toBe(422);
  const { id: otherId } = await other.call('userInfo', {});
  const friends = await owner.call('newFriend', { friend_user_id: otherId });
  expect(await owner.raw('shareSession', { session_id: friends.uuid })).toMatchObject({
    code: 1432,
  });
  const { id } = await owner.call('userInfo', {});
  await here.database.query('UPDATE users SET session_private = true WHERE id = $1', [id]);
  expect(await owner.raw('shareSession', { session_id: closed.uuid })).toMatchObject({
    code: 1434,
  });
});
