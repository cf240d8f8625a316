import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import type { CallSpec } from '../../contract/call.ts';
import { type CallName, calls } from '../../contract/calls.ts';
import { codes } from '../../contract/errors.ts';
import { hasBody } from '../../server/http/validate.ts';
import { TestClient } from '../support/client.ts';
import {
  createWorld,
  goodInputs,
  type RawAnswer,
  sendRaw,
  talk,
  type World,
} from '../support/world.ts';

const every = Object.entries(calls) as [CallName, CallSpec][];
const plain = every.filter(([, spec]) => spec.kind === 'call');

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const businessCodes = new Set<number>(
  Object.values(codes)
    .filter(({ http }) => http === 200)
    .map(({ code }) => code),
);

/** Every answer but a stream is the envelope, in Chinese, and gives nothing of the inside away. */
const expectEnvelope = (answer: RawAnswer, what: string) => {
  expect(answer.envelope, `${what}: ${answer.status} ${answer.text.slice(0, 200)}`).not.toBeNull();
  expect(answer.headers.get('content-type'), what).toContain('application/json');
  // What is refused before it is a request has no number.
  if (answer.status !== 431) expect(answer.headers.get('x-request-id'), what).toBeTruthy();
  expect(answer.headers.get('x-content-type-options'), what).toBe('nosniff');
  const code = answer.envelope?.code ?? -1;
  if (answer.status === 200) {
    expect(code === 0 || businessCodes.has(code), `${what}: code ${code}`).toBe(true);
  } else {
    expect(code, what).toBe(answer.status);
    expect(answer.envelope?.message, what).toMatch(/\p{Script=Han}/u);
    expect(answer.text, what).not.toMatch(/node_modules|at \w+ \(|SELECT |INSERT |UPDATE "/);
  }
};

/** Calls whose good input names something that only other calls could have made. */
const aboutNothing: ReadonlySet<CallName> = new Set([
  'sharedSession',
  'updateNotice',
  'watchWaits',
  'imageProgress',
  'cancelJob',
]);

describe('every call', () => {
  test.each(plain)('%s is served, and its answer is the contract’s', async (name, spec) => {
    const own = await talk(world.people.user, '你好，请问你是谁');
    const answer = await sendRaw(world.people.user, name, goodInputs(own)[name]);
    expectEnvelope(answer, name);
    expect(answer.status).toBe(aboutNothing.has(name) ? 404 : 200);
    if (answer.status === 404) return;
    if (answer.envelope?.code === 0) {
      const parsed = z.safeParse(spec.output, answer.envelope.data);
      expect(parsed.error?.issues, name).toBeUndefined();
      expect(parsed.data).toEqual(answer.envelope.data);
    } else {
      const allowed = spec.codes.map((code) => codes[code].code as number);
      expect(allowed, `${name}: ${answer.text}`).toContain(answer.envelope?.code);
    }
  });

  test('streams are served as events', async () => {
    const own = await talk(world.people.user, '你好，请问你是谁');
    const events = await world.people.user.read(own.uuid, own.historyId);
    expect(events.at(-1)?.data).toBe('[DONE]');
    for (const { data } of events.slice(0, -1)) {
      const parsed = z.safeParse(calls.eventStream.output, JSON.parse(data));
      expect(parsed.error?.issues).toBeUndefined();
    }
    const ids = events.map(({ id }) => Number(id)).filter((id) => id > 0);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
  });

  test.each(every)('%s declares who may use it and what it may answer', (_name, spec) => {
    expect(['public', 'guest', 'user', 'manager']).toContain(spec.access);
    expect(spec.summary).toMatch(/\p{Script=Han}/u);
    for (const code of spec.codes) expect(codes[code].http).toBe(200);
    const shape = (spec.input as z.ZodMiniObject).def.shape;
    for (const field of spec.inQuery) expect(Object.keys(shape)).toContain(field);
  });

  test('no two calls share an address', () => {
    const addresses = every.map(([, { method, path }]) => `${method} ${path}`);
    expect(new Set(addresses).size).toBe(addresses.length);
  });
});

describe('access', () => {
  // Somebody else than above: there are more calls than free sessions in a month.
  let owner: TestClient;
  beforeAll(async () => {
    owner = await TestClient.register(world.server.baseURL);
  });

  test.each(every)('%s is open to the roles it declares and to no other', async (name, spec) => {
    const own = await talk(owner, '你好，请问你是谁');
    for (const role of ['none', 'guest', 'other', 'manager'] as const) {
      if (name === 'logout' || (spec.limit === 'credentials' && role !== 'none')) continue;
      const answer = await sendRaw(world.people[role], name, goodInputs(own)[name]);
      const what = `${name} as ${role}: ${answer.status} ${answer.text.slice(0, 200)}`;
      if (spec.access === 'manager' && role !== 'manager') expect(answer.status, what).toBe(404);
      else if (spec.access !== 'public' && role === 'none') expect(answer.status, what).toBe(401);
      else if (spec.access === 'user' && role === 'guest') {
        expect(answer.envelope?.code, what).toBe(1001);
        expect(answer.envelope?.data, what).toHaveProperty('login_url');
      } else expect(answer.status, what).not.toBe(401);
    }
  });

  test('whoever is answered 1001 is told where to sign in', async () => {
    const { models } = await world.people.user.call('models', {});
    const paid = models.find(({ factor }) => factor > 0);
    if (!paid) return;
    const answer = await sendRaw(world.people.guest, 'newSession', { type: 0, model: paid.name });
    expect(answer.envelope).toMatchObject({ code: 1001, data: { login_url: '/login' } });
  });
});

const wrongTypes: unknown[] = [
  null,
  true,
  [],
  {},
  [1, 2],
  { a: 1 },
  '',
  -1,
  1.5,
  1e300,
  '0x10',
  'NaN',
];
const hostileTexts = [
  '\0',
  'a\0b',
  '\uD800',
  '\uDC00\uD800',
  "' OR 1=1 --",
  '"; DROP TABLE users; --',
  '%'.repeat(500),
  '_%_%'.repeat(200),
  '{{input}}${7*7}<script>alert(1)</script>',
  '../../../../etc/passwd',
  '\u202E\u0000\uFFFF',
  '9'.repeat(400),
  '-9223372036854775809',
  '𠜎'.repeat(300),
  'x'.repeat(100_000),
  '__proto__',
];

describe('bad input', () => {
  test.each(plain)('%s refuses it and names the field', async (name, spec) => {
    const client = world.people.user;
    const good = goodInputs(world.talks.other)[name] as Record<string, unknown>;
    const shape = (spec.input as z.ZodMiniObject).def.shape;
    for (const [field, schema] of Object.entries(shape)) {
      const missing = await sendRaw(client, name, { ...good, [field]: undefined });
      expectEnvelope(missing, `${name} without ${field}`);
      const required = !z.safeParse(schema as z.ZodMiniType, undefined).success;
      if (required) {
        expect(missing.status, `${name} without ${field}`).toBe(422);
        expect(missing.envelope?.message).toContain(field);
      }
      for (const value of [...wrongTypes, ...hostileTexts]) {
        const what = `${name}.${field} = ${JSON.stringify(value).slice(0, 60)}`;
        const answer = await sendRaw(client, name, { ...good, [field]: value });
        expectEnvelope(answer, what);
        expect(answer.status, what).toBeLessThan(500);
        const inBody = hasBody(spec) && !spec.inQuery.includes(field);
        const sent = inBody || typeof value === 'string' ? value : JSON.stringify(value);
        if (!z.safeParse(schema as z.ZodMiniType, sent).success) {
          // A GET's line has room for some 16 KB; beyond it is not read at all.
          expect([422, 431, 413], what).toContain(answer.status);
          if (answer.status === 422) expect(answer.envelope?.message, what).toContain(field);
        }
      }
    }
  });

  test('a body that is no object, no JSON, or of another type is refused', async () => {
    const client = world.people.user;
    for (const [body, status] of [
      ['[]', 422],
      ['"text"', 422],
      ['1', 422],
      ['{', 400],
      ['{"a":', 400],
      ['\0', 400],
      ['{"temperature":1}}', 400],
    ] as const) {
      const answer = await sendRaw(client, 'saveSettings', {}, { body });
      expectEnvelope(answer, body);
      expect(answer.status, body).toBe(status);
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const options = { body: 'a=1', headers: { 'content-type': type } };
      const answer = await sendRaw(client, 'saveSettings', {}, options);
      expectEnvelope(answer, type);
      expect(answer.status, type).toBe(415);
    }
  });

  test('a body beyond the limit is answered 413', async () => {
    const answer = await sendRaw(world.people.user, 'saveSettings', {
      audio_voice: 'x'.repeat(400_000),
    });
    expectEnvelope(answer, 'large');
    expect(answer.status).toBe(413);
  });

  test('an address that is no call is answered 404 in the envelope', async () => {
    for (const [method, path] of [
      ['GET', '/api/nothing'],
      ['POST', '/api/nothing'],
      ['DELETE', '/api/user/login'],
      ['GET', '/api/user/login'],
      ['PUT', '/api/save_settings'],
      ['GET', '/v1/nothing'],
      ['GET', '/api/'],
      ['GET', '/api/%00'],
    ] as const) {
      const response = await fetch(world.server.baseURL + path, { method });
      expect(response.status, `${method} ${path}`).toBe(404);
      expect(await response.json(), `${method} ${path}`).toMatchObject({ code: 404, data: null });
    }
  });
});

describe('the document of the calls', () => {
  test('OpenAPI 3.1 names every call with its input and output', async () => {
    const response = await fetch(`${world.server.baseURL}/api/openapi.json`);
    const document = (await response.json()) as {
      openapi: string;
      paths: Record<string, Record<string, { operationId: string; responses: object }>>;
    };
    expect(document.openapi).toMatch(/^3\.1\./);
    for (const [name, { method, path }] of every) {
      const operation = document.paths[path]?.[method.toLowerCase()];
      expect(operation?.operationId).toBe(name);
      expect(operation?.responses).toHaveProperty('200');
    }
  });
});
