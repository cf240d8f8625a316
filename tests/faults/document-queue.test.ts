import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Envelope } from '#contract/call.ts';
import { calls } from '#contract/calls.ts';
import { TestClient } from '../support/client.ts';
import { slowPdf } from '../support/hostile-files.ts';
import { pdfOf } from '../support/sample-files.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Documents that take all that they may, and whom that keeps waiting. */

const seconds = 12;

let server: TestServer;
// Each has its own: what is still being read at its end ends with it.
beforeEach(async () => {
  server = await startServer({
    alone: true,
    env: { DOCUMENT_SECONDS: String(seconds), TRUST_PROXY: '127.0.0.1', UPLOAD_LIMIT: '1000' },
  });
});
afterEach(() => server.stop());

const from = (address: string) => ({ 'x-forwarded-for': address });

const guestAt = async (address: string): Promise<TestClient> => {
  const guest = new TestClient(server.baseURL);
  await guest.call('newSession', { type: 0 }, from(address));
  return guest;
};

/** Sends a PDF. */
const send = async (person: TestClient, address: string, data: Buffer) => {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(data)]), 'a.pdf');
  const response = await fetch(server.baseURL + calls.uploadFile.path, {
    method: 'POST',
    headers: { ...person.headers(), ...from(address) },
    body: form,
  });
  return (await response.json()) as Envelope;
};

/** Memory that the server holds, MB. */
const held = () =>
  Number(
    /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1] ?? Infinity,
  ) / 1024;

test('slow documents from one address keep no neighbour waiting, and their memory is given back', async () => {
  const slow = slowPdf();
  expect(slow.length).toBeLessThan(100_000);
  const quick = await pdfOf(['床前明月光']);
  const guests = await Promise.all([1, 2].map(() => guestAt('203.0.113.5')));
  const neighbour = await guestAt('198.51.100.7');
  // The first document of all takes the reader from the disk.
  expect(await send(neighbour, '198.51.100.7', quick)).toMatchObject({ code: 0 });
  const before = held();
  let ended = 0;
  const hostile = guests.map(async (guest) => {
    const { code } = await send(guest, '203.0.113.5', slow);
    ended += 1;
    return code;
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await send(neighbour, '198.51.100.7', quick)).toMatchObject({ code: 0 });
  expect(ended, 'hostile documents that the neighbour waited for').toBe(0);
  void Promise.allSettled(hostile);
  expect(await Promise.race(hostile)).not.toBe(0);
  expect(held() - before, 'MB more than before').toBeLessThan(60);
}, 90_000);

test('two accounts that send slow documents without end hold a slot each, and a third waits one turn at most', async () => {
  const slow = slowPdf();
  const quick = await pdfOf(['疑是地上霜']);
  const hostile = await Promise.all([1, 2].map(() => TestClient.register(server.baseURL)));
  const third = await TestClient.register(server.baseURL);
  let ended = 0;
  const sent = hostile.flatMap((person) =>
    Array.from({ length: 2 }, async () => {
      await send(person, '203.0.113.7', slow);
      ended += 1;
    }),
  );
  void Promise.allSettled(sent);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(ended).toBe(0);
  expect(await send(third, '203.0.113.7', quick)).toMatchObject({ code: 0 });
  // One document of each of them at most was ended before: the others wait behind everybody.
  expect(ended, 'hostile documents that the third waited for').toBeLessThanOrEqual(2);
}, 120_000);

test('slow documents of twelve addresses of one network keep a registered person waiting for none', async () => {
  const slow = slowPdf();
  const quick = await pdfOf(['低头思故乡']);
  const person = await TestClient.register(server.baseURL);
  const addresses = Array.from({ length: 12 }, (_, at) => `192.0.2.${at + 1}`);
  const guests = await Promise.all(addresses.map((address) => guestAt(address)));
  let ended = 0;
  let refused = 0;
  const sent = guests.flatMap((guest, at) =>
    [1, 2].map(async () => {
      const { code } = await send(guest, addresses[at] ?? '', slow);
      if (code === 429) refused += 1;
      else ended += 1;
    }),
  );
  void Promise.allSettled(sent);
  await expect.poll(() => refused).toBeGreaterThan(0);
  expect(ended).toBe(0);
  expect(await send(person, '192.0.2.1', quick)).toMatchObject({ code: 0 });
  expect(ended, 'documents of guests that the person waited for').toBe(0);
}, 60_000);
