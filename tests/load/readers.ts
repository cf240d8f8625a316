import { memory, printTable, quantile, startHelper } from './lib/measure.ts';
import { askAndRead, makeSeats, startLoadedServer } from './lib/people.ts';

/** 1,000 readers of 1,000 replies at 10 chunks a second: nothing lost, nothing late, little memory. */
const readers = 1000;
const rate = 10;
const seconds = 30;

const upstream = await startHelper('upstream.ts');
const server = await startLoadedServer(upstream.baseURL);
try {
  const seats = await makeSeats(server, readers);
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, memory(server.pid))), 500);
  const results = await Promise.all(
    seats.map(async (seat, index) => {
      await new Promise((resolve) => setTimeout(resolve, (index / readers) * 10_000));
      return askAndRead(server.baseURL, seat, `chunks=${rate * seconds} rate=${rate}`);
    }),
  );
  clearInterval(watch);
  // The first chunk is as late as the reader was in opening the stream.
  const delays = results.flatMap((result) => result.delays.slice(1));
  const chunks = results.reduce((sum, result) => sum + result.chunks, 0);
  printTable([
    { measure: 'chunks lost', value: readers * rate * seconds - chunks, goal: 0, unit: '' },
    {
      measure: 'replies without end',
      value: results.filter((r) => !r.done).length,
      goal: 0,
      unit: '',
    },
    { measure: 'p50 delay of a chunk', value: quantile(delays, 0.5), goal: 100, unit: 'ms' },
    { measure: 'p99 delay of a chunk', value: quantile(delays, 0.99), goal: 100, unit: 'ms' },
    { measure: 'memory of the server', value: most, goal: 300, unit: 'MB' },
  ]);
} finally {
  await server.stop();
  upstream.stop();
}
process.exit(0);
