import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SessionContext } from '#contract/context.ts';
import { TestClient } from '../support/client.ts';
import { fillTalk } from '../support/fill-talk.ts';
import {
  questionIn,
  resultsIn,
  startScriptedModel,
  type Said,
  type SentBody,
} from '../support/scripted-model.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** What a model reads of a long conversation, and what stands for the rest. */

let script: (body: SentBody) => Said = () => ({ text: '好的' });
let model: Awaited<ReturnType<typeof startScriptedModel>>;
let server: TestServer;
let person: TestClient;
let database: pg.Client;
/** What a plain page of a path says. */
let page: (path: string) => string = () => '';
const site = createServer((request, response) => {
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  response.end(page(request.url ?? ''));
});
let host = '';

const channel = ({ baseURL }: { baseURL: string }) => ({
  OPENAI_BASE_URL: baseURL,
  OPENAI_API_KEY: 'sk-test',
  OPENAI_MODELS: 'scripted-a,deepseek-scripted',
  MESSAGES_LIMIT: '100000',
  FETCH_ALLOWED: host,
});

beforeAll(async () => {
  model = await startScriptedModel((body) => script(body));
  await new Promise<void>((resolve) => {
    site.listen(0, '127.0.0.1', resolve);
  });
  host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  server = await startServer({
    env: channel(model),
  });
  person = await TestClient.register(server.baseURL);
  database = new pg.Client({ connectionString: server.databaseUrl });
  await database.connect();
  await database.query('UPDATE wallets SET balance = 10000000 WHERE user_id = $1', [
    (await person.call('userInfo', {})).id,
  ]);
});
afterAll(async () => {
  await database?.end();
  await server?.stop();
  await model?.close();
  site.close();
});

const textsOf = ({ messages }: SentBody): string[] =>
  messages.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));

const isSummary = (body: SentBody): boolean =>
  textsOf(body)[0]?.startsWith('你在为一段对话') === true;

/** Answers from what it is sent and nothing else; asked for a summary, it keeps what is to be kept. */
const honest = (body: SentBody): Said => {
  const sent = textsOf(body).join('\n');
  if (isSummary(body)) {
    const facts = new Set(sent.match(/代号[^，。\n]{1,12}是[^，。\n]{1,12}/g));
    return { text: [...facts].map((each) => `- ${each}`).join('\n') || '没有要记的' };
  }
  const asked = /代号([^，。\n]{1,12})是什么/.exec(questionIn(body))?.[1];
  const before = textsOf(body).slice(0, -1).join('\n');
  const found = asked && new RegExp(`代号${asked}是(?!什么)([^，。\\n]{1,12})`).exec(before)?.[1];
  return { text: found ? `是${found}` : '不知道' };
};

const send = async (uuid: string, msg: string, extra: object = {}): Promise<number> => {
  const { id } = await person.call('sendMessage', { session_id: uuid, msg, ...extra });
  await person.read(uuid, id);
  return id;
};
const answer = async (uuid: string, msg: string, extra: object = {}): Promise<string> => {
  const id = await send(uuid, msg, extra);
  const { list } = await person.call('historyList', { session_id: uuid, newest: 1, page_size: 1 });
  expect(list[0]?.id).toBe(id);
  return list[0]?.ai ?? '';
};
const context = (uuid: string, client = person): Promise<SessionContext> =>
  client.call('sessionContext', { session_id: uuid });

const begin = async (name = 'scripted-a'): Promise<{ uuid: string; first: number }> => {
  const { uuid } = await person.call('newSession', { type: 0, model: name });
  return { uuid, first: await send(uuid, '我们开始一段很长的谈话') };
};

const fill = (uuid: string, count: number, words: (at: number) => string): Promise<number[]> =>
  fillTalk(
    database,
    uuid,
    Array.from({ length: count }, (_, at) => words(at)),
  );

const chatter = (at: number, fact = ''): string =>
  `第 ${at} 轮：${fact}${'今天我们聊聊天气和路上的见闻，没有什么特别的。'.repeat(12)}`;

test('planted facts in 400 turns are found once they are condensed, and cost what was told', async () => {
  script = honest;
  const { uuid } = await begin();
  const facts = Array.from({ length: 100 }, (_, at) => [`甲${at}`, randomUUID().slice(0, 8)]);
  await fill(uuid, 400, (at) =>
    chatter(at, at % 4 === 1 ? `代号${facts[(at - 1) / 4]![0]}是${facts[(at - 1) / 4]![1]}。` : ''),
  );
  // As ordered: the last few exchanges, and it is said from where on.
  const plain = await context(uuid);
  expect(plain).toMatchObject({ reads: 3, recent: 3, summary: null, unread: 398 });
  expect(await answer(uuid, '代号甲0是什么')).toBe('不知道');

  const read = await person.call('readEarlier', { session_id: uuid, on: 1 });
  expect(read.recent).toBeNull();
  expect(read.reads).toBeGreaterThan(100);
  expect(read.used).toBeGreaterThan(read.window * 0.7);
  expect(read.used).toBeLessThanOrEqual(read.window * 0.8 + 1000);
  expect(read.unread).toBeGreaterThan(50);
  expect(read.condensable.exchanges).toBeGreaterThan(100);

  const before = (await person.call('userInfo', {})).chatgpt_balance;
  const done = await person.call('condenseSession', { session_id: uuid });
  const after = (await person.call('userInfo', {})).chatgpt_balance;
  expect(before - after).toBe(done.deduct_tokens);
  // The scripted service counts 50 and 20 for each piece; more was told, never less.
  expect(done.deduct_tokens).toBeLessThanOrEqual(read.condensable.cost);
  expect(done.context).toMatchObject({ recent: null, unread: 0, condensable: { exchanges: 0 } });
  expect(done.context.summary?.text).toContain(facts[0]![1]);

  let found = 0;
  for (const [name, value] of facts.filter((_, at) => at % 5 === 0))
    if ((await answer(uuid, `代号${name}是什么`)) === `是${value}`) found += 1;
  expect(found).toBe(20);

  // What stands before the question is the same from one question to the next.
  const [one, other] = model.bodies.slice(-2).map(textsOf);
  expect(other?.slice(0, (one?.length ?? 0) - 1)).toEqual(one?.slice(0, -1));
  // Roles take turns: nothing is cut between a question and its answer.
  const roles = model.bodies.at(-1)?.messages.map(({ role }) => role) ?? [];
  expect(roles.every((role, at) => role === (at % 2 === 0 ? 'user' : 'assistant'))).toBe(true);
  // A client that names a length has that length.
  expect(await answer(uuid, '代号甲0是什么', { max_history: 1 })).toBe('不知道');
  const back = await person.call('readEarlier', { session_id: uuid, on: 0 });
  expect(back).toMatchObject({ recent: 3, reads: 3, summary: null });
}, 120_000);

test('what fills the window is condensed by itself: 100 planted facts, the price, and the switch', async () => {
  const listing = (body: SentBody): Said => {
    if (isSummary(body) || !questionIn(body).includes('全部代号')) return honest(body);
    const before = textsOf(body).slice(0, -1).join('\n');
    return { text: (before.match(/代号[^，。\n]{1,12}是[^，。\n]{1,12}/g) ?? []).join('，') };
  };
  script = listing;
  const facts = Array.from({ length: 100 }, (_, at) => `代号乙${at}是${randomUUID().slice(0, 8)}`);
  const planted = async () => {
    const { uuid } = await begin();
    await fill(uuid, 400, (at) => chatter(at, at % 4 === 1 ? `${facts[(at - 1) / 4]}。` : ''));
    await person.call('readEarlier', { session_id: uuid, on: 1 });
    return uuid;
  };
  /** What takes an ordinary talk over the edge. */
  const long = (day: string) => `${day}天气怎么样？${'路上的见闻没有什么特别的。'.repeat(60)}`;
  const balance = async () => (await person.call('userInfo', {})).chatgpt_balance;

  await person.call('saveSettings', { condense: 0 });
  const plain = await planted();
  await send(plain, long('今天'));
  expect(await context(plain)).toMatchObject({ auto: false, condensing: false, summary: null });
  await person.call('saveSettings', { condense: 1 });

  const before = await balance();
  const asked = model.bodies.length;
  const id = await send(plain, long('明天'));
  await expect
    .poll(() => context(plain), { timeout: 40_000, interval: 1000 })
    .toMatchObject({ condensing: false, summary: { auto: true, edited: false } });
  const after = await context(plain);
  const { list } = await person.call('historyList', { session_id: plain, newest: 1, page_size: 1 });
  expect(list[0]?.id).toBe(id);
  expect(after.summary!.tokens).toBeGreaterThan(0);
  expect(before - (await balance())).toBe(after.summary!.tokens + list[0]!.deduct_tokens);
  expect(after.used).toBeLessThan(after.window * 0.8);
  expect(model.bodies.slice(asked).filter(isSummary).length).toBeGreaterThan(1);
  const told = await answer(plain, '请说出全部代号');
  expect(facts.filter((fact) => told.includes(fact)).length).toBeGreaterThanOrEqual(95);
  // What is before the question stays as it is while there is room.
  await send(plain, '好的');
  const [one, other] = model.bodies.slice(-2).map(textsOf);
  expect(other?.slice(0, (one?.length ?? 0) - 1)).toEqual(one?.slice(0, -1));

  // A service that fails is asked once, not after each reply; the talk stays as it was.
  script = (body) => (isSummary(body) ? { status: 400 } : listing(body));
  const failing = await planted();
  await send(failing, long('今天'));
  await expect
    .poll(async () => (await context(failing)).condensing, { timeout: 20_000, interval: 1000 })
    .toBe(false);
  const tried = model.bodies.filter(isSummary).length;
  await send(failing, long('明天'));
  expect((await context(failing)).summary).toBeNull();
  expect(model.bodies.filter(isSummary).length).toBe(tried);
}, 120_000);

test('a summary goes with the words that it is made of, and counts on its own branch alone', async () => {
  script = honest;
  const { uuid, first } = await begin();
  const ids = await fill(uuid, 220, (at) => chatter(at, at === 20 ? '代号秘密是白鹿。' : ''));
  const { context: made } = await person.call('condenseSession', { session_id: uuid });
  expect(made.summary?.text).toContain('白鹿');
  expect(await answer(uuid, '代号秘密是什么')).toBe('是白鹿');

  // Another branch from before it: what is not shown there is not told there.
  const branch = await send(uuid, '换一个话题，从头说起', { replace: ids[10] });
  expect((await context(uuid)).summary).toBeNull();
  expect(await answer(uuid, '代号秘密是什么')).toBe('不知道');
  await person.call('switchBranch', { session_id: uuid, history_id: ids[10]! });
  expect((await context(uuid)).summary?.text).toContain('白鹿');

  // Its person writes in it, and is believed.
  const edited = await person.call('saveSummary', { session_id: uuid, text: '代号秘密是青鸟' });
  expect(edited.summary).toMatchObject({ text: '代号秘密是青鸟', edited: true });
  expect(await answer(uuid, '代号秘密是什么')).toBe('是青鸟');

  await person.call('deleteHistory', { session_id: uuid, id: ids[20]! });
  expect((await context(uuid)).summary).toBeNull();
  const { rows } = await database.query('SELECT FROM session_summaries WHERE $1 = ANY(covered)', [
    ids[20],
  ]);
  expect(rows).toEqual([]);
  expect(await answer(uuid, '代号秘密是什么')).toBe('不知道');
  expect(branch).toBeGreaterThan(first);
}, 60_000);

test('what fails costs nothing and leaves the talk as it was; what others own is not theirs to read', async () => {
  script = (body) => (isSummary(body) ? { status: 500 } : honest(body));
  const { uuid } = await begin();
  await fill(uuid, 220, (at) => chatter(at));
  const before = await context(uuid);
  const tokens = (await person.call('userInfo', {})).chatgpt_balance;
  const failed = await person.raw('condenseSession', { session_id: uuid });
  expect(failed.code).toBe(1425);
  expect((await person.call('userInfo', {})).chatgpt_balance).toBe(tokens);
  expect(await context(uuid)).toEqual(before);

  await person.call('setSession', { session_id: uuid, private: 0 });
  const other = await TestClient.register(server.baseURL);
  for (const [name, input] of [
    ['sessionContext', {}],
    ['readEarlier', { on: 1 }],
    ['condenseSession', {}],
    ['saveSummary', { text: '别人的话' }],
  ] as const)
    expect((await other.raw(name, { session_id: uuid, ...input })).code, name).not.toBe(0);
  expect(await context(uuid)).toEqual(before);

  // Whoever has too little is told so, and no service is asked.
  script = honest;
  const mine = (await person.call('userInfo', {})).id;
  await database.query('UPDATE wallets SET balance = 1 WHERE user_id = $1', [mine]);
  const asked = model.bodies.length;
  expect((await person.raw('condenseSession', { session_id: uuid })).code).toBe(1025);
  expect(model.bodies).toHaveLength(asked);
  await database.query('UPDATE wallets SET balance = 10000000 WHERE user_id = $1', [mine]);
});

test('two processes that are asked at once condense a talk once, and charge it once', async () => {
  script = (body) => ({ ...honest(body), ...(isSummary(body) ? { pauseMs: 800 } : {}) });
  const { uuid } = await begin();
  await fill(uuid, 220, (at) => chatter(at));
  const second = await startServer({
    databaseUrl: server.databaseUrl,
    env: { ...channel(model), SECRET_KEY: readFileSync(`${server.dataDir}/secret-key`, 'utf8') },
  });
  try {
    const there = new TestClient(second.baseURL, person.token);
    const asked = model.bodies.length;
    const before = (await person.call('userInfo', {})).chatgpt_balance;
    const both = await Promise.all(
      [person, there].map((client) =>
        client.raw<{ deduct_tokens: number }>('condenseSession', { session_id: uuid }),
      ),
    );
    expect(both.map(({ code }) => code).sort((a, b) => a - b)).toEqual([0, 1409]);
    const spent = both.find(({ code }) => code === 0)!.data.deduct_tokens;
    expect(before - (await person.call('userInfo', {})).chatgpt_balance).toBe(spent);
    const pieces = model.bodies
      .slice(asked)
      .filter(isSummary)
      .map((body) => textsOf(body)[1]);
    expect(new Set(pieces).size).toBe(pieces.length);
    expect((await context(uuid)).condensing).toBe(false);
  } finally {
    await second.stop();
  }
});

test('the assistant excerpts by rules, for nothing; a service that reads from its cache is told of', async () => {
  const { uuid } = await begin('builtin-assistant');
  await fill(uuid, 220, (at) => chatter(at, at === 3 ? '请记住我叫沈知微，生日是三月九日。' : ''));
  const { deduct_tokens: spent, context: made } = await person.call('condenseSession', {
    session_id: uuid,
  });
  expect(spent).toBe(0);
  expect(made.summary?.text).toContain('沈知微');
  expect(made.summary?.text.length).toBeLessThanOrEqual(8000);

  script = () => ({ text: '好的', cached: 40 });
  const { uuid: cached } = await begin();
  const { list } = await person.call('historyList', { session_id: cached });
  expect(list[0]).toMatchObject({ prompt_tokens: 50, cached_tokens: 40 });
  expect(await context(cached)).toMatchObject({ prompt_tokens: 50, cached_tokens: 40 });
});

test('one question whose tools outgrow the window goes on with what its model wrote of their results', async () => {
  const facts = (round: number) =>
    [0, 1].map((at) => `代号${'甲乙丙丁'[round]}${at}是金${round}${at}`);
  const gossip = '闲话很多，与问题无关。';
  let asked: SentBody[] = [];
  let broken = false;
  const isOfResults = (body: SentBody) => textsOf(body)[0]?.includes('工具调用的结果') === true;
  script = (body) => {
    asked.push(body);
    if (isOfResults(body)) {
      if (broken) return { status: 500 };
      const parts = textsOf(body)[1]!.split(/(?=【结果\d+】)/);
      const kept = parts.map(
        (part) => `${/【结果\d+】/.exec(part)?.[0]}记着：${/代号.{2}是金\d+/.exec(part)?.[0]}。`,
      );
      return { text: kept.join('\n') };
    }
    const done = resultsIn(body).length / 2;
    if (done === 4) return { text: '读完了' };
    const calls = [0, 1].map((at) => ({
      name: 'read_page',
      arguments: { url: `http://${host}/${done}-${at}` },
    }));
    return { calls };
  };
  const all = [0, 1, 2, 3].flatMap(facts);
  page = (path) => {
    const [, round = 0, at = 0] = /(\d)-(\d)/.exec(path)?.map(Number) ?? [];
    return `${gossip.repeat(300)}${facts(round)[at]}。${gossip.repeat(800)}`;
  };
  const balance = async () => (await person.call('userInfo', {})).chatgpt_balance;
  const run = async () => {
    asked = [];
    const { uuid } = await person.call('newSession', { type: 0, model: 'deepseek-scripted' });
    const id = await send(
      uuid,
      `请把四批资料读完：${[0, 1, 2, 3].flatMap((at) => [`http://${host}/${at}-0`, `http://${host}/${at}-1`]).join(' ')}`,
    );
    const { list } = await person.call('historyList', { session_id: uuid });
    const message = list.find((each) => each.id === id)!;
    expect(message.ai, message.error_message).toBe('读完了');
    // Cut never between a call and its result.
    for (const body of asked.filter((each) => !isOfResults(each))) {
      const open: string[] = [];
      for (const { role, tool_calls: calls = [], tool_call_id: of } of body.messages) {
        if (role === 'tool') expect(open.shift()).toBe(of);
        else expect(open).toEqual([]);
        open.push(...calls.map((call) => call.id));
      }
      expect(textsOf(body).join('').length).toBeLessThan(65_535 * 0.85);
    }
    return { message, last: textsOf(asked.at(-1)!).join('\n') };
  };

  const before = await balance();
  const { message, last } = await run();
  const summaries = asked.filter(isOfResults);
  expect(summaries.length).toBeGreaterThan(0);
  expect(all.filter((fact) => !last.includes(fact))).toEqual([]);
  expect(last.includes('记着：')).toBe(true);
  expect(message.tools!.filter(({ condensed }) => condensed).length).toBeGreaterThanOrEqual(4);
  // What was written is paid, is told, and nothing else is.
  const { list: paid } = await person.call('transactionList', {});
  const own = paid.slice(0, 5 + summaries.length);
  expect(own.filter(({ human }) => human === '浓缩工具的结果')).toHaveLength(summaries.length);
  expect(before - (await balance())).toBe(own.reduce((sum, each) => sum + each.deduct_tokens, 0));

  // Where nothing can be written, and where its person wants no condensing, rules do it.
  broken = true;
  expect((await run()).last.includes('代号丁1是金31')).toBe(true);
  broken = false;
  await person.call('saveSettings', { condense: 0 });
  await run();
  expect(asked.filter(isOfResults)).toEqual([]);
  await person.call('saveSettings', { condense: 1 });
}, 120_000);
