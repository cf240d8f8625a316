import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import {
  hasPostgres,
  makeCluster,
  makeStandby,
  openAddress,
  type Cluster,
} from '../support/postgres-pair.ts';
import { scratchFolder } from '../support/scratch.ts';
import { startServer, type TestServer } from '../support/server.ts';

const people = 6;
const patient = { timeout: 30_000, interval: 100 };

interface Sent {
  token: string;
  uuid: string;
  id: number;
  text: string;
}

/**
 * Two processes and their PostgreSQL, which restarts, is slow, answers nothing for a while and is
 * replaced by its standby, while people ask. Needs Debian's PostgreSQL 15.
 */
describe.skipIf(!hasPostgres)('a database that goes away under people', () => {
  const folder = scratchFolder('away');
  let first: Cluster;
  let second: Cluster;
  let address: Awaited<ReturnType<typeof openAddress>>;
  let servers: TestServer[];
  let clients: TestClient[];
  const acknowledged: Sent[] = [];
  let asked = 0;
  /** What was answered that is neither a yes nor a clear no. */
  const unclear: string[] = [];
  let refused = 0;

  const small = path.join(folder, 'first');
  let mounted = false;

  beforeAll(async () => {
    mkdirSync(small);
    const size = ['-t', 'tmpfs', '-o', 'size=512m', 'tmpfs', small];
    mounted = spawnSync('mount', size, { stdio: 'ignore' }).status === 0;
    first = await makeCluster(folder);
    first.start();
    address = await openAddress(first.port);
    const databaseUrl = `postgres://queqiao@127.0.0.1:${address.port}/postgres`;
    const env = { SECRET_KEY: 'one-key-for-both', ASSISTANT_RATE: '2000', RATE_LIMIT: '1000000' };
    servers = [
      await startServer({ databaseUrl, env, startTimeout: 120_000 }),
      await startServer({ databaseUrl, env, startTimeout: 120_000 }),
    ];
    second = await makeStandby(folder, first);
    second.start();
    // From now on nothing is acknowledged that the standby does not have.
    const admin = new pg.Client({ connectionString: databaseUrl });
    await admin.connect();
    await admin.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
    await admin.query('SELECT pg_reload_conf()');
    await admin.end();
    clients = await Promise.all(
      Array.from({ length: people }, (_, at) => TestClient.register(servers[at % 2]!.baseURL)),
    );
  }, 300_000);
  afterAll(async () => {
    await Promise.all((servers ?? []).map((each) => each.kill9()));
    address?.close();
    for (const cluster of [first, second])
      try {
        cluster?.stop();
      } catch {
        // It does not run.
      }
    if (mounted) spawnSync('umount', ['-l', small]);
    rmSync(folder, { recursive: true, force: true });
  });

  /** Sends one question until it is acknowledged, as the page does with what is held. */
  const sendOne = async (client: TestClient, uuid: string): Promise<void> => {
    const text = `这条消息不能丢：${randomUUID()}`;
    const key = { 'idempotency-key': randomUUID() };
    asked += 1;
    for (;;) {
      const answer = await client
        .raw<{ id: number }>('sendMessage', { session_id: uuid, msg: text }, key)
        .catch((error: unknown) => ({ status: 0, code: -1, message: String(error), data: null }));
      if (answer.status === 200 && answer.code === 0 && answer.data) {
        acknowledged.push({ token: client.token, uuid, id: answer.data.id, text });
        return;
      }
      // The reply before is still being written, or is being ended.
      if (answer.status === 200 && answer.code !== 0) await sleep(100);
      else if ([503, 507].includes(answer.status) && /\p{Script=Han}/u.test(answer.message))
        refused += 1;
      else unclear.push(`${answer.status} ${answer.code} ${answer.message}`);
      await sleep(100);
    }
  };

  /** People ask while `act` spoils the database, and until it was well again for a moment. */
  const whileAsking = async (act: () => Promise<void>): Promise<void> => {
    const over = new AbortController();
    const uuids = await Promise.all(
      clients.map(async (client) => (await client.call('newSession', { type: 0 })).uuid),
    );
    const load = clients.map(async (client, at) => {
      while (!over.signal.aborted) {
        await sendOne(client, uuids[at]!);
        await sleep(150);
      }
    });
    await sleep(1500);
    await act();
    over.abort();
    await Promise.all(load);
  };

  /** Waits until both processes serve. */
  const back = async (): Promise<number> => {
    const begun = Date.now();
    for (const { baseURL } of servers)
      await expect.poll(async () => (await fetch(`${baseURL}/readyz`)).status, patient).toBe(200);
    return Date.now() - begun;
  };

  const checkAll = async (): Promise<void> => {
    expect(unclear).toEqual([]);
    const database = new pg.Client({
      connectionString: `postgres://queqiao@127.0.0.1:${address.port}/postgres`,
    });
    await database.connect();
    try {
      await expect
        .poll(
          async () =>
            (
              await database.query(
                `SELECT id, state FROM history WHERE state NOT IN ('done', 'interrupted', 'error')`,
              )
            ).rows,
          patient,
        )
        .toEqual([]);
      const { rows } = await database.query<{ id: string; human: string }>(
        `SELECT id, human FROM history WHERE human LIKE '这条消息不能丢%'`,
      );
      // Each that was asked is there once, the acknowledged with their numbers.
      expect(rows).toHaveLength(asked);
      const stored = new Map(rows.map(({ id, human }) => [Number(id), human]));
      for (const { id, text } of acknowledged) expect(stored.get(id)).toBe(text);
      const wrong = await database.query(
        `SELECT user_id, balance FROM wallets WHERE balance < 0 OR balance <> (
           SELECT coalesce(sum(amount), 0) FROM ledger
           WHERE ledger.user_id = wallets.user_id AND pot = 'balance')`,
      );
      expect(wrong.rows).toEqual([]);
      const holds = await database.query(`SELECT FROM holds WHERE state = 'open'`);
      expect(holds.rowCount).toBe(0);
    } finally {
      await database.end();
    }
  };

  const faults: [string, () => Promise<void>][] = [
    [
      'restarts at once',
      async () => {
        first.stop();
        await sleep(1500);
        first.start();
      },
    ],
    [
      'has no room on its disk, and may fall over it',
      async () => {
        const hog = path.join(small, 'hog');
        if (mounted) spawnSync('sh', ['-c', `cat /dev/zero > ${hog}`], { stdio: 'ignore' });
        await sleep(4000);
        rmSync(hog, { force: true });
        try {
          first.start();
        } catch {
          // It still runs.
        }
      },
    ],
    [
      'is slow',
      async () => {
        address.become('slow');
        await sleep(6000);
        address.become('open');
      },
    ],
    [
      'answers nothing for a while',
      async () => {
        address.become('held');
        await sleep(6000);
        address.become('open');
      },
    ],
    [
      'is replaced by its standby, which is found before it may write',
      async () => {
        first.stop();
        address.leadTo(second.port);
        await sleep(2000);
        second.promote();
      },
    ],
  ];
  test.each(faults)(
    'it %s: what was acknowledged is there, each refusal is clear, and it comes back',
    async (what, fault) => {
      refused = 0;
      await whileAsking(async () => {
        await fault();
        console.log(`${what}: both serve again after ${await back()} ms`);
        await sleep(1000);
      });
      console.log(`${what}: ${acknowledged.length} acknowledged so far, ${refused} refused`);
      if (what.startsWith('restarts') || what.startsWith('is replaced'))
        expect(refused).toBeGreaterThan(0);
      await checkAll();
    },
    120_000,
  );
});
