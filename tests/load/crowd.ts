import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import {
  cpuTime,
  memory,
  numbersOf,
  postJson,
  printTable,
  quantile,
  startHelper,
} from './lib/measure.ts';
import type { Heard, Readings } from './lib/many-readers.ts';
import { makeSeats } from './lib/people.ts';
import { startPlace } from './lib/place.ts';
import { startNginx } from '../support/nginx.ts';
import { scratchFolder } from '../support/scratch.ts';

/**
 * 5,000 readers of 200 replies behind nginx: of a server that only writes (the floor of this machine,
 * of nginx and of the readers themselves), of one process, and of three, which share PostgreSQL 15,
 * PgBouncer and Redis. Two thirds of the readers then meet a process that does not write what they
 * read. `--readers=5000 --streams=200 --rate=2 --seconds=30 --processes=1,3`.
 */
const [readers = 5000] = numbersOf('readers', [5000]);
const [streams = 200] = numbersOf('streams', [200]);
const [rate = 2] = numbersOf('rate', [2]);
const [seconds = 30] = numbersOf('seconds', [30]);
const rounds = numbersOf('processes', [1, 3]);
const programs = 2;
/** The readers come over this time, ms; replies go on for as long besides. */
const coming = 10_000;
const chunks = Math.round(rate * (seconds + coming / 1000));

const readAll = async (urlOf: (at: number) => Readings['streams'][number], over: number) => {
  const all = Array.from({ length: readers }, (_, at) => urlOf(at));
  const heard = await Promise.all(
    Array.from({ length: programs }, (_, program) => {
      const child = fork(fileURLToPath(new URL('lib/many-readers.ts', import.meta.url)), {
        execArgv: ['--import', 'tsx'],
      });
      const told = new Promise<Heard>((resolve, reject) => {
        child.once('message', (message) => resolve(message as Heard));
        child.once('exit', (code) => reject(new Error(`a reader ended: ${code}`)));
      });
      const mine = all.filter((_each, at) => at % programs === program);
      child.send({ streams: mine, over } satisfies Readings);
      return told;
    }),
  );
  const delays = heard.flatMap((each) => each.delays);
  const failed = heard.flatMap((each) => each.failed);
  if (failed.length > 0) console.log(failed.length, 'failed:', [...new Set(failed)].slice(0, 3));
  return {
    whole: heard.reduce((sum, { whole }) => sum + whole, 0),
    delays,
    p50: quantile(delays, 0.5),
    p99: quantile(delays, 0.99),
    own: Math.max(...heard.map(({ ownDelay }) => ownDelay)),
  };
};

const say = (what: string, { p50, p99, own, delays }: Awaited<ReturnType<typeof readAll>>) =>
  console.log(
    `${what}: ${delays.length} chunks read, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; ` +
      `the readers' own p99 ${own.toFixed(1)} ms`,
  );

const measureFloor = async () => {
  const fan = await startHelper('fan.ts', String(readers), String(chunks), String(rate));
  const front = await startNginx(scratchFolder('fan'), [Number(new URL(fan.baseURL).port)]);
  try {
    const url = (at: number) => `${front.baseURL}/api/event_stream?history_id=${at % streams}`;
    const read = await readAll((at) => ({ url: url(at), headers: {} }), coming);
    say('floor', read);
    return read;
  } finally {
    front.stop();
    fan.stop();
  }
};

const measure = async (processes: number) => {
  const upstream = await startHelper('upstream.ts');
  const place = await startPlace(upstream.baseURL, processes);
  try {
    // A person may have 128 streams open in a process.
    const seats = await makeSeats(
      place.servers[0]!,
      streams,
      Math.floor((128 * streams) / readers),
    );
    const asked = await Promise.all(
      seats.map(async (seat, at) => {
        await new Promise((resolve) => setTimeout(resolve, (at / streams) * 2000));
        const sent = await postJson(
          `${place.front}/api/send_message?session_id=${seat.uuid}`,
          { msg: `chunks=${chunks} rate=${rate}`, max_history: 0 },
          { ...seat.headers, 'idempotency-key': randomUUID() },
        );
        if (sent.code !== 0) throw new Error(`send_message: ${sent.code} ${sent.message}`);
        return { seat, id: String(sent.data['id']) };
      }),
    );
    const url = (at: number) => {
      const { seat, id } = asked[at % streams]!;
      const query = `session_id=${seat.uuid}&history_id=${id}`;
      return { url: `${place.front}/api/event_stream?${query}`, headers: seat.headers };
    };
    const before = place.servers.map(({ pid }) => cpuTime(pid));
    const read = await readAll(url, coming);
    say(`${processes} process${processes > 1 ? 'es' : ''}`, read);
    if (read.whole < readers) console.log(place.complaints());
    console.log(
      place.servers
        .map(
          ({ pid }, at) =>
            `${((cpuTime(pid) - before[at]!) / 1000).toFixed(1)} s of processor, ${memory(pid).toFixed(0)} MB`,
        )
        .join('; '),
    );
    return read;
  } finally {
    await place.stop();
    upstream.stop();
  }
};

const floor = await measureFloor();
for (const processes of rounds) {
  const read = await measure(processes);
  printTable([
    {
      measure: `${processes}: readers without an end`,
      value: readers - read.whole,
      goal: 0,
      unit: '',
    },
    { measure: `${processes}: p99 of a chunk`, value: read.p99, goal: 150, unit: 'ms' },
    {
      measure: `${processes}: p99 beside the floor`,
      value: read.p99 - floor.p99,
      goal: 150,
      unit: 'ms',
    },
  ]);
}
process.exit(0);
