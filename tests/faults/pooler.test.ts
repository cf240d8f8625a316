import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { paint } from '../support/images.ts';
import { type MockOpenAi, startMockOpenAi } from '../support/mock-openai.ts';
import { pgbouncer, startPooler } from '../support/pooler.ts';
import { scratchFolder } from '../support/scratch.ts';
import { makeDatabase, startServer, type TestServer } from '../support/server.ts';

/** Several processes that share a few connections of PgBouncer in transaction mode. */
describe.skipIf(!existsSync(pgbouncer))('behind PgBouncer in transaction mode', () => {
  let direct: string;
  let pooler: Awaited<ReturnType<typeof startPooler>>;
  let mock: MockOpenAi;
  let servers: TestServer[];

  beforeAll(async () => {
    direct = await makeDatabase();
    pooler = await startPooler(direct, 3);
    mock = await startMockOpenAi();
    const env = {
      DATABASE_DIRECT_URL: direct,
      SECRET_KEY: 'one-key-for-both',
      OPENAI_BASE_URL: mock.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: 'mock-chat',
    };
    const start = () => startServer({ databaseUrl: pooler.databaseUrl, env });
    servers = [await start(), await start()];
  });
  afterAll(async () => {
    await Promise.all(servers.map((each) => each.stop()));
    pooler.close();
    await mock.close();
  });

  test('questions of many at once are answered, and jobs are done by whichever process', async () => {
    const people = await Promise.all(
      Array.from({ length: 12 }, (_, at) => TestClient.register(servers[at % 2]!.baseURL)),
    );
    const talks = people.map(async (person, at) => {
      const { uuid, id } = await person.ask(`[[bench tokens=40 rate=200 id=p${at}]]`, {
        model: 'mock-chat',
      });
      await person.read(uuid, id);
      const { list } = await person.call('historyList', { session_id: uuid });
      return list[0];
    });
    for (const [at, talk] of (await Promise.all(talks)).entries())
      expect(talk, `person ${at}`).toMatchObject({
        state: 'done',
        ai: expect.stringContaining(`END-p${at}-DONE`),
      });
    const painted = await Promise.all(people.slice(0, 3).map((person) => paint(person, '一只猫')));
    for (const { job } of painted) expect(job).toMatchObject({ state: 'done' });
    const log = servers.map((each) => each.log()).join('\n');
    expect(log).not.toMatch(/prepared statement|unsupported startup|"level":50/);
  });

  test.each([
    ['DATABASE_URL', {}],
    ['DATABASE_DIRECT_URL', { DATABASE_DIRECT_URL: 'pooled' }],
  ])('a start that would lock and listen through it ends: %s', async (setting, given) => {
    const env = Object.keys(given).length > 0 ? { [setting]: pooler.databaseUrl } : {};
    const child = spawn(process.execPath, ['dist/server/main.js'], {
      env: {
        PATH: process.env['PATH'],
        DATA_DIR: scratchFolder('pooler-start'),
        LOCAL_MODELS: 'off',
        PORT: String(await freePort()),
        DATABASE_URL: pooler.databaseUrl,
        ...env,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const [code] = (await once(child, 'exit')) as [number | null];
    expect(code).toBe(1);
    expect(said).toMatch(new RegExp(`^${setting} 经过了连接池`));
  });
});
