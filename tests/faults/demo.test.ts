import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeDemo } from '#scripts/demo/removal.ts';
import { createFolderStorage } from '#server/storage/folder-storage.ts';
import { TestClient } from '../support/client.ts';
import { scratchFolder } from '../support/scratch.ts';
import { ADMIN_PASSWORD, makeDatabase, startServer, type TestServer } from '../support/server.ts';
import { talk } from '../support/world.ts';

let server: TestServer;
let pool: pg.Pool;

beforeAll(async () => {
  server = await startServer({ env: { ASSISTANT_RATE: '0' } });
  pool = new pg.Pool({ connectionString: server.databaseUrl });
});
afterAll(async () => {
  await pool.end();
  await server.stop();
});

test('the demo goes with all that is its own, and what real people made with it stays theirs', async () => {
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const actor = await TestClient.register(server.baseURL);
  const real = await TestClient.register(server.baseURL);
  const { id: actorId } = await actor.call('userInfo', {});
  await pool.query(`INSERT INTO demo_things (kind, id) VALUES ('users', $1)`, [actorId]);

  const { list: categories } = await actor.call('scenarioCategory', {});
  const scenario = { name: '园丁', prompt: '你是园丁', category: categories[0]?.id ?? 1 };
  const { id } = await actor.call('saveScenario', { ...scenario, publish: 1 });
  await manager.call('manageScenario', { ...scenario, id, state: 'public' });
  const shown = await talk(actor, '示例里的一段对话');
  const mine = await talk(real, '我自己的一段对话');
  const { uuid } = await real.call('newSession', { type: 0, scenario_id: id });
  const { id: historyId } = await real.ask('紫藤几月开花', { sessionId: uuid });
  await real.read(uuid, historyId);

  const usesOf = async (scenarioId: number) =>
    (await pool.query('SELECT session_count AS uses FROM scenarios WHERE id = $1', [scenarioId]))
      .rows[0]?.uses;
  const { list: there } = await real.call('scenarioList', {});
  const seed = there.find((each) => each.id !== id)?.id ?? 0;
  const before = await usesOf(seed);
  const used = await actor.call('newSession', { type: 0, scenario_id: seed });
  await actor.call('deleteSession', { session_id: used.uuid });
  expect(await usesOf(seed)).toBe(before + 1);

  expect(await removeDemo(pool, createFolderStorage(server.dataDir))).toBe(true);
  expect((await real.raw('historyList', { session_id: shown.uuid })).status).toBe(404);
  for (const kept of [mine.uuid, uuid])
    expect((await real.call('historyList', { session_id: kept })).list).toHaveLength(1);
  expect((await real.call('getSession', { uuid })).scenario).toBeNull();
  expect(await usesOf(seed)).toBe(before);
  const { rows } = await pool.query('SELECT FROM scenarios WHERE id = $1', [id]);
  expect(rows).toHaveLength(0);
});

test.skipIf(!process.env['HEAVY'])(
  'the demo fills every area, and is taken away whole',
  { timeout: 900_000 },
  async () => {
    const databaseUrl = await makeDatabase();
    const env = {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      DATABASE_URL: databaseUrl,
      DATA_DIR: scratchFolder('demo'),
    };
    const tsx = 'node_modules/tsx/dist/cli.mjs';
    const demo = (...args: string[]) =>
      promisify(execFile)(process.execPath, [tsx, 'scripts/demo.ts', ...args], { env });
    const filled = new pg.Pool({ connectionString: databaseUrl });
    try {
      const counts = async (): Promise<Record<string, number>> => {
        const { rows } = await filled.query<{ name: string; count: number }>(`
          SELECT relname AS name, (xpath('/row/c/text()', query_to_xml(
            format('SELECT count(*) AS c FROM %I', relname), false, true, '')))[1]::text::int AS count
          FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`);
        return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
      };
      expect((await demo('--remove')).stdout).toContain('这里没有演示');
      const before = await counts();
      expect((await demo()).stdout).toContain('演示好了');
      const during = await counts();
      const grown = (name: string) => (during[name] ?? 0) - (before[name] ?? 0);
      for (const [name, least] of Object.entries({ users: 20, images: 60, sessions: 30 }))
        expect(grown(name)).toBeGreaterThanOrEqual(least);
      expect((await demo('--remove')).stdout).toContain('演示已经整个拿走');
      expect(await counts()).toEqual(before);
    } finally {
      await filled.end();
    }
  },
);
