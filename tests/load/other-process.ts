import { printTable, quantile, startHelper } from './lib/measure.ts';
import { askAndRead, makeSeats, startLoadedServer } from './lib/people.ts';

/**
 * 20 replies at 20 chunks a second read from the process that writes them, and as many read through
 * another process on the same database, at the same time: the second should be as prompt.
 */
const readers = 20;
const question = 'chunks=400 rate=20';

const upstream = await startHelper('upstream.ts');
const first = await startLoadedServer(upstream.baseURL);
const second = await startLoadedServer(upstream.baseURL, first.dataDir);
try {
  const seats = await makeSeats(first, 2 * readers);
  const results = await Promise.all(
    seats.map((seat, at) =>
      askAndRead(first.baseURL, seat, question, at < readers ? first.baseURL : second.baseURL),
    ),
  );
  const told = (from: number) => {
    const some = results.slice(from, from + readers);
    const delays = some.flatMap((result) => result.openDelays.slice(1));
    return {
      chunks: some.reduce((sum, { chunks }) => sum + chunks, 0),
      first: quantile(
        some.map((result) => result.delays[0] ?? 0),
        0.5,
      ),
      p50: quantile(delays, 0.5),
      p99: quantile(delays, 0.99),
    };
  };
  const [own, other] = [told(0), told(readers)];
  printTable([
    { measure: 'chunks lost', value: own.chunks - other.chunks, goal: 0, unit: '' },
    { measure: 'first chunk', value: other.first, goal: own.first + 30, unit: 'ms' },
    { measure: 'p50 delay of a chunk', value: other.p50, goal: own.p50 + 30, unit: 'ms' },
    { measure: 'p99 delay of a chunk', value: other.p99, goal: own.p99 + 30, unit: 'ms' },
  ]);
  console.log(
    `own process: first ${own.first.toFixed(1)} ms, p50 ${own.p50.toFixed(1)} ms, p99 ${own.p99.toFixed(1)} ms`,
  );
} finally {
  await second.stop();
  await first.stop();
  upstream.stop();
}
process.exit(0);
