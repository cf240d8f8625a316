import { parseArgs } from 'node:util';
import pg from 'pg';
import { TestClient } from '../support/client.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';
import startCluster from '../support/shared-database.ts';
import { now, quantile } from './lib/measure.ts';

/**
 * The lists of managers with 1,000 rows in each table and with 1,000,000, turn by turn: p50 and p95
 * in ms and how they compare. The goal is a p95 of at most 1.5 times. TEST_CLUSTER_URL: a PostgreSQL
 * to use instead of the embedded one.
 *
 * npx tsx tests/load/manager-lists.ts [--large 1000000] [--rounds 60]
 *
 * --fill: only fills (in the cluster of TEST_CLUSTER_URL) and prints the two databases' addresses;
 * with --databases SMALL,LARGE these are measured, as often as wanted.
 */
const { values } = parseArgs({
  options: {
    small: { type: 'string', default: '1000' },
    large: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '60' },
    fill: { type: 'boolean', default: false },
    databases: { type: 'string', default: '' },
  },
});

interface Side {
  rows: number;
  server: TestServer;
  manager: TestClient;
  person: number;
}

/** Every table that managers list, with so many rows; 1,000 of each person. */
const fillings = (rows: number): string[] => [
  `INSERT INTO users (account, user_name, password_hash, guest, subscribe, disabled, created_at)
   SELECT 'load' || n, '用户' || n, 'x', n % 3 = 0, CASE WHEN n % 500 = 0 THEN 1 ELSE 0 END,
     n % 900 = 0, now() - n * interval '30 seconds' FROM generate_series(1, ${rows}) n`,
  `INSERT INTO wallets (user_id, balance) SELECT id, id % 100000 FROM users
   ON CONFLICT DO NOTHING`,
  `INSERT INTO orders (number, user_id, kind, type, title, amount, tokens, provider, state, paid_at,
     created_at)
   SELECT 'QL' || n, p.first + n % ${Math.max(1, rows / 1000)}, 'token', 1, '充值 1 百万', 2000,
     1000000, (ARRAY['wechat', 'alipay', 'sandbox', ''])[1 + n % 4],
     CASE WHEN n % 3 = 0 THEN 'created' ELSE 'paid' END,
     CASE WHEN n % 3 = 0 THEN NULL ELSE now() END, now() - n * interval '30 seconds'
   FROM generate_series(1, ${rows}) n,
     (SELECT min(id) AS first FROM users WHERE account LIKE 'load%') p`,
  `INSERT INTO sessions (type, user_id, model, prompt, private, deleted_at, created_at, updated_at)
   SELECT n % 2, p.first + n % ${Math.max(1, rows / 1000)}, 'builtin-assistant', '会话 ' || n,
     n % 3 > 0, CASE WHEN n % 50 = 0 THEN now() END, now() - n * interval '30 seconds',
     now() - n * interval '30 seconds'
   FROM generate_series(1, ${rows}) n,
     (SELECT min(id) AS first FROM users WHERE account LIKE 'load%') p`,
  `INSERT INTO manager_acts (user_id, call, subject, input, created_at)
   SELECT (SELECT min(id) FROM users WHERE manager), (ARRAY['updateUser', 'setOrder', 'setModel', 'updateTokens'])[1 + n % 4],
     'user:' || n % 1000, '{}', now() - n * interval '30 seconds'
   FROM generate_series(1, ${rows}) n`,
  `INSERT INTO ledger (user_id, pot, kind, amount, reference, remark)
   SELECT p.first + n % ${Math.max(1, rows / 1000)}, 'balance', 'grant', 1, '', ''
   FROM generate_series(1, ${rows}) n,
     (SELECT min(id) AS first FROM users WHERE account LIKE 'load%') p`,
  `INSERT INTO training_projects (user_id, key, name, type, status)
   SELECT p.first + n % ${Math.max(1, rows / 1000)}, 'key_' || n, '项目 ' || n, n % 4, n % 3
   FROM generate_series(1, ${rows}) n,
     (SELECT min(id) AS first FROM users WHERE account LIKE 'load%') p`,
  `INSERT INTO payment_differences (provider, number, kind, detail)
   SELECT 'wechat', 'QL' || n, 'amount', '差一分' FROM generate_series(1, ${rows}) n`,
  `INSERT INTO history (session_id, user_id, human, ai, model, state, created_at)
   SELECT s.first + n % ${rows}, p.first + n % ${Math.max(1, rows / 1000)}, '问题 ' || n, '回答 ' || n,
     'builtin-assistant', 'done', now() - n * interval '30 seconds'
   FROM generate_series(1, ${rows}) n,
     (SELECT min(id) AS first FROM users WHERE account LIKE 'load%') p,
     (SELECT min(id) AS first FROM sessions) s`,
  `INSERT INTO consumptions (user_id, type, model, prompt_tokens, completion_tokens, deduct_tokens,
     current_balance, created_at)
   SELECT p.first + (n::bigint * 7919) % ${Math.max(1, rows / 100)}, 0, 'model-' || n % 20, 100, 200, n % 500,
     1000, now() - n * interval '30 seconds'
   FROM generate_series(1, ${rows}) n,
     (SELECT min(id) AS first FROM users WHERE account LIKE 'load%') p`,
  'ANALYZE',
];

const prepare = async (rows: number, databaseUrl?: string): Promise<Side> => {
  const server = await startServer({
    env: { RATE_LIMIT: '1000000', CREDENTIALS_LIMIT: '1000000', FREE_REGISTRATIONS: '1000000' },
    ...(databaseUrl && { databaseUrl }),
  });
  const database = new pg.Client({ connectionString: server.databaseUrl });
  database.on('error', () => undefined);
  await database.connect();
  if (databaseUrl === undefined) {
    // Rows that are only read here need not be counted and queued one by one.
    for (const table of ['sessions', 'ledger', 'orders', 'users', 'history', 'consumptions'])
      await database.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
    console.log(`filling tables with ${rows} rows…`);
    for (const filling of fillings(rows)) await database.query(filling);
    await database.query('VACUUM ANALYZE');
  }
  const { rows: people } = await database.query<{ id: string }>(
    `SELECT min(id) AS id FROM users WHERE account LIKE 'load%'`,
  );
  await database.end();
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  return { rows, server, manager, person: Number(people[0]?.id) };
};

const reads: Record<string, (side: Side) => Promise<unknown>> = {
  'health (floor)': ({ manager }) => manager.call('health', {}),
  user_list: ({ manager }) => manager.call('adminUserList', {}),
  'user_list, oldest first': ({ manager }) =>
    manager.call('adminUserList', { sort: 'created_at', order: 'asc' }),
  'user_list, page 50': ({ manager }) => manager.call('adminUserList', { page: 50 }),
  'user_list, guests': ({ manager }) => manager.call('adminUserList', { kind: 'guest' }),
  'user_list, subscribers': ({ manager }) => manager.call('adminUserList', { kind: 'subscriber' }),
  'user_list, disabled': ({ manager }) => manager.call('adminUserList', { kind: 'disabled' }),
  'user_list, one': ({ manager, person }) => manager.call('adminUserList', { user_id: person }),
  'user_list, a name': ({ manager }) => manager.call('adminUserList', { query: '用户77' }),
  'user_list, what all are named': ({ manager }) =>
    manager.call('adminUserList', { query: '用户' }),
  user_info: ({ manager, person }) => manager.call('adminUserInfo', { user_id: person }),
  user_ledger: ({ manager, person }) => manager.call('adminUserLedger', { user_id: person }),
  order_list: ({ manager }) => manager.call('adminOrderList', { type: 'all' }),
  'order_list, oldest first': ({ manager }) =>
    manager.call('adminOrderList', { sort: 'created_at', order: 'asc' }),
  'order_list, paid': ({ manager }) => manager.call('adminOrderList', { type: 'paid' }),
  'order_list, wechat': ({ manager }) => manager.call('adminOrderList', { type: 'wechat' }),
  'order_list, gifted': ({ manager }) => manager.call('adminOrderList', { type: 'gifted' }),
  'order_list, of one': ({ manager, person }) =>
    manager.call('adminOrderList', { type: 'all', userId: person }),
  'order_list, a number': ({ manager }) =>
    manager.call('adminOrderList', { type: 'all', orderId: 'QL77' }),
  session_list: ({ manager }) => manager.call('adminSessionList', {}),
  'session_list, deleted': ({ manager }) => manager.call('adminSessionList', { deleted: 1 }),
  'session_list, drawing': ({ manager }) => manager.call('adminSessionList', { type: 1 }),
  'session_list, of one': ({ manager, person }) =>
    manager.call('adminSessionList', { user_id: person }),
  train_list: ({ manager }) => manager.call('adminTrainList', {}),
  'train_list, failed': ({ manager }) => manager.call('adminTrainList', { type: 1, status: 2 }),
  difference_list: ({ manager }) => manager.call('differenceList', { open: 0 }),
  act_list: ({ manager }) => manager.call('adminActList', {}),
  'act_list, of a call': ({ manager }) => manager.call('adminActList', { call: 'setModel' }),
  'act_list, of a subject': ({ manager }) => manager.call('adminActList', { subject: 'user:77' }),
  summary_data: ({ manager }) => manager.call('adminSummary', {}),
  'chart_list, 3 months': ({ manager }) => manager.call('adminChartList', { range: '3m' }),
  'chart_list, 12 hours': ({ manager }) => manager.call('adminChartList', { range: '12h' }),
  rank_list: ({ manager }) => manager.call('adminRankList', {}),
  channel_list: ({ manager }) => manager.call('channelList', {}),
  keyword_list: ({ manager }) => manager.call('manageKeywordList', {}),
};

const endCluster = await startCluster();
const sides: Side[] = [];
try {
  const [smallUrl, largeUrl] = values.databases === '' ? [] : values.databases.split(',');
  sides.push(await prepare(Number(values.small), smallUrl));
  sides.push(await prepare(Number(values.large), largeUrl));
  if (values.fill) console.log(sides.map(({ server }) => server.databaseUrl).join(','));
  const times = new Map<string, [number[], number[]]>();
  const rounds = values.fill ? -5 : Number(values.rounds);
  for (let round = -5; round < rounds; round += 1)
    for (const [name, read] of Object.entries(reads))
      for (const [at, side] of sides.entries()) {
        const began = now();
        await read(side);
        if (round < 0) continue;
        const both = times.get(name) ?? [[], []];
        both[at === 0 ? 0 : 1].push(now() - began);
        times.set(name, both);
      }
  const cell = (value: number) => value.toFixed(2).padStart(9);
  console.log(`${''.padEnd(28)}  ${values.small} rows        ${values.large} rows`);
  console.log(`${'ms'.padEnd(28)}      p50      p95      p50      p95   p95 ratio`);
  for (const [name, both] of times) {
    const ratio = quantile(both[1], 0.95) / quantile(both[0], 0.95);
    console.log(
      name.padEnd(28) +
        both.map((list) => cell(quantile(list, 0.5)) + cell(quantile(list, 0.95))).join('') +
        `   ${ratio.toFixed(2)}${ratio > 1.5 ? '  over 1.5' : ''}`,
    );
    if (ratio > 1.5) process.exitCode = 1;
  }
} finally {
  for (const { server } of sides) await server.stop();
  await endCluster();
}
