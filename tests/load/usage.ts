import { parseArgs } from 'node:util';
import type pg from 'pg';
import { TestClient } from '../support/client.ts';
import { startServer } from '../support/server.ts';
import { withDatabase } from './lib/filled.ts';
import { now, quantile } from './lib/measure.ts';

/**
 * What somebody sees of their spends, over the wire: of a person with 1,000 of them and of one with
 * many on the same server, turn by turn. p50 and p95 in ms and how much slower the many are; the
 * floor is a call that reads nothing. The goal is a p95 of at most 1.5 times. Both have used the same
 * two models nearly every day: what grows is the number of spends, not what there is to show.
 *
 * npx tsx tests/load/usage.ts [--rows 1000000] [--rounds 100]
 */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '100' },
  },
});
const few = 1000;
const goal = 1.5;
const chunk = 50_000;
const warmUp = 10;

const fill = async (database: pg.Pool, userId: number, rows: number): Promise<void> => {
  for (let from = 1; from <= rows; from += chunk)
    await database.query(
      `INSERT INTO consumptions (user_id, type, model, human, prompt_tokens, completion_tokens,
         deduct_tokens, current_balance, created_at)
       SELECT $1, n % 2, 'model-' || n % 2, '第 ' || n || ' 个问题', 10, 20,
         30, 1000000000 - 30 * n, now() - (($4 - n) * 365.0 / $4) * interval '1 day'
       FROM generate_series($2::int, $3::int) n`,
      [userId, from, Math.min(rows, from + chunk - 1), rows],
    );
  await database.query(
    `INSERT INTO usage_days
     SELECT user_id, (created_at AT TIME ZONE 'Asia/Shanghai')::date, type, model, count(*), count(*),
       sum(prompt_tokens), sum(completion_tokens), sum(deduct_tokens)
     FROM consumptions WHERE user_id = $1 GROUP BY 1, 2, 3, 4`,
    [userId],
  );
};

const before = (months: number): string => {
  const at = new Date();
  at.setUTCDate(1);
  at.setUTCMonth(at.getUTCMonth() - months);
  return at.toISOString().slice(0, 7);
};

type Act = (client: TestClient) => Promise<unknown>;
const reads: Readonly<Record<string, Act>> = {
  'health (floor)': (client) => client.call('health', {}),
  usage: (client) => client.call('usage', {}),
  'usage, half a year ago': (client) => client.call('usage', { month: before(6) }),
  transaction_list: (client) => client.call('transactionList', {}),
  'transaction_list, page 50': (client) => client.call('transactionList', { page: 50 }),
  'transaction_list of a model': (client) => client.call('transactionList', { model: 'model-1' }),
  'transaction_list of a kind': (client) => client.call('transactionList', { type: 1 }),
  'transaction_list of both': (client) =>
    client.call('transactionList', { type: 1, model: 'model-1' }),
};

const server = await startServer({
  embedded: true,
  startTimeout: 120_000,
  env: { RATE_LIMIT: '100000000' },
});
try {
  await withDatabase(server.dataDir, async (database) => {
    const people = [];
    for (const rows of [few, Number(values.rows)]) {
      const client = await TestClient.register(server.baseURL);
      await fill(database, (await client.call('userInfo', {})).id, rows);
      people.push(client);
    }
    await database.query('VACUUM (ANALYZE) consumptions, usage_days');
    console.log(`${few} and ${values.rows} spends, ms (p50/p95 and p50/p95)`);
    for (const [name, act] of Object.entries(reads)) {
      const times: [number[], number[]] = [[], []];
      for (let round = -warmUp; round < Number(values.rounds); round++)
        for (const which of [0, 1] as const) {
          const begun = now();
          await act(people[which]!);
          if (round >= 0) times[which].push(now() - begun);
        }
      const [small, large] = times.map((each) => [quantile(each, 0.5), quantile(each, 0.95)]) as [
        [number, number],
        [number, number],
      ];
      const ratio = large[1] / small[1];
      const shown = (pair: [number, number]) => pair.map((ms) => ms.toFixed(1)).join('/');
      console.log(
        `${name.padEnd(28)} ${shown(small).padEnd(12)} ${shown(large).padEnd(12)} ×${ratio.toFixed(2)}${ratio > goal ? '  above the goal' : ''}`,
      );
    }
  });
} finally {
  await server.stop();
}
