import {
  askService,
  cpuTime,
  median,
  now,
  printTable,
  quantile,
  startHelper,
  type StreamResult,
} from './lib/measure.ts';
import { askAndRead, makeSeats, startLoadedServer } from './lib/people.ts';

/**
 * What the server adds between a model's service and the reader: to the first chunk (from sending
 * the question), to each chunk, and its CPU time per chunk against a relay that only pipes bytes.
 */
const streams = 200;
const rate = 50;
const seconds = 20;
const singles = 40;
/** Both relays run this long before they are measured, s: V8 compiles what is hot by then. */
const warming = 3;
/** For the same reason so many questions are asked one by one before those that count. */
const warmUps = 150;

const upstream = await startHelper('upstream.ts');
const floor = await startHelper('floor.ts', upstream.baseURL);
const server = await startLoadedServer(upstream.baseURL);

type Ask = (index: number, question: string) => Promise<StreamResult>;

const oneByOne = async (ask: Ask) => {
  const first: number[] = [];
  const delays: number[] = [];
  for (let index = -warmUps; index < singles; index += 1) {
    const begun = now();
    const result = await ask(0, 'chunks=20 rate=200');
    if (index < 0) continue;
    first.push(result.firstAt - begun);
    delays.push(...result.delays.slice(1));
  }
  return { first: median(first), delay: median(delays) };
};

const askAll = (ask: Ask, length: number): Promise<StreamResult[]> =>
  Promise.all(
    Array.from({ length: streams }, async (_, index) => {
      // Begun over one second, so that beginnings do not stand in each other's way.
      await new Promise((resolve) => setTimeout(resolve, (index / streams) * 1000));
      return ask(index, `chunks=${rate * length} rate=${rate}`);
    }),
  );

const together = async (ask: Ask, cpu: () => number[]) => {
  await askAll(ask, warming);
  const before = cpu();
  const results = await askAll(ask, seconds);
  const after = cpu();
  const chunks = results.reduce((sum, result) => sum + result.chunks, 0);
  return {
    lost: streams * rate * seconds - chunks,
    p99: quantile(
      results.flatMap((result) => result.delays),
      0.99,
    ),
    cpuPerChunk: after.map((ms, index) => ((ms - (before[index] ?? 0)) * 1000) / chunks),
  };
};

try {
  const seats = await makeSeats(server, streams);
  const throughFloor: Ask = (_, question) => askService(floor.baseURL, question);
  const throughServer: Ask = (index, question) => {
    const seat = seats[index];
    if (!seat) throw new Error('no seat');
    return askAndRead(server.baseURL, seat, question);
  };
  const direct = await oneByOne((_, question) => askService(upstream.baseURL, question));
  const ours = await oneByOne(throughServer);
  const bare = await together(throughFloor, () => [cpuTime(floor.pid)]);
  const relayed = await together(throughServer, () => [
    cpuTime(server.pid),
    cpuTime(server.pid, { tree: true }),
  ]);
  const bareCpu = bare.cpuPerChunk[0] ?? 0;
  printTable([
    { measure: 'added to the first chunk', value: ours.first - direct.first, goal: 3, unit: 'ms' },
    { measure: 'added to each chunk', value: ours.delay - direct.delay, goal: 0.5, unit: 'ms' },
    {
      measure: 'CPU per chunk, server',
      value: relayed.cpuPerChunk[0] ?? 0,
      goal: bareCpu * 1.5,
      unit: 'µs',
    },
    {
      measure: 'CPU per chunk, server and database',
      value: relayed.cpuPerChunk[1] ?? 0,
      goal: bareCpu * 1.5,
      unit: 'µs',
    },
    { measure: 'p99 delay of a chunk', value: relayed.p99, goal: bare.p99 * 1.5, unit: 'ms' },
    { measure: 'chunks lost', value: relayed.lost, goal: 0, unit: '' },
  ]);
  console.log(`floor: ${bareCpu.toFixed(1)} µs per chunk; ${streams} streams × ${rate}/s`);
} finally {
  await server.stop();
  floor.stop();
  upstream.stop();
}
process.exit(0);
