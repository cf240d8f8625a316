import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiUser, apiUser } from '../support/api-user.ts';
import { TestClient } from '../support/client.ts';
import { comparesTimes } from '../support/compares-times.ts';
import { pngOf } from '../support/hostile-files.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** What one visitor sends to keep the server from everybody else. */

/** What others wait for at most meanwhile, ms (reliability.md), where the machine itself is not slower. */
const worst = 400;

let server: TestServer;
let guest: TestClient;
let neighbour: TestClient;
let caller: ApiUser;
beforeAll(async () => {
  server = await startServer({ env: { TRUST_PROXY: '127.0.0.1' } });
  guest = new TestClient(server.baseURL);
  await guest.call('newSession', { type: 0 });
  neighbour = await TestClient.register(server.baseURL);
  caller = await apiUser(server);
});
afterAll(() => server.stop());

const send = async (path: string, token: string, body: string | Buffer, from = '203.0.113.9') => {
  const answer = await request(server.baseURL + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      'x-forwarded-for': from,
    },
    body,
  });
  return { status: answer.statusCode, text: await answer.body.text() };
};

/** Another person's calls meanwhile: the longest of them, ms. */
const othersDuring = async (act: () => Promise<unknown>): Promise<number> => {
  let longest = 0;
  const over = new AbortController();
  const others = (async () => {
    while (!over.signal.aborted) {
      const begun = performance.now();
      await neighbour.call('userInfo', {});
      longest = Math.max(longest, performance.now() - begun);
    }
  })();
  await act();
  over.abort();
  await others;
  return longest;
};

const tenTimes = (act: () => Promise<{ status: number }>) =>
  Promise.all(Array.from({ length: 10 }, act));

const manyKeys = (count: number): string =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')}}`;

describe('bodies of many megabytes', () => {
  test(
    'keys and brackets without end are refused unread, and others wait no longer than for one text',
    { ...comparesTimes, timeout: 60_000 },
    async () => {
      const bytes = 19_000_000;
      const chat = () => ({ path: '/v1/chat/completions', token: caller.key });
      const waitedFor = async (body: Buffer): Promise<[waited: number, statuses: number[]]> => {
        const { path, token } = chat();
        let statuses: number[] = [];
        const waited = await othersDuring(async () => {
          const answers = await tenTimes(() => send(path, token, body));
          statuses = answers.map(({ status }) => status);
        });
        return [waited, statuses];
      };
      // The same bytes as one text that no JSON follows: what taking them costs.
      const [floor] = await waitedFor(Buffer.from(`"${'x'.repeat(bytes)}`));
      const most = Math.max(worst, floor * 2);
      const [brackets, refused] = await waitedFor(
        Buffer.from(`{"model":"x","messages":${'[[],'.repeat(bytes / 4)}`),
      );
      // Ten of 19 MB are more than one key may have here at once.
      expect(new Set(refused)).toEqual(new Set([413, 429]));
      expect(brackets).toBeLessThan(most);
      const [keys, unread] = await waitedFor(Buffer.from(manyKeys(850_000)));
      expect(new Set(unread)).toEqual(new Set([413]));
      expect(keys).toBeLessThan(most);
    },
  );

  test('a guest sends 1 MB at most, and few keys; deep JSON within a field is refused alike', async () => {
    const path = '/api/send_message';
    const large = await send(path, guest.token, manyKeys(850_000));
    expect(large).toMatchObject({ status: 413 });
    expect(large.text).toContain('最多 1 MB');
    const keys = await send(path, guest.token, manyKeys(60_000));
    expect(keys).toMatchObject({ status: 413 });
    expect(keys.text).toContain('字段太多');
    const items = await send(path, guest.token, `[${'0,'.repeat(60_000)}0]`);
    expect(items.text).toContain('字段或项目太多');
    const deep = await send(path, guest.token, `{"msg":${'['.repeat(65)}${']'.repeat(65)}}`);
    expect(deep.text).toContain('层次太深');
    const talk = await neighbour.call('newSession', { type: 0 });
    const within = `{"prompt":${'['.repeat(70)}${']'.repeat(70)}}`;
    const inField = JSON.stringify({ session_id: talk.id, format: 1, msg: within });
    expect((await send(path, neighbour.token, inField)).text).toContain('层次太深');
    // Quotes and brackets in a text are letters like others.
    const text = '["\\\\"{'.repeat(10_000);
    const said = await send(
      path,
      neighbour.token,
      JSON.stringify({ session_id: talk.id, msg: text }),
    );
    expect(said.text).toContain('"code":0');
  });

  test('bytes count by address and minute, and a school behind one address is told when to come again', async () => {
    const path = '/api/image/cropping_image';
    const big = Buffer.from(JSON.stringify({ other: 'x'.repeat(5_000_000) }));
    const from = '198.51.100.77';
    const first = await send(path, guest.token, big, from);
    expect(first.status).toBe(422);
    const all = await Promise.all(
      Array.from({ length: 45 }, () => send(path, guest.token, big, from)),
    );
    const refused = all.filter(({ status }) => status === 429).length;
    expect(refused).toBeGreaterThan(0);
    const elsewhere = await send(path, guest.token, big, '198.51.101.77');
    expect(elsewhere.status).toBe(422);
  }, 30_000);
});

test('of large bodies that one key sends few are held at once, and another key’s is taken', async () => {
  const stranger = await apiUser(server);
  /** A body that is told and does not come. */
  const begun = (key: string) => {
    const socket = connect({ host: '127.0.0.1', port: server.port });
    socket.on('error', () => undefined);
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${20 * 1024 * 1024}\r\n\r\n{`,
    );
    return socket;
  };
  const answerOf = (socket: Socket) =>
    Promise.race([
      once(socket, 'data').then(([data]) => String(data).slice(9, 12)),
      sleep(1500).then(() => 'held'),
    ]);
  const sockets = Array.from({ length: 10 }, () => begun(caller.key));
  const answers = await Promise.all(sockets.map(answerOf));
  expect(answers.filter((each) => each === 'held')).toHaveLength(6);
  expect(answers.filter((each) => each === '429')).toHaveLength(4);
  const other = begun(stranger.key);
  expect(await answerOf(other)).toBe('held');
  for (const socket of sockets) socket.destroy();
  const again = begun(caller.key);
  await expect.poll(() => answerOf(again)).toBe('held');
  again.destroy();
  other.destroy();
});

test('a mask and an upload of 256 million pixels in a small file are refused by their heads', async () => {
  const huge = pngOf(16_000, 16_000, true);
  expect(huge.length).toBeLessThan(1_100_000);
  const small = await sharp(randomBytes(64 * 64 * 3), {
    raw: { width: 64, height: 64, channels: 3 },
  })
    .png()
    .toBuffer();
  const form = new FormData();
  form.set('prompt', '一只喜鹊');
  form.set('image', new Blob([new Uint8Array(small)]), 'a.png');
  form.set('mask', new Blob([new Uint8Array(huge)]), 'm.png');
  const answer = await fetch(`${server.baseURL}/v1/images/edits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${caller.key}` },
    body: form,
  });
  expect(answer.status).toBe(413);
  expect(await answer.text()).toContain('像素太多');
  await expect(
    guest.upload('uploadImage', new Blob([new Uint8Array(huge)]), 'a.png'),
  ).rejects.toThrow('像素太多');
}, 30_000);

test('two thousand streams of one guest: some stay, the others are told when to come again', async () => {
  const visitor = new TestClient(server.baseURL);
  await visitor.call('newSession', { type: 0 });
  const leave = new AbortController();
  const open = async (person: TestClient, address: string) => {
    const answer = await fetch(`${server.baseURL}/api/job_events`, {
      headers: { ...person.headers(), 'x-forwarded-for': address },
      signal: leave.signal,
    });
    return { status: answer.status, again: answer.headers.get('retry-after') };
  };
  const all = await Promise.all(Array.from({ length: 300 }, () => open(visitor, '192.0.2.5')));
  const stayed = all.filter(({ status }) => status === 200).length;
  // Five tabs on each of four devices, two streams each, and as many again.
  expect(stayed).toBeGreaterThanOrEqual(40);
  expect(stayed).toBeLessThanOrEqual(128);
  expect(all.find(({ status }) => status === 429)?.again).toMatch(/^\d+$/);
  expect((await open(neighbour, '192.0.2.5')).status).toBe(200);
  // What is closed makes room.
  leave.abort();
  const again = new AbortController();
  await expect
    .poll(async () => {
      const answer = await fetch(`${server.baseURL}/api/job_events`, {
        headers: visitor.headers(),
        signal: again.signal,
      });
      return answer.status;
    })
    .toBe(200);
  again.abort();
}, 30_000);

test('a process has room for so many streams, whoever asks: one more is told to come again', async () => {
  const small = await startServer({ env: { EVENT_STREAMS: '3', METRICS_TOKEN: 'figures' } });
  try {
    const caller = await apiUser(small);
    const doors: AbortController[] = [];
    const open = (path: string, init: { method?: string; body?: string; key?: string } = {}) => {
      const door = new AbortController();
      doors.push(door);
      const { key = caller.person.token, ...more } = init;
      return fetch(small.baseURL + path, {
        ...more,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        signal: door.signal,
      });
    };
    const doorsOf = await Promise.all(Array.from({ length: 3 }, () => open('/api/job_events')));
    expect(doorsOf.map(({ status }) => status)).toEqual([200, 200, 200]);
    const full = await open('/api/job_events');
    expect([full.status, full.headers.get('retry-after')]).toEqual([503, '10']);
    const program = await open('/v1/chat/completions', {
      method: 'POST',
      key: caller.key,
      body: JSON.stringify({
        model: 'builtin-assistant',
        stream: true,
        messages: [{ role: 'user', content: '你好' }],
      }),
    });
    expect(program.status).toBe(503);
    const figures = await fetch(`${small.baseURL}/metrics`, {
      headers: { authorization: 'Bearer figures' },
    });
    expect(await figures.text()).toMatch(/^queqiao_event_streams 3$/m);
    doors[0]!.abort();
    await expect.poll(async () => (await open('/api/job_events')).status).toBe(200);
  } finally {
    await small.stop();
  }
});
