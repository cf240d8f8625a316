import { apiUser } from '../support/api-user.ts';
import { quickFetch, TestClient } from '../support/client.ts';
import { startServer } from '../support/server.ts';
import startCluster from '../support/shared-database.ts';
import { now, numbersOf, printTable } from './lib/measure.ts';

/**
 * How long others wait at most while ten bodies come in that are made to be slow to read: beside
 * what the same bytes cost as one text that no JSON follows.
 */
const [rounds = 3] = numbersOf('rounds', [3]);
const together = 10;
const goal = 400;

const endCluster = await startCluster();
const server = await startServer({ env: { RATE_LIMIT: '1000000', LOG_LEVEL: 'warn' } });

/** Another person's longest call while something goes on, ms. */
const worstDuring = async (person: TestClient, act: () => Promise<unknown>): Promise<number> => {
  let worst = 0;
  const over = new AbortController();
  const others = (async () => {
    while (!over.signal.aborted) {
      const begun = now();
      await person.call('userInfo', {});
      worst = Math.max(worst, now() - begun);
    }
  })();
  await act();
  over.abort();
  await others;
  return worst;
};

const keys = (count: number): string =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')}}`;

const said = (content: string): string =>
  JSON.stringify({ model: 'builtin-assistant', messages: [{ role: 'user', content }] });

try {
  const person = await TestClient.register(server.baseURL);
  const { key } = await apiUser(server);
  const guest = new TestClient(server.baseURL);
  await guest.call('newSession', { type: 0 });
  const send = (path: string, token: string, body: string) =>
    quickFetch(server.baseURL + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body,
    });
  const chat = '/v1/chat/completions';
  const bodies: readonly [name: string, path: string, token: string, body: string][] = [
    ['19 MB as one text', chat, key, `"${'x'.repeat(19_000_000)}`],
    ['19 MB of brackets', chat, key, `{"messages":${'[[],'.repeat(4_750_000)}`],
    ['18 MB that no model has room for', chat, key, said('x'.repeat(18_000_000))],
    ['10 MB of keys', chat, key, keys(850_000)],
    ['10 MB of keys by a guest', '/api/send_message', guest.token, keys(850_000)],
  ];
  for (let round = 1; round <= rounds; round += 1) {
    let floor = 0;
    const rows = [];
    for (const [measure, path, token, body] of bodies) {
      const value = await worstDuring(person, () =>
        Promise.all(Array.from({ length: together }, () => send(path, token, body))),
      );
      floor ||= value;
      rows.push({ measure, value, goal: Math.max(goal, floor * 2), unit: 'ms' });
      console.log(`round ${round}: ${measure}: ${(value / floor).toFixed(2)} of the floor`);
    }
    printTable(rows);
  }
} finally {
  await server.stop();
  await endCluster();
}
process.exit(0);
