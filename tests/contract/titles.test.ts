import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { stage } from '../support/stage.ts';
import { ADMIN_PASSWORD } from '../support/server.ts';
import { talk } from '../support/world.ts';

const here = stage({ env: { ASSISTANT_RATE: '0' } });
const secret = '我的身份证号是多少来着';
const harmless = '今天适合出门散步吗';

const person = () => TestClient.register(here.server.baseURL);
const manager = async () => {
  const client = new TestClient(here.server.baseURL);
  await client.login('admin', ADMIN_PASSWORD);
  return client;
};

const titleOf = async (client: TestClient, uuid: string) =>
  (await client.call('sessionList', { channel: 'private' })).list.find((row) => row.uuid === uuid)
    ?.prompt;

/** A public session whose first message was a mistake, shared, and marked by somebody else. */
const shared = async () => {
  const owner = await person();
  const { uuid, historyId } = await talk(owner, secret);
  await owner.call('setSession', { session_id: uuid, private: 0 });
  const reader = await person();
  await reader.call('addToFavorites', { session_id: uuid, history_id: historyId });
  const later = await owner.call('sendMessage', { session_id: uuid, msg: harmless });
  await owner.read(uuid, later.id);
  const { key } = await owner.call('shareSession', { session_id: uuid });
  await reader.call('addToFavorites', { session_id: uuid, history_id: later.id });
  /** All that others are shown of it. */
  const seen = async () =>
    JSON.stringify([
      await new TestClient(here.server.baseURL).call('sharedSession', { key }),
      await reader.call('sessionList', { channel: 'favorites' }),
      await reader.call('sessionList', { channel: 'public' }),
      await reader.call('historyList', { session_id: uuid }),
    ]);
  return { owner, reader, uuid, historyId, laterId: later.id, key, seen };
};

test('a deleted first message leaves its words in no link and in nobody’s list', async () => {
  const { owner, uuid, historyId, laterId, key, seen } = await shared();
  expect(await seen()).toContain(secret);
  await owner.call('deleteHistory', { session_id: uuid, id: historyId });
  expect(await seen()).not.toContain(secret);
  expect(await seen()).toContain(`"title":"${harmless}"`);
  // With the last one gone nothing of it is left either, and the session begins anew.
  await owner.call('deleteHistory', { session_id: uuid, id: laterId });
  expect(await seen()).not.toContain(harmless);
  const next = await owner.call('sendMessage', { session_id: uuid, msg: '再问一个新的问题' });
  await owner.read(uuid, next.id);
  // A link ends where it was made: what was asked afterwards is not its title either.
  const linked = await new TestClient(here.server.baseURL).call('sharedSession', { key });
  expect(linked).toMatchObject({ title: '', total: 0 });
});

test('what a manager takes away or rewrites is gone from the title and the card, too', async () => {
  const rewritten = await shared();
  const admin = await manager();
  await admin.call('adminUpdateHistory', {
    id: rewritten.historyId,
    human: '（已由管理员修改）',
  });
  expect(await rewritten.seen()).not.toContain(secret);
  expect(await rewritten.seen()).toContain('（已由管理员修改）');
  await admin.call('adminUpdateHistory', { id: rewritten.laterId, ai: '改过的回答' });
  const { list } = await rewritten.owner.call('sessionList', { channel: 'private' });
  expect(list.find(({ uuid }) => uuid === rewritten.uuid)?.summary).toBe('改过的回答');

  const removed = await shared();
  await admin.call('adminDeleteHistory', { history_id: removed.historyId });
  expect(await removed.seen()).not.toContain(secret);
});

test('a copy forgets its own, and a name that somebody chose stays', async () => {
  const { reader, owner, uuid, historyId, laterId } = await shared();
  const copy = await reader.call('newSession', { type: 0, history_id: laterId });
  const { list } = await reader.call('historyList', { session_id: copy.uuid });
  const first = Math.min(...list.map(({ id }) => id));
  await reader.call('deleteHistory', { session_id: copy.uuid, id: first });
  expect(await titleOf(reader, copy.uuid)).toBe(`${harmless} ·续`);

  await owner.call('setSession', { session_id: uuid, title: '散步的事' });
  await owner.call('deleteHistory', { session_id: uuid, id: historyId });
  expect(await titleOf(owner, uuid)).toBe('散步的事');
});

test('what was withdrawn from a talk of two is not in the other one’s list', async () => {
  const [one, other] = [await person(), await person()];
  const { id } = await other.call('userInfo', {});
  const { uuid } = await one.call('newFriend', { friend_user_id: id });
  const sent = await one.call('sendMessage', { session_id: uuid, msg: secret });
  const list = async () => JSON.stringify(await other.call('sessionList', { channel: 'private' }));
  await one.call('deleteHistory', { session_id: uuid, id: sent.id });
  expect(await list()).not.toContain(secret);
});

test('what was deleted before titles were made anew leaves them by the migration, names that were typed stay', async () => {
  const owner = await person();
  const { id: userId } = await owner.call('userInfo', {});
  const long = '很长的问题'.repeat(30);
  /** A session whose first message went while its title stayed. */
  const before = async (words: string, later: boolean) => {
    const { uuid, historyId } = await talk(owner, words);
    if (later) {
      const next = await owner.call('sendMessage', { session_id: uuid, msg: harmless });
      await owner.read(uuid, next.id);
    }
    await here.database.query('DELETE FROM history WHERE id = $1', [historyId]);
    return uuid;
  };
  const told = await before(secret, true);
  const alone = await before(secret, false);
  const cut = await before(long, true);
  const typed = await before('这句话没有人付过钱', true);
  const { uuid: whole } = await talk(owner, secret);
  await here.database.query(
    `INSERT INTO consumptions (user_id, type, model, human, prompt_tokens, completion_tokens,
       deduct_tokens, current_balance) VALUES ($1, 0, 'a', $2, 1, 1, 1, 1)`,
    [userId, secret],
  );
  const file = '../../server/db/migrations/0173-titles-of-deleted-words.sql';
  const migration = await readFile(new URL(file, import.meta.url), 'utf8');
  for (let times = 0; times < 2; times += 1) await here.database.query(migration);
  const titles = async (uuid: string) =>
    (await here.database.query('SELECT prompt FROM sessions WHERE uuid = $1', [uuid])).rows[0];
  expect(await titles(told)).toEqual({ prompt: harmless });
  expect(await titles(alone)).toEqual({ prompt: '' });
  expect(await titles(cut)).toEqual({ prompt: harmless });
  expect(await titles(typed)).toEqual({ prompt: '这句话没有人付过钱' });
  expect(await titles(whole)).toEqual({ prompt: secret });
});
