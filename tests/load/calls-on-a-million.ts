import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { TestClient } from '../support/client.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { dataFolder, filled, withDatabase } from './lib/filled.ts';
import { now, quantile } from './lib/measure.ts';

/**
 * The same calls on a database of 1,000 messages and on one of 1,000,000, turn by turn:
 * p50 and p95 in ms and how they compare. The goal is a p95 of at most 1.5 times.
 *
 * npx tsx tests/load/calls-on-a-million.ts [--large 1000000] [--rounds 300] [--folder keep/data/here]
 *
 * Either may be the address of a database that growth.ts filled:
 * --small postgres://…/small --large postgres://…/large
 */
const { values } = parseArgs({
  options: {
    small: { type: 'string', default: '1000' },
    large: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '300' },
    sends: { type: 'string', default: '40' },
    folder: { type: 'string' },
    /** Reads whose names hold this. */
    only: { type: 'string', default: '' },
  },
});
const folder = dataFolder(values.folder);

interface Side {
  messages: string;
  server: TestServer;
  client: TestClient;
  /** A private session with 200 messages among all the others, every tenth with two answers. */
  long: { uuid: string; newest: number };
}

const prepare = async (messages: string): Promise<Side> => {
  const databaseUrl = messages.startsWith('postgres') ? messages : '';
  const dataDir = databaseUrl ? '' : filled(folder, messages);
  const server = await startServer({
    ...(databaseUrl ? { databaseUrl, alone: true } : { embedded: true, dataDir }),
    startTimeout: 180_000,
    env: { RATE_LIMIT: '1000000', CREDENTIALS_LIMIT: '1000000', FREE_REGISTRATIONS: '1000000' },
  });
  const client = await TestClient.register(server.baseURL);
  const { id: userId } = await client.call('userInfo', {});
  const sessions = [];
  for (let count = 0; count < 40; count++) {
    sessions.push(await client.call('newSession', { type: 0, private: 1 }));
  }
  const [long] = sessions;
  if (!long) throw new Error('no session');
  const within: typeof withDatabase = databaseUrl
    ? async (_dataDir, act) => {
        const pool = new pg.Pool({ connectionString: databaseUrl });
        try {
          return await act(pool);
        } finally {
          await pool.end();
        }
      }
    : withDatabase;
  const newest = await within(dataDir, async (pool) => {
    // As many as a busy person has; a member makes as many more as the measure needs.
    await pool.query(
      `UPDATE users SET vip_activated_at = now(), vip_expired_at = now() + interval '30 days' WHERE id = $1`,
      [userId],
    );
    await pool.query(`UPDATE sessions SET prompt = '问题 ' || id WHERE user_id = $1`, [userId]);
    const { rows } = await pool.query<{ id: string }>(
      `INSERT INTO history (session_id, user_id, human, ai, parts, model, state)
       SELECT $1, $2, '第 ' || n || ' 个问题', repeat('一段不短的回答。', 40), '[0,320]', model, 'done'
       FROM generate_series(1, 200) n, (SELECT model FROM sessions WHERE id = $1) m
       RETURNING id`,
      [long.id, userId],
    );
    await pool.query(
      `UPDATE history SET prev_id = before FROM (
         SELECT id, lag(id, 1, 0::bigint) OVER (ORDER BY id) AS before
         FROM history WHERE session_id = $1) path WHERE path.id = history.id`,
      [long.id],
    );
    await pool.query(
      `INSERT INTO history (session_id, user_id, human, ai, parts, model, state, prev_id, shown)
       SELECT session_id, user_id, human, ai, parts, model, state, prev_id, false
       FROM history WHERE session_id = $1 AND id % 10 = 0`,
      [long.id],
    );
    await pool.query(
      `INSERT INTO consumptions (user_id, type, model, human, prompt_tokens, completion_tokens,
         deduct_tokens, current_balance)
       SELECT $1, 0, 'load', '第 ' || n || ' 个问题', 10, 20, 30, 1000 FROM generate_series(1, 500) n`,
      [userId],
    );
    await pool.query(
      `INSERT INTO favorites (user_id, session_id, history_id)
       SELECT $1, session_id, history.id FROM history JOIN sessions ON sessions.id = session_id
       WHERE NOT private AND shown ORDER BY history.id DESC LIMIT 60`,
      [userId],
    );
    return Math.max(...rows.map((row) => Number(row.id)));
  });
  const name = databaseUrl ? new URL(databaseUrl).pathname.slice(1) : messages;
  return { messages: name, server, client, long: { uuid: long.uuid, newest } };
};

type Act = (side: Side) => Promise<unknown>;
const reads: Record<string, Act> = {
  'health (floor)': ({ client }) => client.call('health', {}),
  models: ({ client }) => client.call('models', {}),
  user_info: ({ client }) => client.call('userInfo', {}),
  'session_list public': ({ client }) => client.call('sessionList', { channel: 'public' }),
  'session_list public, page 2': ({ client }) =>
    client.call('sessionList', { channel: 'public', page: 2, page_size: 5 }),
  'session_list private': ({ client }) => client.call('sessionList', { channel: 'private' }),
  'session_list private, page 2': ({ client }) =>
    client.call('sessionList', { channel: 'private', page: 2 }),
  'session_list favorites': ({ client }) => client.call('sessionList', { channel: 'favorites' }),
  'session_list public, of a scenario': ({ client }) =>
    client.call('sessionList', { channel: 'public', scenario_id: 1 }),
  'session_list public, query': ({ client }) =>
    // A word that is nowhere: of others there is more to find among more. See search.ts.
    client.call('sessionList', { channel: 'public', query: '量子纠缠态' }),
  'session_list private, query': ({ client }) =>
    client.call('sessionList', { channel: 'private', query: '第 7 个' }),
  search_messages: ({ client, long }) =>
    client.call('searchMessages', { session_id: long.uuid, query: '个问题' }),
  scenario_list: ({ client }) => client.call('scenarioList', {}),
  notice_info: ({ client }) => client.call('noticeInfo', {}),
  get_session: ({ client, long }) => client.call('getSession', { uuid: long.uuid }),
  'history_list newest': ({ client, long }) =>
    client.call('historyList', { session_id: long.uuid, newest: 1 }),
  'history_list newest, page 5': ({ client, long }) =>
    client.call('historyList', { session_id: long.uuid, newest: 1, page: 5 }),
  'history_list before': ({ client, long }) =>
    client.call('historyList', { session_id: long.uuid, newest: 1, before: long.newest - 100 }),
  last_messages: ({ client, long }) =>
    client.call('lastMessages', { sessionId: long.uuid, maxHistoryId: long.newest - 20 }),
  transaction_list: ({ client }) => client.call('transactionList', { page: 1 }),
};

type Times = Map<string, [small: number[], large: number[]]>;

const note = (times: Times, name: string, side: 0 | 1, ms: number): void => {
  const both = times.get(name) ?? [[], []];
  both[side].push(ms);
  times.set(name, both);
};

const timed = async (times: Times, name: string, side: 0 | 1, act: () => Promise<unknown>) => {
  const began = now();
  const result = await act();
  note(times, name, side, now() - began);
  return result;
};

const measure = async (sides: [Side, Side]): Promise<Times> => {
  const rounds = Number(values.rounds);
  const warmUp = 30;
  const times: Times = new Map();
  for (let round = -warmUp; round < rounds; round++) {
    const kept: Times = round < 0 ? new Map() : times;
    for (const [name, act] of Object.entries(reads)) {
      if (!name.includes(values.only)) continue;
      for (const which of [0, 1] as const) {
        await timed(kept, name, which, () => act(sides[which]));
      }
    }
  }
  for (let round = -5; round < Number(values.sends); round++) {
    const kept: Times = round < 0 ? new Map() : times;
    for (const which of [0, 1] as const) {
      const { client } = sides[which];
      const { uuid } = (await timed(kept, 'new_session', which, () =>
        client.call('newSession', { type: 0, private: 1 }),
      )) as { uuid: string };
      const { id } = (await timed(kept, 'send_message', which, () =>
        client.call('sendMessage', { session_id: uuid, msg: '12 × 34 等于多少' }),
      )) as { id: number };
      await client.read(uuid, id);
      await timed(kept, 'new_session, taken over', which, () =>
        client.call('newSession', { history_id: id }),
      );
    }
  }
  return times;
};

const report = (times: Times, [small, large]: [Side, Side]): boolean => {
  const cell = (value: number) => value.toFixed(2).padStart(9);
  console.log(`${''.padEnd(30)}  ${small.messages} messages     ${large.messages} messages`);
  console.log(`${'ms'.padEnd(30)}      p50      p95      p50      p95   p95 ratio`);
  let good = true;
  for (const [name, [few, many]] of times) {
    const ratio = quantile(many, 0.95) / quantile(few, 0.95);
    good &&= ratio <= 1.5;
    console.log(
      name.padEnd(28) +
        [few, many].map((list) => cell(quantile(list, 0.5)) + cell(quantile(list, 0.95))).join('') +
        `   ${ratio.toFixed(2)}${ratio > 1.5 ? '  over 1.5' : ''}`,
    );
  }
  return good;
};

const sides: [Side, Side] = [await prepare(values.small), await prepare(values.large)];
try {
  if (!report(await measure(sides), sides)) process.exitCode = 1;
} finally {
  for (const { server } of sides) await server.stop();
  if (!values.folder) rmSync(folder, { recursive: true, force: true });
}
