import { generateSync } from 'otplib';
import { beforeEach, describe, expect, test } from 'vitest';
import { calls } from '#contract/calls.ts';
import type { CallSpec } from '#contract/call.ts';
import { TestClient } from '../support/client.ts';
import { stage } from '../support/stage.ts';

const metricsToken = 'metrics-token-1';
const here = stage({
  env: { METRICS_TOKEN: metricsToken, LOGIN_DAYS: '90', TRUST_PROXY: 'loopback' },
});

const password = 'password-1';
let account = '';
let person: TestClient;
let people = 0;
beforeEach(async () => {
  people += 1;
  account = `proved-${people}`;
  person = await TestClient.register(here.server.baseURL, account);
});

const idOf = async (client: TestClient): Promise<number> => (await client.call('userInfo', {})).id;

/** As if nobody had typed a password for a quarter of an hour. */
const timePasses = (client: TestClient) =>
  idOf(client).then((id) =>
    here.database.query(
      `UPDATE logins SET confirmed_at = now() - interval '15 minutes' WHERE user_id = $1`,
      [id],
    ),
  );

let addresses = 0;
/** Signs in elsewhere, each time as if from an address of its own. */
const enter = async (secret: string, totp?: string) => {
  addresses += 1;
  const client = new TestClient(here.server.baseURL);
  const { data, status } = await client.raw<{
    error?: string;
    captcha?: boolean;
    token?: string;
    device?: string;
  }>(
    'login',
    { account, password: secret, totp },
    { 'x-forwarded-for': `198.51.100.${addresses}` },
  );
  return { ...data, status };
};

const failures = async (reason: string): Promise<number> => {
  const shown = await fetch(`${here.server.baseURL}/metrics`, {
    headers: { authorization: `Bearer ${metricsToken}` },
  });
  const line = `queqiao_sign_in_failures_total{reason="${reason}"} `;
  const found = (await shown.text()).split('\n').find((each) => each.startsWith(line));
  return Number(found?.slice(line.length) ?? 0);
};

describe('the password is asked for again', () => {
  test('by every call that makes a right or takes the account, and each of them takes it', () => {
    const asking = Object.entries(calls as Record<string, CallSpec>).filter(
      ([, { confirm }]) => confirm !== 'no',
    );
    expect(asking.map(([name]) => name).sort()).toEqual(
      `deleteAccount genKey updateKey rotateKey totpBegin totpDisable totpEnable totpRecovery
       linkProvider unlinkProvider unbindContact beginPasskey removePasskey exportRecords`
        .split(/\s+/)
        .sort(),
    );
    for (const [name, { access, codes, input }] of asking) {
      expect(access, name).toBe(name === 'exportRecords' ? 'owner' : 'user');
      expect(codes, name).toEqual(expect.arrayContaining(['confirm_needed', 'wrong_password']));
      expect(Object.keys((input as unknown as { shape: object }).shape), name).toContain(
        'password',
      );
    }
  });

  test('a stolen login makes no key; its person does, by typing the password once', async () => {
    await timePasses(person);
    const asked = await person.raw('genKey', { name: '偷来的' });
    expect(asked).toMatchObject({ status: 200, code: 1002, data: { confirm: true } });
    expect(asked.message).toContain('密码');
    expect((await person.raw('genKey', { password: 'wrong-one-1' })).code).toBe(1443);
    expect((await person.call('apiKeys', {})).list).toEqual([]);

    expect((await person.call('genKey', { name: '自己的', password })).full_key).toMatch(/^\d+-/);
    // For a while that is enough.
    await person.call('genKey', { name: '又一个' });
    const { list } = await person.call('apiKeys', {});
    expect(list.map(({ name }) => name).sort()).toEqual(['又一个', '自己的'].sort());
    expect(JSON.stringify(list)).not.toContain(password);
  });

  test('who knows the documents alone signs in again, and goes on', async () => {
    await timePasses(person);
    // To them 1002 is "login required".
    expect((await person.raw('genKey', {})).code).toBe(1002);
    await person.login(account, password);
    await person.call('genKey', {});
  });

  test('what is guessed there counts at the sign-in, in the log and in the metrics', async () => {
    await timePasses(person);
    const before = await failures('confirm');
    for (let at = 0; at < 3; at += 1)
      expect((await person.raw('genKey', { password: `wrong-one-${at}` })).code).toBe(1443);
    expect(await failures('confirm')).toBe(before + 3);
    expect(here.server.log()).toMatch(/"event":"sign_in_failed".*"reason":"confirm"/);
    expect(await enter(password)).toMatchObject({ captcha: true, error: '请输入验证码' });
    const more = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        person.raw('totpBegin', { password: `wrong-two-${at}` }),
      ),
    );
    expect(more.filter(({ code }) => code === 1443)).toHaveLength(7);
    expect(more.filter(({ status }) => status === 429)).toHaveLength(13);
    // What strangers guess does not keep out who is in: theirs is another count.
    expect((await person.raw('userInfo', {})).code).toBe(0);
  });

  test('what a stolen login guesses keeps no other login from changing the password', async () => {
    const other = new TestClient(here.server.baseURL);
    other.token = (await enter(password)).token ?? '';
    const change = (client: TestClient, from: string) =>
      client.raw('changePassword', {
        old_password: from,
        password: 'password-2-new',
        password2: 'password-2-new',
      });
    for (let at = 0; at < 10; at += 1)
      expect((await change(person, `wrong-one-${at}`)).code).toBe(1443);
    expect((await change(person, password)).status).toBe(429);
    expect((await change(other, password)).code).toBe(0);
    // It is out by then.
    expect((await person.raw('userInfo', {})).status).toBe(401);
  });

  test('an account is ended by its password alone, however fresh the sign-in', async () => {
    expect(await person.raw('deleteAccount', {})).toMatchObject({
      code: 1002,
      data: { confirm: true },
    });
    expect((await person.raw('deleteAccount', { password: 'wrong-one-1' })).code).toBe(1443);
    await person.call('deleteAccount', { password });
    expect((await person.raw('userInfo', {})).status).toBe(401);
  });
});

test('failed sign-ins are counted by what was wrong', async () => {
  const before = { password: await failures('password'), account: await failures('account') };
  await enter('wrong-one-1');
  account = 'nobody-at-all';
  await enter('wrong-one-1');
  expect(await failures('password')).toBe(before.password + 1);
  expect(await failures('account')).toBe(before.account + 1);
});

describe('a second factor', () => {
  const switchOn = async () => {
    const { secret } = await person.call('totpBegin', {});
    const code = generateSync({ secret });
    const { recovery_codes: recovery } = await person.call('totpEnable', { code });
    return { code, recovery };
  };

  test('is for everybody: a code or one of ten recovery codes, each once, kept as hashes', async () => {
    expect(await person.call('totpState', {})).toEqual({ enabled: false, recovery_left: 0 });
    const { code, recovery } = await switchOn();
    expect(new Set(recovery).size).toBe(10);
    for (const each of recovery) expect(each).toMatch(/^(?:[0-9A-Z]{6}-){3}[0-9A-Z]{6}$/);
    const { rows } = await here.database.query(
      'SELECT f::text AS row FROM second_factors f WHERE user_id = $1',
      [await idOf(person)],
    );
    for (const each of recovery) {
      expect(rows[0].row).not.toContain(each);
      expect(rows[0].row).not.toContain(each.replaceAll('-', ''));
    }
    expect(await enter(password)).toMatchObject({ totp: true, error: '请输入动态验证码' });
    expect(await enter(password, code)).toMatchObject({ error: '动态验证码不对' });
    expect(
      (await enter(password, recovery[0]!.toLowerCase().replaceAll('-', ' '))).token,
    ).toBeTruthy();
    expect((await enter(password, recovery[0])).token).toBeUndefined();
    expect(await person.call('totpState', {})).toEqual({ enabled: true, recovery_left: 9 });

    // An open device alone gives nobody codes that would switch it off.
    expect((await person.raw('totpRecovery', { code: '000000' })).code).toBe(1444);
    expect((await person.raw('totpRecovery', { code: recovery[0]! })).code).toBe(1444);
    const { recovery_codes: fresh } = await person.call('totpRecovery', { code: recovery[3]! });
    expect(fresh).toHaveLength(10);
    expect((await enter(password, recovery[1])).token).toBeUndefined();
    expect((await enter(password, fresh[0])).token).toBeTruthy();

    expect((await person.raw('totpBegin', {})).code).toBe(1445);
    expect((await person.raw('totpDisable', { code: recovery[2]! })).code).toBe(1444);
    await person.call('totpDisable', { code: fresh[1]! });
    expect((await enter(password)).token).toBeTruthy();
    expect((await person.raw('totpRecovery', { code: fresh[2]! })).code).toBe(1445);
  });

  test('is neither switched nor given new codes without the password', async () => {
    const { recovery } = await switchOn();
    await timePasses(person);
    for (const [name, input] of [
      ['totpBegin', {}],
      ['totpDisable', { code: recovery[0] }],
      ['totpRecovery', { code: recovery[1] }],
    ] as const)
      expect((await person.raw(name, input)).code, name).toBe(1002);
    expect(await person.call('totpState', {})).toEqual({ enabled: true, recovery_left: 10 });
    await person.call('totpDisable', { code: recovery[0]!, password });
  });

  test('is not guessed: ten wrong codes in a quarter of an hour, from however many addresses', async () => {
    await switchOn();
    const tries = await Promise.all(
      Array.from({ length: 25 }, async (_, at) => {
        const { data, status } = await new TestClient(here.server.baseURL).raw<{ error?: string }>(
          'login',
          { account, password, totp: String(100_000 + at) },
          { 'x-forwarded-for': `203.0.113.${at}` },
        );
        return status === 429 ? 'limited' : data?.error;
      }),
    );
    const wrong = tries.filter((each) => each === '动态验证码不对').length;
    expect(wrong).toBeGreaterThan(0);
    expect(wrong).toBeLessThanOrEqual(10);
    // Who switches it off guesses no more often.
    const offs = await Promise.all(
      Array.from({ length: 15 }, (_, at) =>
        person.raw('totpDisable', { code: String(200_000 + at) }),
      ),
    );
    expect(offs.filter(({ code }) => code === 1444)).toHaveLength(10);
    expect(offs.filter(({ status }) => status === 429)).toHaveLength(5);
  });

  test('is not guessed in a day, and whoever guesses keeps its owner out of nothing', async () => {
    const known = await enter(password);
    const { recovery } = await switchOn();
    // A quarter of an hour passes after each try.
    const later = () =>
      here.database.query(
        `DELETE FROM rate_limits WHERE key LIKE 'login-%' OR key LIKE 'password-proof%'`,
      );
    const answers = [];
    for (let at = 0; at < 32; at += 1) {
      await later();
      answers.push(await enter(password, String(400_000 + at)));
    }
    expect(answers.filter(({ error }) => error === '动态验证码不对')).toHaveLength(30);
    expect(answers.slice(30).map(({ status }) => status)).toEqual([429, 429]);
    // From a place of its own it is compared, and a recovery code opens from anywhere.
    const own = await new TestClient(here.server.baseURL).raw<{ error?: string }>('login', {
      account,
      password,
      totp: '400099',
      device: known.device,
    });
    expect(own.data.error).toBe('动态验证码不对');
    expect((await enter(password, recovery[0])).token).toBeTruthy();
  });

  test('is not guessed from many logins that were made before it was switched on', async () => {
    const logins: TestClient[] = [];
    for (let at = 0; at < 8; at += 1) {
      const client = new TestClient(here.server.baseURL);
      client.token = (await enter(password)).token ?? '';
      logins.push(client);
    }
    await switchOn();
    const answers = [];
    for (const [at, client] of logins.entries())
      for (let tries = 0; tries < 9; tries += 1)
        answers.push(await client.raw('totpDisable', { code: String(300_000 + at * 10 + tries) }));
    expect(answers.filter(({ code }) => code === 1444)).toHaveLength(60);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(12);
  });

  test('opens for a recovery code when the key that sealed its secret is gone', async () => {
    const { code, recovery } = await switchOn();
    await here.database.query(
      `UPDATE second_factors SET secret = '\\x00'::bytea || secret WHERE user_id = $1`,
      [await idOf(person)],
    );
    expect(await enter(password, code)).toMatchObject({ status: 200, error: '动态验证码不对' });
    expect((await enter(password, recovery[0])).token).toBeTruthy();
  });
});

describe('a login', () => {
  const age = (client: TestClient, days: number) =>
    idOf(client).then((id) =>
      here.database.query(
        `UPDATE logins SET created_at = now() - make_interval(days => $2),
           expires_at = now() + interval '20 days' WHERE user_id = $1`,
        [id, days],
      ),
    );

  test('ends at its age however often it is used, and its person is told so', async () => {
    await age(person, 89);
    expect((await person.raw('userInfo', {})).code).toBe(0);
    await age(person, 91);
    const ended = await person.raw('userInfo', {});
    expect(ended).toMatchObject({ status: 401, code: 401 });
    expect(ended.message).toBe('这次登录已满 90 天，为了安全，请重新登录');
    // Where nobody need be signed in, they are nobody.
    expect((await person.raw('authCheck', {})).data).toEqual({ admin: false, owner: false });
    person.token = (await enter(password)).token ?? '';
    expect((await person.call('deviceList', {})).list).toHaveLength(1);
  });

  test('of a guest, who has no password to come back with, goes on', async () => {
    const guest = new TestClient(here.server.baseURL);
    await guest.ask('你好，请问你是谁');
    await age(guest, 400);
    expect((await guest.raw('userInfo', {})).code).toBe(0);
  });

  test('that was ended is not said to be old', async () => {
    await age(person, 91);
    await here.database.query('UPDATE logins SET revoked_at = now() WHERE revoked_at IS NULL');
    expect((await person.raw('userInfo', {})).message).toBe('登录已失效，请重新登录');
    // A call that visitors make, too, says the same of what is one's own.
    expect(await person.raw('sessionList', { channel: 'private' })).toMatchObject({
      code: 401,
      message: '登录已失效，请重新登录',
    });
  });
});

test('a new secret that is asked for while another is confirmed locks nobody out', async () => {
  for (let at = 0; at < 12; at += 1) {
    const client = await TestClient.register(here.server.baseURL);
    const { secret } = await client.call('totpBegin', {});
    const code = generateSync({ secret });
    const [, enabled] = await Promise.all([
      client.raw('totpBegin', {}),
      client.raw('totpEnable', { code }),
      client.raw('totpBegin', {}),
    ]);
    // Whoever is told that it is on has the codes that open it; whoever is not, has none that bars them.
    const state = await client.call('totpState', {});
    expect(state).toEqual(
      enabled.code === 0
        ? { enabled: true, recovery_left: 10 }
        : { enabled: false, recovery_left: 0 },
    );
  }
});
