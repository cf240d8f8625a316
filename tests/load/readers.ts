import {
  askService,
  cpuTime,
  memory,
  printTable,
  quantile,
  startHelper,
  type StreamResult,
} from './lib/measure.ts';
import { askAndRead, makeSeats, startLoadedServer } from './lib/people.ts';

/**
 * 1,000 readers of 1,000 replies at 10 chunks a second: nothing lost, nothing late, little memory.
 * The same load goes through a relay that only pipes bytes, in the same run: where that is late,
 * too, the machine is busy with the model's service and the readers themselves.
 */
const readers = 1000;
const rate = 10;
const seconds = 30;
/** Questions are begun over this time, s. */
const beginning = 10;

const question = `chunks=${rate * seconds} rate=${rate}`;

const together = async (ask: (index: number) => Promise<StreamResult>, pid: number) => {
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, memory(pid))), 500);
  const before = cpuTime(pid);
  const results = await Promise.all(
    Array.from({ length: readers }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, (index / readers) * beginning * 1000));
      return ask(index);
    }),
  );
  clearInterval(watch);
  const chunks = results.reduce((sum, result) => sum + result.chunks, 0);
  // The first chunk is as late as the reader was in opening the stream.
  const delays = results.flatMap((result) => result.delays.slice(1));
  const openDelays = results.flatMap((result) => result.openDelays.slice(1));
  return {
    lost: readers * rate * seconds - chunks,
    endless: results.filter((result) => !result.done).length,
    p50: quantile(delays, 0.5),
    p99: quantile(delays, 0.99),
    p99Open: quantile(openDelays, 0.99),
    cpuPerChunk: ((cpuTime(pid) - before) * 1000) / chunks,
    memory: most,
  };
};

const upstream = await startHelper('upstream.ts');
const floor = await startHelper('floor.ts', upstream.baseURL);
const server = await startLoadedServer(upstream.baseURL);
try {
  const seats = await makeSeats(server, readers);
  const bare = await together(() => askService(floor.baseURL, question), floor.pid);
  const ours = await together((index) => {
    const seat = seats[index];
    if (!seat) throw new Error('no seat');
    return askAndRead(server.baseURL, seat, question);
  }, server.pid);
  const late = Math.max(100, bare.p99 * 1.5);
  printTable([
    { measure: 'chunks lost', value: ours.lost, goal: 0, unit: '' },
    { measure: 'replies without end', value: ours.endless, goal: 0, unit: '' },
    { measure: 'p50 delay of a chunk', value: ours.p50, goal: 100, unit: 'ms' },
    { measure: 'p99 delay of a chunk', value: ours.p99, goal: late, unit: 'ms' },
    { measure: 'p99 delay once the stream is open', value: ours.p99Open, goal: late, unit: 'ms' },
    {
      measure: 'CPU per chunk, all that belongs to a message included',
      value: ours.cpuPerChunk,
      goal: bare.cpuPerChunk * 1.5,
      unit: 'µs',
    },
    { measure: 'memory of the server', value: ours.memory, goal: 300, unit: 'MB' },
  ]);
  console.log(
    `floor: p50 ${bare.p50.toFixed(1)} ms, p99 ${bare.p99.toFixed(1)} ms, ` +
      `${bare.cpuPerChunk.toFixed(1)} µs per chunk, ${bare.memory.toFixed(0)} MB`,
  );
} finally {
  await server.stop();
  floor.stop();
  upstream.stop();
}
process.exit(0);
