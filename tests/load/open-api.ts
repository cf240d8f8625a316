import { TestClient } from '../support/client.ts';
import { ADMIN_PASSWORD, startServer } from '../support/server.ts';
import {
  askService,
  cpuTime,
  median,
  now,
  numbersOf,
  printTable,
  readStamped,
  startHelper,
  type StreamResult,
} from './lib/measure.ts';

/**
 * What the public API adds to a stream of a model's service: to the first chunk, beside a call of it
 * that does nothing; the processor per chunk against a relay that only pipes bytes; chunks lost.
 */
const [streams = 200] = numbersOf('streams', [200]);
const [seconds = 60] = numbersOf('seconds', [60]);
const rate = 50;
const singles = 60;
const warmUps = 150;

const upstream = await startHelper('upstream.ts');
const floor = await startHelper('floor.ts', upstream.baseURL);
const server = await startServer({
  embedded: true,
  env: {
    OPENAI_BASE_URL: `${upstream.baseURL}/v1`,
    OPENAI_API_KEY: 'sk-load',
    OPENAI_MODELS: 'load',
    API_REQUESTS: '1000000000',
    API_TOKENS: '1000000000',
    RATE_LIMIT: '1000000000',
    SIGNUP_TOKENS: '1000000000',
    LOG_LEVEL: 'warn',
  },
});

type Ask = (question: string) => Promise<StreamResult>;

const askAll = (ask: Ask, length: number) =>
  Promise.all(
    Array.from({ length: streams }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, (index / streams) * 1000));
      return ask(`chunks=${rate * length} rate=${rate}`);
    }),
  );

const together = async (ask: Ask, pid: number) => {
  await askAll(ask, 3);
  const before = cpuTime(pid);
  const results = await askAll(ask, seconds);
  const chunks = results.reduce((sum, result) => sum + result.chunks, 0);
  return {
    lost: streams * rate * seconds - chunks,
    cpu: ((cpuTime(pid) - before) * 1000) / chunks,
  };
};

const oneByOne = async (ask: Ask) => {
  const first: number[] = [];
  for (let index = -warmUps; index < singles; index += 1) {
    const begun = now();
    const result = await ask('chunks=5 rate=500');
    if (index >= 0) first.push(result.firstAt - begun);
  }
  return median(first);
};

try {
  // The first administrator may use the API.
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const { full_key: key } = await manager.call('genKey', {});
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const through: Ask = (question) =>
    readStamped(`${server.baseURL}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        model: 'load',
        stream: true,
        max_tokens: 3000,
        messages: [{ role: 'user', content: question }],
      }),
    });
  const idle: number[] = [];
  for (let index = -warmUps; index < singles; index += 1) {
    const begun = now();
    await (await fetch(`${server.baseURL}/v1/models/load`, { headers })).text();
    if (index >= 0) idle.push(now() - begun);
  }
  const direct = await oneByOne((question) => askService(upstream.baseURL, question));
  const ours = await oneByOne(through);
  const bare = await together((question) => askService(floor.baseURL, question), floor.pid);
  const relayed = await together(through, server.pid);
  const nothing = median(idle);
  printTable([
    {
      measure: 'added to the first chunk',
      value: ours - direct,
      goal: nothing + 3,
      unit: 'ms',
    },
    { measure: 'CPU per chunk, server', value: relayed.cpu, goal: bare.cpu * 1.3, unit: 'µs' },
    { measure: 'chunks lost', value: relayed.lost, goal: 0, unit: '' },
  ]);
  console.log(
    `a call that does nothing: ${nothing.toFixed(2)} ms; bare relay: ${bare.cpu.toFixed(1)} µs a chunk; ${streams} streams × ${rate}/s × ${seconds} s`,
  );
} finally {
  await server.stop();
  floor.stop();
  upstream.stop();
}
process.exit(0);
