import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { onePixel } from '../support/world.ts';

/** Pictures of other servers are looked at through this one, and only where somebody asks for it. */

let elsewhere: Server;
let asked: string[] = [];
let open = 0;
let mostOpen = 0;
const texts: Record<string, string> = {
  '/text.png': 'no picture',
  '/drawing.png': '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect/></svg>',
};
let server: TestServer;
let host: string;
beforeAll(async () => {
  elsewhere = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(200, { 'content-type': 'image/png' });
    if (request.url?.startsWith('/slow')) {
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      response.write(onePixel);
      setTimeout(() => response.end(() => (open -= 1)), 1000);
    } else response.end(texts[request.url ?? ''] ?? onePixel);
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', () => resolve()));
  host = `127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
  server = await startServer({ env: { FETCH_ALLOWED: host, TRUST_PROXY: 'loopback' } });
});
afterAll(async () => {
  await server.stop();
  elsewhere.close();
});

test('a visitor gets its pixels from here, made anew', async () => {
  const visitor = new TestClient(server.baseURL);
  const found = await visitor.call('foreignImage', { url: `http://${host}/a.png` });
  expect(found).toMatchObject({ width: 1, height: 1, size: onePixel.length });
  const [, data = ''] = found.image.split('base64,');
  expect((await sharp(Buffer.from(data, 'base64')).metadata()).format).toBe('webp');
  expect(asked).toEqual(['/a.png']);
});

test('what is no picture and what lies within is refused, and one person cannot ask without end', async () => {
  const person = await TestClient.register(server.baseURL);
  for (const url of [
    `http://${host}/text.png`,
    // Drawing one may take minutes.
    `http://${host}/drawing.png`,
    'http://127.0.0.1:1/a.png',
    'file:///etc/passwd',
  ])
    expect((await person.raw('foreignImage', { url })).code).toBe(1418);
  asked = [];
  const codes = [];
  for (let at = 0; at < 32; at += 1)
    codes.push((await person.raw('foreignImage', { url: `http://${host}/${at}.png` })).code);
  expect(codes.filter((code) => code === 429).length).toBeGreaterThanOrEqual(5);
  expect(asked.length).toBeLessThanOrEqual(27);
});

test('of pictures that dawdle few are held at once, of each network fewer, and people pass visitors', async () => {
  const person = await TestClient.register(server.baseURL);
  const look = (address: string, at: number) =>
    new TestClient(server.baseURL).raw(
      'foreignImage',
      { url: `http://${host}/slow${at}.png` },
      { 'x-forwarded-for': address },
    );
  const ofOne = Array.from({ length: 9 }, (_, at) => look('11.1.1.1', at));
  await expect.poll(() => open).toBe(3);
  const ofMany = Array.from({ length: 16 }, (_, at) => look(`11.2.${at}.1`, at));
  await expect.poll(() => open).toBe(11);
  await person.call('foreignImage', { url: `http://${host}/slow.png` });
  expect((await Promise.all([...ofOne, ...ofMany])).map(({ code }) => code)).toEqual(
    Array.from({ length: 25 }, () => 0),
  );
  expect(mostOpen).toBeLessThanOrEqual(12);
});

test('the page may load pictures of its own address alone', async () => {
  const page = await fetch(server.baseURL);
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(/img-src ([^;]*)/.exec(policy)?.[1]).toBe("'self' data: blob:");
});
