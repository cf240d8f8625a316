import http from 'node:http';
import {
  agent,
  askService,
  cpuTime,
  median,
  memory,
  now,
  numbersOf,
  printTable,
  quantile,
  startHelper,
  type StreamResult,
} from './lib/measure.ts';
import { askAndRead, makeSeats, startLoadedServer, type Seat } from './lib/people.ts';

/**
 * A long day in short: 500 replies at 10 chunks a second, one after the other on each of 500
 * connections, beside 100 other requests a second, for as many minutes as the argument says (10
 * unless told otherwise). What is added to a chunk, how long requests take, and whether memory grows.
 * Before it, the same streams go through a relay that only pipes bytes: what is late there, too, the
 * service and the readers of this script are to blame for, which share the machine.
 *
 * With `--size` less than 1 there are as many fewer streams and requests: what it takes for a slower
 * machine to have as much to do as the one of the goals, whose relay takes 26 µs of the processor
 * for a chunk (`relay.ts` tells how long it takes here).
 */
const minutes = Number(process.argv[2] ?? 10);
const size = numbersOf('size', [1])[0] ?? 1;
const streams = Math.round(500 * size);
const rate = 10;
/** Of one reply, s. */
const length = 20;
const requestsASecond = 100 * size;
/** Streams are begun over this time; nothing of it is counted, s. */
const beginning = length;
const floorSeconds = 20;

const question = `chunks=${rate * length} rate=${rate}`;

const upstream = await startHelper('upstream.ts');
const floor = await startHelper('floor.ts', upstream.baseURL);
const server = await startLoadedServer(upstream.baseURL);
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

interface Heard {
  delays: number[];
  chunks: number;
  lost: number;
  failures: string[];
}

/** Keeps all streams going for some time, and hears what comes after the beginning. */
const flow = async (ask: (index: number) => Promise<StreamResult>, seconds: number) => {
  const heard: Heard = { delays: [], chunks: 0, lost: 0, failures: [] };
  const begun = now();
  const until = begun + (beginning + seconds) * 1000;
  await Promise.all(
    Array.from({ length: streams }, async (_, index) => {
      await pause((index / streams) * beginning * 1000);
      while (now() < until) {
        const askedAt = now();
        const result = await ask(index).catch((error: unknown) => String(error));
        if (typeof result === 'string') {
          heard.failures.push(result);
          await pause(1000);
          continue;
        }
        heard.chunks += result.chunks;
        heard.lost += rate * length - result.chunks;
        // The first chunk waits for the question to be sent. One in ten of the others is enough.
        if (askedAt - begun > beginning * 1000)
          heard.delays.push(...result.delays.slice(1).filter((__, at) => at % 10 === index % 10));
      }
    }),
  );
  return heard;
};

const get = (path: string, { headers }: Seat): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = http.get(server.baseURL + path, { agent, headers }, (response) => {
      response.resume();
      response.on('end', () =>
        response.statusCode === 200
          ? resolve()
          : reject(new Error(`${path.split('?', 1)[0]}: ${response.statusCode}`)),
      );
      response.on('error', reject);
    });
    request.on('error', reject);
  });

const requests: readonly ((seat: Seat) => string)[] = [
  () => '/api/session_list?channel=private',
  ({ uuid }) => `/api/history_list?session_id=${uuid}&newest=1`,
  ({ uuid }) => `/api/get_session?uuid=${uuid}`,
  () => '/api/models',
  () => '/api/user_info',
];

/** Asks so many times a second, whether answers come or not; gives how long each took, ms. */
const askBeside = (seats: readonly Seat[]) => {
  const took: number[] = [];
  const failures: string[] = [];
  const begun = now();
  let asked = 0;
  const timer = setInterval(() => {
    for (const due = ((now() - begun) / 1000) * requestsASecond; asked < due; asked += 1) {
      const seat = seats[(asked * 7) % seats.length];
      const path = seat && requests[asked % requests.length]?.(seat);
      if (!seat || !path) continue;
      const sentAt = now();
      get(path, seat).then(
        () => took.push(now() - sentAt),
        (error: unknown) => failures.push(String(error)),
      );
    }
  }, 10);
  return { took, failures, stop: () => clearInterval(timer) };
};

const p95 = (values: readonly number[]): number => quantile(values, 0.95);

try {
  const seats = await makeSeats(server, streams);
  const bare = await flow(() => askService(floor.baseURL, question), floorSeconds);
  const sizes: number[] = [];
  const watch = setInterval(() => sizes.push(memory(server.pid)), 1000);
  const beside = askBeside(seats);
  const before = cpuTime(server.pid, { tree: true });
  const begun = now();
  const ours = await flow((index) => {
    const seat = seats[index];
    if (!seat) throw new Error('no seat');
    return askAndRead(server.baseURL, seat, question);
  }, minutes * 60);
  const cpu = (cpuTime(server.pid, { tree: true }) - before) / (now() - begun);
  beside.stop();
  clearInterval(watch);
  // Once everything runs: the first half of that time against the second.
  const steady = sizes.slice(2 * beginning);
  const half = Math.floor(steady.length / 2);
  const [early, late] = [median(steady.slice(0, half)), median(steady.slice(half))];
  const failures = [...ours.failures, ...beside.failures];
  printTable([
    {
      measure: 'p95 added to a chunk',
      value: p95(ours.delays) - p95(bare.delays),
      goal: 100,
      unit: 'ms',
    },
    { measure: 'p95 of the other requests', value: p95(beside.took), goal: 150, unit: 'ms' },
    { measure: 'memory, second half against first', value: late / early, goal: 1.1, unit: '×' },
    { measure: 'chunks lost', value: ours.lost, goal: 0, unit: '' },
    { measure: 'failures', value: failures.length, goal: 0, unit: '' },
  ]);
  console.log(
    `${ours.chunks} chunks, ${beside.took.length} requests in ${minutes} min; chunks p50 ` +
      `${median(ours.delays).toFixed(1)} ms, p95 ${p95(ours.delays).toFixed(1)} ms (floor ` +
      `${median(bare.delays).toFixed(1)} and ${p95(bare.delays).toFixed(1)}); requests p50 ` +
      `${median(beside.took).toFixed(1)} ms; server ${early.toFixed(0)} to ${late.toFixed(0)} MB; ` +
      `server and database ${(cpu * 100).toFixed(0)} % of a processor`,
  );
  for (const failure of new Set(failures)) console.log(failure);
} finally {
  await server.stop();
  floor.stop();
  upstream.stop();
}
process.exit(0);
