import { setTimeout as sleep } from 'node:timers/promises';
import { TestClient } from '#tests/support/client.ts';
import { startServer } from '#tests/support/server.ts';
import { memory, numbersOf, printTable } from './lib/measure.ts';

/**
 * People who are signed in, have a page open and do nothing: what each costs the server's memory, by
 * its stream of events. `--people=1000`.
 */
const [people = 1000] = numbersOf('people', [1000]);
/** What the first ones bring into memory is not theirs alone: they are not counted. */
const first = 50;

const server = await startServer({ embedded: true, startTimeout: 180_000 });
const leave = new AbortController();
const read = async (client: TestClient): Promise<void> => {
  const answer = await fetch(`${server.baseURL}/api/job_events`, {
    headers: client.headers(),
    signal: leave.signal,
  });
  if (answer.status !== 200) throw new Error(`job_events: ${answer.status}`);
  void answer.body?.pipeTo(new WritableStream()).catch(() => undefined);
};
try {
  const clients: TestClient[] = [];
  for (let at = 0; at < first + people; at += 1)
    clients.push(await TestClient.register(server.baseURL));
  for (const client of clients.splice(0, first)) await read(client);
  await sleep(5_000);
  const before = memory(server.pid);
  for (const client of clients) await read(client);
  await sleep(20_000);
  const each = ((memory(server.pid) - before) * 1024) / people;
  console.log(`${people} people: ${before.toFixed(0)} MB before, ${each.toFixed(1)} KB each`);
  printTable([{ measure: 'memory of one who is idle', value: each, goal: 60, unit: 'KB' }]);
} finally {
  leave.abort();
  await server.stop();
}
process.exit(0);
