import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { exchange, Unanswered, type Request } from './exchange.ts';

/** Says how long its answer is, and breaks off in the middle of it. */
const server = createServer((_, response) => {
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
