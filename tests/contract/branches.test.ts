import { beforeAll, describe, expect, test } from 'vitest';
import type { Message } from '#contract/chat.ts';
import { joined, TestClient } from '../support/client.ts';
import { stageWithModels } from '../support/stage.ts';

/** Nothing that was said is overwritten: edits, second answers and what follows them are branches. */

const here = stageWithModels('mock-a,mock-b');
let person: TestClient;

beforeAll(async () => {
  person = await TestClient.register(here.server.baseURL);
});

type Extra = { replace?: number; beside?: string };

/** A conversation with a model, told by its questions. */
class Talk {
  uuid = '';
  readonly client: TestClient;

  constructor(client: TestClient) {
    this.client = client;
  }

  static async start(client = person): Promise<Talk> {
    const talk = new Talk(client);
    talk.uuid = (await client.call('newSession', { type: 0, model: 'mock-a' })).uuid;
    return talk;
  }

  async settle(id: number): Promise<number> {
    await this.client.read(this.uuid, id);
    return id;
  }

  async say(msg: string, extra: Extra = {}): Promise<number> {
    const sent = await this.client.call('sendMessage', { session_id: this.uuid, msg, ...extra });
    if (sent.beside !== null) await this.settle(sent.beside);
    return this.settle(sent.id);
  }

  async again(historyId: number, model?: string): Promise<number> {
    const { id } = await this.client.call('regenerateMessage', {
      session_id: this.uuid,
      history_id: historyId,
      model,
    });
    return this.settle(id);
  }

  choose(historyId: number) {
    return this.client.call('switchBranch', { session_id: this.uuid, history_id: historyId });
  }

  remove(id: number) {
    return this.client.call('deleteHistory', { session_id: this.uuid, id });
  }

  async list(): Promise<Message[]> {
    const input = { session_id: this.uuid, page_size: 100 };
    return (await this.client.call('historyList', input)).list;
  }

  async ids(): Promise<number[]> {
    return (await this.list()).map((message) => message.id);
  }
}

/** What the model was asked last, without its replies. */
const questionsSent = () =>
  (here.mock.lastRequest?.messages ?? [])
    .filter((message) => message.role === 'user')
    .map((message) => message.content);

test('of very many branches at one place those looked at last are told, and the one that is shown', async () => {
  const talk = await Talk.start();
  const first = await talk.say('只有一座桥');
  await here.database.query(
    `INSERT INTO history (session_id, user_id, human, ai, model, state, shown, branch_rank)
     SELECT session_id, user_id, '第' || n, '好', model, 'done', false, n
     FROM history, generate_series(1, 1000) n WHERE id = $1`,
    [first],
  );
  const [message] = await talk.list();
  expect(message?.siblings).toContain(first);
  expect(message?.siblings.length).toBeGreaterThan(50);
  expect(message?.siblings.length).toBeLessThan(200);
  const last = message!.siblings.at(-1)!;
  await talk.choose(last);
  expect(await talk.ids()).toEqual([last]);
});

const refusal = (code: number) => new RegExp(` 200 ${code} `);

describe('branches', () => {
  test('an edited question is a branch beside the old one, and each keeps what followed it', async () => {
    const talk = await Talk.start();
    const a = await talk.say('第一个问题');
    const b = await talk.say('第二个问题');
    const c = await talk.say('第三个问题');
    const edited = await talk.say('第二个问题，改过的', { replace: b });
    expect(questionsSent()).toEqual(['第一个问题', '第二个问题，改过的']);
    expect(await talk.ids()).toEqual([a, edited]);
    expect((await talk.list()).map((message) => message.siblings)).toEqual([[], [b, edited]]);
    const d = await talk.say('第四个问题');
    expect(questionsSent()).toEqual(['第一个问题', '第二个问题，改过的', '第四个问题']);
    await talk.choose(b);
    expect(await talk.ids()).toEqual([a, b, c]);
    expect((await talk.list())[1]?.siblings).toEqual([b, edited]);
    await talk.say('第五个问题');
    expect(questionsSent()).toEqual(['第一个问题', '第二个问题', '第三个问题', '第五个问题']);
    await talk.choose(edited);
    expect(await talk.ids()).toEqual([a, edited, d]);
    const { prompt } = await person.call('getSession', { uuid: talk.uuid });
    expect(prompt).toBe('第一个问题');
  });

  test('the first question can be edited, too, and gives the session its title', async () => {
    const talk = await Talk.start();
    const a = await talk.say('原来的题目');
    const edited = await talk.say('后来的题目', { replace: a });
    expect(questionsSent()).toEqual(['后来的题目']);
    expect((await talk.list())[0]).toMatchObject({ id: edited, siblings: [a, edited] });
    expect((await person.call('getSession', { uuid: talk.uuid })).prompt).toBe('后来的题目');
    await expect(talk.say('短', { replace: edited })).rejects.toThrow(refusal(1412));
    expect(await talk.ids()).toEqual([edited]);
  });

  test('an answer made again in the middle is given what came before it alone', async () => {
    const talk = await Talk.start();
    const a = await talk.say('第一个问题');
    const b = await talk.say('第二个问题');
    const c = await talk.say('第三个问题');
    const again = await talk.again(b, 'mock-b');
    expect(questionsSent()).toEqual(['第一个问题', '第二个问题']);
    expect(here.mock.lastRequest?.model).toBe('mock-b');
    const rows = await talk.list();
    expect(rows.map((message) => message.id)).toEqual([a, again]);
    expect(rows[1]).toMatchObject({ human: '第二个问题', model: 'mock-b', siblings: [b, again] });
    // An old branch can be made again without being shown first.
    const third = await talk.again(c);
    expect(questionsSent()).toEqual(['第一个问题', '第二个问题', '第三个问题']);
    expect(await talk.ids()).toEqual([a, b, third]);
  });

  test('branches within branches come back as they were left', async () => {
    const talk = await Talk.start();
    const a = await talk.say('问题甲甲');
    const b1 = await talk.say('问题乙一');
    const c1 = await talk.say('问题丙一');
    const c2 = await talk.say('问题丙二', { replace: c1 });
    const b2 = await talk.say('问题乙二', { replace: b1 });
    const c3 = await talk.say('问题丙三');
    const c4 = await talk.say('问题丙四', { replace: c3 });
    await talk.choose(c3);
    await talk.choose(b1);
    expect(await talk.ids()).toEqual([a, b1, c2]);
    await talk.choose(b2);
    expect(await talk.ids()).toEqual([a, b2, c3]);
    // Straight to a message of another branch, as a search result leads there.
    await talk.choose(c1);
    expect(await talk.ids()).toEqual([a, b1, c1]);
    await talk.choose(c4);
    expect(await talk.ids()).toEqual([a, b2, c4]);
  });

  test('ten levels deep every path can be reached', async () => {
    const talk = await Talk.start();
    const root = await talk.say('从这里开始');
    const paths: number[][] = [[root]];
    for (let level = 1; level <= 10; level += 1) {
      const id = await talk.say(`第 ${level} 层问题`);
      const other = await talk.again(id);
      const [trunk = []] = paths.slice(-1);
      paths.splice(-1, 1, [...trunk, id], [...trunk, other]);
    }
    for (const path of [...paths].reverse()) {
      await talk.choose(path.at(-1) ?? 0);
      expect((await talk.ids()).slice(0, path.length)).toEqual(path);
    }
    const last = paths.at(-1) ?? [];
    await talk.choose(last.at(-1) ?? 0);
    await person.call('sendMessage', { session_id: talk.uuid, msg: '最后', max_history: 10 });
    await talk.settle((await talk.ids()).at(-1) ?? 0);
    expect(questionsSent()).toEqual([
      ...Array.from({ length: 10 }, (_, at) => `第 ${at + 1} 层问题`),
      '最后',
    ]);
  });

  test('deleting joins what followed to what was before, or shows the branch beside', async () => {
    const talk = await Talk.start();
    const a = await talk.say('问题甲甲');
    const b1 = await talk.say('问题乙一');
    const c = await talk.say('问题丙丙');
    const b2 = await talk.say('问题乙二', { replace: b1 });
    await talk.remove(b2);
    expect(await talk.ids()).toEqual([a, b1, c]);
    expect((await talk.list()).every((message) => message.siblings.length === 0)).toBe(true);
    await talk.remove(b1);
    expect(await talk.ids()).toEqual([a, c]);
    await talk.say('问题丁丁');
    expect(questionsSent()).toEqual(['问题甲甲', '问题丙丙', '问题丁丁']);
    await talk.remove(a);
    expect((await talk.ids())[0]).toBe(c);
    const session = await person.call('getSession', { uuid: talk.uuid });
    expect(session.reply_count).toBe(2);
  });

  test('a hidden branch is its owner’s alone', async () => {
    const talk = await Talk.start();
    await person.call('setSession', { session_id: talk.uuid, private: 0 });
    const a = await talk.say('说漏了的秘密');
    const b = await talk.say('改过的说法', { replace: a });
    const other = await TestClient.register(here.server.baseURL);
    const seen = await other.call('historyList', { session_id: talk.uuid });
    expect(seen.list).toMatchObject([{ id: b, siblings: [] }]);
    const one = await other.call('historyList', { session_id: talk.uuid, id: a });
    expect(one.list).toEqual([]);
    expect((await person.call('historyList', { session_id: talk.uuid, id: a })).list).toHaveLength(
      1,
    );
    await expect(other.read(talk.uuid, a)).rejects.toThrow('404');
    for (const name of ['historyLike', 'addToFavorites', 'removeFromFavorites'] as const) {
      const answer = await other.raw(name, { session_id: talk.uuid, history_id: a });
      expect(answer.status, name).toBe(404);
    }
    for (const name of ['switchBranch', 'regenerateMessage'] as const) {
      const answer = await other.raw(name, { session_id: talk.uuid, history_id: a });
      expect(answer.code, name).toBe(1403);
    }
  });

  test('branches of a long session, which rewrite it, are turned to less often', async () => {
    const client = await TestClient.register(here.server.baseURL);
    const talk = await Talk.start(client);
    const first = await talk.say('第一个问题');
    const second = await talk.again(first);
    await talk.choose(first);
    await here.database.query('UPDATE sessions SET reply_count = 50000 WHERE uuid = $1', [
      talk.uuid,
    ]);
    await talk.choose(second);
    const session = { session_id: talk.uuid, history_id: first };
    expect((await client.raw('switchBranch', session)).status).toBe(429);
    expect(await talk.ids()).toEqual([second]);
  });

  test('nothing is switched or begun under a reply that is being written', async () => {
    const talk = await Talk.start();
    const a = await talk.say('第一个问题');
    const again = await talk.again(a);
    const running = await person.call('sendMessage', {
      session_id: talk.uuid,
      msg: '[[mock hang-first]] 请等一等',
    });
    await expect(talk.choose(a)).rejects.toThrow(refusal(1409));
    await expect(talk.again(again)).rejects.toThrow(refusal(1409));
    await expect(talk.say('改一改', { replace: again })).rejects.toThrow(refusal(1409));
    expect(await talk.ids()).toEqual([again, running.id]);
    await person.call('stopStream', { history_id: running.id });
    await talk.choose(a);
    expect(await talk.ids()).toEqual([a]);
  });
});

describe('two models beside each other', () => {
  test('each bill begins where the last one ended: what is held for the other is not spent', async () => {
    const payer = await TestClient.register(here.server.baseURL);
    const had = (await payer.call('userInfo', {})).chatgpt_balance;
    const talk = await Talk.start(payer);
    await talk.say('比一比两个模型的账', { beside: 'mock-b' });
    const { list } = await payer.call('transactionList', {});
    const bills = list.map((bill) => [bill.current_balance, bill.deduct_tokens]).reverse();
    const [first, second] = bills;
    expect(bills).toHaveLength(2);
    expect(first?.[0]).toBe(had);
    expect(second?.[0]).toBe(had - (first?.[1] ?? 0));
  });

  test('both answer the same question, and either can be gone on with', async () => {
    const talk = await Talk.start();
    await talk.say('第一个问题');
    const first = await talk.say('比一比两个模型', { beside: 'mock-b' });
    const [, pair] = await talk.list();
    expect(pair).toMatchObject({ id: first, model: 'mock-a', state: 'done', siblings: [] });
    const second = pair?.beside;
    expect(second).toMatchObject({ model: 'mock-b', state: 'done', human: '比一比两个模型' });
    if (!second) return;
    expect(questionsSent()).toEqual(['第一个问题', '比一比两个模型']);
    expect(second.deduct_tokens).toBeGreaterThan(0);
    const c = await talk.say('接着第一个说');
    await talk.choose(second.id);
    const [, chosen, ...rest] = await talk.list();
    expect(chosen).toMatchObject({ id: second.id, siblings: [], beside: { id: first } });
    expect(rest).toEqual([]);
    const d = await talk.say('接着第二个说');
    expect(here.mock.lastRequest?.messages.at(-2)).toMatchObject({ role: 'assistant' });
    await talk.choose(first);
    expect((await talk.ids()).slice(1)).toEqual([first, c]);
    // The one that stays takes over what followed the other.
    await talk.remove(first);
    const [, left, ...behind] = await talk.list();
    expect(left).toMatchObject({ id: second.id, beside: null });
    expect(behind.map((message) => message.id)).toEqual([c]);
    expect(behind[0]?.siblings).toEqual([c, d]);
  });

  test('one may be chosen or retried while the other is still being written', async () => {
    const talk = await Talk.start();
    here.mock.enqueue('hang-first', 'hang-first');
    const sent = await person.call('sendMessage', {
      session_id: talk.uuid,
      msg: '两个都慢的回答',
      beside: 'mock-b',
    });
    const second = sent.beside ?? 0;
    await expect(talk.say('太早了的问题')).rejects.toThrow(refusal(1409));
    await talk.choose(second);
    await person.call('stopStream', { history_id: second });
    const input = { session_id: talk.uuid, history_id: second };
    await person.call('retryMessage', input);
    const events = joined(await person.read(talk.uuid, second));
    expect(events.done).toBe(true);
    await person.call('stopStream', { history_id: sent.id });
    const [row] = await talk.list();
    expect(row).toMatchObject({ id: second, model: 'mock-b', state: 'done' });
    expect(row?.beside).toMatchObject({ id: sent.id, model: 'mock-a', state: 'stopped' });
    await person.call('retryMessage', { ...input, history_id: sent.id });
    await talk.settle(sent.id);
    expect((await talk.list())[0]?.beside).toMatchObject({ id: sent.id, state: 'done' });
  });

  test('a second model that is none, or the same, is refused and nothing is sent', async () => {
    const talk = await Talk.start();
    await expect(talk.say('你好你好', { beside: 'no-such' })).rejects.toThrow(refusal(1413));
    const same = { session_id: talk.uuid, msg: '你好你好', beside: 'mock-a' };
    expect((await person.raw('sendMessage', same)).status).toBe(422);
    expect(await talk.ids()).toEqual([]);
  });
});

describe('likes and favourites', () => {
  test('a like is given and taken back, and counts for message and session', async () => {
    const talk = await Talk.start();
    const a = await talk.say('可以点赞的问题');
    await person.call('setSession', { session_id: talk.uuid, private: 0 });
    const other = await TestClient.register(here.server.baseURL);
    const mark = { session_id: talk.uuid, history_id: a };
    const answers = await Promise.all([
      person.call('historyLike', mark),
      other.call('historyLike', mark),
    ]);
    expect(answers.map(({ liked }) => liked)).toEqual([true, true]);
    const count = async () => (await other.call('getSession', { uuid: talk.uuid })).like_count;
    expect(await count()).toBe(2);
    expect(await other.call('historyLike', mark)).toEqual({ liked: false, like_count: 1 });
    expect((await talk.list())[0]).toMatchObject({ liked: true, like_count: 1 });
    const [seen] = (await other.call('historyList', { session_id: talk.uuid })).list;
    expect(seen).toMatchObject({ liked: false, like_count: 1 });
    await talk.remove(a);
    expect(await count()).toBe(0);
  });

  test('a favourite is added and removed as often as one likes', async () => {
    const talk = await Talk.start();
    const a = await talk.say('值得收藏的问题');
    const mark = { session_id: talk.uuid, history_id: a };
    await person.call('addToFavorites', mark);
    await person.call('addToFavorites', mark);
    await person.call('addToFavorites', { session_id: talk.uuid });
    expect((await talk.list())[0]?.in_favorites).toBe(true);
    await person.call('removeFromFavorites', mark);
    await person.call('removeFromFavorites', mark);
    expect((await talk.list())[0]?.in_favorites).toBe(false);
    const other = await TestClient.register(here.server.baseURL);
    expect((await other.raw('removeFromFavorites', mark)).status).toBe(404);
    expect((await other.raw('addToFavorites', mark)).code).toBe(1432);
  });
});
