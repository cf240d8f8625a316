import { existsSync } from 'node:fs';
import type { JobEvent } from '#contract/job.ts';
import { TestClient } from '../support/client.ts';
import { followJobs, paint } from '../support/images.ts';
import { redisServer, startValkey } from '../support/valkey.ts';
import { now, numbersOf, printTable, quantile, startHelper } from './lib/measure.ts';
import { askAndRead, makeSeats, startLoadedServer } from './lib/people.ts';

/**
 * Replies at 20 chunks a second read from the process that writes them, and as many through each of
 * two other processes on the same database, at the same time: those should be as prompt. First over
 * HTTP between the processes, then with VALKEY_URL. Then how much later than the process that works
 * on a job another one tells of it. `--readers=20 --seconds=20` changes how much.
 */
const [readers = 20] = numbersOf('readers', [20]);
const [seconds = 20] = numbersOf('seconds', [20]);
const question = `chunks=${seconds * 20} rate=20`;

const upstream = await startHelper('upstream.ts');
const valkey = existsSync(redisServer) ? await startValkey() : null;
if (!valkey) console.log(`${redisServer} is missing: without Valkey`);

const measure = async (way: string, env: Record<string, string>): Promise<void> => {
  const first = await startLoadedServer(upstream.baseURL, undefined, env);
  const others = [
    await startLoadedServer(upstream.baseURL, first.dataDir, env),
    await startLoadedServer(upstream.baseURL, first.dataDir, env),
  ];
  try {
    const seats = await makeSeats(first, 3 * readers);
    const places = [first, ...others];
    const results = await Promise.all(
      seats.map((seat, at) =>
        askAndRead(first.baseURL, seat, question, places[at % places.length]?.baseURL),
      ),
    );
    const told = (isOwn: boolean) => {
      const some = results.filter((_, at) => (at % places.length === 0) === isOwn);
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
    const [own, other] = [told(true), told(false)];
    const lost = 2 * own.chunks - other.chunks;
    printTable([
      { measure: `${way}: chunks lost`, value: lost, goal: 0, unit: '' },
      { measure: `${way}: first chunk`, value: other.first, goal: own.first + 30, unit: 'ms' },
      { measure: `${way}: p50 of a chunk`, value: other.p50, goal: own.p50 + 30, unit: 'ms' },
      { measure: `${way}: p99 of a chunk`, value: other.p99, goal: own.p99 + 30, unit: 'ms' },
    ]);
    console.log(
      `own process: first ${own.first.toFixed(1)} ms, p50 ${own.p50.toFixed(1)} ms, p99 ${own.p99.toFixed(1)} ms`,
    );
    await compareJobs(first.baseURL, others[0]?.baseURL ?? '');
  } finally {
    for (const server of [...others, first]) await server.stop();
  }
};

/** When each process tells of the same changes of ten pictures. */
const compareJobs = async (here: string, there: string): Promise<void> => {
  const client = await TestClient.register(here);
  const pictures = 10;
  const stop = new AbortController();
  const watch = async (baseURL: string) => {
    const heard = new Map<string, number>();
    const done = new Set<string>();
    const note = ({ job }: JobEvent): boolean => {
      heard.set(`${job.uuid} ${job.state} ${job.progress}`, now());
      if (job.state === 'done') done.add(job.uuid);
      return done.size === pictures;
    };
    await followJobs(new TestClient(baseURL, client.token), note, { signal: stop.signal });
    return heard;
  };
  const watching = [watch(here), watch(there)];
  for (let made = 0; made < pictures; made += 1) await paint(client, `第 ${made} 只猫`);
  const [own, other] = await Promise.all(watching);
  stop.abort();
  const later = [...(own ?? [])].flatMap(([change, at]) => {
    const elsewhere = other?.get(change);
    return elsewhere === undefined ? [] : [elsewhere - at];
  });
  printTable([
    {
      measure: 'a job, told later elsewhere, p50',
      value: quantile(later, 0.5),
      goal: 30,
      unit: 'ms',
    },
    {
      measure: 'a job, told later elsewhere, p99',
      value: quantile(later, 0.99),
      goal: 150,
      unit: 'ms',
    },
  ]);
};

try {
  await measure('HTTP', {});
  if (valkey) await measure('Valkey', { VALKEY_URL: valkey.url });
} finally {
  await valkey?.kill9();
  upstream.stop();
}
process.exit(0);
