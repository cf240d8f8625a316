import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import type { CallSpec } from '#contract/call.ts';
import { type CallName, calls } from '#contract/calls.ts';
import { codes } from '#contract/errors.ts';
import { hasBody, mayBeBlank } from '#server/http/validate.ts';
import { type ApiUser, apiUser } from '../support/api-user.ts';
import { TestClient } from '../support/client.ts';
import {
  createWorld,
  goodInputs,
  isAboutTalk,
  type RawAnswer,
  sendRaw,
  type Talk,
  talk,
  type World,
} from '../support/world.ts';

const every = Object.entries(calls) as [CallName, CallSpec][];
const app = every.filter(([, spec]) => spec.kind !== 'open');
const open = every.filter(([, spec]) => spec.kind === 'open');
const plain = every.filter(([, spec]) => spec.kind === 'call');

const isForManagers = ({ access }: CallSpec) => access === 'manager' || access === 'owner';

/** There are more calls than free sessions in a month. */
const withoutLimit = async (client: TestClient): Promise<void> => {
  const { id } = await client.call('userInfo', {});
  const until = new Date(Date.now() + 86_400_000).toISOString();
  await world.people.manager.call('activatedAbility', { user_id: id, vip_expired_at: until });
};

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await withoutLimit(world.people.user);
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
  'answerFriend',
  'answerTool',
  'setupEnter',
  'setupPassword',
  'fetchLocalModel',
  'stopLocalModel',
  'pullOllama',
  'stopOllama',
  'removeLocalModel',
  'attachedText',
  'agreement',
  'takeUnmarked',
  'unbindContact',
  'beginProvider',
  'linkProvider',
  'unlinkProvider',
  'renamePasskey',
  'removePasskey',
  'delProvider',
  'findLabel',
  'declareImage',
  'resetMinor',
  'decideSafetyCase',
  'appealSafetyCase',
  'sharedSession',
  'updateNotice',
  'watchWaits',
  'imageProgress',
  'cancelJob',
  'closeTrade',
  'delTrainFile',
  'delTrainProject',
  'setTrainProject',
  'delBlockedWord',
  'requestInvoice',
  'requestRefund',
  'retryTrainFile',
  'passageList',
  'savePassage',
  'delPassage',
  'addPair',
  'actOnFiles',
  'addAddress',
  'watchList',
  'setWatch',
  'gapList',
  'delGap',
  'startTraining',
  'trainQuote',
  'saveSegment',
  'tradeStatus',
  'likeImage',
  'setLoraImages',
  'packModel',
  'delKey',
  'apiCallBodies',
  'apiProgress',
  'createTranscription',
  'createTranslation',
  'storedResponse',
  'readFile',
  'deleteFile',
  'createBatch',
  'readBatch',
  'cancelBatch',
  'deleteResponse',
  'apiTranscribe',
  'sandboxTrade',
  'sandboxSettle',
  'downloadSourceCode',
  'noticeFile',
  'upscaleImage',
  'removeImageBackground',
  'editImageBackground',
  'editImage',
  'imageInfo',
  'hideImage',
  'deleteImage',
  'delForumGroup',
  'knowledgePassage',
  'passagePage',
  'replySource',
  'trainModel',
  'trainFileList',
  'trainLog',
  'segmentList',
  'resolveReport',
  'setManager',
  'resetPassword',
  'signOutUser',
  'setModel',
  'savePeopleGroup',
  'delPeopleGroup',
  'saveChannel',
  'setChannel',
  'delChannel',
  'checkToolServer',
  'toolServerThings',
  'readToolResource',
  'fillToolPrompt',
  'beginToolLogin',
  'endToolLogin',
  'chooseTools',
  'deleteToolServer',
  'delNotice',
  'appDetails',
  'appVersionNext',
  'appCommentNext',
  'sendAppComment',
  'delOwnAppComment',
  'reportAppComment',
  'payApp',
  'appDownloadLink',
  'appVersionList',
  'appCommentList',
  'delAppComment',
  'appDescription',
  'saveAppDescription',
  'appGeneralInfo',
  'saveAppGeneralInfo',
  'setAppState',
  'delAppDraft',
  'appDraft',
  'appTradeStatus',
  'adminOrderInfo',
  'setOrder',
  'closeOrder',
  'refundOrder',
  'rejectRefund',
  'handleInvoice',
  'resolveDifference',
  'rateScenario',
  'delScenario',
  'removeScenario',
  'delScenarioCategory',
  'delPrompt',
  'removePrompt',
  'removeKeyword',
]);

describe('every call', () => {
  // Whoever only reads is somebody else: among the changes are some of all sessions of a person.
  let reader: TestClient;
  let read: Talk;
  beforeAll(async () => {
    reader = await TestClient.register(world.server.baseURL);
    await withoutLimit(reader);
    read = await talk(reader, '你好，请问你是谁');
  });

  test.each(plain)('%s is served, and its answer is the contract’s', async (name, spec) => {
    const onlyReads = spec.method === 'GET';
    // Only what may change the talk gets one of its own.
    const own =
      !onlyReads && isAboutTalk(name) ? await talk(world.people.user, '你好，请问你是谁') : read;
    // Whoever logs out is a guest in what comes after.
    const client =
      name === 'logout'
        ? await TestClient.register(world.server.baseURL)
        : isForManagers(spec)
          ? world.people.manager
          : onlyReads
            ? reader
            : world.people.user;
    const answer = await sendRaw(client, name, goodInputs(own)[name]);
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

  test('each declares who may use it and what it may answer', () => {
    for (const [name, spec] of every) {
      expect(['public', 'guest', 'user', 'manager', 'owner', 'key'], name).toContain(spec.access);
      expect(spec.summary, name).toMatch(/\p{Script=Han}/u);
      for (const code of spec.codes) expect(codes[code].http, name).toBe(200);
      const shape = (spec.input as z.ZodMiniObject).def.shape;
      for (const field of spec.inQuery) expect(Object.keys(shape), name).toContain(field);
    }
  });

  test('no two refusals share a code, but for those that one page tells alike', () => {
    const used = Object.values(codes).map(({ code }) => code as number);
    expect(used.filter((code, at) => used.indexOf(code) !== at)).toEqual([1002, 3001]);
  });

  test('no two calls share an address', () => {
    const addresses = every.map(([, { method, path }]) => `${method} ${path}`);
    expect(new Set(addresses).size).toBe(addresses.length);
  });
});

describe('access', () => {
  // Somebody else than above. What one role takes from the talk makes no difference to the others.
  let own: Talk;
  beforeAll(async () => {
    const owner = await TestClient.register(world.server.baseURL);
    await withoutLimit(owner);
    own = await talk(owner, '你好，请问你是谁');
  });

  // To whom the calls of managers exist is walked beside the other tests of them.
  test.each(app)('%s is open to the roles it declares and to no other', async (name, spec) => {
    for (const role of ['none', 'guest', 'other'] as const) {
      if (name === 'logout' || (spec.limit === 'credentials' && role !== 'none')) continue;
      // Access before input: who may not ask is not told what is wrong with the question.
      const shut = (role === 'none' && spec.access !== 'public') || isForManagers(spec);
      const input = shut ? { id: 'x', user_id: {}, page: -1 } : goodInputs(own)[name];
      const answer = await sendRaw(world.people[role], name, input);
      const what = `${name} as ${role}: ${answer.status} ${answer.text.slice(0, 200)}`;
      if (role === 'none' && shut) expect(answer.status, what).toBe(401);
      else if (shut) expect(answer.status, what).toBe(404);
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

/** All that a schema refuses goes one road, and so do texts that it takes: each is sent to some fields. */
const inTurn = (one: number): (() => boolean) => {
  let at = 0;
  return () => (at += 1) % one === 0;
};

describe('bad input', () => {
  // Whoever registers after this is not asked for an agreement that it wrote.
  afterAll(() => world.people.manager.call('saveCompliance', { ask_agreements: 0 }));
  const isRefusalsTurn = inTurn(12);
  const isTurn = inTurn(3);
  test.each(plain)('%s refuses it and names the field', async (name, spec) => {
    const client = world.people[isForManagers(spec) ? 'manager' : 'user'];
    const good = goodInputs(world.talks.other)[name] as Record<string, unknown>;
    const shape = (spec.input as z.ZodMiniObject).def.shape;
    for (const [field, schema] of Object.entries(shape)) {
      const required = !z.safeParse(schema as z.ZodMiniType, undefined).success;
      if (required) {
        const missing = await sendRaw(client, name, { ...good, [field]: undefined });
        expectEnvelope(missing, `${name} without ${field}`);
        expect(missing.status, `${name} without ${field}`).toBe(422);
        expect(missing.envelope?.message).toContain(field);
      }
      for (const value of [...wrongTypes, ...hostileTexts]) {
        const what = `${name}.${field} = ${JSON.stringify(value).slice(0, 60)}`;
        const inBody = hasBody(spec) && !spec.inQuery.includes(field);
        const sent = inBody || typeof value === 'string' ? value : JSON.stringify(value);
        // Blank is what was not chosen.
        const leftOut = !required && (sent === '' || sent === null) && mayBeBlank(spec);
        const refused = !leftOut && !z.safeParse(schema as z.ZodMiniType, sent).success;
        if (!(refused ? isRefusalsTurn() : isTurn())) continue;
        const answer = await sendRaw(client, name, { ...good, [field]: value });
        expectEnvelope(answer, what);
        expect(answer.status, what).toBeLessThan(500);
        if (refused) {
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
      ['GET', '/api/'],
      ['GET', '/api/%00'],
    ] as const) {
      const response = await fetch(world.server.baseURL + path, { method });
      expect(response.status, `${method} ${path}`).toBe(404);
      expect(await response.json(), `${method} ${path}`).toMatchObject({ code: 404, data: null });
    }
  });
});

describe('the public API', () => {
  const isTurn = inTurn(3);
  let key: ApiUser;
  let unpaid: ApiUser;
  beforeAll(async () => {
    key = await apiUser(world.server);
    unpaid = await apiUser(world.server, { paid: false });
  });

  /** A failure as the call's wire has it. */
  const expectFailure = (spec: CallSpec, answer: RawAnswer, what: string) => {
    expect(answer.status, what).toBeGreaterThanOrEqual(400);
    expect(answer.status, what).toBeLessThan(500);
    const body = JSON.parse(answer.text) as Record<string, unknown>;
    if (spec.wire === 'plain')
      expect(body, what).toEqual({
        result: false,
        code: expect.any(Number),
        message: expect.stringMatching(/\p{Script=Han}/u),
      });
    else if (spec.wire === 'anthropic')
      expect(body, what).toEqual({
        type: 'error',
        error: {
          type: expect.stringMatching(/_error$/),
          message: expect.stringMatching(/\p{Script=Han}/u),
        },
      });
    else
      expect(body, what).toEqual({
        error: {
          message: expect.stringMatching(/\p{Script=Han}/u),
          type: expect.any(String),
          param: body['error'] && (body['error'] as { param: unknown }).param,
          code: body['error'] && (body['error'] as { code: unknown }).code,
        },
      });
  };

  test.each(open)('%s answers a paid key bare, and nobody else', async (name, spec) => {
    const input = goodInputs(world.talks.user)[name] as Record<string, unknown>;
    const answer = await sendRaw(key.client, name, input);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('x-ratelimit-remaining-requests')).toMatch(/^\d+$/);
    if (!aboutNothing.has(name)) {
      expect(answer.status, answer.text.slice(0, 300)).toBe(200);
      if (answer.headers.get('content-type')?.includes('json')) {
        const parsed = z.safeParse(spec.output, JSON.parse(answer.text));
        expect(parsed.error?.issues, name).toBeUndefined();
        expect(parsed.data).toEqual(JSON.parse(answer.text));
      }
    }
    for (const [client, status] of [
      [world.people.none, 401],
      // A login is no key.
      [world.people.user, 401],
      [new TestClient(world.server.baseURL, `${key.userId}-${'a'.repeat(48)}`), 401],
      [unpaid.client, 402],
    ] as const) {
      const refused = await sendRaw(client, name, input);
      expect(refused.status, refused.text).toBe(status);
      expectFailure(spec, refused, name);
    }
  });

  test.each(open.filter(([, spec]) => spec.files.length === 0))(
    '%s refuses bad input and names the field',
    async (name, spec) => {
      const good = goodInputs(world.talks.user)[name] as Record<string, unknown>;
      const shape = (spec.input as z.ZodMiniObject).def.shape;
      for (const [field, schema] of Object.entries(shape)) {
        if (spec.path.endsWith('*')) continue;
        for (const value of [undefined, ...wrongTypes]) {
          const sent = hasBody(spec) || typeof value === 'string' ? value : JSON.stringify(value);
          if (z.safeParse(schema as z.ZodMiniType, sent).success || !isTurn()) continue;
          const answer = await sendRaw(key.client, name, { ...good, [field]: value });
          const what = `${name}.${field} = ${JSON.stringify(value)}: ${answer.text}`;
          expect(answer.status, what).toBe(spec.wire === 'plain' ? 422 : 400);
          expectFailure(spec, answer, what);
          expect(answer.text, what).toContain(field);
        }
      }
    },
  );

  test('its own document names every call of it', async () => {
    const response = await fetch(`${world.server.baseURL}/v1/openapi.json`);
    const document = (await response.json()) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    for (const [name, { method, path }] of open)
      expect(
        Object.entries(document.paths).find(
          ([known, of]) =>
            known.replace(/\{\w+\}$/, '*') === path && of[method.toLowerCase()] !== undefined,
        )?.[1][method.toLowerCase()]?.operationId,
      ).toBe(name);
    expect(Object.keys(document.paths).every((path) => path.startsWith('/v1/'))).toBe(true);
  });

  test('an address of it that is no call is answered 404 as OpenAI does', async () => {
    const response = await fetch(`${world.server.baseURL}/v1/nothing`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'unknown_url' } });
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
    for (const [name, { method, path }] of app) {
      const operation = document.paths[path]?.[method.toLowerCase()];
      expect(operation?.operationId).toBe(name);
      expect(operation?.responses).toHaveProperty('200');
    }
  });
});
