import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'iovalkey';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { joined, TestClient } from '../support/client.ts';
import { type MockOpenAi, startMockOpenAi } from '../support/mock-openai.ts';
import { makeDatabase, startServer, type TestServer } from '../support/server.ts';
import { redisServer, startValkey } from '../support/valkey.ts';

/** What a guest may ask in a day here. */
const most = 8;

const patient = { timeout: 10_000 };

/** Two processes with a Valkey, here Debian's Redis, that is taken away from them. */
describe.skipIf(!existsSync(redisServer))('processes with VALKEY_URL', () => {
  let mock: MockOpenAi;
  let valkey: Awaited<ReturnType<typeof startValkey>>;
  let looking: Redis;
  let database: pg.Pool;
  let first: TestServer;
  let second: TestServer;
  let here: TestClient;
  let there: TestClient;

  beforeAll(async () => {
    mock = await startMockOpenAi();
    valkey = await startValkey();
    looking = new Redis(valkey.url, { retryStrategy: () => 100 });
    looking.on('error', () => {});
    const databaseUrl = await makeDatabase();
    database = new pg.Pool({ connectionString: databaseUrl, max: 1 });
    const env = {
      OPENAI_BASE_URL: mock.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: 'mock-chat',
      SECRET_KEY: 'one-key-for-both',
      VALKEY_URL: valkey.url,
      GUEST_MESSAGES: String(most),
    };
    first = await startServer({ databaseUrl, env });
    second = await startServer({ databaseUrl, env });
  });
  beforeEach(async () => {
    here = await TestClient.register(first.baseURL);
    there = new TestClient(second.baseURL, here.token);
  });
  afterAll(async () => {
    looking.disconnect();
    await Promise.all([first.kill9(), second.stop(), database.end()]);
    await valkey.kill9();
    await mock.close();
  });

  const ask = (tokens: number, id: string) =>
    here.ask(`[[bench tokens=${tokens} rate=100 id=${id}]]`, { model: 'mock-chat' });
  /** How many processes read a reply through Valkey. */
  const through = async (id: number): Promise<number> => {
    const channels = (await looking.pubsub('CHANNELS', `*:reply:${id}`)) as string[];
    return channels.length;
  };
  const isWhole = async (uuid: string, told: { text: string; done: boolean }, id: string) => {
    expect(told).toMatchObject({ done: true, error: null });
    const { list } = await there.call('historyList', { session_id: uuid });
    expect(list[0]).toMatchObject({ ai: told.text, state: 'done' });
    expect(told.text.endsWith(`END-${id}-DONE`)).toBe(true);
  };

  test('a reply is read elsewhere through it, word by word', async () => {
    const { uuid, id } = await ask(500, 'words');
    const reading = there.read(uuid, id);
    await expect.poll(() => through(id), patient).toBe(1);
    const events = await reading;
    // Its row alone would give some dozen pieces.
    expect(events.length).toBeGreaterThan(60);
    await isWhole(uuid, joined(events), 'words');
    await expect.poll(() => through(id), patient).toBe(0);
  });

  test('a reply that is read elsewhere ends at once, whatever else its process writes', async () => {
    const long = await ask(6000, 'long');
    const other = await TestClient.register(first.baseURL);
    const short = await other.ask('[[bench tokens=150 rate=100 id=short]]', { model: 'mock-chat' });
    const reading = new TestClient(second.baseURL, other.token).read(short.uuid, short.id);
    await expect.poll(() => through(short.id), patient).toBe(1);
    expect(joined(await reading)).toMatchObject({ done: true, error: null });
    const { list } = await here.call('historyList', { session_id: long.uuid });
    expect(list[0]).toMatchObject({ state: 'streaming' });
    await here.call('stopStream', { history_id: long.id });
  });

  test('what is told while the way to a reply is still being opened is no break of it', async () => {
    const { rows } = await database.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity
        WHERE application_name = 'queqiao instance' AND datname = current_database()
        ORDER BY backend_start DESC LIMIT 1`,
    );
    const { uuid, id } = await ask(600, 'slow');
    // The second process cannot ask now whether the first one lives.
    process.kill(rows[0]!.pid, 'SIGSTOP');
    const reading = there.read(uuid, id);
    await sleep(4000);
    process.kill(rows[0]!.pid, 'SIGCONT');
    await isWhole(uuid, joined(await reading), 'slow');
  });

  test.each(['killed', 'held up'])(
    'it is %s in the middle of a reply: nothing is lost, and it is used again',
    async (how) => {
      const { uuid, id } = await ask(600, 'away');
      const reading = there.read(uuid, id);
      await expect.poll(() => through(id), patient).toBe(1);
      await sleep(1000);
      if (how === 'killed') await valkey.kill9();
      else process.kill(valkey.pid(), 'SIGSTOP');
      // Limits go on, too.
      await ask(10, 'meanwhile');
      await sleep(2500);
      if (how === 'killed') await valkey.start();
      else process.kill(valkey.pid(), 'SIGCONT');
      await isWhole(uuid, joined(await reading), 'away');
      await expect
        .poll(
          async () => {
            const next = await ask(100, 'again');
            const read = there.read(next.uuid, next.id);
            await sleep(500);
            const readers = await through(next.id);
            await isWhole(next.uuid, joined(await read), 'again');
            return readers;
          },
          { timeout: 45_000, interval: 1000 },
        )
        .toBe(1);
    },
    90_000,
  );

  test('what is limited is counted at once by all processes, and goes on without it', async () => {
    const guest = new TestClient(first.baseURL);
    await guest.call('newSession', { type: 0 });
    const both = [guest, new TestClient(second.baseURL, guest.token)];
    const sendOf = (at: number) =>
      both[at % 2]!.ask('用一句话介绍一下鹊桥').then(
        () => true,
        () => false,
      );
    const sent = await Promise.all(Array.from({ length: most + 6 }, (_, at) => sendOf(at)));
    expect(sent.filter(Boolean)).toHaveLength(most);
    // The database knows of it within a second or so.
    await sleep(1500);
    await valkey.kill9();
    expect(await Promise.all([sendOf(0), sendOf(1)])).toEqual([false, false]);
    await valkey.start();
  });

  // The last one: it ends the first process.
  test('the process that writes is killed: what its reader saw a moment ago is kept and paid', async () => {
    await sleep(1500);
    const { uuid, id } = await here.ask('[[bench tokens=60000 rate=400 id=dead]]', {
      model: 'mock-chat',
    });
    let seen = '';
    const reading = here
      .read(uuid, id, {
        onEvent: ({ data }) => {
          const said: unknown = data === '[DONE]' ? '' : JSON.parse(data);
          if (typeof said === 'string') seen += said;
        },
      })
      .catch(() => undefined);
    await sleep(2100);
    await first.kill9();
    await reading;
    const kept = joined(await there.read(uuid, id));
    expect(kept.error?.code).toBe('interrupted');
    // 50 ms at 400 tokens a second, of some four letters each; the row alone is up to 250 ms behind.
    expect(seen.length).toBeGreaterThan(500);
    expect(kept.text.length).toBeGreaterThanOrEqual(seen.length - 80);
    const { list } = await there.call('historyList', { session_id: uuid });
    expect(list[0]).toMatchObject({ ai: kept.text, state: 'interrupted' });
    const charged = 20_000 - (await there.call('userInfo', {})).chatgpt_balance;
    expect(charged).toBe(list[0]?.deduct_tokens);
  });
});
