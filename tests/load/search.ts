import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { TestClient } from '../support/client.ts';
import { startServer } from '../support/server.ts';
import { dataFolder, filled, withDatabase } from './lib/filled.ts';
import { now, quantile } from './lib/measure.ts';

/**
 * Searches among 1,000,000 messages, over the wire: in one's own sessions (those of the person who
 * wrote the most), in the public ones and in one of 10,000 messages. p50, p95 and most in ms beside
 * the floor, which is to read the same messages without an index. The goal is a p95 of at most 50 ms.
 *
 * npx tsx tests/load/search.ts [--messages 1000000] [--rounds 40] [--folder keep/data/here]
 */
const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '40' },
    folder: { type: 'string' },
  },
});
const goal = 50;

/** Of the texts of the demo; `rare` is put into a few messages here. */
const words = {
  rare: '琥珀蜜蜡',
  common: '可以',
  'two characters': '成都',
  'one character': '桥',
  mixed: '用Python写',
  latin: 'typescript',
  'two words': '成都 地铁',
  absent: '量子纠缠态',
  // Each pair of its characters is in a great many messages.
  'absent, of common pairs': '可以的关键步骤',
};

const password = 'password-1';

/** Makes the busiest person's account one that can be signed in to; gives its name. */
const takeBusiest = async (
  pool: pg.Pool,
  own: string,
): Promise<{ account: string; id: number }> => {
  const { rows } = await pool.query<{ id: string; account: string; messages: number }>(
    `UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE account = $1)
     FROM (SELECT user_id, count(*)::int AS messages FROM history
           GROUP BY user_id ORDER BY 2 DESC LIMIT 1) busiest
     WHERE users.id = busiest.user_id RETURNING users.id, account, messages`,
    [own],
  );
  const [row] = rows;
  if (!row) throw new Error('nobody has written anything');
  console.log(`the busiest person has ${row.messages} messages`);
  return { account: row.account, id: Number(row.id) };
};

const longTitle = '一万条消息';

const prepare = async (pool: pg.Pool, userId: number, long: number): Promise<void> => {
  // Those of earlier runs on the same folder.
  await pool.query('UPDATE sessions SET deleted_at = now() WHERE prompt = $1', [longTitle]);
  await pool.query(
    `INSERT INTO history (session_id, user_id, human, ai, parts, model, state)
     SELECT $1, $2, human, ai, parts, model, state FROM history WHERE ai <> '' LIMIT 10000`,
    [long, userId],
  );
  await pool.query('UPDATE sessions SET prompt = $2 WHERE id = $1', [long, longTitle]);
  await pool.query(
    `UPDATE history SET ai = ai || $1 WHERE strpos(ai, $1) = 0 AND id IN (
       SELECT id FROM history WHERE shown AND id % 40000 = 7
       UNION ALL (SELECT id FROM history WHERE session_id = $2 ORDER BY id LIMIT 3))`,
    [words.rare, long],
  );
  console.log('waiting for the index…');
  for (;;) {
    const { rows } = await pool.query(
      'SELECT FROM search_queue UNION ALL SELECT FROM search_sessions LIMIT 1',
    );
    if (rows.length === 0) break;
    await sleep(500);
  }
  const client = await pool.connect();
  await client.query('SET statement_timeout = 0');
  await client.query('VACUUM (ANALYZE) search_fresh, search_postings');
  client.release(true);
};

/** The floor: the same messages read without an index, ms. */
const scan = async (pool: pg.Pool, word: string): Promise<number> => {
  const client = await pool.connect();
  await client.query('SET statement_timeout = 0');
  const began = now();
  await client.query(
    `SELECT id FROM history WHERE strpos(lower((human || ' ' || ai) COLLATE "C"), $1) > 0
     ORDER BY id DESC LIMIT 100`,
    [word],
  );
  const took = now() - began;
  client.release(true);
  return took;
};

const folder = dataFolder(values.folder);
const dataDir = filled(folder, values.messages);
const server = await startServer({
  embedded: true,
  dataDir,
  env: { RATE_LIMIT: '1000000', CREDENTIALS_LIMIT: '1000000', FREE_REGISTRATIONS: '1000000' },
});
try {
  const own = `searcher${Date.now()}`;
  await TestClient.register(server.baseURL, own);
  const { client, long, floors } = await withDatabase(dataDir, async (pool) => {
    const { account, id } = await takeBusiest(pool, own);
    await pool.query(
      `UPDATE users SET vip_activated_at = now(), vip_expired_at = now() + interval '30 days'
       WHERE id = $1`,
      [id],
    );
    const client = new TestClient(server.baseURL);
    await client.login(account, password);
    const long = await client.call('newSession', {});
    await prepare(pool, id, long.id);
    const floors = new Map<string, number>();
    for (const [kind, word] of Object.entries(words)) floors.set(kind, await scan(pool, word));
    return { client, long, floors };
  });

  const places: Record<string, (query: string) => Promise<{ total: number }>> = {
    own: (query) => client.call('sessionList', { channel: 'private', query }),
    public: (query) => client.call('sessionList', { channel: 'public', query }),
    'in session': (query) => client.call('searchMessages', { session_id: long.uuid, query }),
  };
  const cell = (value: number) => value.toFixed(1).padStart(9);
  console.log(`${''.padEnd(38)}    found      p50      p95      max  without index`);
  let good = true;
  for (const [kind, word] of Object.entries(words)) {
    for (const [place, ask] of Object.entries(places)) {
      const times: number[] = [];
      let total = 0;
      for (let round = -3; round < Number(values.rounds); round++) {
        const began = now();
        ({ total } = await ask(word));
        if (round >= 0) times.push(now() - began);
      }
      const p95 = quantile(times, 0.95);
      good &&= p95 <= goal;
      console.log(
        `${`${kind}, ${place}`.padEnd(38)}${String(total).padStart(9)}` +
          cell(quantile(times, 0.5)) +
          cell(p95) +
          cell(Math.max(...times)) +
          `      ${cell(floors.get(kind) ?? 0)}${p95 > goal ? '  over 50' : ''}`,
      );
    }
  }
  if (!good) process.exitCode = 1;
} finally {
  await server.stop();
  if (!values.folder) rmSync(folder, { recursive: true, force: true });
}
