import { TestClient } from '../support/client.ts';
import { startMockOpenAi } from '../support/mock-openai.ts';
import { startScratch } from '../support/scratch.ts';
import { ADMIN_PASSWORD, startServer } from '../support/server.ts';
import { cpuTime, now, numbersOf, printTable, startHelper } from './lib/measure.ts';

/**
 * What a whole answer of the public API costs: the processor of the server with its PostgreSQL, books
 * and all, beside a relay that only pipes bytes, in the same run; answers in a second; memory of the
 * tree after it. `--calls=2000 --at-once=16`
 */
const [calls = 2000] = numbersOf('calls', [2000]);
const [atOnce = 16] = numbersOf('at-once', [16]);

const endScratch = startScratch();
const mock = await startMockOpenAi();
const floor = await startHelper('floor.ts', new URL(mock.baseURL).origin);
const server = await startServer({
  embedded: true,
  env: {
    OPENAI_BASE_URL: mock.baseURL,
    OPENAI_API_KEY: 'sk-load',
    OPENAI_MODELS: 'mock-chat',
    API_REQUESTS: '1000000000',
    API_TOKENS: '1000000000',
    RATE_LIMIT: '1000000000',
    SIGNUP_TOKENS: '1000000000',
    LOG_LEVEL: 'error',
  },
});

const run = async (base: string, key: string, pid: number) => {
  const ask = async (): Promise<void> => {
    const answer = await fetch(`${base}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'mock-chat', messages: [{ role: 'user', content: '你好' }] }),
    });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    await answer.text();
  };
  const many = async (count: number): Promise<void> => {
    let left = count;
    const one = async () => {
      while (left > 0) {
        left -= 1;
        await ask();
      }
    };
    await Promise.all(Array.from({ length: atOnce }, one));
  };
  await many(calls / 4);
  const [before, begun] = [cpuTime(pid, { tree: true }), now()];
  await many(calls);
  const cpu = (cpuTime(pid, { tree: true }) - before) / calls;
  return { cpu, perSecond: calls / ((now() - begun) / 1000) };
};

try {
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const { full_key: key } = await manager.call('genKey', {});
  const bare = await run(floor.baseURL, 'sk-load', floor.pid);
  const ours = await run(server.baseURL, key, server.pid);
  printTable([
    { measure: 'CPU of a whole answer', value: ours.cpu, goal: 2.2, unit: 'ms' },
    { measure: 'CPU of it at the bare relay', value: bare.cpu, goal: 2.2, unit: 'ms' },
    { measure: 'answers a second', value: ours.perSecond, goal: 900, unit: '' },
    { measure: 'answers a second, bare relay', value: bare.perSecond, goal: 900, unit: '' },
  ]);
} finally {
  await server.stop();
  floor.stop();
  await mock.close();
  endScratch();
}
process.exit(0);
