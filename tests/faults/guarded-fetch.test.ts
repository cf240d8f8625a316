import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { ProxyAgent } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createGuardedFetch } from '#server/net/guarded-fetch.ts';
import { isPublicAddress } from '#server/net/public-host.ts';
import { TestClient } from '../support/client.ts';
import { startHttpProxy } from '../support/http-proxy.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { onePixel } from '../support/world.ts';

/** Stands for everything that must not be reached; counts connections, not requests. */
const inside: Server[] = [];
let connections = 0;
let port = 0;
/** What it answers, should it be asked. */
let answer: (response: ServerResponse, path: string) => void;

const picture = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'image/png' }).end(onePixel);

const listen = (host: string, at: number) =>
  new Promise<number>((resolve) => {
    const server = createServer((request, response) => answer(response, request.url ?? ''));
    server.on('connection', () => (connections += 1));
    server.once('error', () => resolve(0));
    server.listen(at, host, () => {
      inside.push(server);
      resolve((server.address() as AddressInfo).port);
    });
  });

const options = { maxBytes: 100_000, types: ['image/png'] };

/** How long it takes to give up an answer that comes a byte at a time, ms. Tried from the start on. */
const givingUp = async (): Promise<number> => {
  const slow = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' });
    const drip = setInterval(() => response.write('a'), 200);
    response.on('close', () => clearInterval(drip));
  });
  await new Promise<void>((resolve) => {
    slow.listen(0, '127.0.0.1', resolve);
  });
  const address = `127.0.0.1:${(slow.address() as AddressInfo).port}`;
  const started = performance.now();
  const fetched = await createGuardedFetch({ allowed: [address] })(`http://${address}/`, options);
  slow.close();
  if (fetched !== null) throw new Error('it was taken');
  return performance.now() - started;
};

let server: TestServer;
let client: TestClient;
let gaveUp: Promise<number>;
beforeAll(async () => {
  gaveUp = givingUp();
  port = await listen('0.0.0.0', 0);
  await listen('::', port);
  // The ports that are asked without a number, where this machine lets them be had.
  for (const usual of [80, 443]) await listen('0.0.0.0', usual);
  server = await startServer({
    env: { UPLOAD_LIMIT: '100000', FETCH_ALLOWED: `localhost:${port}` },
  });
  client = await TestClient.register(server.baseURL);
});
afterAll(async () => {
  await server.stop();
  for (const each of inside) {
    each.closeAllConnections();
    each.close();
  }
});
beforeEach(() => {
  connections = 0;
  answer = picture;
});

const ipv4 = (text: string): number =>
  text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const hex = (number: number, digits = 2): string => number.toString(16).padStart(digits, '0');
const octal = (number: number): string => `0${number.toString(8)}`;

/** First, middle and last of every block that belongs to nobody on the internet. */
const blocks = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
const dotted = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
const closedV4 = [
  ...blocks.flatMap((block) => {
    const [start = '', bits = '0'] = block.split('/');
    const size = 2 ** (32 - Number(bits));
    return [0, 1, Math.floor(size / 2), size - 1].map((step) => dotted(ipv4(start) + step));
  }),
  '169.254.169.254',
  '100.100.100.200',
  '192.168.1.1',
  '127.0.0.53',
  '255.255.255.255',
];

/** Ways to write one IPv4 address as a host. */
const writings = (address: string): string[] => {
  const number = ipv4(address);
  const parts = address.split('.').map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = parts;
  const pair = `${hex(a)}${hex(b)}:${hex(c)}${hex(d)}`;
  return [
    address,
    `${address}.`,
    String(number),
    `0x${hex(number, 8)}`,
    `0${number.toString(8)}`,
    parts.map((part) => `0x${hex(part)}`).join('.'),
    parts.map(octal).join('.'),
    `${a}.${b * 65_536 + c * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    `[::ffff:${address}]`,
    `[::ffff:${pair}]`,
    `[::${address}]`,
    `[64:ff9b::${pair}]`,
    `[64:ff9b:1::${pair}]`,
    `[2002:${pair}::1]`,
    `[2001:0:${pair}::1]`,
    address.replaceAll('.', '。'),
    address.replaceAll(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)),
    address.replaceAll('.', '%2e'),
  ];
};

const closedV6 = [
  '::',
  '::1',
  '0:0:0:0:0:0:0:1',
  'fc00::1',
  'fd12:3456:789a::1',
  'fe80::1',
  'febf::1',
  'fec0::1',
  'ff02::1',
  '100::1',
  '2001:db8::1',
  '2001::1',
  '2001:10::1',
  '3fff::1',
  '4000::1',
  '8000::1',
  '::ffff:0:127.0.0.1',
];

const names = ['localhost', 'LOCALHOST', 'localhost.', 'ip6-localhost', 'a.localhost', 'LocalHost'];

const hosts = [
  ...new Set([...closedV4.flatMap(writings), ...closedV6.map((each) => `[${each}]`), ...names]),
];

/** A resolver that says what it is told, one answer after the other. */
const resolver =
  (...answers: string[][]): LookupFunction =>
  (_hostname, _options, callback) => {
    const addresses = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };

/** As the server has it, but for the port: the listeners stand where anybody may open one. */
const guardWith = (more: Parameters<typeof createGuardedFetch>[0] = {}) =>
  createGuardedFetch({ ports: { 'http:': String(port), 'https:': String(port) }, ...more });

describe('what is not public', () => {
  test(`${hosts.length} hosts are not even connected to`, async () => {
    expect(hosts.length).toBeGreaterThan(500);
    const fetch = guardWith();
    for (const host of hosts)
      for (const scheme of ['http', 'https'])
        expect(await fetch(`${scheme}://${host}:${port}/a.png`, options), host).toBeNull();
    expect(connections).toBe(0);
  });

  test('and the server says the same of all of them, whatever they would answer', async () => {
    const reasons = new Set<string>();
    let next = 0;
    const lane = async () => {
      while (next < hosts.length) {
        const at = next++;
        const url = `${at % 3 === 0 ? 'https' : 'http'}://${hosts[at]}/a.png`;
        const reply = await client.raw('imageByUrl', { url });
        expect(reply.status, url).toBe(200);
        reasons.add(`${reply.code} ${reply.message}`);
      }
    };
    await Promise.all([lane(), lane(), lane(), lane()]);
    expect([...reasons]).toEqual(['1418 这个地址无法公开访问，或不是 jpg、png 图片']);
    expect(connections).toBe(0);
  });

  test.each([
    'file:///etc/passwd',
    'ftp://example.com/a.png',
    'gopher://example.com/',
    'data:image/png;base64,iVBORw0KGgo=',
    'blob:https://example.com/1',
    'javascript:alert(1)',
    '/files/a.png',
    '//example.com/a.png',
    'http://',
    'http:///a.png',
    'http://user:pass@example.com/a.png',
    'http://user@example.com/a.png',
    'http://example.com:22/',
    'http://example.com:25/',
    'http://example.com:6379/',
    'http://example.com:8080/',
    'https://example.com:80/',
    'http://example.com:443/',
    'http://example.com\0.evil/',
    'http://ex ample.com/',
    ' ',
    '\r\nhost: a',
  ])('%j is no address to fetch', async (url) => {
    const never: LookupFunction = () => {
      throw new Error('looked up');
    };
    expect(await createGuardedFetch({ lookup: never })(url, options)).toBeNull();
    const reply = await client.raw('imageByUrl', { url });
    expect(reply).toMatchObject({ status: 200, code: 1418 });
    expect(connections).toBe(0);
  });

  test('a name that leads inside is refused, also when only one of its addresses does', async () => {
    for (const addresses of [
      ['127.0.0.1'],
      ['::1'],
      ['93.184.215.14', '127.0.0.1'],
      ['169.254.169.254'],
      ['::ffff:127.0.0.1'],
      ['64:ff9b::7f00:1'],
      [],
    ])
      expect(
        await guardWith({ lookup: resolver(addresses) })(
          `http://name.example.com:${port}/`,
          options,
        ),
      ).toBeNull();
    expect(connections).toBe(0);
  });

  test('a name that changes between question and connection gains nothing', async () => {
    // What asks first and connects later would be told 203.0.114.1 first and 127.0.0.1 then.
    const lookup = resolver(['203.0.114.1'], ['127.0.0.1']);
    const fetch = guardWith({ lookup });
    const signal = AbortSignal.timeout(300);
    expect(await fetch(`http://name.example.com:${port}/`, { ...options, signal })).toBeNull();
    expect(await fetch(`http://name.example.com:${port}/`, options)).toBeNull();
    expect(connections).toBe(0);
  });

  test('a proxy reaches no name that leads inside, and none is asked for by its number', async () => {
    const proxy = await startHttpProxy();
    const dispatcher = new ProxyAgent(proxy.url);
    const through = { ...options, proxy: dispatcher };
    const unknown: LookupFunction = (_name, _options, callback) =>
      callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), '');
    const inside = guardWith({ lookup: resolver(['10.0.0.7']) });
    for (const host of ['name.example.com', '127.0.0.1', '[::1]', 'localhost'])
      expect(await inside(`http://${host}:${port}/`, through), host).toBeNull();
    expect(connections).toBe(0);
    // What only the proxy can look up is its to decide.
    for (const lookup of [resolver(['93.184.215.14']), unknown])
      expect((await guardWith({ lookup })(`http://name.example.com:${port}/`, through))?.mime).toBe(
        'image/png',
      );
    expect(proxy.ports.size).toBeGreaterThan(0);
    await dispatcher.close();
    await proxy.close();
  });

  test('a redirect is checked like the address itself', async () => {
    const targets = [
      `http://127.0.0.1:${port}/secret`,
      `http://[::1]:${port}/secret`,
      `http://2130706433:${port}/secret`,
      'http://169.254.169.254/latest/meta-data/',
      'file:///etc/passwd',
      `http://user:pass@allowed.test:${port}/secret`,
      'http://allowed.test:1/secret',
    ];
    const fetch = guardWith({
      allowed: [`allowed.test:${port}`],
      lookup: resolver(['127.0.0.1']),
    });
    for (const target of targets) {
      const asked: string[] = [];
      answer = (response, path) => {
        asked.push(path);
        if (path === '/start') response.writeHead(302, { location: target }).end();
        else picture(response);
      };
      expect(await fetch(`http://allowed.test:${port}/start`, options), target).toBeNull();
      expect(asked, target).toEqual(['/start']);
    }
  });
});

describe('what is allowed', () => {
  const fetch = (path: string, more: Partial<typeof options> = {}) =>
    createGuardedFetch({
      allowed: [`allowed.test:${port}`],
      lookup: resolver(['127.0.0.1']),
    })(`http://allowed.test:${port}${path}`, { ...options, ...more });

  test('is fetched, after three redirects at most', async () => {
    answer = (response, path) => {
      const left = Number(path.slice(1));
      if (left > 0) response.writeHead(302, { location: `/${left - 1}` }).end();
      else picture(response);
    };
    expect(await fetch('/0')).toEqual({ data: onePixel, mime: 'image/png' });
    expect(await fetch('/3')).not.toBeNull();
    expect(await fetch('/4')).toBeNull();
  });

  test.each<[string, (response: ServerResponse) => void]>([
    [
      'another type',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('a'),
    ],
    ['an error', (response) => response.writeHead(404, { 'content-type': 'image/png' }).end()],
    ['nothing', (response) => response.destroy()],
    [
      'a body without an end',
      (response) => {
        response.writeHead(200, { 'content-type': 'image/png' });
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        };
        response.on('drain', more);
        more();
      },
    ],
    [
      'a packed body',
      (response) =>
        response
          .writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip' })
          .end('aaaa'),
    ],
  ])('%s is not', async (_what, badly) => {
    answer = badly;
    expect(await fetch('/')).toBeNull();
  });

  test('a slow one is given up after ten seconds', async () => {
    const took = await gaveUp;
    expect(took).toBeGreaterThan(5_000);
    expect(took).toBeLessThan(13_000);
  }, 20_000);

  test('a picture from an allowed address is kept like an uploaded one; no picture is none', async () => {
    const { image } = await client.call('imageByUrl', { url: `http://localhost:${port}/a.png` });
    expect(image).toMatchObject({ width: 1, height: 1 });
    expect((await globalThis.fetch(server.baseURL + image.url)).status).toBe(200);
    answer = (response) =>
      response
        .writeHead(200, { 'content-type': 'image/png' })
        .end('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>');
    const reply = await client.raw('imageByUrl', { url: `http://localhost:${port}/b.png` });
    expect(reply).toMatchObject({ status: 200, code: 1418 });
  });
});

test.each([
  ['93.184.215.14', true],
  ['8.8.8.8', true],
  ['2606:4700:4700::1111', true],
  ['2a00:1450:4001:81b::200e', true],
  ['::ffff:8.8.8.8', true],
  ['::ffff:10.0.0.1', false],
  ['64:ff9b::808:808', true],
  ['64:ff9b::a00:1', false],
  ['2002:a00:1::', false],
  ['', false],
  ['example.com', false],
])('%s is public: %s', (address, expected) => {
  expect(isPublicAddress(address)).toBe(expected);
});
