import { createHash, createHmac, randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallSpec } from '#contract/call.ts';
import { type CallName, calls } from '#contract/calls.ts';
import { TestClient } from '../support/client.ts';
import { ADMIN_PASSWORD } from '../support/server.ts';
import { createWorld, goodInputs, sendRaw, type World } from '../support/world.ts';

const secret = 'the-secret-of-this-test-server-0123456789';
/** As server/auth/token.ts derives it: these tests may sign what the server itself could sign. */
const key = createHash('sha256').update(`queqiao token ${secret}`).digest();

let world: World;
let valid: string;
let claims: JWTPayload;
beforeAll(async () => {
  world = await createWorld({ env: { JWT_SECRET: secret } });
  valid = world.people.user.token;
  claims = decode(valid.split('.')[1] ?? '') as JWTPayload;
});
afterAll(() => world.stop());

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());

const goodHeader = { alg: 'HS256', typ: 'at+jwt' };

/** A token of any header and claims, signed with any key and hash. */
const forge = (
  header: object,
  payload: object,
  signing: string | Buffer = key,
  hash = 'sha256',
): string => {
  const text = `${encode(header)}.${encode(payload)}`;
  return `${text}.${createHmac(hash, signing).update(text).digest('base64url')}`;
};

const mutations = async (): Promise<Record<string, string>> => {
  const [head = '', body = '', signature = ''] = valid.split('.');
  const now = Math.floor(Date.now() / 1000);
  const manager = (await world.people.manager.call('userInfo', {})).id;
  const other = (await world.people.other.call('userInfo', {})).id;
  const otherJti = (decode(world.people.other.token.split('.')[1] ?? '') as JWTPayload).jti;

  const leaving = new TestClient(world.server.baseURL);
  await leaving.login('admin', ADMIN_PASSWORD);
  const revoked = leaving.token;
  await leaving.call('logout', {});

  const all: Record<string, string> = {
    revoked,
    empty: '',
    'only dots': '..',
    null: 'null',
    undefined: 'undefined',
    'no signature': `${head}.${body}`,
    'empty signature': `${head}.${body}.`,
    'cut signature': `${head}.${body}.${signature.slice(0, -4)}`,
    'long signature': `${head}.${body}.${signature}AAAA`,
    'signature of another': `${head}.${body}.${world.people.other.token.split('.')[2]}`,
    'zero signature': `${head}.${body}.${Buffer.alloc(32).toString('base64url')}`,
    'hex signature': `${head}.${body}.${Buffer.from(signature, 'base64url').toString('hex')}`,
    'five parts': `${head}.${body}.${signature}.${body}.${signature}`,
    'body of another': `${head}.${world.people.other.token.split('.')[1]}.${signature}`,
    'upper case': valid.toUpperCase(),
    'percent encoded': encodeURIComponent(`${valid}%00`),
    'very long': `${head}.${'A'.repeat(6000)}.${signature}`,
    'not base64': `${head}.@@@.${signature}`,
    'body is text': `${head}.${Buffer.from('hello').toString('base64url')}.${signature}`,
    'JSON serialisation': encode({ protected: head, payload: body, signature }),
    'signed with another secret': forge(goodHeader, claims, 'another'),
    'signed with nothing': forge(goodHeader, claims, ''),
    'signed with the bare secret': forge(goodHeader, claims, secret),
    'signed with its own header': forge(goodHeader, claims, head),
    'signed with the well-known': forge(goodHeader, claims, 'secret'),
  };
  for (const alg of ['none', 'None', 'NONE', 'nOnE', '', 'HS1', 'null']) {
    all[`alg ${alg}, no signature`] = `${encode({ ...goodHeader, alg })}.${body}.`;
    all[`alg ${alg}, old signature`] = `${encode({ ...goodHeader, alg })}.${body}.${signature}`;
  }
  all['no alg'] = forge({ typ: 'at+jwt' }, claims);
  all['alg is a list'] = forge({ ...goodHeader, alg: ['HS256', 'none'] }, claims);
  all['alg HS384'] = forge({ ...goodHeader, alg: 'HS384' }, claims, key, 'sha384');
  all['alg HS512'] = forge({ ...goodHeader, alg: 'HS512' }, claims, key, 'sha512');
  all['alg HS512 said, HS256 meant'] = forge({ ...goodHeader, alg: 'HS512' }, claims);
  for (const alg of ['RS256', 'PS256', 'ES256', 'EdDSA']) {
    const pair = await generateKeyPair(alg, { extractable: true });
    const jwk = await exportJWK(pair.publicKey);
    const sign = (extra: object) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg, typ: 'at+jwt', ...extra })
        .sign(pair.privateKey);
    all[`alg ${alg}`] = await sign({});
    all[`alg ${alg} with its own jwk`] = await sign({ jwk });
    all[`alg ${alg} swapped to HS256 with the public key`] = forge(
      goodHeader,
      claims,
      JSON.stringify(jwk),
    );
  }
  for (const kid of ['../../../../dev/null', '/dev/null', "' UNION SELECT 'a'--", '0', 'default'])
    all[`kid ${kid}`] = forge({ ...goodHeader, kid }, claims, '');
  all['jku'] = forge({ ...goodHeader, jku: 'https://example.com/jwks.json' }, claims, 'k');
  all['x5u'] = forge({ ...goodHeader, x5u: 'https://example.com/x.pem' }, claims, 'k');
  all['unknown crit'] = forge({ ...goodHeader, crit: ['x'], x: 1 }, claims);
  all['b64 false'] = forge({ ...goodHeader, crit: ['b64'], b64: false }, claims);
  for (const typ of ['JWT', 'id+jwt', 'rt+jwt', '', undefined])
    all[`typ ${typ}`] = forge({ alg: 'HS256', typ }, claims);
  const changed: Record<string, object> = {
    'no aud': { aud: undefined },
    'aud of another': { aud: 'other' },
    'aud is a list of others': { aud: ['other', 'queqiao2'] },
    'no iss': { iss: undefined },
    'iss of another': { iss: 'https://queqiao.example' },
    'no exp': { exp: undefined },
    // Clocks may lie a minute apart.
    'exp two minutes ago': { exp: now - 120 },
    'exp long ago': { exp: 1 },
    'exp negative': { exp: -1 },
    'exp as text': { exp: String(now + 3600) },
    'not yet valid': { nbf: now + 3600 },
    'no iat': { iat: undefined },
    'iat in the future': { iat: now + 3600, exp: now + 7200 },
    'iat 31 days ago': { iat: now - 31 * 86_400 },
    'no jti': { jti: undefined },
    'unknown jti': { jti: randomUUID() },
    'jti of another': { jti: otherJti },
    'jti as SQL': { jti: "' OR '1'='1" },
    'jti as number': { jti: 1 },
    'jti as list': { jti: [claims.jti] },
    'no sub': { sub: undefined },
    'sub of another': { sub: String(other) },
    'sub of the manager': { sub: String(manager) },
    'sub zero': { sub: '0' },
    'sub negative': { sub: `-${claims.sub}` },
    'sub as number': { sub: Number(claims.sub) },
    'sub as SQL': { sub: `${claims.sub} OR 1=1` },
    'sub with zeros before': { sub: `0${claims.sub}` },
  };
  for (const [name, change] of Object.entries(changed))
    all[name] = forge(goodHeader, { ...claims, ...change });
  // Two bits of the last letter mean nothing: another one may be the same signature.
  for (const at of [0, 7, 20, 41])
    all[`signature changed at ${at}`] =
      `${head}.${body}.${signature.slice(0, at)}${signature[at] === 'A' ? 'B' : 'A'}${signature.slice(at + 1)}`;
  const raised = encode({ ...claims, admin: true, manager: true, role: 'admin' });
  all['raised claims, old signature'] = `${head}.${raised}.${signature}`;
  return all;
};

const needToken = (Object.entries(calls) as [CallName, CallSpec][]).filter(
  ([, spec]) => spec.access !== 'public',
);

describe('a forged token', () => {
  test('is refused by every call that needs one', async () => {
    const all = Object.entries(await mutations());
    expect(all.length).toBeGreaterThanOrEqual(60);
    expect(needToken.length).toBeGreaterThan(5);
    const inputs = goodInputs(world.talks.user);
    const status = 401;
    // One thing reads the tokens of all calls: each of these comes to many calls, and to each call many.
    const apart = 8;
    for (const [nth, [name, spec]] of needToken.entries()) {
      const some = all.filter((_, at) => at % apart === nth % apart);
      const answers = await Promise.all(
        some.map(async ([what, token]) => {
          const client = new TestClient(world.server.baseURL, token || ' ');
          return [what, await sendRaw(client, name, inputs[name])] as const;
        }),
      );
      for (const [what, answer] of answers) {
        expect(answer.status, `${name}: ${what}: ${answer.text.slice(0, 100)}`).toBe(status);
        // The public API's refusals have bodies of their own.
        if (spec.access !== 'key') expect(answer.envelope?.code, `${name}: ${what}`).toBe(status);
      }
    }
  }, 180_000);

  test('makes nobody of whoever reads with it', async () => {
    for (const [what, token] of Object.entries(await mutations())) {
      const client = new TestClient(world.server.baseURL, token || ' ');
      const answer = await sendRaw(client, 'getSession', { uuid: world.talks.user.uuid });
      expect(answer.envelope?.code, what).toBe(1432);
      expect(answer.envelope?.data, what).toBeNull();
    }
  });

  test('is no ticket', async () => {
    const { uuid, historyId } = world.talks.user;
    for (const ticket of [valid, '', 'x', "' OR 1=1 --", '\0']) {
      const client = new TestClient(world.server.baseURL);
      const input = { session_id: uuid, history_id: historyId, ticket };
      const answer = await sendRaw(client, 'eventStream', input);
      expect(answer.text, ticket).not.toContain('[DONE]');
    }
  });

  test('does not spoil the true one', async () => {
    const answer = await sendRaw(world.people.user, 'userInfo', {});
    expect(answer.status).toBe(200);
    const parsed = forge(goodHeader, claims);
    const same = await sendRaw(new TestClient(world.server.baseURL, parsed), 'userInfo', {});
    expect(same.status, 'what the tests sign is what the server signs').toBe(200);
  });

  test('a true one older than a day is answered with a fresh one of the same login', async () => {
    const now = Math.floor(Date.now() / 1000);
    const young = await sendRaw(world.people.user, 'userInfo', {});
    expect(young.headers.get('authorization')).toBeNull();
    const aged = { ...claims, iat: now - 2 * 86_400, exp: now + 28 * 86_400 };
    const old = new TestClient(world.server.baseURL, forge(goodHeader, aged));
    const answer = await sendRaw(old, 'userInfo', {});
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-expose-headers')).toContain('authorization');
    const fresh = answer.headers.get('authorization')?.replace('Bearer ', '') ?? '';
    const renewed = decode(fresh.split('.')[1] ?? '') as JWTPayload;
    expect(renewed).toMatchObject({ sub: claims.sub, jti: claims.jti });
    expect(renewed.exp).toBeGreaterThan(now + 29 * 86_400);
    const next = await sendRaw(new TestClient(world.server.baseURL, fresh), 'userInfo', {});
    expect(next.status).toBe(200);
  });

  test('a ticket opens one stream, once', async () => {
    const { uuid, historyId } = world.talks.user;
    const { ticket } = await world.people.user.call('ticket', {});
    const visitor = new TestClient(world.server.baseURL);
    const input = { session_id: uuid, history_id: historyId, ticket };
    expect((await sendRaw(visitor, 'eventStream', input)).text).toContain('[DONE]');
    expect((await sendRaw(visitor, 'eventStream', input)).status).toBe(401);
  });

  test('a token ends with the logout, its tickets too', async () => {
    const client = await TestClient.register(world.server.baseURL);
    const { token } = client;
    const { ticket } = await client.call('ticket', {});
    await client.call('logout', {});
    const late = new TestClient(world.server.baseURL, token);
    expect((await sendRaw(late, 'userInfo', {})).status).toBe(401);
    const { uuid, historyId } = world.talks.user;
    const visitor = new TestClient(world.server.baseURL);
    const input = { session_id: uuid, history_id: historyId, ticket };
    expect((await sendRaw(visitor, 'eventStream', input)).status).toBe(401);
  });
});
