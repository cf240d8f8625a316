import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import type { Message } from '#contract/chat.ts';
import { TestClient } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { startMcpServer } from '../support/mcp-server.ts';
import { scratchFolder } from '../support/scratch.ts';
import { resultsIn, startScriptedModel } from '../support/scripted-model.ts';
import { ADMIN_PASSWORD, makeDatabase, startServer, type TestServer } from '../support/server.ts';

/**
 * Servers are killed at random moments of loops of calls: no call is done twice, no hold stays, and
 * every loop ends or says why.
 */
const kills = Number(process.env['KILLS'] ?? (process.env['HEAVY'] ? 200 : 4));
const rounds = 3;
/** What each person has: what tools are told of costs with each round. Tokens. */
const had = 1_000_000;
const longest = Math.max(480_000, kills * 20_000);
/**
 * What loops wait for at the end, ms: of many kills the works of those that were given up stand
 * before theirs, and each has 13 minutes.
 */
const lastOnes = kills < 10 ? 240_000 : 900_000;

const dataDir = scratchFolder('tool-loops');
const opened = new Map<string, number>();
const site = createServer((request, response) => {
  const path = request.url ?? '';
  opened.set(path, (opened.get(path) ?? 0) + 1);
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  // Long enough for a kill to meet it.
  setTimeout(() => response.end(`第 ${path} 页`), 100);
});
await new Promise<void>((resolve) => {
  site.listen(0, '127.0.0.1', resolve);
});
const host = `127.0.0.1:${(site.address() as AddressInfo).port}`;

/** What loops make besides drawings, by their place among those of one kill. */
const made = [
  { name: 'edit_image', arguments: { prompt: '蓝色的月亮' } },
  { name: 'make_film', arguments: { prompt: '慢慢升起' } },
  { name: 'speak', arguments: { text: '月亮慢慢升起，桥上没有人。'.repeat(6) } },
];
const priced = ['builtin-canvas', 'builtin-film', 'builtin-voice'];

const echoes = await startMcpServer();
const model = await startScriptedModel((body) => {
  const { messages } = body;
  const asked = messages.filter(({ role }) => role === 'user').at(-1)?.content;
  const key = /键(\w+)/.exec(typeof asked === 'string' ? asked : '')?.[1] ?? 'x';
  // Two pages a round; a drawing, which is work for the processor, and a tool of a server in the
  // first; what is made of the drawing, or said, in the second.
  const done = [0, 4, 7, 9].indexOf(resultsIn(body).length);
  const echo = body.tools?.find(({ function: { name } }) => name.endsWith('_echo'))?.function.name;
  if (done >= rounds) return { text: `写完了 ${key}`, pauseMs: 20 };
  const url = (at: string) => `http://${host}/${key}-${done}-${at}`;
  return {
    text: `第 ${done + 1} 轮。`,
    pauseMs: 20,
    calls: [
      ...['a', 'b'].map((at) => ({ name: 'read_page', arguments: { url: url(at) } })),
      ...(done === 0
        ? [
            { name: 'draw', arguments: { prompt: `${key} 的月亮` } },
            { name: echo ?? 'echo', arguments: { text: key } },
          ]
        : []),
      ...(done === 1 ? [made[Number(key.split('n')[1])]!] : []),
    ],
  };
});
const databaseUrl = await makeDatabase();
const port = await freePort();
const start = (): Promise<TestServer> =>
  startServer({
    databaseUrl,
    dataDir,
    port,
    // Beside other work a start takes its time.
    startTimeout: 120_000,
    env: {
      OPENAI_BASE_URL: model.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: 'deepseek-scripted',
      FETCH_ALLOWED: host,
      SIGNUP_TOKENS: String(had),
    },
  });

let server = await start();
afterAll(async () => {
  await server.stop();
  await model.close();
  site.close();
  echoes.close();
  rmSync(dataDir, { recursive: true, force: true });
});

test(
  'loops that are cut off go on from what is known, or say why they do not',
  // What was called is counted from the start of the file: a second try would find it all twice.
  { timeout: longest, retry: 0 },
  async () => {
    const db = new pg.Client({ connectionString: databaseUrl });
    await db.connect();
    db.on('error', () => undefined);
    const manager = new TestClient(server.baseURL);
    await manager.login('admin', ADMIN_PASSWORD);
    for (const unique_key of priced) {
      const { list } = await manager.call('adminModelList', { unique_key });
      await manager.call('setModel', { id: list[0]!.id, factor: 100 });
    }
    const shared = { name: '回声', url: echoes.url, shared: 1 as const };
    const { id: tools } = await manager.call('saveToolServer', shared);
    await manager.call('checkToolServer', { id: tools });
    const { list } = await manager.call('toolServers', {});
    const offer = list.find(({ id }) => id === tools)!.tools.filter(({ name }) => name === 'echo');
    await manager.call('chooseTools', { id: tools, tools: offer });
    const running = async () => {
      const { rows } = await db.query(`SELECT FROM history WHERE state = 'streaming'`);
      return rows.length;
    };
    const all: { client: TestClient; uuid: string; id: number; key: string }[] = [];
    const ends = new Map<number, Message>();
    const read = async ({ client, uuid, id }: (typeof all)[number]): Promise<Message> => {
      const { list } = await client.call('historyList', { session_id: uuid });
      return list.find((message) => message.id === id)!;
    };
    // What waits for its person waits through all of it, and costs nothing meanwhile.
    const asker = await TestClient.register(server.baseURL);
    const asked = await asker.call('newSession', { type: 0, model: 'deepseek-scripted' });
    const sent = await asker.call('sendMessage', {
      session_id: asked.uuid,
      msg: '键asksn2 请问一问',
    });
    const question = { client: asker, uuid: asked.uuid, id: sent.id, key: 'asksn2' };
    const waits = () => expect.poll(async () => (await read(question)).state, { timeout: 60_000 });
    await waits().toBe('waiting');
    for (let kill = 0; kill < kills; kill += 1) {
      // Nobody has more than a few works at once.
      const client = await TestClient.register(server.baseURL);
      for (let at = 0; at < 3; at += 1) {
        const key = `${kill}n${at}`;
        const urls = Array.from({ length: rounds }, (_, round) =>
          ['a', 'b'].map((each) => `http://${host}/${key}-${round}-${each}`),
        ).flat();
        const model = 'deepseek-scripted';
        const { uuid } = await client.call('newSession', { type: 0, model });
        // Its person lets the tools run in it, and it counts in no month's sessions.
        const echo = `m${tools}_${offer[0]!.digest.slice(0, 6)}_echo`;
        await db.query(
          `UPDATE sessions SET tool_grants = $2::text[],
           created_at = created_at - interval '60 days' WHERE uuid = $1`,
          [uuid, [echo, 'draw', ...made.map(({ name }) => name)]],
        );
        const msg = `键${key} 请读 ${urls.join(' ')}`;
        const { id } = await client.call('sendMessage', { session_id: uuid, msg });
        all.push({ client, uuid, id, key });
      }
      await sleep(Math.random() * 900);
      await server.kill9();
      server = await start();
      // What piles up beyond this is only waited for by the next start.
      await expect.poll(running, { timeout: 120_000, interval: 200 }).toBeLessThan(10);
    }
    for (const each of all) {
      await expect
        .poll(async () => (await read(each)).state, { timeout: lastOnes })
        .not.toBe('streaming');
      ends.set(each.id, await read(each));
    }

    const { id: askerId } = await asker.call('userInfo', {});
    const held = await db.query(`SELECT FROM holds WHERE state = 'open' AND user_id = $1`, [
      askerId,
    ]);
    expect(held.rows).toEqual([]);
    for (;;) {
      const { state, tools: calls = [] } = await read(question);
      if (state !== 'waiting') break;
      const open = calls.filter((call) => call.state === 'asking');
      expect(open.length).toBeGreaterThan(0);
      for (const { id: call_id } of open)
        await asker.call('answerTool', {
          session_id: asked.uuid,
          history_id: sent.id,
          call_id,
          answer: 'once',
        });
      await waits().not.toBe('streaming');
    }
    const answered = await read(question);
    expect(answered).toMatchObject({ state: 'done' });
    expect(answered.tools).toHaveLength(2 * rounds + 3);

    // No address was asked for twice and no tool of a server called twice, whatever died meanwhile.
    expect(echoes.called).toHaveLength(new Set(echoes.called).size);
    expect(echoes.called.length).toBeGreaterThan(0);
    expect([...opened].filter(([, times]) => times > 1)).toEqual([]);
    let whole = 0;
    const drawn: string[] = [];
    const works = ['draw', ...made.map(({ name }) => name)];
    for (const { id, key } of all) {
      const message = ends.get(id)!;
      const tools = message.tools ?? [];
      if (message.state === 'done') {
        whole += 1;
        expect(message.ai.endsWith(`写完了 ${key}`), message.ai).toBe(true);
        expect(tools).toHaveLength(2 * rounds + 3);
      } else {
        expect(message.state).toBe('interrupted');
        expect(message.error_message).not.toBe('');
      }
      for (const tool of tools) {
        expect(['done', 'unknown', 'stopped', 'failed']).toContain(tool.state);
        // What is made finds the work that it began, unless too many servers died over its loop.
        if (works.includes(tool.name)) {
          if (message.state === 'done') expect(tool.state, tool.result).toBe('done');
          drawn.push(...(tool.files ?? []).map(({ url }) => url));
          if (tool.state === 'done') expect(tool.files, tool.result).toHaveLength(1);
        }
        expect(tool.result, tool.state).not.toBe('');
        if (tool.state === 'unknown') expect(tool.result).toContain('不知道');
      }
    }
    expect(drawn.length).toBeGreaterThan(0);
    expect(new Set(drawn).size).toBe(drawn.length);
    // Most are met between two rounds or within a call, and go on; of many kills each meets several.
    expect(whole).toBeGreaterThan(kills < 10 ? all.length / 6 : 0);

    // What a loop that ended did not wait for ends by itself; what died with its process is given back.
    await expect
      .poll(async () => (await db.query(`SELECT * FROM holds WHERE state = 'open'`)).rows, {
        timeout: 60_000,
        interval: 500,
      })
      .toEqual([]);
    const doubled = await db.query('SELECT uuid FROM jobs GROUP BY uuid HAVING count(*) > 1');
    expect(doubled.rows).toEqual([]);
    const toBeRead = all.filter(({ key }) => key.endsWith('n2')).length + 1;
    const { rows: readings } = await db.query(
      `SELECT FROM consumptions WHERE model = 'builtin-voice'`,
    );
    expect(readings.length).toBeLessThanOrEqual(toBeRead);
    if (kills >= 40)
      console.log(
        `${kills} kills, ${all.length} loops: ${whole} done, the others say why not; ${echoes.called.length} calls of a server's tool, ${opened.size} pages, ${drawn.length} pictures, films and readings`,
      );
    const { rows: loops } = await db.query('SELECT history_id FROM reply_loops');
    expect(loops).toEqual([]);
    // What was taken is what its person can read of, to the token.
    const { rows: unlike } = await db.query(
      `SELECT user_id, balance FROM wallets w WHERE user_id IN (SELECT user_id FROM consumptions)
         AND balance <> $1 - (SELECT sum(deduct_tokens) FROM consumptions c WHERE c.user_id = w.user_id)`,
      [had],
    );
    await db.end();
    expect(unlike).toEqual([]);
  },
);
