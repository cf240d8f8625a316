import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { exchange, Unanswered, type Request } from './exchange.ts';
import { heard } from './line.ts';

/** How often each address was asked. */
const asked = new Map<string, number>();
/** Says how long its answer is, and breaks off in the middle of it. */
const server = createServer((request, response) => {
  const { url = '' } = request;
  const times = (asked.get(url) ?? 0) + 1;
  asked.set(url, times);
  // The first is never answered, as on a connection that is dead.
  if (url === '/api/dead') {
    if (times > 1) response.end('{"code":0}');
    return;
  }
  if (url === '/api/slow') {
    setTimeout(() => response.end('{"code":0}'), 6_000);
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
  response.write('{"code":0,"data":');
  setTimeout(() => response.destroy(), 20);
});
beforeEach(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  vi.stubGlobal('location', { origin: `http://127.0.0.1:${port}` });
});
afterEach(() => {
  vi.unstubAllGlobals();
  server.closeAllConnections();
  server.close();
});

const asking = (method: Request['method']): Request => ({
  address: '/api/get_session',
  method,
  headers: new Headers(),
  json: method === 'POST' ? {} : undefined,
  keepalive: false,
  signal: undefined,
  repeatable: false,
  early: undefined,
});

test('an answer that breaks off is none to a read; to a write its status is one', async () => {
  await expect(exchange(asking('GET'))).rejects.toBeInstanceOf(Unanswered);
  expect(await exchange(asking('POST'))).toMatchObject({ status: 200, body: undefined });
});

test('what gets no answer while others do is asked on another connection, where it may be done twice', async () => {
  const others = setInterval(heard, 200);
  const [again, once] = await Promise.all([
    exchange({ ...asking('POST'), address: '/api/dead', repeatable: true }),
    exchange({ ...asking('POST'), address: '/api/slow' }),
  ]);
  clearInterval(others);
  expect([again.body, once.body]).toEqual([{ code: 0 }, { code: 0 }]);
  expect([asked.get('/api/dead'), asked.get('/api/slow')]).toEqual([2, 1]);
}, 20_000);
