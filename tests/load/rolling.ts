import { setTimeout as sleep } from 'node:timers/promises';
import { numbersOf, printTable, quantile, startHelper } from './lib/measure.ts';
import { askAndRead, makeSeats } from './lib/people.ts';
import { startPlace } from './lib/place.ts';

/**
 * Three processes behind the nginx of deploy/nginx.conf, with PgBouncer, PostgreSQL 15 and Redis, are
 * replaced one after the other, while questions are sent and long answers are read: nothing is cut
 * and nothing is refused. `--streams=60 --seconds=40 --sends=15` changes how much.
 */
const [streams = 60] = numbersOf('streams', [60]);
const [seconds = 40] = numbersOf('seconds', [40]);
const [sends = 15] = numbersOf('sends', [15]);
const rate = 5;

const upstream = await startHelper('upstream.ts');
const place = await startPlace(upstream.baseURL, 3);
try {
  const seats = await makeSeats(place.servers[0]!, streams + sends * 4);
  const over = new AbortController();
  let sent = 0;
  const refused: string[] = [];
  const cut: string[] = [];
  const delays: number[] = [];
  const asking = seats.slice(streams);

  /** Long answers, one behind the other for as long as processes are replaced. */
  const reading = seats.slice(0, streams).map(async (seat, at) => {
    await sleep((at / streams) * 5_000);
    while (!over.signal.aborted) {
      try {
        const read = await askAndRead(place.front, seat, `chunks=${seconds * rate} rate=${rate}`);
        if (!read.done || read.chunks !== seconds * rate)
          cut.push(`${read.chunks} chunks, done ${read.done}`);
        delays.push(...read.openDelays.slice(1));
      } catch (error) {
        cut.push(String(error));
      }
    }
  });
  const sending = (async () => {
    for (let at = 0; !over.signal.aborted; at += 1) {
      const seat = asking[at % asking.length];
      if (!seat) break;
      sent += 1;
      askAndRead(place.front, seat, 'chunks=2 rate=50').then(
        ({ done }) => (done ? undefined : refused.push('no end')),
        (error: unknown) => refused.push(String(error)),
      );
      await sleep(1000 / sends);
    }
  })();

  await sleep(8_000);
  for (const [at, server] of place.servers.entries()) {
    process.kill(server.pid, 'SIGTERM');
    const begun = performance.now();
    await server.exited;
    console.log(
      `process ${at + 1} ended after ${((performance.now() - begun) / 1000).toFixed(1)} s`,
    );
    await place.replace(at);
  }
  over.abort();
  await Promise.all([...reading, sending]);
  await sleep(2_000);
  for (const [what, list] of Object.entries({ cut, refused }))
    if (list.length > 0) console.log(what, [...new Set(list)].slice(0, 5));
  if (cut.length + refused.length > 0) console.log(place.complaints());
  printTable([
    { measure: 'long answers cut', value: cut.length, goal: 0, unit: '' },
    { measure: `of ${sent} questions refused`, value: refused.length, goal: 0, unit: '' },
    { measure: 'p99 delay of a chunk', value: quantile(delays, 0.99), goal: 150, unit: 'ms' },
  ]);
} finally {
  await place.stop();
  upstream.stop();
}
process.exit(0);
