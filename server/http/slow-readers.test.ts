import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTurns, endUnread } from './slow-readers.ts';

const large = Buffer.alloc(32 * 1024 * 1024, 'x');
const begun: ServerResponse[] = [];
let port = 0;
let server: ReturnType<typeof createServer>;
const sockets: Socket[] = [];

beforeEach(async () => {
  begun.length = 0;
  const takeTurn = createTurns();
  server = createServer((request, response) =>
    takeTurn(request, response, () => {
      begun.push(response);
      if (request.url === '/large') response.end(large);
      else if (request.url === '/events') response.write(':\n\n');
      else response.end('ok');
    }),
  );
  endUnread(server, { after: 500, every: 50 });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const ask = async (...paths: string[]): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  socket.pause();
  socket.write(paths.map((each) => `GET ${each} HTTP/1.1\r\nhost: a\r\n\r\n`).join(''));
  return socket;
};

test('an answer that nobody takes is ended; slow readers and silent events are not', async () => {
  await ask('/large');
  const slow = await ask('/large');
  await ask('/events');
  await vi.waitFor(() => expect(begun).toHaveLength(3), { timeout: 10_000 });
  const reading = setInterval(() => slow.read(256 * 1024), 20);
  try {
    await vi.waitFor(() => expect(begun[0]?.destroyed).toBe(true), { timeout: 10_000 });
    await sleep(1000);
    expect(begun[1]?.destroyed).toBe(false);
    expect(begun[2]?.destroyed).toBe(false);
  } finally {
    clearInterval(reading);
  }
});

test('requests that are sent at once are served one after the other, and only so many', async () => {
  const patient = await ask('/a', '/b', '/c');
  let text = '';
  patient.on('data', (part: Buffer) => {
    text += part.toString();
  });
  patient.resume();
  await vi.waitFor(() => expect(text.match(/ok/g)).toHaveLength(3), { timeout: 10_000 });
  begun.length = 0;

  await ask(...Array.from({ length: 20 }, () => '/large'));
  await vi.waitFor(() => expect(begun[0]?.destroyed).toBe(true), { timeout: 10_000 });
  expect(begun).toHaveLength(1);
  begun.length = 0;

  const greedy = await ask('/events', ...Array.from({ length: 40 }, () => '/a'));
  greedy.resume();
  await once(greedy, 'close');
  expect(begun).toHaveLength(1);
});
