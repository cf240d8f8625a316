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
let server: TestServer;
let host: string;
beforeAll(async () => {
  elsewhere = createServer((request, response) => {
    asked.push(request.url ?? '');
    const text = request.url === '/text.png';
    response.writeHead(200, { 'content-type': 'image/png' });
    response.end(text ? 'no picture' : onePixel);
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', () => resolve()));
  host = `127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
  server = await startServer({ env: { FETCH_ALLOWED: host } });
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
  for (const url of [`http://${host}/text.png`, 'http://127.0.0.1:1/a.png', 'file:///etc/passwd'])
    expect((await person.raw('foreignImage', { url })).code).toBe(1418);
  asked = [];
  const codes = [];
  for (let at = 0; at < 32; at += 1)
    codes.push((await person.raw('foreignImage', { url: `http://${host}/${at}.png` })).code);
  expect(codes.filter((code) => code === 429).length).toBeGreaterThanOrEqual(5);
  expect(asked.length).toBeLessThanOrEqual(27);
});

test('the page may load pictures of its own address alone', async () => {
  const page = await fetch(server.baseURL);
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(/img-src ([^;]*)/.exec(policy)?.[1]).toBe("'self' data: blob:");
});
