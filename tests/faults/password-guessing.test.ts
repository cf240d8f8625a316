import { createHash } from 'node:crypto';
import { solveChallenge } from 'altcha-lib/v1';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { comparesTimes } from '../support/compares-times.ts';
import { TestClient } from '../support/client.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { type RawAnswer, sendRaw } from '../support/world.ts';

let server: TestServer;
let database: pg.Client;
beforeAll(async () => {
  // Believing what the local proxy says lets one machine try from many addresses.
  server = await startServer({ slowPasswords: true, env: { TRUST_PROXY: 'loopback' } });
  database = new pg.Client({ connectionString: server.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await server.stop();
});

let addresses = 0;
/** An address that nobody has used here. */
const freshAddress = (): string => {
  addresses += 1;
  return `198.18.${addresses >> 8}.${addresses & 255}`;
};

const password = 'password-1';
let accounts = 0;
const newAccount = async (): Promise<string> => {
  accounts += 1;
  const account = `victim-${accounts}`;
  await TestClient.register(server.baseURL, account);
  return account;
};

interface SignedIn {
  error?: string;
  captcha?: boolean;
  token?: string;
}

const tryLogin = async (
  account: string,
  secret: string,
  address: string,
  captcha: { captcha?: string; captchaid?: string } = {},
): Promise<RawAnswer & { data: SignedIn }> => {
  const answer = await sendRaw(
    new TestClient(server.baseURL),
    'login',
    { account, password: secret, ...captcha },
    { headers: { 'x-forwarded-for': address } },
  );
  const data: SignedIn = answer.envelope?.data ?? {};
  return { ...answer, data };
};

/** What a person reads off the picture. */
const solvedCaptcha = async () => {
  const { captchaid, svg } = await new TestClient(server.baseURL).call('captcha', {});
  expect(svg).toMatch(/^<svg /);
  const { rows } = await database.query<{ answer: string }>(
    'SELECT answer FROM captchas WHERE id = $1',
    [captchaid],
  );
  return { captchaid, captcha: rows[0]?.answer ?? '' };
};

const wasTried = ({ data }: { data: SignedIn }) => data.error === '用户名或密码不对';

describe('guessing a password', () => {
  test('of one account from one address: three of 200 tries are tried', async () => {
    const account = await newAccount();
    const address = freshAddress();
    const answers: Awaited<ReturnType<typeof tryLogin>>[] = [];
    for (let round = 0; round < 4; round += 1) {
      answers.push(
        ...(await Promise.all(
          Array.from({ length: 50 }, (_, index) =>
            tryLogin(account, `guess-${round}-${index}`, address),
          ),
        )),
      );
    }
    expect(answers).toHaveLength(200);
    expect(answers.filter(wasTried).length).toBeLessThanOrEqual(3);
    for (const answer of answers.slice(50)) {
      if (answer.status === 429)
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      else expect(answer.data).toMatchObject({ captcha: true });
    }
    const right = await tryLogin(account, password, address);
    expect(right.data.token, 'the right password alone is no longer enough').toBeUndefined();
    const solved = await tryLogin(account, password, address, await solvedCaptcha());
    expect(solved.data.token, solved.text).toBeTruthy();
  });

  test('of one account from 60 addresses: three are tried without a captcha', async () => {
    const account = await newAccount();
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => tryLogin(account, `guess-${index}`, freshAddress())),
    );
    expect(answers.filter(wasTried).length).toBeLessThanOrEqual(3);
  });

  test('of many accounts from one address: three are tried without a captcha', async () => {
    const address = freshAddress();
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => tryLogin(`nobody-${index}`, 'guess', address)),
    );
    expect(answers.filter(wasTried).length).toBeLessThanOrEqual(3);
  });

  test('with captchas solved, an address is stopped after thirty', async () => {
    const account = await newAccount();
    const address = freshAddress();
    let tried = 0;
    let stopped: RawAnswer | undefined;
    for (let index = 0; index < 60 && !stopped; index += 1) {
      const answer = await tryLogin(account, `guess-${index}`, address, await solvedCaptcha());
      if (wasTried(answer)) tried += 1;
      if (answer.status === 429) stopped = answer;
    }
    expect(tried).toBe(30);
    expect(stopped?.envelope).toMatchObject({ code: 429, data: null });
    expect(Number(stopped?.headers.get('retry-after'))).toBeGreaterThan(60);
    const elsewhere = await tryLogin(account, password, freshAddress(), await solvedCaptcha());
    expect(elsewhere.data.token, 'its owner comes in from elsewhere').toBeTruthy();
  });

  test('a captcha is good for one try, and a wrong one for none', async () => {
    const account = await newAccount();
    const address = freshAddress();
    for (let index = 0; index < 3; index += 1) await tryLogin(account, 'guess', address);
    const solved = await solvedCaptcha();
    expect(wasTried(await tryLogin(account, 'guess', address, solved))).toBe(true);
    expect(wasTried(await tryLogin(account, 'guess', address, solved))).toBe(false);
    const wrong = { ...(await solvedCaptcha()), captcha: 'xxxx' };
    expect(wasTried(await tryLogin(account, 'guess', address, wrong))).toBe(false);
    const nonsense = { captchaid: "' OR 1=1 --", captcha: 'x' };
    expect(wasTried(await tryLogin(account, 'guess', address, nonsense))).toBe(false);
  });

  test(
    'an account that does not exist answers the same, in the same time',
    comparesTimes,
    async () => {
      const known = await Promise.all(Array.from({ length: 20 }, newAccount));
      const time = async (account: string) => {
        const started = performance.now();
        const answer = await tryLogin(account, 'a wrong one', freshAddress());
        return { ms: performance.now() - started, data: answer.data, status: answer.status };
      };
      const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
      await time('warm-up');
      for (const [index, account] of known.entries()) {
        const a = await time(account);
        const b = await time(`unknown-${index}-${'x'.repeat(index % 5)}`);
        expect(b.data).toEqual(a.data);
        expect(b.status).toBe(a.status);
        times.known.push(a.ms);
        times.unknown.push(b.ms);
      }
      const median = (list: number[]) =>
        list.sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
      const ratio = median(times.unknown) / median(times.known);
      expect(ratio).toBeGreaterThan(0.7);
      expect(ratio).toBeLessThan(1.4);
    },
  );

  test('the limit of one address a minute is there from the start', async () => {
    const strict = await startServer({
      env: { CREDENTIALS_LIMIT: '120' },
    });
    try {
      const client = new TestClient(strict.baseURL);
      const answers = await Promise.all(
        // What is blank is refused unread: nothing else counts such tries.
        Array.from({ length: 200 }, () =>
          sendRaw(client, 'register', { account: '', name: '', password: '', password2: '' }),
        ),
      );
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused).toHaveLength(80);
      for (const answer of refused) {
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
        expect(answer.envelope?.message).toMatch(/频繁/);
      }
    } finally {
      await strict.stop();
    }
  });
});

test('the fourth registration of an address in a day asks for a captcha', async () => {
  const strict = await startServer({ env: { FREE_REGISTRATIONS: '3' } });
  const client = new pg.Client({ connectionString: strict.databaseUrl });
  await client.connect();
  try {
    const register = async (account: string, captcha: object = {}) => {
      const form = { account, name: '某人', password, password2: password, ...captcha };
      const answer = await sendRaw(new TestClient(strict.baseURL), 'register', form);
      return answer.envelope?.data as SignedIn;
    };
    for (const account of ['first', 'second', 'third'])
      expect((await register(account)).token).toBeTruthy();
    expect(await register('fourth')).toEqual({ error: '请输入验证码', captcha: true });
    const { captchaid } = await new TestClient(strict.baseURL).call('captcha', {});
    const { rows } = await client.query<{ answer: string }>(
      'SELECT answer FROM captchas WHERE id = $1',
      [captchaid],
    );
    const solved = { captchaid, captcha: rows[0]?.answer };
    expect((await register('fourth', solved)).token).toBeTruthy();
  } finally {
    await client.end();
    await strict.stop();
  }
});

describe('what is drawn, proven and kept', () => {
  test('the picture holds pixels, not the outlines of letters', async () => {
    const { svg } = await new TestClient(server.baseURL).call('captcha', {});
    expect(svg).not.toContain('<path');
    expect(svg).toContain('data:image/png;base64,');
  });

  test('100 guesses from elsewhere do not refuse the owner’s own device', async () => {
    const account = await newAccount();
    const home = await tryLogin(account, password, freshAddress());
    const { device } = home.data as { device?: string };
    expect(device).toBeTruthy();
    const guess = async () => tryLogin(account, 'guess', freshAddress(), await solvedCaptcha());
    const before = await Promise.all(Array.from({ length: 5 }, guess));
    expect(before.filter(wasTried).length).toBe(5);
    // As many more, but for the last: each would hash a password and draw a captcha.
    const counted = await database.query(
      'UPDATE rate_limits SET points = 99 WHERE key = $1 AND points = 5',
      [`login-account:${createHash('sha256').update(account).digest('base64url')}`],
    );
    expect(counted.rowCount).toBe(1);
    expect(wasTried(await guess())).toBe(true);
    const elsewhere = await tryLogin(account, password, freshAddress(), await solvedCaptcha());
    expect(elsewhere.status).toBe(429);
    const again = await tryLogin(account, password, freshAddress(), { device } as object);
    expect(again.data.token).toBeTruthy();
    // It proves nothing about another account, and is no way to guess without limits.
    const other = await newAccount();
    const stolen = Array.from({ length: 5 }, () =>
      tryLogin(other, 'guess', freshAddress(), { device } as object),
    );
    expect((await Promise.all(stolen)).filter(wasTried).length).toBeLessThanOrEqual(3);
    const own = Array.from({ length: 40 }, () =>
      tryLogin(account, 'guess', freshAddress(), { device } as object),
    );
    expect((await Promise.all(own)).filter(wasTried).length).toBeLessThanOrEqual(3);
  });

  test('a burst of guests and of registrations from one address is stopped, a class of pupils is not', async () => {
    const address = freshAddress();
    const start = () =>
      sendRaw(
        new TestClient(server.baseURL),
        'newSession',
        { type: 0 },
        { headers: { 'x-forwarded-for': address } },
      );
    const answers = [];
    for (let at = 0; at < 80; at += 1) answers.push(await start());
    expect(answers.slice(0, 50).every(({ status }) => status === 200)).toBe(true);
    expect(answers.filter(({ status }) => status === 429).length).toBe(20);
  });

  test('beyond some accounts of a network, or of a provider of IPv6, a captcha is asked for', async () => {
    const strict = await startServer({
      env: { TRUST_PROXY: 'loopback', FREE_REGISTRATIONS: '2', CREDENTIALS_LIMIT: '100000' },
    });
    let number = 0;
    const register = async (from: string): Promise<boolean> => {
      number += 1;
      const form = { name: '某人', password, password2: password, account: `farmed-${number}` };
      const { envelope } = await sendRaw(new TestClient(strict.baseURL), 'register', form, {
        headers: { 'x-forwarded-for': from },
      });
      return (envelope?.data as { token?: string } | undefined)?.token !== undefined;
    };
    const made = async (addresses: string[]): Promise<number> => {
      let count = 0;
      for (const address of addresses) if (await register(address)) count += 1;
      return count;
    };
    const many = (address: (at: number) => string, count: number) =>
      Array.from({ length: count }, (_, at) => address(at));
    try {
      expect(await made(many((at) => `2001:db8:1:${at}::1`, 12))).toBe(6);
      expect(await made(many((at) => `198.51.100.${at + 1}`, 12))).toBe(6);
      expect(await made(many((at) => `2001:db8:${((at + 2) << 8).toString(16)}::1`, 62))).toBe(54);
      expect(await made(['2001:db9::1', '198.51.101.1'])).toBe(2);
    } finally {
      await strict.stop();
    }
  });

  test('with work done beside the captcha more may register from one address', async () => {
    const strict = await startServer({
      env: { TRUST_PROXY: 'loopback', FREE_REGISTRATIONS: '0', CREDENTIALS_LIMIT: '100000' },
    });
    const own = new pg.Client({ connectionString: strict.databaseUrl });
    await own.connect();
    try {
      const address = freshAddress();
      const register = async (at: number, prove: boolean) => {
        const client = new TestClient(strict.baseURL);
        const { captchaid, pow } = await client.call('captcha', {});
        const { rows } = await own.query<{ answer: string }>(
          'SELECT answer FROM captchas WHERE id = $1',
          [captchaid],
        );
        const { algorithm, challenge, maxnumber, salt, signature } = pow;
        const found = prove
          ? await solveChallenge(challenge, salt, algorithm, maxnumber).promise
          : null;
        const solution = { algorithm, challenge, number: found?.number, salt, signature };
        const form = { name: '某人', password, password2: password, captchaid };
        return sendRaw(
          client,
          'register',
          {
            ...form,
            account: `pupil-${at}`,
            captcha: rows[0]?.answer ?? '',
            ...(found ? { pow: btoa(JSON.stringify(solution)) } : {}),
          },
          { headers: { 'x-forwarded-for': address } },
        );
      };
      const plain = [];
      for (let at = 0; at < 22; at += 1) plain.push((await register(at, false)).status);
      expect(plain.filter((status) => status === 429).length).toBe(2);
      const proven = await register(30, true);
      expect(proven.envelope?.data).toMatchObject({ token: expect.any(String) });

      /** How many of so many tries, which have no captcha, are stopped before that is said. */
      const stopped = async (from: string, times: number) => {
        let count = 0;
        for (let at = 0; at < times; at += 1) {
          const { status } = await sendRaw(
            new TestClient(strict.baseURL),
            'register',
            { name: '某人', password, password2: password, account: `burst-${at}` },
            { headers: { 'x-forwarded-for': from } },
          );
          if (status === 429) count += 1;
        }
        return count;
      };
      // Forty of an address in ten minutes, four hundred of its network.
      expect(await stopped('203.0.113.1', 45)).toBe(5);
      expect(await stopped('203.0.113.2', 2)).toBe(0);
      const { rowCount } = await own.query(
        `UPDATE rate_limits SET points = 397 WHERE key = 'burst:registrations 203.0.113.0/24'`,
      );
      expect(rowCount).toBe(1);
      expect(await stopped('203.0.113.3', 5)).toBe(2);
      expect(await stopped('203.0.114.3', 2)).toBe(0);
    } finally {
      await own.end();
      await strict.stop();
    }
  });

  test.each([
    ['管理员', '管理员您好', password],
    ['nobody-1', '系统 通知', password],
    ['r.o.o.t', '某人', password],
    ['nobody-2', '某人', '12345678'],
    ['nobody-3', '某人', 'woaini1314'],
    ['nobody-4567', '某人', 'nobody-4567'],
  ])('%s, %s, %s is refused', async (account, name, secret) => {
    const answer = await new TestClient(server.baseURL).call('register', {
      account,
      name,
      password: secret,
      password2: secret,
    });
    expect(answer.error).toMatch(/保留|太常见/);
  });
});

test('a signed-in device guesses the password ten times at most, by whichever call asks for it', async () => {
  const account = await newAccount();
  const person = new TestClient(server.baseURL);
  await person.login(account, password);
  const change = { password: 'password-22', password2: 'password-22' };
  const from = { headers: { 'x-forwarded-for': freshAddress() } };
  const guess = (at: number) =>
    at % 2 === 0
      ? sendRaw(person, 'changePassword', { ...change, old_password: `wrong-one-${at}` }, from)
      : sendRaw(person, 'deleteAccount', { password: `wrong-one-${at}` }, from);
  const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => guess(at)));
  expect(answers.filter(({ envelope }) => envelope?.code === 1443)).toHaveLength(10);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
});

test('API keys end with the password, unless they are to stay', async () => {
  const account = await newAccount();
  const person = new TestClient(server.baseURL);
  await person.login(account, password);
  const { id } = await person.call('userInfo', {});
  await database.query(
    `INSERT INTO api_keys (user_id, hash, mask) VALUES ($1, sha256('one'), 'one'), ($1, sha256('two'), 'two')`,
    [id],
  );
  const open = async () =>
    (
      await database.query(
        'SELECT FROM api_keys WHERE user_id = $1 AND hash IS NOT NULL AND deleted_at IS NULL',
        [id],
      )
    ).rowCount;
  const change = (from: string, to: string, keep?: 0 | 1) =>
    person.call('changePassword', {
      old_password: from,
      password: to,
      password2: to,
      keep_keys: keep,
    });
  expect(await change(password, 'password-22', 1)).toEqual({ keys_removed: 0 });
  expect(await open()).toBe(2);
  expect(await change('password-22', 'password-33')).toEqual({ keys_removed: 2 });
  expect(await open()).toBe(0);
});

test('each failed sign-in leaves one line, without the password or the account in clear', async () => {
  const account = await newAccount();
  await tryLogin(account, 'the-wrong-secret', freshAddress());
  await tryLogin('nobody-of-ours', 'the-wrong-secret', freshAddress());
  const lines = () =>
    server
      .log()
      .split('\n')
      .filter((line) => line.includes('sign_in_failed'))
      .slice(-2)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  await expect.poll(() => lines().map(({ reason }) => reason)).toEqual(['password', 'account']);
  const [known, unknown] = lines();
  expect(known).toMatchObject({ userId: expect.any(Number), ip: expect.any(String) });
  expect(unknown).toMatchObject({ userId: null });
  expect(server.log()).not.toContain('the-wrong-secret');
  expect(JSON.stringify(lines())).not.toContain(account);
});
