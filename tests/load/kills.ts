import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { numbersOf, postJson, printTable, quantile, startHelper } from './lib/measure.ts';
import { makeSeats } from './lib/people.ts';
import { startPlace } from './lib/place.ts';

/**
 * Three processes behind nginx, with PgBouncer, PostgreSQL 15 and Redis, are asked without a pause,
 * while every 20 s one of them is killed (kill -9) and started again: what was acknowledged is
 * stored, every reply has an end, the wallets are the sum of their ledgers. What is not answered is
 * sent again with the same key, as the page does. `--sends=30 --seconds=120 --every=20 --processes=3`;
 * with one process nobody is killed, to compare.
 *
 * It asks on whether answers come or not: a machine that has other work as well falls behind, and
 * from then on the time of a send is that of the queue (a p50 of 61 s was seen so, on a machine with
 * other work; 0.2 s with a load of 13 on two cores). What they queue for are the wallets: each send and
 * each end of a reply locks its person's, and twenty seats share one. `--a-person=1` gives each its own.
 */
const [sends = 30] = numbersOf('sends', [30]);
const [seconds = 120] = numbersOf('seconds', [120]);
const [every = 20] = numbersOf('every', [20]);
const [processes = 3] = numbersOf('processes', [3]);
const [aPerson = 20] = numbersOf('a-person', [20]);

const upstream = await startHelper('upstream.ts');
const place = await startPlace(upstream.baseURL, processes);
const seats = await makeSeats(place.servers[0]!, sends * 8, aPerson);
const acknowledged: number[] = [];
const refusals = new Map<string, number>();
const took: number[] = [];
let asked = 0;
let longestQueue = 0;

const send = async (number: number): Promise<void> => {
  const seat = seats[number % seats.length]!;
  const key = randomUUID();
  const begun = performance.now();
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const answer = await postJson(
      `${place.front}/api/send_message?session_id=${seat.uuid}`,
      { msg: 'chunks=20 rate=10', max_history: 0 },
      { ...seat.headers, 'idempotency-key': key },
    ).catch((error: unknown) => String(error));
    if (typeof answer !== 'string' && answer.code === 0) {
      acknowledged.push(Number(answer.data['id']));
      took.push(performance.now() - begun);
      return;
    }
    const why = typeof answer === 'string' ? answer : `${answer.code} ${answer.message}`;
    refusals.set(why, (refusals.get(why) ?? 0) + 1);
    await sleep(100);
  }
};

const over = new AbortController();
const killing = (async () => {
  if (processes === 1) return;
  for (let round = 0; ; round += 1) {
    await sleep(every * 1000, undefined, { signal: over.signal }).catch(() => undefined);
    if (over.signal.aborted) return;
    const at = round % place.servers.length;
    await place.servers[at]!.kill9();
    await place.replace(at);
  }
})();
const running: Promise<void>[] = [];
const begun = performance.now();
while (performance.now() - begun < seconds * 1000) {
  running.push(send(asked));
  asked += 1;
  longestQueue = Math.max(longestQueue, asked - acknowledged.length);
  await sleep(Math.max(0, begun + (asked / sends) * 1000 - performance.now()));
}
over.abort();
await Promise.all([...running, killing]);

const database = new pg.Client({ connectionString: place.directUrl });
await database.connect();
const count = async (query: string): Promise<number> =>
  Number((await database.query<{ count: string }>(query)).rows[0]?.count);
try {
  let open = Infinity;
  for (let waited = 0; open > 0 && waited < 60; waited += 1) {
    open = await count(`SELECT count(*) FROM history WHERE state = 'streaming'`);
    await sleep(500);
  }
  const { rows } = await database.query<{ id: string }>('SELECT id FROM history');
  const stored = new Set(rows.map(({ id }) => Number(id)));
  const wrong = await count(`SELECT count(*) FROM wallets WHERE balance < 0 OR balance <> (
    SELECT coalesce(sum(amount), 0) FROM ledger
    WHERE ledger.user_id = wallets.user_id AND pot = 'balance')`);
  const holds = await count(`SELECT count(*) FROM holds WHERE state = 'open'`);
  const cut = await count(`SELECT count(*) FROM history WHERE state = 'interrupted'`);
  const failed = await count(`SELECT count(*) FROM history WHERE state = 'error'`);
  const lost = acknowledged.filter((id) => !stored.has(id)).length;
  console.log(
    `${asked} asked, ${acknowledged.length} acknowledged, p50 ${quantile(took, 0.5).toFixed(0)} ms, p99 ${quantile(took, 0.99).toFixed(0)} ms, at most ${longestQueue} waiting at once; ${cut} replies interrupted, ${failed} failed; said meanwhile:`,
    Object.fromEntries(refusals),
  );
  printTable([
    {
      measure: 'asked and not acknowledged',
      value: asked - acknowledged.length,
      goal: 0,
      unit: '',
    },
    { measure: 'acknowledged and not stored', value: lost, goal: 0, unit: '' },
    { measure: 'stored more than asked', value: stored.size - asked, goal: 0, unit: '' },
    { measure: 'replies without an end', value: open, goal: 0, unit: '' },
    { measure: 'wallets unlike their ledger', value: wrong, goal: 0, unit: '' },
    { measure: 'holds left open', value: holds, goal: 0, unit: '' },
  ]);
} finally {
  await database.end();
  await place.stop();
  upstream.stop();
}
process.exit(0);
