import { generateSync } from 'otplib';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ContactKind } from '#contract/sign-in.ts';
import { signAliyun } from '#server/areas/contact/sms.ts';
import { TestClient } from '../support/client.ts';
import { startFakeMail } from '../support/fake-mail.ts';
import { startFakeSms } from '../support/fake-sms.ts';
import { ADMIN_PASSWORD } from '../support/server.ts';
import { stage } from '../support/stage.ts';

const here = stage({ env: { TRUST_PROXY: 'loopback', CREDENTIALS_LIMIT: '100000' } });
let mail: Awaited<ReturnType<typeof startFakeMail>>;
let sms: Awaited<ReturnType<typeof startFakeSms>>;
let owner: TestClient;
beforeAll(async () => {
  mail = await startFakeMail();
  sms = await startFakeSms();
  owner = new TestClient(here.server.baseURL);
  await owner.login('admin', ADMIN_PASSWORD);
});
afterAll(async () => {
  await mail.close();
  await sms.close();
});

const password = 'password-1';
let count = 0;
let account = '';
let person: TestClient;
beforeEach(async () => {
  count += 1;
  account = `coded-${count}`;
  person = await TestClient.register(here.server.baseURL, account);
});

const idOf = async (client: TestClient): Promise<number> => (await client.call('userInfo', {})).id;

let networks = 0;
/** As if from a network of its own. */
const elsewhere = () => {
  networks += 1;
  return { 'x-forwarded-for': `203.${networks >> 8}.${networks & 255}.7` };
};

/** A captcha, read where only the server reads it. */
const captcha = async () => {
  const { captchaid } = await person.call('captcha', {});
  const { rows } = await here.database.query<{ answer: string }>(
    'SELECT answer FROM captchas WHERE id = $1',
    [captchaid],
  );
  return { captchaid, captcha: rows[0]!.answer };
};

const sent = (kind: ContactKind, to: string): string[] =>
  kind === 'mail'
    ? mail.letters
        .filter((letter) => letter.to.includes(to))
        .flatMap(({ text }) => /验证码是 (\d{6})/.exec(text)?.[1] ?? [])
    : sms.messages.filter(({ phone }) => phone.endsWith(to)).map(({ code }) => code);

/** The next code that comes to an address once this is done. */
const nextCode = async (kind: ContactKind, to: string, act: () => Promise<unknown>) => {
  const before = sent(kind, to).length;
  await act();
  await expect.poll(() => sent(kind, to).length, { timeout: 10_000 }).toBe(before + 1);
  return sent(kind, to).at(-1)!;
};

/** As if a minute had passed: what was asked for before does not stand for what is asked for now. */
const aMinuteLater = () =>
  here.database.query(`UPDATE contact_codes SET sent_at = sent_at - interval '1 minute'`);

const askToBind = async (client: TestClient, kind: ContactKind, to: string, old: 0 | 1 = 0) => {
  let id = '';
  await aMinuteLater();
  const code = await nextCode(kind, to, async () => {
    const asked = await client.call(
      'sendBindCode',
      { kind, to: old === 1 ? '' : to, old, ...(await captcha()) },
      elsewhere(),
    );
    id = asked.code_id ?? '';
    expect(asked.error).toBeUndefined();
  });
  return { id, code };
};
const bind = async (client: TestClient, kind: ContactKind, to: string) => {
  const { id, code } = await askToBind(client, kind, to);
  return client.call('bindContact', { kind, to, code_id: id, code });
};
const ask = async (
  kind: ContactKind,
  to: string,
  purpose: 'sign_in' | 'reset',
  from: Record<string, string> = elsewhere(),
  { devices = '', soon = false } = {},
) => {
  const visitor = new TestClient(here.server.baseURL);
  if (!soon) await aMinuteLater();
  return visitor.raw<{ error?: string; captcha?: boolean; code_id?: string }>(
    'sendSignInCode',
    { kind, to, purpose, devices, ...(await captcha()) },
    from,
  );
};
const address = () => `magpie${count}@example.com`;
const phone = () => `1380013${String(count).padStart(4, '0')}`;

describe('with everything off', () => {
  test('nothing is offered, sent or bound', async () => {
    expect(await person.call('signInWays', {})).toEqual({
      mail: false,
      phone: false,
      passkeys: false,
      providers: [],
    });
    expect((await ask('mail', address(), 'sign_in')).data.error).toContain('没有打开');
    expect((await person.raw('sendBindCode', { kind: 'phone', to: phone() })).code).toBe(1446);
    expect((await owner.raw('saveSignIn', { mail_enabled: 1 })).message).toContain('smtp_host');
    expect((await owner.raw('saveSignIn', { phone_to_write: 1 })).message).toContain('短信');
  });

  test('signs as the public documents of 阿里云 have it', () => {
    // The example of "V3版本请求体&签名机制".
    const { headers } = signAliyun(
      { keyId: 'YourAccessKeyId', secret: 'YourAccessKeySecret' },
      {
        endpoint: 'https://ecs.cn-shanghai.aliyuncs.com',
        action: 'RunInstances',
        version: '2014-05-26',
        query: {
          ImageId: 'win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd',
          RegionId: 'cn-shanghai',
        },
      },
      new Date('2023-10-26T10:22:32Z'),
      '3156853299f313e23d1673dc12e1703d',
    );
    expect(headers['authorization']).toContain(
      'Signature=06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0',
    );
  });
});

describe.each(['mail', 'aliyun', 'tencent'] as const)('codes by %s', (service) => {
  const kind: ContactKind = service === 'mail' ? 'mail' : 'phone';
  const own = () => (kind === 'mail' ? address() : phone());
  beforeAll(async () => {
    const saved = await owner.call(
      'saveSignIn',
      service === 'mail' ? mail.settings : sms.settings(service),
    );
    expect(JSON.stringify(saved)).not.toMatch(/smtp-password|sms-secret/);
  });

  test('who signs in by a code while the password is set anew does not stay in', async () => {
    await bind(person, kind, own());
    const codeFor = async (purpose: 'sign_in' | 'reset') => {
      let id = '';
      const code = await nextCode(kind, own(), async () => {
        id = (await ask(kind, own(), purpose)).data.code_id ?? '';
      });
      return { kind, to: own(), code_id: id, code };
    };
    const [entry, reset] = [await codeFor('sign_in'), await codeFor('reset')];
    const visitor = new TestClient(here.server.baseURL);
    await visitor.call('newSession', { type: 0 });
    const holder = new pg.Client({ connectionString: here.server.databaseUrl });
    await holder.connect();
    try {
      const waiting = (count: number) =>
        expect
          .poll(
            async () =>
              (
                await here.database.query(`SELECT pid FROM pg_stat_activity
                  WHERE datname = current_database() AND wait_event_type = 'Lock'`)
              ).rows.length,
          )
          .toBe(count);
      // Whoever comes in has used the code up, and waits for what a guest's sessions are taken over by.
      await holder.query('BEGIN');
      await holder.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [await idOf(visitor)]);
      const entering = visitor.raw<{ token?: string }>('signInByCode', entry);
      await waiting(1);
      const resetting = new TestClient(here.server.baseURL).call('resetForgotten', {
        ...reset,
        password: 'brand-new-9',
        password2: 'brand-new-9',
      });
      await waiting(2);
      await holder.query('COMMIT');
      const { data } = await entering;
      expect(await resetting).toEqual({ account });
      const late = new TestClient(here.server.baseURL, data.token ?? 'none');
      expect((await late.raw('userInfo', {})).status).toBe(401);
    } finally {
      await holder.end();
    }
  });

  test('bind an address, sign in with it, and set a forgotten password', async () => {
    const tried = await owner.call('trySending', { kind, to: own() });
    expect(tried).toEqual({ ok: true, said: '已经交给服务' });
    await person.call('genKey', { name: '程序', password });
    const { shown } = await bind(person, kind, own());
    expect(shown).toContain('***');
    const means = await person.call('signInMeans', {});
    expect(means.contacts).toMatchObject([{ kind, shown }]);
    expect(JSON.stringify(means)).not.toContain(own());

    // One way of writing it is as good as another.
    const written = kind === 'mail' ? ` ${own().toUpperCase()}` : `+86 ${own()}`;
    let id = '';
    const code = await nextCode(kind, own(), async () => {
      id = (await ask(kind, written, 'sign_in')).data.code_id ?? '';
    });
    const { rows } = await here.database.query<{ row: string }>(
      'SELECT c::text AS row FROM contact_codes c WHERE id = $1',
      [id],
    );
    expect(rows[0]?.row).not.toMatch(new RegExp(`${code}|${own()}`));
    const visitor = new TestClient(here.server.baseURL);
    await visitor.call('newSession', { type: 0 });
    const given = { kind, to: own(), code_id: id, code };
    // It is for signing in, for this address, and once.
    const other = { ...given, password: 'brand-new-9', password2: 'brand-new-9' };
    expect((await visitor.call('resetForgotten', other)).error).toContain('验证码不对');
    const entered = await visitor.call('signInByCode', given);
    expect(entered.profile?.account).toBe(account);
    expect((await visitor.call('signInByCode', given)).error).toContain('验证码不对');

    const reset = await nextCode(kind, own(), async () => {
      id = (await ask(kind, own(), 'reset')).data.code_id ?? '';
    });
    const fresh = { kind, to: own(), code_id: id, code: reset };
    const { id: userId } = await person.call('userInfo', {});
    await here.database.query(
      `INSERT INTO passkeys (user_id, credential_id, public_key, counter, transports, host, name)
       VALUES ($1, $2, '\\x00', 0, '{}', 'localhost', '别人的')`,
      [userId, `key-${userId}`],
    );
    const done = await visitor.call('resetForgotten', {
      ...fresh,
      password: 'brand-new-9',
      password2: 'brand-new-9',
    });
    expect(done).toEqual({ account });
    // All logins have ended, this one too; the old password is none.
    expect((await person.raw('userInfo', {})).status).toBe(401);
    const again = new TestClient(here.server.baseURL);
    await again.login(account, 'brand-new-9');
    expect((await again.call('apiKeys', {})).list).toEqual([]);
    expect((await again.call('signInMeans', {})).passkeys).toEqual([]);
    const kinds = (await again.call('signInMeans', {})).events.map((event) => [
      event.kind,
      event.way,
    ]);
    expect(kinds).toEqual([
      ['sign_in', 'password'],
      ['reset', kind],
      ['sign_in', kind],
      ['bind', kind],
      ['sign_in', 'register'],
    ]);
    if (kind === 'mail')
      await expect
        .poll(() => mail.letters.filter(({ to }) => to.includes(own())).at(-1)?.subject)
        .toContain('密码已重置');
  });

  test('what was bound lately by whoever knew the old password ends with it', async () => {
    const [other, foreign] =
      kind === 'mail' ? (['phone', phone()] as const) : (['mail', address()] as const);
    const { id: userId } = await person.call('userInfo', {});
    const { rows } = await here.database.query<{ id: string }>(
      `INSERT INTO sign_in_providers (kind, name, client_id) VALUES ('oidc', '别处', 'x') RETURNING id`,
    );
    const put = (at: string) =>
      here.database.query(
        `WITH a AS (INSERT INTO contacts (user_id, kind, value, created_at)
           VALUES ($1, $2, $3, now() - $4::interval))
         INSERT INTO identities (user_id, provider_id, issuer, subject, created_at)
         VALUES ($1, $5, 'https://id.example', $6, now() - $4::interval)`,
        [userId, other, foreign, at, rows[0]?.id, `subject-${userId}`],
      );
    const kept = () =>
      here.database
        .query<{ way: string }>(
          `SELECT kind AS way FROM contacts WHERE user_id = $1
           UNION ALL SELECT 'identity' FROM identities WHERE user_id = $1 ORDER BY 1`,
          [userId],
        )
        .then(({ rows: all }) => all.map(({ way }) => way));
    let passwords = 0;
    const reset = async () => {
      passwords += 1;
      let id = '';
      const code = await nextCode(kind, own(), async () => {
        id = (await ask(kind, own(), 'reset')).data.code_id ?? '';
      });
      const fresh = `brand-new-${passwords}`;
      person.token = '';
      const given = { kind, to: own(), code_id: id, code, password: fresh, password2: fresh };
      return new TestClient(here.server.baseURL).call('resetForgotten', given);
    };
    const bindOwn = (at: string) =>
      here.database.query(
        `INSERT INTO contacts (user_id, kind, value, created_at)
         VALUES ($1, $2, $3, now() - $4::interval)`,
        [userId, kind, own(), at],
      );
    await bindOwn('20 days');
    // What was there before the address that vouches, or for long, stays.
    await put('25 days');
    expect(await reset()).toEqual({ account });
    await here.database.query(
      `WITH a AS (UPDATE contacts SET created_at = now() - interval '60 days' WHERE kind = $2 AND user_id = $1),
         b AS (UPDATE contacts SET created_at = now() - interval '90 days' WHERE kind <> $2 AND user_id = $1)
       UPDATE identities SET created_at = now() - interval '31 days' WHERE user_id = $1`,
      [userId, other],
    );
    expect(await reset()).toEqual({ account });
    expect(await kept()).toEqual(['identity', 'mail', 'phone']);
    await here.database.query(
      `WITH a AS (DELETE FROM contacts WHERE kind = $2 AND user_id = $1)
       DELETE FROM identities WHERE user_id = $1`,
      [userId, other],
    );
    await put('2 days');
    expect((await reset()).unbound).toEqual([
      expect.stringContaining('***'),
      expect.stringContaining('别处'),
    ]);
    expect(await kept()).toEqual([kind]);
    await person.login(account, `brand-new-${passwords}`);
    const { events } = await person.call('signInMeans', {});
    expect(events.slice(1, 4).map(({ kind: what, way }) => `${what} ${way}`)).toEqual([
      'unlink provider',
      `unbind ${other}`,
      `reset ${kind}`,
    ]);
    // A manager who sets it vouches for no address.
    await put('2 days');
    await owner.call('resetPassword', { user_id: userId, password: 'by-a-manager-1' });
    expect(await kept()).toEqual([kind]);
    await here.database.query('DELETE FROM sign_in_providers WHERE id = $1', [rows[0]?.id]);
  });

  test('a second factor is asked for all the same, by every way', async () => {
    await bind(person, kind, own());
    const { secret } = await person.call('totpBegin', { password });
    const [recovery = ''] = (await person.call('totpEnable', { code: generateSync({ secret }) }))
      .recovery_codes;
    const visitor = new TestClient(here.server.baseURL);
    let id = '';
    const code = await nextCode(kind, own(), async () => {
      id = (await ask(kind, own(), 'sign_in')).data.code_id ?? '';
    });
    const given = { kind, to: own(), code_id: id, code };
    expect(await visitor.call('signInByCode', given)).toEqual({
      error: '请输入动态验证码',
      totp: true,
    });
    expect(
      (await visitor.call('signInByCode', { ...given, totp: '000000' })).token,
    ).toBeUndefined();
    expect((await visitor.call('signInByCode', { ...given, totp: recovery })).token).toBeTruthy();

    const reset = await nextCode(kind, own(), async () => {
      id = (await ask(kind, own(), 'reset')).data.code_id ?? '';
    });
    const fresh = { kind, to: own(), code_id: id, code: reset };
    const passwords = { password: 'brand-new-9', password2: 'brand-new-9' };
    expect(await visitor.call('resetForgotten', { ...fresh, ...passwords })).toMatchObject({
      totp: true,
    });
    await person.login(account, password).then(
      () => expect.fail('no second factor was asked for'),
      () => undefined,
    );
  });

  test('nobody learns whether an address is bound, nor guesses a code', async () => {
    await bind(person, kind, own());
    const stranger = kind === 'mail' ? `nobody${count}@example.com` : `1390099${1000 + count}`;
    const [known, unknown] = [
      await ask(kind, own(), 'sign_in'),
      await ask(kind, stranger, 'sign_in'),
    ];
    expect(Object.keys(unknown.data)).toEqual(Object.keys(known.data));
    expect(unknown.data.code_id).toHaveLength(known.data.code_id!.length);
    await expect.poll(() => sent(kind, own()).length).toBeGreaterThan(1);
    expect(sent(kind, stranger)).toEqual([]);
    const right = sent(kind, own()).at(-1)!;
    const visitor = new TestClient(here.server.baseURL);
    const wrong = Array.from({ length: 5 }, (_, at) =>
      visitor.call('signInByCode', {
        kind,
        to: own(),
        code_id: known.data.code_id!,
        code: String((Number(right) + at + 1) % 1_000_000).padStart(6, '0'),
      }),
    );
    for (const { token } of await Promise.all(wrong)) expect(token).toBeUndefined();
    // The five are used up: the right one is too late.
    const late = { kind, to: own(), code_id: known.data.code_id!, code: right };
    expect((await visitor.call('signInByCode', late)).error).toContain('验证码不对');

    // Old ones are none.
    let id = '';
    const code = await nextCode(kind, own(), async () => {
      id = (await ask(kind, own(), 'sign_in')).data.code_id ?? '';
    });
    await here.database.query(
      `UPDATE contact_codes SET expires_at = now() - interval '1 second' WHERE id = $1`,
      [id],
    );
    const old = { kind, to: own(), code_id: id, code };
    expect((await visitor.call('signInByCode', old)).token).toBeUndefined();
    // Without a picture read nothing is sent.
    const before = sent(kind, own()).length;
    const bare = await visitor.call('sendSignInCode', { kind, to: own(), purpose: 'sign_in' });
    expect(bare).toMatchObject({ captcha: true, error: '请输入验证码' });
    expect(sent(kind, own()).length).toBe(before);
  });

  test('what is another person’s is not taken, and a change needs the old address or the password', async () => {
    await bind(person, kind, own());
    const other = await TestClient.register(here.server.baseURL);
    const { id, code } = await askToBind(other, kind, own());
    const taken = await other.raw('bindContact', { kind, to: own(), code_id: id, code });
    expect(taken).toMatchObject({ code: 1446 });
    expect(taken.message).toContain('别的账号');
    // A code that another asked for is worth nothing to this one.
    const mine = await askToBind(person, kind, own());
    const stolen = { kind, to: own(), code_id: mine.id, code: mine.code };
    expect((await other.raw('bindContact', stolen)).code).toBe(1446);

    const next = kind === 'mail' ? `next${count}@example.com` : `1370013${1000 + count}`;
    const fresh = await askToBind(person, kind, next);
    const change = { kind, to: next, code_id: fresh.id, code: fresh.code };
    // A login of just now is not enough to change one.
    expect(await person.raw('bindContact', change)).toMatchObject({ data: { confirm: true } });
    const old = await askToBind(person, kind, own(), 1);
    const by = { old_code_id: old.id, old_code: old.code };
    expect((await person.raw('bindContact', { ...change, ...by, old_code: '1' })).code).toBe(1446);
    const { shown } = await person.call('bindContact', { ...change, ...by });
    expect(shown).not.toContain(next);
    // Codes that went to the old address sign nobody in.
    expect((await ask(kind, own(), 'sign_in')).data.code_id).toBeTruthy();
    const back = await askToBind(person, kind, own());
    await person.call('bindContact', {
      kind,
      to: own(),
      code_id: back.id,
      code: back.code,
      password,
    });
    await person.call('unbindContact', { kind, password });
    expect((await person.call('signInMeans', {})).contacts).toEqual([]);
  });

  test('nobody fills an inbox or empties a purse', async () => {
    const value = own();
    await bind(person, kind, value);
    const from = elsewhere();
    const answers = [];
    for (let at = 0; at < 6; at += 1)
      answers.push((await ask(kind, value, 'sign_in', from)).status);
    expect(answers).toEqual([200, 200, 200, 200, 429, 429]);
    // From elsewhere somebody still gets one, until there were a dozen of all.
    const many = [];
    for (let at = 0; at < 12; at += 1) many.push((await ask(kind, value, 'sign_in')).status);
    expect(many.slice(0, 5)).toEqual([200, 200, 200, 200, 200]);
    expect(many.at(-1)).toBe(429);
    // One address asks for other people's, too.
    const busy = elsewhere();
    const spread = [];
    for (let at = 0; at < 22; at += 1) {
      const to =
        kind === 'mail' ? `s${count}-${at}@example.com` : `1350${count % 10}00${1000 + at}`;
      spread.push((await ask(kind, to, 'sign_in', busy)).status);
    }
    expect(spread.filter((status) => status === 429)).toHaveLength(2);
    // All of a day together.
    const top = kind === 'mail' ? 'mail_daily' : 'sms_daily';
    const second = kind === 'mail' ? `day${count}@example.com` : `1360013${1000 + count}`;
    await owner.call('saveSignIn', { [top]: 1 });
    const other = await TestClient.register(here.server.baseURL);
    const before = sent(kind, second).length;
    await other.call('sendBindCode', { kind, to: second, ...(await captcha()) }, elsewhere());
    await expect.poll(() => here.server.log()).toContain('"event":"codes_of_day_used_up"');
    expect(sent(kind, second).length).toBe(before);
    await owner.call('saveSignIn', { [top]: 100_000 });
  });

  test('strangers use up no code of the person whose address it is', async () => {
    const value = own();
    await bind(person, kind, value);
    const home = elsewhere();
    const { device = '' } = await person.call('login', { account, password }, home);
    // With the one that bound it there were a dozen.
    const strangers = [];
    for (let at = 0; at < 24; at += 1) strangers.push((await ask(kind, value, 'reset')).status);
    expect(strangers.filter((status) => status === 200)).toHaveLength(11);
    // Of the day, too.
    await here.database.query(
      `UPDATE rate_limits SET points = 100 WHERE key LIKE 'codes-day:value %'
         AND key NOT LIKE '% own'`,
    );
    const asks = async (from: Record<string, string>, devices = '') => {
      const statuses = [];
      for (let at = 0; at < 5; at += 1)
        statuses.push((await ask(kind, value, 'sign_in', from, { devices })).status);
      return statuses;
    };
    expect(await asks(elsewhere())).toEqual([429, 429, 429, 429, 429]);
    // On a device that the account was used on before, anywhere; on a new one from a network of before.
    expect(await asks(elsewhere(), device)).toEqual([200, 200, 200, 200, 429]);
    expect(await asks(home)).toEqual([200, 200, 200, 200, 429]);
  });

  test('a code that is asked for twice within a minute is sent once, and is good for both', async () => {
    const value = own();
    await bind(person, kind, value);
    let first = '';
    const code = await nextCode(kind, value, async () => {
      first = (await ask(kind, value, 'sign_in')).data.code_id ?? '';
    });
    const before = sent(kind, value).length;
    const soon = { soon: true };
    const again = (await ask(kind, value, 'sign_in', elsewhere(), soon)).data.code_id ?? '';
    expect(again).not.toBe(first);
    const visitor = new TestClient(here.server.baseURL);
    const wrong = code === '000000' ? '000001' : '000000';
    const given = (code_id: string, tried = code) => ({ kind, to: value, code_id, code: tried });
    // Whoever asked before does not use up the tries of the next one.
    for (let at = 0; at < 5; at += 1)
      await visitor.call('signInByCode', given(first, wrong), elsewhere());
    expect((await visitor.call('signInByCode', given(first))).token).toBeUndefined();
    expect((await visitor.call('signInByCode', given(again))).token).toBeTruthy();
    // Once it is used there is a new one, and another purpose has its own.
    await nextCode(kind, value, async () => {
      const third = (await ask(kind, value, 'sign_in', elsewhere(), soon)).data.code_id ?? '';
      expect((await visitor.call('signInByCode', given(third))).token).toBeUndefined();
    });
    await nextCode(kind, value, () => ask(kind, value, 'reset', elsewhere(), soon));
    expect(sent(kind, value)).toHaveLength(before + 2);
  });

  test('whoever names strangers’ addresses keeps nobody from signing in', async () => {
    const value = own();
    await bind(person, kind, value);
    const top = kind === 'mail' ? 'mail_daily' : 'sms_daily';
    const { rows } = await here.database.query<{ key: string; points: number }>(
      `SELECT key, points FROM rate_limits WHERE key LIKE 'codes-day:strange all ${kind} %'`,
    );
    const strange = rows[0]?.points ?? 0;
    // Half of them is what strangers have had already.
    await owner.call('saveSignIn', { [top]: 2 * strange });
    await here.database.query(
      `UPDATE rate_limits SET points = $1 WHERE key LIKE 'codes-day:all ${kind} %'`,
      [strange],
    );
    const another = await TestClient.register(here.server.baseURL);
    const to = kind === 'mail' ? `far${count}@example.com` : `1370013${1000 + count}`;
    await another.call('sendBindCode', { kind, to, ...(await captcha()) }, elsewhere());
    // Nor does what a stranger asks for at an address that somebody has.
    expect((await ask(kind, value, 'sign_in')).data.code_id).toBeTruthy();
    const { device = '' } = await person.call('login', { account, password });
    // Though that one was not sent, the next one is.
    const known = { devices: `x.y ${device}`, soon: true };
    const code = await nextCode(kind, value, () => ask(kind, value, 'sign_in', elsewhere(), known));
    expect(code).toMatch(/^\d{6}$/);
    expect(sent(kind, to)).toEqual([]);
    expect(sent(kind, value)).toHaveLength(2);
    await owner.call('saveSignIn', { [top]: 100_000 });
  });
});

describe('a phone number before writing in public', () => {
  beforeAll(async () => {
    await owner.call('saveSignIn', { ...sms.settings('aliyun'), phone_to_write: 1 });
  });
  afterAll(() => owner.call('saveSignIn', { phone_to_write: 0 }));

  test('is asked for where others read it, and nowhere else', async () => {
    const other = await TestClient.register(here.server.baseURL);
    await person.ask('一加一等于几');
    const refusals = async () => {
      const question = await person.call('newSession', { type: 2 });
      const friend = await person.call('newFriend', { friend_user_id: await idOf(other) });
      const { uuid } = await person.call('newSession', { type: 1 });
      const post = { msg: '内容', title: '紫藤几月开', session_id: question.uuid };
      const [app] = (await person.call('appList', {})).list;
      return [
        (await person.raw('sendMessage', post)).code,
        (await person.raw('sendMessage', { session_id: friend.uuid, msg: '你好' })).code,
        (await person.raw('setSession', { session_id: uuid, private: 0 })).code,
        (
          await person.raw('saveScenario', {
            name: '改写',
            prompt: '请改写：{{input}}',
            category: 1,
            publish: 1,
          })
        ).code,
        ...(app
          ? [
              (
                await person.raw('sendAppComment', {
                  app_id: app.id,
                  comment_content: '好用',
                  rating: 5,
                })
              ).code,
            ]
          : []),
      ];
    };
    const asked = await refusals();
    expect(asked.slice(0, 4)).toEqual([1447, 1447, 1447, 1447]);
    expect(
      (await person.raw('saveScenario', { name: '自用', prompt: '{{input}}', category: 1 })).code,
    ).toBe(0);
    // Who chose that all be public has what they make to themselves for now.
    await person.call('saveSettings', { private_global: 0 });
    const { uuid } = await person.call('newSession', { type: 0 });
    expect((await person.call('getSession', { uuid })).private).toBe(1);
    await person.call('saveSettings', { private_global: 1 });

    await bind(person, 'phone', phone());
    expect((await refusals()).slice(0, 4)).toEqual([0, 0, 0, 0]);
    expect((await owner.call('newSession', { type: 2 })).uuid).toBeTruthy();
    const profile = JSON.stringify(
      await owner.call('adminUserInfo', { user_id: await idOf(person) }),
    );
    expect(profile).not.toContain(phone());
  });
});
