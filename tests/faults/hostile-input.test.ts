import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallSpec } from '#contract/call.ts';
import { type CallName, calls } from '#contract/calls.ts';
import { comparesTimes } from '../support/compares-times.ts';
import { TestClient } from '../support/client.ts';
import { createWorld, goodInputs, type Role, sendRaw, type World } from '../support/world.ts';

const heavy = process.env['HEAVY'] === '1';
const requests = Number(process.env['HOSTILE_REQUESTS'] ?? (heavy ? 100_000 : 1_500));
const lanes = 16;
/** Friends and foes take turns, so that both find the machine in the same moods. */
const turns = 10;
/** What the clock of a shared machine may add to a p95, ms. */
const noise = 25;

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const plain = (Object.entries(calls) as [CallName, CallSpec][]).filter(
  // A flood of true logins measures argon2, not the server's patience.
  ([name, spec]) => spec.kind === 'call' && name !== 'captcha',
);

const p95 = (times: number[]): number =>
  times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0;

/** Somebody else's harmless calls while `act` runs: how long each takes, ms. */
const othersDuring = async (act: () => Promise<unknown>): Promise<number[]> => {
  const times: number[] = [];
  const going = new AbortController();
  const other = world.people.other;
  const probe = (async () => {
    while (!going.signal.aborted) {
      const started = performance.now();
      const answer = await sendRaw(other, 'getSession', { uuid: world.talks.other.uuid });
      times.push(performance.now() - started);
      if (answer.status !== 200) throw new Error(`the others got ${answer.status}`);
      await sleep(20);
    }
  })();
  await act();
  going.abort();
  await probe;
  return times;
};

const inLanes = async (count: number, act: (index: number) => Promise<unknown>): Promise<void> => {
  let next = 0;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (next < count) await act(next++);
    }),
  );
};

const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  // Halves of surrogate pairs and NULs among them.
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 100 })
    .map((units) => String.fromCharCode(...units)),
  fc.constantFrom(
    '\0',
    '\uD800',
    "'; DROP TABLE users; --",
    '%_'.repeat(2000),
    `${'a'.repeat(5000)}!`,
    '1'.repeat(5000),
    '-'.repeat(5000),
    '${jndi:ldap://127.0.0.1/a}',
    '{{constructor.constructor("return process")()}}',
    '../'.repeat(100),
    '\r\nset-cookie: a=b',
    'data:text/html,<script>alert(1)</script>',
    '9223372036854775808',
    '1e309',
    'NaN',
    '__proto__',
  ),
);
const hostileValue = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  { weight: 2, arbitrary: fc.double() },
  { weight: 2, arbitrary: fc.maxSafeInteger() },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom(undefined, null, true, [], {}, [[[]]], -0, 1e308) },
);

/** A call with some fields made hostile, others left as they should be, and some unknown ones. */
const hostileRequest = fc.constantFrom(...plain).chain(([name, spec]) => {
  const fields = Object.keys((spec.input as unknown as { def: { shape: object } }).def.shape);
  return fc.record({
    name: fc.constant(name),
    role: fc.constantFrom<Role[]>('none', 'guest', 'user', 'manager'),
    changes: fc.dictionary(
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom('', ...fields) },
        { weight: 1, arbitrary: hostileText },
      ),
      hostileValue,
      { maxKeys: 4 },
    ),
    key: fc.option(fc.oneof(fc.uuid(), fc.string({ maxLength: 40 }))),
  });
});

const headerSafe = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/** Logged out again and again, the roles would soon be nobody. */
const spared = new Set<CallName>(['logout']);

describe('hostile input', () => {
  test(
    `${requests} requests made from the contract harm nobody`,
    { ...comparesTimes, timeout: heavy ? 1_200_000 : 180_000 },
    async () => {
      const samples = fc.sample(hostileRequest, { numRuns: requests, seed: 20_261_121 });
      const good = goodInputs(world.talks.user);
      const faults: string[] = [];
      const seen = new Map<number, number>();
      const askFriendly = () => sendRaw(world.people.user, 'historyList', good.historyList);
      const askHostile = async (sample: (typeof samples)[number] | undefined) => {
        if (!sample || spared.has(sample.name)) return;
        const { name, role, changes, key } = sample;
        // The session that all of this is about must last.
        if (name.startsWith('delete') && !('session_id' in changes)) return;
        const answer = await sendRaw(
          world.people[role],
          name,
          { ...good[name], ...changes },
          key !== null && headerSafe(key) ? { headers: { 'idempotency-key': key } } : {},
        );
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
        if (answer.status >= 500 || (answer.status !== 200 && !answer.envelope))
          faults.push(
            `${name} ${JSON.stringify(changes)}: ${answer.status} ${answer.text.slice(0, 200)}`,
          );
      };
      const besideFriends: number[] = [];
      const besideFoes: number[] = [];
      for (let turn = 0; turn < turns; turn += 1) {
        besideFriends.push(...(await othersDuring(() => inLanes(500 / turns, askFriendly))));
        const share = Math.ceil(requests / turns);
        const attack = () => inLanes(share, (index) => askHostile(samples[turn * share + index]));
        besideFoes.push(...(await othersDuring(attack)));
      }
      expect(faults.slice(0, 5)).toEqual([]);
      // They must get past the gate to prove anything.
      expect(seen.get(200), JSON.stringify([...seen])).toBeGreaterThan(requests / 10);
      const friendly = p95(besideFriends);
      expect(p95(besideFoes), `p95 of others: ${friendly} ms beside friendly load`).toBeLessThan(
        2 * friendly + noise,
      );
    },
  );

  // Bodies are read in one place, whatever call they are for: each goes to some of them.
  const withBody = plain.filter(
    ([name, { method }]) => ['POST', 'PUT'].includes(method) && !spared.has(name),
  );

  test('JSON 10,000 deep is read or refused, by calls that have a body', async () => {
    const deep = 10_000;
    const bodies = [
      '['.repeat(deep) + ']'.repeat(deep),
      '{"a":'.repeat(deep) + '1' + '}'.repeat(deep),
      `{"msg":${'['.repeat(deep)}${']'.repeat(deep)}}`,
      `{"account":${'{"a":'.repeat(deep)}1${'}'.repeat(deep)},"password":"x"}`,
      '['.repeat(100_000),
      '{"a":'.repeat(40_000),
    ];
    for (const [at, [name]] of withBody.entries()) {
      const body = bodies[at % bodies.length]!;
      const answer = await sendRaw(world.people.user, name, goodInputs(world.talks.user)[name], {
        body,
      });
      expect(answer.envelope, `${name}: ${answer.text.slice(0, 100)}`).not.toBeNull();
      expect(answer.status, `${name}: ${answer.text.slice(0, 100)}`).toBeLessThan(500);
    }
  });

  test('patterns that explode keep nobody waiting', comparesTimes, async () => {
    const bombs = [
      '%'.repeat(200),
      '%_'.repeat(100),
      `${'%a'.repeat(99)}%`,
      '\\'.repeat(199),
      `${'a'.repeat(199)}!`,
      `${'(a+)+'.repeat(39)}$`,
      `${'0'.repeat(190)}x`,
      `${'@'.repeat(100)}${'.'.repeat(99)}`,
    ];
    const slow = Math.max(
      ...(await Promise.all(
        bombs.flatMap((query) =>
          (['sessionList', 'helpList'] as const).map(async (name) => {
            const started = performance.now();
            const answer = await sendRaw(world.people.user, name, { query });
            expect(answer.status, query).toBe(200);
            return performance.now() - started;
          }),
        ),
      )),
    );
    expect(slow).toBeLessThan(2000);
    const long = [`${'a'.repeat(60_000)}!`, '-'.repeat(60_000), '1'.repeat(60_000)];
    for (const [at, [name, spec]] of withBody.entries()) {
      const bomb = long[at % long.length]!;
      const input = Object.fromEntries(
        Object.keys(goodInputs(world.talks.user)[name]).map((field) => [
          field,
          spec.inQuery.includes(field) ? bomb.slice(0, 8000) : bomb,
        ]),
      );
      const started = performance.now();
      const answer = await sendRaw(world.people.user, name, input);
      expect(answer.status, name).toBeLessThan(500);
      expect(performance.now() - started, name).toBeLessThan(1000);
    }
  });

  test(
    '500 connections that never finish their request keep nobody out and are ended',
    comparesTimes,
    async () => {
      const quiet = p95(await othersDuring(() => sleep(3000)));
      const open = new Set<Socket>();
      const begin = () =>
        new Promise<void>((resolve) => {
          const socket = connect(world.server.port, '127.0.0.1', () => {
            socket.write('POST /api/user/login HTTP/1.1\r\nhost: a\r\nx-slow: ');
            resolve();
          });
          socket.on('error', () => {});
          socket.on('close', () => open.delete(socket));
          socket.on('data', () => {});
          open.add(socket);
        });
      await Promise.all(Array.from({ length: 500 }, begin));
      const drip = setInterval(() => {
        for (const socket of open) if (socket.writable) socket.write('a');
      }, 1000);
      try {
        const beside = p95(await othersDuring(() => sleep(5000)));
        expect(beside, `p95 of others: ${quiet} ms without them`).toBeLessThan(
          4 * quiet + 4 * noise,
        );
        const deadline = Date.now() + 40_000;
        while (open.size > 0 && Date.now() < deadline) await sleep(200);
        expect(open.size).toBe(0);
      } finally {
        clearInterval(drip);
        for (const socket of open) socket.destroy();
      }
    },
  );

  test('what is no HTTP at all is answered and closed', async () => {
    for (const bytes of [
      'GET / HTTP/9.9\r\n\r\n',
      '\0\0\0\0\r\n\r\n',
      'POST /api/logout HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello',
      'POST /api/logout HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
    ]) {
      const answer = await new Promise<string>((resolve) => {
        let text = '';
        const socket = connect(world.server.port, '127.0.0.1', () => socket.write(bytes));
        socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
        socket.on('error', () => resolve(text));
        socket.on('close', () => resolve(text));
        setTimeout(() => socket.destroy(), 5000).unref();
      });
      if (answer !== '') expect(answer.split('\r\n')[0]).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect(answer).not.toContain('    at ');
    }
  });

  test('the server is alive and well after all of it', async () => {
    const client = await TestClient.register(world.server.baseURL);
    expect(await client.call('health', {})).toMatchObject({ ready: true });
    expect(world.server.log()).not.toMatch(/"level":(50|60)/);
  });
});

test('one person’s long messages of a day are so many, whatever becomes of them', async () => {
  const flood = await TestClient.register(world.server.baseURL);
  const { uuid } = await flood.call('newSession', { type: 0 });
  const msg = 'x'.repeat(2_000_000);
  const codes: number[] = [];
  for (let nth = 0; nth < 26; nth += 1)
    codes.push((await flood.raw('sendMessage', { session_id: uuid, msg })).code);
  expect(new Set(codes.slice(0, 25))).toEqual(new Set([1411]));
  expect(codes[25]).toBe(429);
  // What is short is said all the same.
  await flood.call('sendMessage', { session_id: uuid, msg: '一加一等于几' });
});
