import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { onePixel } from '../support/world.ts';

let server: TestServer;
let client: TestClient;
/** Lies in the data folder, one above the files. */
const secret = 'QQ-SECRET-OF-THE-DATA-FOLDER';
let image = '';
beforeAll(async () => {
  server = await startServer();
  client = await TestClient.register(server.baseURL);
  writeFileSync(path.join(server.dataDir, 'secret.txt'), secret);
  const blob = new Blob([new Uint8Array(onePixel)]);
  image = (await client.upload('uploadImage', blob, 'a.png')).image.url;
});
afterAll(() => server.stop());

const ups = [
  '../',
  '..\\',
  '..%2f',
  '..%5c',
  '%2e%2e/',
  '%2e%2e%2f',
  '%2e%2e%5c',
  '.%2e/',
  '%2e./',
  '..%252f',
  '%252e%252e%252f',
  '%252e%252e/',
  '..%25252f',
  '..%c0%af',
  '..%c1%9c',
  '..%e0%80%af',
  '..%f0%80%80%af',
  '%c0%ae%c0%ae/',
  '..%ef%bc%8f',
  '%uff0e%uff0e%u2215',
  '..;/',
  '..%3b/',
  '.../',
  '....//',
  '....\\\\',
  '..././',
  './/..//',
  '/..//../',
  '..%00/',
  '..%0d/',
  '..%09/',
  '..?/',
  '..%23/',
  './../',
  '~/',
];
const targets = ['secret.txt', 'secret-key', 'etc/passwd', 'package.json', 'server/main.js'];
const absolute = [
  '/etc/passwd',
  '//etc/passwd',
  '///etc/passwd',
  '%2fetc%2fpasswd',
  'file:///etc/passwd',
  'C:/windows/win.ini',
  'C:%5cwindows%5cwin.ini',
  '\\\\127.0.0.1\\c$\\a',
  '/proc/self/environ',
  '/dev/stdin',
  '.env',
  '.git/config',
  '.git%2fconfig',
  '.',
  '..',
  '%00',
  'a%00.png',
  'a.png%00.txt',
  `${'a'.repeat(40)}.png/../../../secret.txt`,
  'CON',
  'a'.repeat(5000),
];
/** Some 200 ways up. */
const payloads = [
  ...ups.flatMap((up, at) => {
    const target = targets[at % targets.length] ?? '';
    return [1, 2, 3, 6, 12].map((times) => up.repeat(times) + target);
  }),
  ...absolute,
];

/** The ways by which something is downloaded, each with a place for what a person sends. */
const downloads: [string, (payload: string) => string][] = [
  ['the files', (payload) => `/files/${payload}`],
  ['a folder of files', (payload) => `/files/ab/${payload}`],
  ['behind a real file', (payload) => `${image}/${payload}`],
  ['a file with an ending', (payload) => `/files/${payload}.png`],
  ['a thumbnail', (payload) => `${image}?size=${payload}`],
  ['a thumbnail of something', (payload) => `/files/${payload}?size=128`],
  ['an export', (payload) => `/api/export_file?key=${payload}`],
  [
    'a ticket of an export',
    (payload) => `/api/export_file?key=${'a'.repeat(20)}&ticket=${payload}`,
  ],
  ['a help page', (payload) => `/api/help_page?slug=${payload}`],
  ['a shared session', (payload) => `/api/shared_session?key=${payload}`],
  ['the page', (payload) => `/${payload}`],
  ['its assets', (payload) => `/assets/${payload}`],
  ['its icons', (payload) => `/icons/${payload}`],
];

/** Sent as it is written: fetch would resolve `..` before it leaves. */
const get = (paths: string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(server.port, '127.0.0.1', () => {
      const last = paths.length - 1;
      for (const [at, each] of paths.entries())
        socket.write(
          `GET ${each} HTTP/1.1\r\nhost: a\r\naccept-encoding: identity\r\nauthorization: Bearer ${client.token}\r\n${at === last ? 'connection: close\r\n' : ''}\r\n`,
          'latin1',
        );
    });
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => (answer += chunk));
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });

const insides = [
  secret,
  'root:x:0:',
  readFileSync('/etc/passwd', 'utf8').split('\n')[1] ?? 'root:x:0:',
  '"name": "queqiao"',
  'createApp',
  'repositoryformatversion',
];

test(`${payloads.length} ways up lead nowhere, from any download`, async () => {
  expect(payloads.length).toBeGreaterThan(150);
  const found: string[] = [];
  for (const [what, address] of downloads) {
    for (let from = 0; from < payloads.length; from += 10) {
      const some = payloads
        .slice(from, from + 10)
        .map((payload) => address(payload.replaceAll(' ', '%20')));
      // What is no request at all ends the connection: each is then asked alone.
      let answers = await get(some);
      if ((answers.match(/HTTP\/1\.1 \d/g)?.length ?? 0) < some.length)
        answers = (await Promise.all(some.map((each) => get([each])))).join('\n');
      for (const inside of insides)
        if (answers.includes(inside)) found.push(`${what}: ${inside} by ${some.join(' ')}`);
      const failure = /HTTP\/1\.1 5\d\d/.exec(answers);
      if (failure) found.push(`${what}: ${failure[0]} by ${some.join(' ')}`);
    }
  }
  expect(found).toEqual([]);
  expect(server.log()).not.toMatch(/"level":(50|60)/);
}, 120_000);

test('what is no picture’s address below /files/ is answered 404 in the envelope', async () => {
  for (const payload of payloads) {
    const answer = await get([`/files/${payload.replaceAll(' ', '%20')}`]);
    // Some are no address, or lead to the app's own page as they would in any browser.
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
    expect([400, 404, 431], payload).toContain(status);
  }
});

test('the picture itself is there all the while', async () => {
  expect(await get([image])).toContain('content-type: image/png');
  expect(await get([`${image}?size=128`])).toContain('content-type: image/webp');
});
