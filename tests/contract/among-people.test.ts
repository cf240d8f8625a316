import { beforeAll, describe, expect, test } from 'vitest';
import { limits } from '#contract/limits.ts';
import { TestClient } from '../support/client.ts';
import { stageWithModels } from '../support/stage.ts';

/** Questions to everybody, and what two friends write to each other. */

const here = stageWithModels('mock-a,mock-b');
let lin: TestClient;
let zhou: TestClient;
let stranger: TestClient;

const named = async (account: string, name: string) => {
  const client = new TestClient(here.server.baseURL);
  const password = 'password-1';
  const form = { account, name, password, password2: password };
  client.token = (await client.call('register', form)).token ?? '';
  return client;
};
const idOf = async (client: TestClient) => (await client.call('userInfo', {})).id;

beforeAll(async () => {
  lin = await named('lin', '林一');
  zhou = await named('zhou', '周二');
  stranger = await named('stranger', '路人');
  // They know each other already.
  const uuid = await friends();
  const first = await lin.call('sendMessage', { session_id: uuid, msg: '你好' });
  await zhou.call('answerFriend', { session_id: uuid, act: 'accept' });
  await lin.call('deleteHistory', { session_id: uuid, id: first.id });
});

const friends = async () =>
  (await lin.call('newFriend', { friend_user_id: await idOf(zhou) })).uuid;
const question = async (client = lin) => (await client.call('newSession', { type: 2 })).uuid;
const list = async (client: TestClient, uuid: string) =>
  (await client.call('historyList', { session_id: uuid, page_size: 100 })).list;

describe('a stranger', () => {
  const meet = async () => {
    const other = await TestClient.register(here.server.baseURL);
    return { other, friend_user_id: await idOf(other) };
  };
  const say = (client: TestClient, uuid: string, msg = '您好') =>
    client.raw('sendMessage', { session_id: uuid, msg });
  const stateOf = async (client: TestClient, uuid: string) =>
    (await client.call('getSession', { uuid })).friend?.state;

  test('is asked by the first message, and hears no more until they accept or answer', async () => {
    for (const accepts of [true, false]) {
      const { other, friend_user_id } = await meet();
      const { uuid } = await stranger.call('newFriend', { friend_user_id });
      expect(await stateOf(stranger, uuid)).toBe('new');
      expect((await say(stranger, uuid)).code).toBe(0);
      // What else is written waits on the server, before its author alone.
      const waiting = [await say(stranger, uuid, '第二条'), await say(stranger, uuid, '第三条')];
      for (const sent of waiting) expect(sent).toMatchObject({ code: 0, data: { pending: true } });
      const words = async (client: TestClient) =>
        (await list(client, uuid)).map(({ human, pending }) => [human, pending]);
      expect(await words(stranger)).toEqual([
        ['您好', undefined],
        ['第二条', true],
        ['第三条', true],
      ]);
      expect(await words(other)).toEqual([['您好', undefined]]);
      const heard = { sessionId: uuid, maxHistoryId: 0 };
      expect(await other.call('lastMessages', heard)).toHaveLength(1);
      expect(await stranger.call('lastMessages', heard)).toHaveLength(3);
      const third = (await list(stranger, uuid))[2]?.id ?? 0;
      expect((await other.call('historyList', { session_id: uuid, id: third })).list).toHaveLength(
        0,
      );
      expect([await stateOf(stranger, uuid), await stateOf(other, uuid)]).toEqual([
        'asking',
        'asked',
      ]);
      // Nobody accepts what they asked for themselves.
      await stranger.call('answerFriend', { session_id: uuid, act: 'accept' });
      expect(await words(other)).toHaveLength(1);
      if (accepts) await other.call('answerFriend', { session_id: uuid, act: 'accept' });
      else expect((await say(other, uuid, '请说')).code).toBe(0);
      for (const client of [stranger, other])
        expect(await words(client)).toEqual(
          ['您好', '第二条', '第三条', ...(accepts ? [] : ['请说'])].map((text) => [
            text,
            undefined,
          ]),
        );
      expect((await say(stranger, uuid)).code).toBe(0);
      expect(await stateOf(stranger, uuid)).toBe('accepted');
    }
  });

  test('so many messages wait, and one that is taken back does not arrive', async () => {
    const { other, friend_user_id } = await meet();
    const { uuid } = await lin.call('newFriend', { friend_user_id });
    for (let at = 0; at <= limits.waitingMessages; at += 1)
      expect((await say(lin, uuid, `第 ${at} 条`)).code).toBe(0);
    const refused = await say(lin, uuid);
    expect([refused.code, refused.message]).toEqual([1422, expect.stringContaining('接受')]);
    const [, second] = await list(lin, uuid);
    await lin.call('deleteHistory', { session_id: uuid, id: second?.id ?? 0 });
    await other.call('answerFriend', { session_id: uuid, act: 'accept' });
    const texts = (await list(other, uuid)).map(({ human }) => human);
    expect(texts).toHaveLength(limits.waitingMessages);
    expect(texts).not.toContain('第 1 条');
    const card = (await other.call('sessionList', { channel: 'private' })).list[0];
    expect(card).toMatchObject({ uuid, summary: `第 ${limits.waitingMessages} 条` });
  });

  test('who blocks hears nothing more, can report it, and changes their mind', async () => {
    const { other, friend_user_id } = await meet();
    const { uuid } = await stranger.call('newFriend', { friend_user_id });
    const { id } = await stranger.call('sendMessage', { session_id: uuid, msg: '买东西吗' });
    await other.call('report', { session_id: uuid, reason: 'spam' });
    expect((await other.call('answerFriend', { session_id: uuid, act: 'block' })).state).toBe(
      'blocking',
    );
    expect((await say(stranger, uuid)).code).toBe(1422);
    const changed = { session_id: uuid, id, content: '再看看' };
    expect((await stranger.raw('updateMessage', changed)).code).toBe(1422);
    expect((await say(other, uuid)).code).toBe(1422);
    // Whoever is blocked is not told so, and cannot undo it.
    expect((await stranger.call('answerFriend', { session_id: uuid, act: 'unblock' })).state).toBe(
      'asking',
    );
    expect((await say(stranger, uuid)).code).toBe(1422);
    const again = await stranger.call('newFriend', { friend_user_id });
    expect((await say(stranger, again.uuid)).code).toBe(1422);
    await other.call('answerFriend', { session_id: uuid, act: 'unblock' });
    expect((await say(other, uuid)).code).toBe(0);
    expect((await say(stranger, uuid)).code).toBe(0);
    const third = await TestClient.register(here.server.baseURL);
    const foreign = await third.raw('answerFriend', { session_id: uuid, act: 'block' });
    expect(foreign.status).toBe(404);
  });

  test('so many wait for an answer, and no more are asked on one day', async () => {
    const asker = await TestClient.register(here.server.baseURL);
    const codes: number[] = [];
    for (let at = 0; at <= limits.unansweredRequests; at += 1) {
      const { friend_user_id } = await meet();
      const { uuid } = await asker.call('newFriend', { friend_user_id });
      codes.push((await say(asker, uuid)).code);
    }
    expect(codes.filter((code) => code === 0)).toHaveLength(limits.unansweredRequests);
    expect(codes.at(-1)).toBe(429);
  });
});

describe('two friends', () => {
  test('both read and write, and nobody else does', async () => {
    const uuid = await friends();
    const a = await lin.call('sendMessage', { session_id: uuid, msg: '在吗' });
    const b = await zhou.call('sendMessage', { session_id: uuid, msg: '在' });
    for (const client of [lin, zhou]) {
      const { writable, friend } = await client.call('getSession', { uuid });
      expect([writable, friend?.name]).toEqual([true, client === lin ? '周二' : '林一']);
      expect(await list(client, uuid)).toMatchObject([
        { id: a.id, human: '在吗', user_name: '林一', state: 'none', model: '', siblings: [] },
        { id: b.id, human: '在', user_name: '周二', state: 'none', model: '', siblings: [] },
      ]);
    }
    for (const client of [stranger, new TestClient(here.server.baseURL)]) {
      const answers = [
        await client.raw('historyList', { session_id: uuid }),
        await client.raw('lastMessages', { sessionId: uuid, maxHistoryId: 0 }),
        await client.raw('sendMessage', { session_id: uuid, msg: '让我看看' }),
        await client.raw('updateMessage', { session_id: uuid, id: a.id, content: '改' }),
        await client.raw('deleteHistory', { session_id: uuid, id: a.id }),
        await client.raw('historyLike', { session_id: uuid, history_id: a.id }),
        await client.raw('addToFavorites', { session_id: uuid, history_id: a.id }),
      ];
      for (const { code } of answers) expect([1432, 401]).toContain(code);
    }
    expect((await zhou.raw('deleteSession', { session_id: uuid })).status).toBe(404);
  });

  test('each sees what the other changed, by asking for news', async () => {
    const uuid = await friends();
    const first = await lin.call('sendMessage', { session_id: uuid, msg: '明天见' });
    const later = await zhou.call('sendMessage', { session_id: uuid, msg: '好' });
    await lin.call('updateMessage', { session_id: uuid, id: first.id, content: '后天见' });
    const news = await zhou.call('lastMessages', { sessionId: uuid, maxHistoryId: later.id });
    expect(news.find(({ id }) => id === first.id)).toMatchObject({ human: '后天见', edited: true });
    const refused = { session_id: uuid, id: first.id, content: '不见' };
    expect((await zhou.raw('updateMessage', refused)).code).toBe(1403);
    expect((await zhou.raw('deleteHistory', refused)).code).toBe(1403);
    await lin.call('deleteHistory', { session_id: uuid, id: first.id });
    expect((await list(zhou, uuid)).some(({ id }) => id === first.id)).toBe(false);
  });

  test('each mentions a model at once, and pays for its own reply', async () => {
    const uuid = await friends();
    const balance = async (client: TestClient) =>
      (await client.call('userInfo', {})).chatgpt_balance;
    const before = [await balance(lin), await balance(zhou)];
    const [first, second] = await Promise.all([
      lin.call('sendMessage', { session_id: uuid, msg: '[[mock slow]] 今天吃什么', ai: 'mock-a' }),
      zhou.call('sendMessage', { session_id: uuid, msg: '天气如何', ai: 'mock-b' }),
    ]);
    await Promise.all([zhou.read(uuid, first.id), lin.read(uuid, second.id)]);
    const rows = await list(lin, uuid);
    const mine = rows.find(({ id }) => id === first.id);
    const theirs = rows.find(({ id }) => id === second.id);
    expect(mine).toMatchObject({ model: 'mock-a', state: 'done' });
    expect(theirs).toMatchObject({ model: 'mock-b', state: 'done', deduct_tokens: 0 });
    expect(before[0]).toBe((await balance(lin)) + (mine?.deduct_tokens ?? 0));
    expect(await balance(zhou)).toBeLessThan(before[1] ?? 0);
    expect((await zhou.raw('retryMessage', { session_id: uuid, history_id: first.id })).code).toBe(
      1403,
    );
  });

  test('the model is told who said what, as far back as its asker wants', async () => {
    const uuid = await friends();
    for (const [client, msg] of [
      [lin, '很久以前的话'],
      [lin, '我想去看海'],
      [zhou, '我想去爬山'],
    ] as const)
      await client.call('sendMessage', { session_id: uuid, msg });
    await zhou.call('saveSettings', { at_ai_max_history: 2 });
    const sent = await zhou.call('sendMessage', { session_id: uuid, msg: '你说呢', ai: 'mock-a' });
    await zhou.read(uuid, sent.id);
    const messages = here.mock.lastRequest?.messages ?? [];
    expect(messages[0]?.role).toBe('system');
    expect(messages.slice(1).map(({ content }) => content)).toEqual([
      '林一：我想去看海',
      '周二：我想去爬山',
      '周二：你说呢',
    ]);
    const next = await lin.call('sendMessage', { session_id: uuid, msg: '为什么', ai: 'mock-a' });
    await lin.read(uuid, next.id);
    expect(here.mock.lastRequest?.messages.at(-2)?.role).toBe('assistant');
  });

  test('somebody is spoken to by name, and a failed reply is tried again by its asker', async () => {
    const uuid = await friends();
    const msg = (at: number) =>
      JSON.stringify({ prompt: '看这里', at_user: { id: at, name: '假名' } });
    const talk = { session_id: uuid, format: 1 as const };
    await lin.call('sendMessage', { ...talk, msg: msg(await idOf(zhou)) });
    const row = (await list(zhou, uuid)).at(-1);
    expect(row?.format).toBe(1);
    expect(JSON.parse(row?.human ?? '')).toMatchObject({
      prompt: '看这里',
      at_user: { id: await idOf(zhou), name: '周二' },
    });
    expect((await lin.raw('sendMessage', { ...talk, msg: msg(987_654) })).status).toBe(422);
    here.mock.enqueue('401');
    const sent = await lin.call('sendMessage', { session_id: uuid, msg: '再问', ai: 'mock-a' });
    await lin.read(uuid, sent.id);
    const again = { session_id: uuid, history_id: sent.id };
    await zhou.call('sendMessage', { session_id: uuid, msg: '等等' });
    await lin.call('retryMessage', again);
    await lin.read(uuid, sent.id);
    expect((await list(lin, uuid)).find(({ id }) => id === sent.id)?.state).toBe('done');
    expect((await lin.raw('retryMessage', again)).code).toBe(1414);
  });
});

describe('a question to everybody', () => {
  test('whoever has an account answers it, and visitors read', async () => {
    const uuid = await question();
    const asked = await lin.call('sendMessage', {
      session_id: uuid,
      msg: '详细的内容在这里',
      title: '怎样种番茄',
    });
    await zhou.call('sendMessage', { session_id: uuid, msg: '多晒太阳' });
    const guest = new TestClient(here.server.baseURL);
    await guest.call('newSession', { type: 0 });
    expect((await guest.raw('sendMessage', { session_id: uuid, msg: '我也想说' })).code).toBe(1001);
    const visitor = new TestClient(here.server.baseURL);
    const rows = await list(visitor, uuid);
    expect(rows).toMatchObject([
      { id: asked.id, title: '怎样种番茄', human: '详细的内容在这里' },
      { human: '多晒太阳' },
    ]);
    const seen = await visitor.call('getSession', { uuid });
    expect(seen).toMatchObject({
      type: 2,
      prompt: '怎样种番茄',
      summary: '多晒太阳',
      reply_count: 1,
      private: 0,
      writable: false,
    });
    await lin.call('updateMessage', {
      session_id: uuid,
      id: asked.id,
      title: '怎样种黄瓜',
      content: '写错了，是黄瓜',
    });
    expect(await visitor.call('getSession', { uuid })).toMatchObject({ prompt: '怎样种黄瓜' });
  });

  test('with its question the whole session goes, with any other message that alone', async () => {
    const uuid = await question();
    const asked = await lin.call('sendMessage', { session_id: uuid, msg: '有人在吗' });
    const reply = await zhou.call('sendMessage', { session_id: uuid, msg: '有' });
    const own = await lin.call('sendMessage', { session_id: uuid, msg: '谢谢' });
    const at = (id: number) => ({ session_id: uuid, id });
    expect((await lin.raw('deleteHistory', at(reply.id))).code).toBe(1403);
    expect(await lin.call('deleteHistory', at(own.id))).toEqual({ is_session: false });
    expect((await lin.call('getSession', { uuid })).reply_count).toBe(1);
    expect(await zhou.call('deleteHistory', at(reply.id))).toEqual({ is_session: false });
    expect(await lin.call('deleteHistory', at(asked.id))).toEqual({ is_session: true });
    expect((await zhou.raw('historyList', { session_id: uuid })).code).toBe(1433);
  });

  test('what belongs to chats with a model is refused there, and the other way round', async () => {
    const uuid = await question();
    const { id } = await lin.call('sendMessage', { session_id: uuid, msg: '问题在这里' });
    for (const name of ['regenerateMessage', 'switchBranch'] as const) {
      const { code } = await lin.raw(name, { session_id: uuid, history_id: id });
      expect(code, name).toBe(1422);
    }
    const chat = await lin.ask('向模型提的问题', { model: 'mock-a' });
    await lin.read(chat.uuid, chat.id);
    const change = { session_id: chat.uuid, id: chat.id, content: '改' };
    expect((await lin.raw('updateMessage', change)).code).toBe(1422);
  });

  test('many people write at once and nothing is lost', async () => {
    const uuid = await question();
    await lin.call('sendMessage', { session_id: uuid, msg: '大家都来说说' });
    await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        ([lin, zhou][at % 3] ?? stranger).call('sendMessage', {
          session_id: uuid,
          msg: `话 ${at}`,
        }),
      ),
    );
    const rows = await list(stranger, uuid);
    expect(rows).toHaveLength(31);
    expect((await lin.call('getSession', { uuid })).reply_count).toBe(30);
  });
});
