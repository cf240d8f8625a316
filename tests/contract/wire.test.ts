import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { comparesTimes } from '../support/compares-times.ts';
import { startServer, type TestServer } from '../support/server.ts';

const page = fileURLToPath(new URL('../../dist/page', import.meta.url));

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    env: {
      TRUST_PROXY: 'loopback',
      RATE_LIMIT: '50',
      MIN_PROMPT_BYTES: '9',
      SIGNUP_TOKENS: '33000',
    },
  });
});
afterAll(() => server.stop());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(server.baseURL + path, { headers });

test('a page is told what the manager set', async () => {
  const answer = await (await get('/api/site_info', { 'x-forwarded-for': '10.7.7.7' })).json();
  expect(answer).toMatchObject({ data: { min_prompt_bytes: 9, signup_tokens: 33_000 } });
});

describe('the page', () => {
  test.each(['/', '/api', '/chat?uuid=1', '/manager/users', '/somewhere/else'])(
    '%s is the app',
    async (path) => {
      const response = await get(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toContain('text/html');
      expect(response.headers.get('cache-control')).toBe('no-cache');
      expect(await response.text()).toMatch(/^<!doctype html>/i);
    },
  );

  test('runs no script but its own', async () => {
    const policy = (await get('/')).headers.get('content-security-policy') ?? '';
    const scripts = /script-src ([^;]*)/.exec(policy)?.[1] ?? '';
    expect(scripts).toContain("'self'");
    expect(scripts).not.toContain('unsafe');
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("object-src 'none'");
    expect(policy).toContain("base-uri 'none'");
    const powers = (await get('/')).headers.get('permissions-policy') ?? '';
    expect(powers).toMatch(/geolocation=\(\)/);
  });

  test('its assets are kept for good and sent compressed', async () => {
    expect(existsSync(page)).toBe(true);
    const asset = readdirSync(`${page}/assets`).find((name) => name.endsWith('.js.br'));
    const path = `/assets/${asset?.replace(/\.br$/, '')}`;
    const response = await get(path, { 'accept-encoding': 'br' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-encoding')).toBe('br');
    expect(response.headers.get('cache-control')).toContain('immutable');
    expect(response.headers.get('content-type')).toContain('javascript');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toBeNull();
    // A picture that is opened by itself is a document.
    const icon = await get('/icon.svg');
    expect(icon.headers.get('content-security-policy')).toContain('script-src');
  });

  test.each([
    '/nothing.js',
    '/assets/nothing.css',
    '/.env',
    '/..%2f..%2fpackage.json',
    '/package.json',
  ])('%s is no file of it', async (path) => {
    expect((await get(path)).status).toBe(404);
  });
});

test('long answers are compressed, for those who can read that', async () => {
  const compressed = await get('/api/openapi.json', { 'accept-encoding': 'br' });
  expect(compressed.headers.get('content-encoding')).toBe('br');
  const plain = await get('/api/openapi.json', { 'accept-encoding': 'identity' });
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(plain.headers.get('cache-control')).toBe('no-store');
});

test('who may not ask learns that alone, whatever is wrong with the body', async () => {
  const person = await TestClient.register(server.baseURL);
  const post = async (headers: Record<string, string>, type: string, body: string) => {
    const response = await fetch(`${server.baseURL}/api/history_like`, {
      method: 'POST',
      headers: { ...headers, 'content-type': type, 'x-forwarded-for': '10.9.8.7' },
      body,
    });
    await response.arrayBuffer();
    return response.status;
  };
  const json = 'application/json';
  const wrong = [
    { type: json, body: '{"type": ', status: 400 },
    { type: json, body: JSON.stringify({ id: 'x'.repeat(300_000) }), status: 413 },
    { type: 'text/csv', body: 'a;b', status: 415 },
  ];
  for (const { type, body, status } of wrong) {
    expect(await post({}, type, body), type).toBe(401);
    expect(await post({ authorization: 'Bearer abc.def.ghi' }, type, body), type).toBe(401);
    expect(await post(person.headers(), type, body), type).toBe(status);
  }
});

test('an address has so many calls a minute, its neighbour as many more', async () => {
  const from = (address: string) => get('/api/health', { 'x-forwarded-for': address });
  const answers = await Promise.all(Array.from({ length: 60 }, () => from('203.0.113.7')));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(10);
  for (const answer of refused) {
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await answer.json()).toMatchObject({ code: 429, data: null });
  }
  expect((await from('203.0.113.8')).status).toBe(200);
});

test(
  'the server ends by itself when asked to, and frees its port at once',
  comparesTimes,
  async () => {
    const own = await startServer({ databaseUrl: server.databaseUrl, alone: true });
    await get('/api/health');
    const started = Date.now();
    // A terminal and npm may each pass the same Ctrl+C on.
    process.kill(own.pid, 'SIGINT');
    process.kill(own.pid, 'SIGTERM');
    await own.stop();
    expect(await own.exited).toBe(0);
    expect(Date.now() - started).toBeLessThan(5000);
  },
);
