import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readImport } from '#server/areas/export/import-read.ts';
import { TestClient } from '../support/client.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { xssPayloads } from '../support/xss-payloads.ts';

const now = Date.parse('2026-11-01T00:00:00Z');

interface Node {
  id: string;
  parent: string | null;
  children: string[];
  message: unknown;
}

const node = (id: string, parent: string | null, children: string[], role: string, text: string) =>
  ({
    id,
    parent,
    children,
    message: {
      id,
      author: { role },
      create_time: 1_700_000_000 + id.length,
      content: { content_type: 'text', parts: [text] },
      metadata: role === 'assistant' ? { model_slug: 'gpt-4o' } : {},
    },
  }) satisfies Node;

const conversation = (nodes: Node[], current = nodes.at(-1)?.id ?? '') => ({
  title: '旅行计划',
  create_time: 1_700_000_000.5,
  update_time: 1_700_000_100,
  current_node: current,
  default_model_slug: 'gpt-4',
  mapping: Object.fromEntries(nodes.map((each) => [each.id, each])),
});

/** A question with two answers; the first goes on, and its next question was written twice. */
const branched = () =>
  conversation(
    [
      { id: 'root', parent: null, children: ['sys'], message: null },
      node('sys', 'root', ['u1'], 'system', '你是助手'),
      node('u1', 'sys', ['a1', 'a2'], 'user', '去哪儿好？'),
      node('a1', 'u1', ['u2', 'u3'], 'assistant', '去**杭州**。'),
      node('a2', 'u1', [], 'assistant', '去成都。'),
      node('u2', 'a1', ['b2'], 'user', '住几天？'),
      node('u3', 'a1', ['b3'], 'user', '住几晚？'),
      node('b2', 'u2', [], 'assistant', '三天。'),
      node('b3', 'u3', [], 'assistant', '两晚。'),
    ],
    'b3',
  );

const own = (messages: unknown[], more: object = {}) => ({
  queqiao: 1,
  sessions: [
    { title: '自己的', model: 'm', user: '我', created_at: '2024-01-01', messages, ...more },
  ],
});

describe('what is read', () => {
  test('the branches, models and times of ChatGPT', () => {
    const read = readImport([branched()], now);
    const [session] = read?.sessions ?? [];
    expect(read?.skipped).toEqual([]);
    expect(session).toMatchObject({ prompt: '旅行计划', created_at: '2023-11-14T22:13:20.500Z' });
    const rows = session?.messages.map(({ row, before }) => [row.human, row.ai, before, row.shown]);
    expect(rows).toEqual([
      ['去哪儿好？', '去**杭州**。', -1, true],
      ['住几天？', '三天。', 0, false],
      ['住几晚？', '两晚。', 0, true],
      ['去哪儿好？', '去成都。', -1, false],
    ]);
    expect(session?.messages[0]?.row).toMatchObject({ model: 'gpt-4o', state: 'done' });
  });

  test('code, pictures, thinking, attachments and kinds that nobody knows', () => {
    const parts = {
      content_type: 'multimodal_text',
      parts: [{ content_type: 'image_asset_pointer' }, '看'],
    };
    const message = (role: string, content: object, metadata: object = {}) => ({
      author: { role },
      content,
      metadata,
    });
    const chain: Node[] = [
      message('user', parts, { attachments: [{ name: '表.csv' }] }),
      message('assistant', {
        content_type: 'thoughts',
        thoughts: [{ summary: '想', content: '一想' }],
      }),
      message('assistant', { content_type: 'code', language: 'python', text: 'print(1)' }),
      message('tool', { content_type: 'execution_output', text: '1' }),
      message('assistant', { content_type: 'hologram' }),
      message('assistant', { content_type: 'text', parts: ['好了'] }),
    ].map((each, at) => ({
      id: `n${at}`,
      parent: at === 0 ? null : `n${at - 1}`,
      children: [`n${at + 1}`],
      message: each,
    }));
    const read = readImport([conversation(chain)], now);
    const row = read?.sessions[0]?.messages[0]?.row;
    expect(row?.human).toBe('［图片］\n\n看\n\n［附件：表.csv］');
    expect(row?.reasoning).toBe('想\n一想');
    expect(row?.ai).toBe('```python\nprint(1)\n```\n\n```\n1\n```\n\n好了');
    expect(read?.skipped).toEqual(['会话「旅行计划」：不认识的内容（hologram）']);
  });

  test('a tree 100,000 deep, a fan of 100,000 answers, and what goes in circles', () => {
    const depth = 100_000;
    const deep = Array.from({ length: depth }, (_, at) =>
      node(
        `n${at}`,
        at === 0 ? null : `n${at - 1}`,
        [`n${at + 1}`],
        at % 2 ? 'assistant' : 'user',
        `${at}`,
      ),
    );
    expect(readImport([conversation(deep)], now)?.sessions[0]?.messages).toHaveLength(depth / 2);
    const fan = Array.from({ length: depth }, (_, at) =>
      node(
        `n${at}`,
        at === 0 ? null : 'n0',
        [],
        at ? 'assistant' : 'user',
        'x'.repeat(at ? 1 : 100_000),
      ),
    );
    const started = performance.now();
    const fanned = readImport([conversation(fan)], now);
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(fanned?.skipped.join()).toContain('超出了一次能导入的数量');
    const circle = [
      node('a', 'b', ['b'], 'user', '甲'),
      node('b', 'a', ['a'], 'assistant', '乙'),
      node('c', 'c', ['c'], 'user', '自己'),
      node('d', null, [], 'user', '好的'),
    ];
    const read = readImport([conversation(circle, 'a')], now);
    expect(read?.sessions[0]?.messages.map(({ row }) => row.human)).toEqual(['自己', '好的']);
    expect(read?.skipped.join()).toContain('首尾相接');
  });

  test('own branches whose order is a lie still make one path', () => {
    const message = (id: number, prev: unknown, more: object = {}) => ({
      id,
      prev,
      human: `${id}`,
      ai: '',
      shown: true,
      ...more,
    });
    const read = readImport(
      own([
        message(1, 0),
        message(2, 3),
        message(3, 1),
        message(3, 1, { beside: 9 }),
        message(5, 1, { beside: 9 }),
        message(6, 6),
        message(7, '__proto__', { request: { images: ['javascript:alert(1)', '/files/a.png'] } }),
      ]),
      now,
    );
    const messages = read?.sessions[0]?.messages ?? [];
    const shown = messages.filter(({ row }) => row.shown);
    for (const [at, { before }] of shown.entries())
      expect(before).toBe(at === 0 ? -1 : messages.indexOf(shown[at - 1]!));
    for (const [at, { before }] of messages.entries()) expect(before).toBeLessThan(at);
    expect(messages.filter(({ group }) => group >= 0).map(({ row }) => row.place)).toEqual([0, 1]);
    expect(messages.at(-1)?.row.request).toMatchObject({ images: ['/files/a.png'] });
    expect(read?.skipped.length).toBeGreaterThan(0);
  });
});

test('what no real file has is cut or follows elsewhere, and is told', () => {
  const long = 'x'.repeat(400_001);
  const flat = Array.from({ length: 2_500 }, (_, at) => ({
    id: at + 1,
    prev: 0,
    human: '嗨',
    ai: '',
  }));
  const fan = [
    node('q', null, [], 'user', long),
    ...Array.from({ length: 20 }, (_, at) => node(`a${at}`, 'q', [], 'assistant', '好')),
  ];
  for (const [file, count] of [
    [own([...flat, { id: 9_999, prev: 0, human: '', ai: long }]), 2_501],
    [[conversation(fan)], 20],
  ] as const) {
    const read = readImport(file, now);
    const list = read?.sessions[0]?.messages ?? [];
    expect(list).toHaveLength(count);
    const followers = new Map<number, number>();
    for (const { row, before } of list) {
      followers.set(before, (followers.get(before) ?? 0) + 1);
      expect(Math.max(row.human.length, row.ai.length)).toBeLessThanOrEqual(400_000);
    }
    expect(Math.max(...followers.values())).toBeLessThanOrEqual(1_000);
    expect(read?.skipped.join()).toMatch(/会话「.*」.*前 40 万个字/);
  }
});

/** Numbers that come again with the same seed. */
const seeded = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};

const junk: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  '',
  '\0\uD800',
  '__proto__',
  [],
  {},
  [[[[]]]],
  { constructor: { prototype: { hurt: 1 } } },
  '9'.repeat(400),
  '2024-99-99',
  { toString: 1 },
  'x'.repeat(3_000_000),
];

/** The same file with up to five of its values changed, dropped or doubled. */
const mutated = (value: unknown, random: () => number): unknown => {
  const copy: unknown = structuredClone(value);
  const places: [Record<string, unknown>, string][] = [];
  const walk = (of: unknown) => {
    if (typeof of !== 'object' || of === null) return;
    for (const key of Object.keys(of)) {
      places.push([of as Record<string, unknown>, key]);
      walk((of as Record<string, unknown>)[key]);
    }
  };
  walk(copy);
  for (let left = Math.ceil(random() * 5); left > 0; left--) {
    const [of, key] = places[Math.floor(random() * places.length)] ?? [];
    if (!of || key === undefined) continue;
    const dice = random();
    if (dice < 0.2) delete of[key];
    else if (dice < 0.3)
      Object.defineProperty(of, '__proto__', { value: { hurt: 1 }, enumerable: true });
    else of[key] = junk[Math.floor(random() * junk.length)];
  }
  return copy;
};

describe('on the server', () => {
  let server: TestServer;
  let database: pg.Client;
  let bystander: TestClient;
  beforeAll(async () => {
    server = await startServer({ env: { RATE_LIMIT: '1000000' } });
    database = new pg.Client({ connectionString: server.databaseUrl });
    await database.connect();
    bystander = await TestClient.register(server.baseURL);
    await bystander.call('newSession', { type: 0 });
  });
  afterAll(async () => {
    await database.end();
    await server.stop();
  });

  const one = async (text: string, values: unknown[] = []) =>
    (await database.query<Record<string, unknown>>(text, values)).rows[0] ?? {};
  const everything = (except: number) =>
    one(
      `SELECT count(*)::int AS sessions, coalesce(sum(hashtext(s::text))::text, '') AS sum
       FROM sessions s WHERE user_id <> $1`,
      [except],
    );

  test('hundreds of mutated files: an answer each time, whole sessions or none, nobody else touched', async () => {
    const client = await TestClient.register(server.baseURL);
    const me = (await client.call('userInfo', {})).id;
    const before = await everything(me);
    const bases = [
      [branched()],
      own([
        {
          id: 1,
          prev: 0,
          human: '问',
          ai: '答',
          reasoning: '想',
          parts: [1, 1],
          state: 'done',
          shown: true,
        },
        {
          id: 2,
          prev: 1,
          human: '又问',
          ai: '又答',
          state: 'streaming',
          request: { type: 'chat' },
        },
      ]),
    ];
    const random = seeded(20_261_121);
    for (let at = 0; at < 200; at++) {
      const data = mutated(bases[at % 2], random);
      const reply = await client.raw('importSessions', { data });
      expect(reply.status, JSON.stringify(data).slice(0, 500)).toBe(200);
      expect([0, 1419]).toContain(reply.code);
    }
    expect(await everything(me)).toEqual(before);
    const bad = await one(
      `SELECT (SELECT count(*)::int FROM sessions WHERE user_id = $1 AND NOT (private AND imported)) AS open,
         (SELECT count(*)::int FROM sessions s WHERE user_id = $1 AND NOT EXISTS
           (SELECT 1 FROM history WHERE session_id = s.id)) AS empty,
         (SELECT count(*)::int FROM history h JOIN sessions s ON s.id = h.session_id
           WHERE s.user_id = $1 AND (h.prev_id >= h.id OR h.state = 'streaming')) AS wrong`,
      [me],
    );
    expect(bad).toEqual({ open: 0, empty: 0, wrong: 0 });
    expect(Object.hasOwn(Object.prototype, 'hurt')).toBe(false);
  }, 120_000);

  test('what is no import is refused in words', async () => {
    const client = await TestClient.register(server.baseURL);
    for (const data of [undefined, null, 7, 'text', {}, [1, 2], { queqiao: 2 }, [{ a: 1 }]])
      expect((await client.raw('importSessions', { data })).code).toBe(1419);
    const send = (body: string) =>
      fetch(`${server.baseURL}/api/import_sessions`, {
        method: 'POST',
        headers: { ...client.headers(), 'content-type': 'application/json' },
        body,
      });
    expect((await send('{"data":')).status).toBe(400);
    expect((await send(`{"data":${'['.repeat(2_000_000)}${']'.repeat(2_000_000)}}`)).status).toBe(
      200,
    );
    // The server hangs up on what is too large, which a client may notice before the answer.
    const huge = send(`{"data":"${'x'.repeat(65 * 1024 * 1024)}"}`);
    expect(await huge.then(({ status }) => status).catch(() => 413)).toBe(413);
    expect((await client.raw('userInfo', {})).code).toBe(0);
    const guest = new TestClient(server.baseURL);
    await guest.call('newSession', { type: 0 });
    expect((await guest.raw('importSessions', { data: [] })).code).toBe(1001);
  });

  test('hostile Markdown comes back as the text it is', async () => {
    const client = await TestClient.register(server.baseURL);
    const texts = xssPayloads.slice(0, 200);
    const messages = texts.map((text, at) => ({
      id: at + 1,
      prev: at,
      human: text,
      ai: text,
      shown: true,
      state: 'done',
    }));
    const data = own(messages, { title: texts[0] });
    const { uuid } = await client.call('importSessions', { data });
    const input = { session_id: uuid ?? '', page_size: 100 };
    const { list } = await client.call('historyList', input);
    expect(list.map((message) => message.human)).toEqual(texts.slice(0, 100));
  });

  test('of many people with long files none is refused, and a short one waits for nobody', async () => {
    const people = await Promise.all(
      Array.from({ length: 6 }, () => TestClient.register(server.baseURL)),
    );
    const fileOf = (length: number) => ({
      queqiao: 1,
      sessions: Array.from({ length }, (_, at) => ({
        title: `第 ${at} 个`,
        messages: [{ id: 1, prev: 0, human: '导入的话'.repeat(300), ai: '好', shown: true }],
      })),
    });
    const long = people
      .slice(1)
      .map((client) => client.raw('importSessions', { data: fileOf(300) }));
    const shorts = await Promise.all(
      Array.from({ length: 5 }, () => people[0]!.raw('importSessions', { data: fileOf(1) })),
    );
    expect(shorts.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    expect((await Promise.all(long)).map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
  });

  test('a large file is taken whole, while others hardly notice', async () => {
    const client = await TestClient.register(server.baseURL);
    const text = '这是一段要导入的话。'.repeat(40);
    const sessions = Array.from({ length: 400 }, (_, at) => ({
      title: `第 ${at} 个`,
      messages: Array.from({ length: 50 }, (_, id) => ({
        id: id + 1,
        prev: id,
        human: text,
        ai: text,
        shown: true,
      })),
    }));
    const body = JSON.stringify({ data: { queqiao: 1, sessions } });
    const waits: number[] = [];
    const done = new AbortController();
    const watching = (async () => {
      while (!done.signal.aborted) {
        const started = performance.now();
        await bystander.call('userInfo', {});
        waits.push(performance.now() - started);
        await sleep(20);
      }
    })();
    const response = await fetch(`${server.baseURL}/api/import_sessions`, {
      method: 'POST',
      headers: {
        ...client.headers(),
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body,
    });
    done.abort();
    await watching;
    const reply = (await response.json()) as { data: { sessions: number; messages: number } };
    expect(reply.data).toMatchObject({ sessions: 400, messages: 20_000 });
    expect(Math.max(...waits)).toBeLessThan(3_000);
  }, 120_000);
});
