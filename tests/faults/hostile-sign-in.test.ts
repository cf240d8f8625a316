import { decodeJwt } from 'jose';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Out } from '#contract/calls.ts';
import type { ProviderKind } from '#contract/sign-in.ts';
import { TestClient } from '../support/client.ts';
import {
  clientId,
  clientSecret,
  type Spoiled,
  startHouses,
  startIdentity,
  startLoose,
  walkThrough,
} from '../support/fake-identity.ts';
import { amid, amidEnd } from '../support/ended-login.ts';
import { ADMIN_PASSWORD } from '../support/server.ts';
import { stage } from '../support/stage.ts';

const here = stage({
  env: { TRUST_PROXY: 'loopback', CREDENTIALS_LIMIT: '100000', FREE_REGISTRATIONS: '1000' },
});
const password = 'password-1';
let identity: Awaited<ReturnType<typeof startIdentity>>;
let loose: Awaited<ReturnType<typeof startLoose>>;
let houses: Awaited<ReturnType<typeof startHouses>>;
let owner: TestClient;
/** Who is linked to `victim` at both issuers. */
let victim: TestClient;
let victimId = 0;
const ids = { honest: 0, loose: 0 };

type Begun = Out<'beginProvider'>;

const visitor = () => new TestClient(here.server.baseURL);
const begin = (id: number, client = visitor()) => client.call('beginProvider', { id });
const finish = (
  id: number,
  query: string,
  secret: string,
  client = visitor(),
  more: Record<string, unknown> = {},
) => client.raw<Out<'finishProvider'>>('finishProvider', { id, query, secret, ...more });

const save = async (kind: ProviderKind, name: string, issuer: string) => {
  const { providers } = await owner.call('saveProvider', {
    kind,
    name,
    issuer,
    client_id: clientId,
    client_secret: clientSecret,
    agent_id: '1000002',
  });
  return providers.at(-1)!;
};

const signIns = async (): Promise<number> => {
  const { rows } = await here.database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM account_events WHERE way = 'provider'`,
  );
  return rows[0]!.count;
};

beforeAll(async () => {
  [identity, loose, houses] = await Promise.all([
    startIdentity(),
    startLoose('victim'),
    startHouses(),
  ]);
  owner = visitor();
  await owner.login('admin', ADMIN_PASSWORD);
  const honest = await save('oidc', '公司账号', identity.issuer);
  ids.honest = honest.id;
  ids.loose = (await save('oidc', '另一家', loose.issuer)).id;
  identity.open([honest.redirect_url]);
  victim = await TestClient.register(here.server.baseURL, 'the-victim');
  victimId = (await victim.call('userInfo', {})).id;
  const first = await victim.call('linkProvider', { id: ids.honest });
  const back = await walkThrough(first.url, 'victim');
  expect((await finish(ids.honest, back, first.secret, victim)).data.linked).toBe(true);
  const second = await victim.call('linkProvider', { id: ids.loose });
  const query = loose.back(second.url).toString();
  expect((await finish(ids.loose, query, second.secret, victim)).data.linked).toBe(true);
}, 60_000);
afterAll(async () => {
  await Promise.all([identity.close(), loose.close(), houses.close()]);
});

describe('an account elsewhere', () => {
  test('signs in whom it is linked to, and nobody else', async () => {
    const begun = await begin(ids.honest);
    expect(begun.url).toContain('code_challenge_method=S256');
    const query = await walkThrough(begun.url, 'victim');
    const { data } = await finish(ids.honest, query, begun.secret);
    expect(data.profile?.id).toBe(victimId);
    const stranger = await begin(ids.honest);
    const other = await walkThrough(stranger.url, 'somebody');
    const refused = await finish(ids.honest, other, stranger.secret);
    expect(refused.data).toEqual({ error: expect.stringContaining('还没有关联') });
    const events = (await victim.call('signInMeans', {})).events;
    expect(events[0]).toMatchObject({ kind: 'sign_in', way: 'provider' });
    const { rows } = await here.database.query<{ kind: string }>(
      `SELECT kind FROM records WHERE user_id = $1 AND call = 'finishProvider' ORDER BY id`,
      [victimId],
    );
    expect(rows.map(({ kind }) => kind)).toEqual(['act', 'act', 'sign_in']);
    expect((await visitor().call('signInWays', {})).providers.map(({ name }) => name)).toEqual([
      '公司账号',
      '另一家',
    ]);
  });

  test('asks for the second factor where one is set', async () => {
    const careful = await TestClient.register(here.server.baseURL, 'the-careful');
    const link = await careful.call('linkProvider', { id: ids.honest });
    const back = await walkThrough(link.url, 'careful');
    expect((await finish(ids.honest, back, link.secret, careful)).data.linked).toBe(true);
    const { secret } = await careful.call('totpBegin', {});
    const codes = await careful.call('totpEnable', { code: generateSync({ secret }) });
    const begun = await begin(ids.honest);
    const query = await walkThrough(begun.url, 'careful');
    const asked = await finish(ids.honest, query, begun.secret);
    expect(asked.data).toEqual({ error: '请输入动态验证码', totp: true });
    const wrong = await finish(ids.honest, query, begun.secret, visitor(), { totp: '000000' });
    expect(wrong.data.token).toBeUndefined();
    const thief = await finish(ids.honest, query, 'another', visitor(), {
      totp: codes.recovery_codes[0],
    });
    expect(thief.data.token).toBeUndefined();
    const [, recovery] = codes.recovery_codes;
    const right = await finish(ids.honest, query, begun.secret, visitor(), { totp: recovery });
    expect(right.data.token).toBeTruthy();
    const again = await finish(ids.honest, query, begun.secret, visitor(), {
      totp: codes.recovery_codes[2],
    });
    expect(again.data.token).toBeUndefined();
  });

  test('makes an account where owners allow it, which nothing locks its person out of', async () => {
    await owner.call('saveSignIn', { provider_register: 1 });
    // A closed site is closed by this way in, too.
    await owner.call('saveSetup', { people: 'closed' });
    const shut = await begin(ids.honest);
    const outside = await walkThrough(shut.url, 'newcomer');
    expect((await finish(ids.honest, outside, shut.secret)).data.error).toContain('不开放');
    await owner.call('saveSetup', { people: 'open' });
    const begun = await begin(ids.honest);
    const query = await walkThrough(begun.url, 'newcomer');
    const { data, message } = await finish(ids.honest, query, begun.secret);
    expect(data?.token, message).toBeTruthy();
    await owner.call('saveSignIn', { provider_register: 0 });
    const person = visitor();
    person.token = data.token!;
    const means = await person.call('signInMeans', {});
    expect(means).toMatchObject({ has_password: false, identities: [{ name: '公司账号' }] });
    const [linked] = means.identities;
    expect((await person.raw('unlinkProvider', { id: linked!.id })).message).toContain('唯一');
    expect((await owner.raw('delProvider', { id: ids.honest })).message).toContain('只能用它登录');
    const passwords = { password: 'brand-new-9', password2: 'brand-new-9' };
    // Two at once: one of them is the first.
    const set = () => person.raw<{ account: string }>('setFirstPassword', passwords);
    const both = (await Promise.all([set(), set()])).toSorted((a, b) => a.code - b.code);
    expect(both.map(({ code }) => code)).toEqual([0, 1446]);
    const { account } = both[0]!.data;
    await person.call('unlinkProvider', { id: linked!.id });
    await visitor().login(account, 'brand-new-9');
    // Another person's is as if it were not there.
    const other = (await victim.call('signInMeans', {})).identities[0]!;
    expect((await person.raw('unlinkProvider', { id: other.id })).status).toBe(404);
  });

  test.each(['wecom', 'feishu', 'dingtalk', 'wechat'] as const)(
    'of %s is spoken to as its documents have it',
    async (kind) => {
      const { id } = await save(kind, kind, houses.issuer);
      const person = await TestClient.register(here.server.baseURL);
      const link = await person.call('linkProvider', { id });
      const to = new URL(link.url);
      expect(to.searchParams.get('redirect_uri')).toBe(`${here.server.baseURL}/login/via-${id}`);
      const named = kind === 'dingtalk' ? 'authCode' : 'code';
      const query = (state: string, code = houses.right) => `${named}=${code}&state=${state}`;
      const done = await finish(id, query(link.state), link.secret, person);
      expect(done.data.linked, done.data.error).toBe(true);
      const begun = await begin(id);
      expect((await finish(id, query(begun.state), begun.secret)).data.profile?.account).toBe(
        (await person.call('userInfo', {})).account,
      );
      for (const spoil of ['wrong', '', `${houses.right}&${named}=again`]) {
        const again = await begin(id);
        const { data } = await finish(id, query(again.state, spoil), again.secret);
        expect(data, `${kind} ${spoil}`).toEqual({ error: expect.any(String) });
      }
      // Without the emblem of an address of one's own the usual one is meant.
      await owner.call('saveProvider', {
        id,
        kind,
        name: kind,
        issuer: '',
        client_id: clientId,
        agent_id: '1000002',
      });
      const { url } = await begin(id);
      expect(new URL(url).protocol).toBe('https:');
      // The other address vouched for other people.
      await owner.call('delProvider', { id });
    },
  );
});

const without =
  (name: string) =>
  <T extends object>(good: T): T =>
    Object.fromEntries(Object.entries(good).filter(([key]) => key !== name)) as T;

/** What is wrong with an answer of the issuer, each by itself enough. */
const spoiledAnswers: Record<string, Spoiled> = {
  'iss of another': { claims: (good) => ({ ...good, iss: 'https://evil.example.com' }) },
  'iss with a slash': { claims: (good) => ({ ...good, iss: `${good.iss}/` }) },
  'iss in capitals': { claims: (good) => ({ ...good, iss: good.iss?.toUpperCase() }) },
  'no iss': { claims: without('iss') },
  'aud of another': { claims: (good) => ({ ...good, aud: 'another' }) },
  'aud of nobody': { claims: (good) => ({ ...good, aud: [] }) },
  'aud of two': { claims: (good) => ({ ...good, aud: [clientId, 'another'] }) },
  'azp of another': {
    claims: (good) => ({ ...good, aud: [clientId, 'another'], azp: 'another' }),
  },
  'no aud': { claims: without('aud') },
  'no nonce': { claims: without('nonce') },
  'empty nonce': { claims: (good) => ({ ...good, nonce: '' }) },
  'another nonce': { claims: (good) => ({ ...good, nonce: 'x'.repeat(43) }) },
  'a longer nonce': { claims: (good) => ({ ...good, nonce: `${String(good['nonce'])}x` }) },
  'too old': { claims: (good) => ({ ...good, iat: 1000, exp: 2000 }) },
  'no end': { claims: without('exp') },
  'no beginning': { claims: without('iat') },
  'not yet': { claims: (good) => ({ ...good, nbf: Math.floor(Date.now() / 1000) + 900 }) },
  'no sub': { claims: without('sub') },
  'empty sub': { claims: (good) => ({ ...good, sub: '' }) },
  'sub as a list': { claims: (good) => ({ ...good, sub: ['victim'] as unknown as string }) },
  'sub as a number': { claims: (good) => ({ ...good, sub: 1 as unknown as string }) },
  'sub with an end of text': { claims: (good) => ({ ...good, sub: 'victim\u0000' }) },
  'sub with a new line': { claims: (good) => ({ ...good, sub: 'victim\n' }) },
  'sub too long': { claims: (good) => ({ ...good, sub: `${good.sub}${'m'.repeat(600)}` }) },
  'iss as a list': { claims: (good) => ({ ...good, iss: [good.iss] as unknown as string }) },
  'aud in capitals': { claims: (good) => ({ ...good, aud: clientId.toUpperCase() }) },
  'nonce as a list': { claims: (good) => ({ ...good, nonce: [good['nonce']] }) },
  'end in words': { claims: (good) => ({ ...good, exp: 'never' as unknown as number }) },
  'sub of another': { claims: (good) => ({ ...good, sub: 'nobody' }) },
  'sub in capitals': { claims: (good) => ({ ...good, sub: 'VICTIM' }) },
  'sub with a space': { claims: (good) => ({ ...good, sub: 'victim ' }) },
  'mail of the victim': {
    claims: (good) => ({
      ...good,
      sub: 'nobody',
      email: 'the-victim@example.com',
      email_verified: true,
      preferred_username: 'the-victim',
    }),
  },
  'another key': { sign: 'other-key' },
  'no signature': { sign: 'none' },
  'signed by the secret': { sign: 'secret' },
  'changed afterwards': { sign: 'tampered' },
  'no ID token': { answer: without('id_token') },
  'garbage for an ID token': { answer: (good) => ({ ...good, id_token: 'a.b.c' }) },
  'a number for an ID token': { answer: (good) => ({ ...good, id_token: 1 }) },
  'no access token': { answer: without('access_token') },
  'a refusal': { status: 400, answer: () => ({ error: 'invalid_grant' }) },
  'a fault': { status: 500 },
  'a page': { raw: '<h1>hello</h1>' },
  nothing: { raw: '' },
};

interface Try {
  id: number;
  query: URLSearchParams | string;
  secret: string;
}
/** What is wrong with what comes back to us, each by itself enough. */
const spoiledReturns: Record<
  string,
  (good: Try & { query: URLSearchParams }, other: Begun) => Try
> = {
  'no state': (good) => (good.query.delete('state'), good),
  'empty state': (good) => (good.query.set('state', ''), good),
  'made-up state': (good) => (good.query.set('state', 'x'.repeat(43)), good),
  'state twice': (good) => (good.query.append('state', good.query.get('state')!), good),
  'state with a space': (good) => (good.query.set('state', `${good.query.get('state')} `), good),
  'state in capitals': (good) => (
    good.query.set('state', good.query.get('state')!.toUpperCase()),
    good
  ),
  'another’s state': (good, other) => (good.query.set('state', other.state), good),
  'another’s secret': (good, other) => ({ ...good, secret: other.secret }),
  'no secret': (good) => ({ ...good, secret: '' }),
  'made-up secret': (good) => ({ ...good, secret: 'x'.repeat(43) }),
  'no code': (good) => (good.query.delete('code'), good),
  'empty code': (good) => (good.query.set('code', ''), good),
  'code twice': (good) => (good.query.append('code', 'another'), good),
  'the other issuer': (good) => ({ ...good, id: ids.honest }),
  'no issuer': (good) => ({ ...good, id: 999_999 }),
  'iss of another': (good) => (good.query.set('iss', identity.issuer), good),
  'iss missing': (good) => (good.query.delete('iss'), good),
  'iss twice': (good) => (good.query.append('iss', loose.issuer), good),
  'a refusal beside it': (good) => (good.query.set('error', 'access_denied'), good),
  'a response beside it': (good) => (good.query.set('response', 'a.b.c'), good),
  'an ID token beside it': (good) => (good.query.set('id_token', 'a.b.c'), good),
  'a fragment': (good) => ({ ...good, query: `#${good.query.toString()}` }),
  'another address': (good) => ({ ...good, query: `https://evil.example.com/?${good.query}&x` }),
};

describe('hostile callbacks', () => {
  test('a thousand of them sign nobody in', async () => {
    const before = await signIns();
    let tried = 0;
    const attempt = async (
      what: string,
      spoiled: Spoiled,
      returns?: keyof typeof spoiledReturns,
    ) => {
      const begun = await begin(ids.loose);
      const other = returns?.startsWith('another’s') ? await begin(ids.loose) : begun;
      loose.state.spoiled = spoiled;
      const good = { id: ids.loose, query: loose.back(begun.url), secret: begun.secret };
      const { id, query, secret } = returns ? spoiledReturns[returns]!(good, other) : good;
      const { data, status } = await finish(id, String(query), secret);
      loose.state.spoiled = {};
      tried += 1;
      expect(status, what).toBe(200);
      expect(data?.token, what).toBeUndefined();
      expect(data?.error, what).toMatch(/\p{Script=Han}/u);
      // What was refused is used up, or was never begun: the right query does not help any more.
      if (!returns) {
        const late = await finish(ids.loose, good.query.toString(), begun.secret);
        tried += 1;
        expect(late.data.token, `${what}, again`).toBeUndefined();
      }
    };
    for (const [what, spoiled] of Object.entries(spoiledAnswers)) await attempt(what, spoiled);
    for (const what of Object.keys(spoiledReturns)) await attempt(what, {}, what);
    // Two faults at once do not heal each other.
    const answers = Object.entries(spoiledAnswers);
    for (const what of Object.keys(spoiledReturns))
      for (const [name, spoiled] of answers) await attempt(`${what}, ${name}`, spoiled, what);
    expect(tried).toBeGreaterThan(1000);
    expect(await signIns()).toBe(before);

    // The control: with nothing spoiled it is a sign-in.
    const begun = await begin(ids.loose);
    const { data } = await finish(ids.loose, loose.back(begun.url).toString(), begun.secret);
    expect(data.profile?.id, data.error).toBe(victimId);
    const replayed = await finish(ids.loose, loose.back(begun.url).toString(), begun.secret);
    expect(replayed.data.token).toBeUndefined();
  }, 120_000);

  test('codes of another way, and another host, are worth nothing at a real provider', async () => {
    const before = await signIns();
    // What the victim's provider gave them is put into the attacker's own way, and the reverse.
    const [mine, theirs] = [await begin(ids.honest), await begin(ids.honest)];
    const stolen = new URLSearchParams(await walkThrough(theirs.url, 'victim'));
    const query = new URLSearchParams(await walkThrough(mine.url, 'mallory'));
    query.set('code', stolen.get('code')!);
    expect((await finish(ids.honest, query.toString(), mine.secret)).data.token).toBeUndefined();
    expect((await finish(ids.honest, stolen.toString(), mine.secret)).data.token).toBeUndefined();
    // Taken to the other issuer, as a mix-up has it.
    const mixed = await begin(ids.loose);
    stolen.set('state', mixed.state);
    loose.state.nonces.set(stolen.get('code')!, 'of-another');
    expect((await finish(ids.loose, stolen.toString(), mixed.secret)).data.token).toBeUndefined();
    // One that is too old, and one of a provider that was switched off meanwhile.
    const old = await begin(ids.loose);
    const late = loose.back(old.url).toString();
    await here.database.query(`UPDATE provider_flows SET expires_at = now() - interval '1 s'`);
    expect((await finish(ids.loose, late, old.secret)).data.token).toBeUndefined();

    // The address to come back to is another's only where the provider takes it, which it does not.
    const { status, data } = await visitor().raw<Begun>(
      'beginProvider',
      { id: ids.honest },
      { host: 'evil.example.com' },
    );
    expect(status).toBe(200);
    await expect(walkThrough(data.url, 'victim')).rejects.toThrow('stopped: 400');
    expect(await signIns()).toBe(before);
  });

  test('a login that ends at that moment, and an account that is unlinked, open nothing more', async () => {
    const leaver = await TestClient.register(here.server.baseURL, 'the-leaver');
    const leaverId = (await leaver.call('userInfo', {})).id;
    const linking = async () => {
      const begun = await leaver.call('linkProvider', { id: ids.honest });
      return { ...begun, query: await walkThrough(begun.url, 'leaver') };
    };
    const late = await linking();
    const { id: keyId } = await leaver.call('genKey', {});
    const { secret } = await leaver.call('totpBegin', {});
    const acts: (() => Promise<{ status: number }>)[] = [
      () => finish(ids.honest, late.query, late.secret, leaver),
      () => leaver.raw('genKey', {}),
      () => leaver.raw('rotateKey', { id: keyId }),
      () => leaver.raw('totpEnable', { code: generateSync({ secret }) }),
    ];
    for (const act of acts) {
      await leaver.login('the-leaver', password);
      // The one that began it.
      await here.database.query('UPDATE provider_flows SET jti = $1 WHERE user_id = $2', [
        decodeJwt(leaver.token).jti,
        leaverId,
      ]);
      expect((await amidEnd(here.server, leaverId, act)).status).toBe(401);
    }

    await leaver.login('the-leaver', password);
    const link = await linking();
    expect((await finish(ids.honest, link.query, link.secret, leaver)).data.linked).toBe(true);
    const begun = await begin(ids.honest);
    const query = await walkThrough(begun.url, 'leaver');
    const unlink: [string, unknown[]] = ['DELETE FROM identities WHERE user_id = $1', [leaverId]];
    const entered = await amid(here.server, unlink, () => finish(ids.honest, query, begun.secret));
    expect(entered.data).toEqual({ error: expect.any(String) });
  });

  test('linking is finished by the login that began it, and takes nobody’s', async () => {
    const thief = await TestClient.register(here.server.baseURL, 'the-thief');
    const thiefId = (await thief.call('userInfo', {})).id;
    const links = async () => {
      const { rows } = await here.database.query('SELECT user_id FROM identities ORDER BY id');
      return JSON.stringify(rows);
    };
    const before = await links();
    const linking = async (by: TestClient, as: string) => {
      const begun = await by.call('linkProvider', { id: ids.honest });
      return { ...begun, query: await walkThrough(begun.url, as) };
    };
    // The thief's way, finished in the victim's browser; by nobody; by another login of their own.
    const own = await linking(thief, 'mallory');
    expect((await finish(ids.honest, own.query, own.secret, victim)).data.linked).toBeUndefined();
    const loneWay = await linking(thief, 'mallory');
    const nobody = await finish(ids.honest, loneWay.query, loneWay.secret);
    expect(nobody.data).toEqual({ error: expect.any(String) });
    const elsewhere = visitor();
    await elsewhere.login('the-thief', password);
    const third = await linking(thief, 'mallory');
    const moved = await finish(ids.honest, third.query, third.secret, elsewhere);
    expect(moved.data.linked).toBeUndefined();
    // What is the victim's there cannot become the thief's.
    const taken = await linking(thief, 'victim');
    const refused = await finish(ids.honest, taken.query, taken.secret, thief);
    expect(refused.data).toEqual({ error: expect.stringContaining('已经关联') });
    // A stolen login that is no longer fresh links nothing.
    await here.database.query(
      `UPDATE logins SET confirmed_at = now() - interval '1 hour' WHERE user_id = $1`,
      [thiefId],
    );
    expect((await thief.raw('linkProvider', { id: ids.honest })).code).toBe(1002);
    expect(await links()).toBe(before);
  });
});
