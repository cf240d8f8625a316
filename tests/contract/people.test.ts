import { describe, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { ADMIN_PASSWORD } from '../support/server.ts';
import { stage } from '../support/stage.ts';
import { sendRaw, talk } from '../support/world.ts';

const here = stage();

const password = 'password-1';
const visitor = () => new TestClient(here.server.baseURL);
const sessionsOf = async (client: TestClient) =>
  (await client.call('sessionList', { channel: 'private' })).list.map(({ uuid }) => uuid);

describe('registering', () => {
  test.each([
    [{ account: '' }, '用户名不能为空！'],
    [{ account: '  \u3000' }, '用户名不能为空！'],
    [{ name: '' }, '名称不能为空！'],
    [{ name: '\u200b ' }, '名称不能为空！'],
    [{ password: '' }, '密码不能为空！'],
    [{ password2: '' }, '请再次输入一次密码！'],
    [{ password2: 'password-2' }, '两次输入的密码不一致！'],
    [{ account: 'ab' }, '用户名需要 3 到 32 个字符'],
    [{ account: 'a b c' }, '用户名只能用汉字、字母、数字和 _ . @ -'],
    [{ name: '长'.repeat(33) }, '名称最多 32 个字符'],
    [{ password: '1234567', password2: '1234567' }, '密码至少需要 8 个字符'],
    [{ account: null }, '用户名不能为空！'],
    [{ name: undefined }, '名称不能为空！'],
    [{ password: undefined }, '密码不能为空！'],
    [{ password2: undefined }, '请再次输入一次密码！'],
    [{ account: 'a'.repeat(5000) }, '用户名需要 3 到 32 个字符'],
    [{ name: '长'.repeat(5000) }, '名称最多 32 个字符'],
    [{ password: 'q'.repeat(5000), password2: 'q'.repeat(5000) }, '密码最多 128 个字符'],
  ])('%o is answered %s', async (change, error) => {
    const form = { account: 'someone', name: '某人', password, password2: password, ...change };
    expect(await visitor().raw('register', form)).toMatchObject({ code: 0, data: { error } });
  });

  test('an account is one, whatever its case and width, however many try at once', async () => {
    const spellings = ['Lin.Yi', 'lin.yi', 'LIN.YI', 'ｌｉｎ．ｙｉ', ' lin.yi '];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        visitor().call('register', {
          account: spellings[index % spellings.length] ?? '',
          name: '林一',
          password,
          password2: password,
        }),
      ),
    );
    expect(answers.filter(({ token }) => token)).toHaveLength(1);
    for (const { error } of answers) if (error) expect(error).toBe('这个用户名已被使用，请换一个');
    const { rows } = await here.database.query(`SELECT 1 FROM users WHERE account = 'lin.yi'`);
    expect(rows).toHaveLength(1);
    const again = visitor();
    await again.login('ＬＩＮ.yi', password);
    expect(await again.call('userInfo', {})).toMatchObject({
      account: 'lin.yi',
      user_name: '林一',
      chatgpt_balance: 20_000,
    });
  });
});

describe('signing in', () => {
  test('blank fields and wrong passwords are data.error', async () => {
    expect(await visitor().call('login', { account: ' ', password })).toEqual({
      error: '用户名不能为空！',
    });
    expect(await visitor().call('login', { account: 'x', password: '' })).toEqual({
      error: '密码不能为空！',
    });
    expect(await visitor().call('login', { account: 'admin', password: 'x' })).toEqual({
      error: '用户名或密码不对',
      captcha: false,
    });
    for (const [form, error] of [
      [{}, '用户名不能为空！'],
      [{ account: 'x', password: null }, '密码不能为空！'],
    ] as const)
      expect(await visitor().raw('login', form)).toMatchObject({ code: 0, data: { error } });
  });

  test('the administrator is there from the first start', async () => {
    const admin = visitor();
    const { profile } = await admin.login('admin', ADMIN_PASSWORD);
    expect(profile).toMatchObject({ account: 'admin', admin: true, guest: false });
    expect(await admin.call('authCheck', {})).toEqual({ admin: true, owner: true });
  });

  test('a disabled account is answered 3001 everywhere, and can be enabled again', async () => {
    const client = await TestClient.register(here.server.baseURL, 'banned');
    const own = await talk(client, '你好，请问你是谁');
    await here.database.query(`UPDATE users SET disabled = true WHERE account = 'banned'`);
    for (const [name, input] of [
      ['userInfo', {}],
      ['newSession', { type: 0 }],
      ['sessionList', { channel: 'public' }],
      ['getSession', { uuid: own.uuid }],
      ['sendMessage', { session_id: own.uuid, msg: '还在吗' }],
      ['ticket', {}],
      ['login', { account: 'banned', password }],
    ] as const) {
      const answer = await sendRaw(name === 'login' ? visitor() : client, name, input);
      expect(answer.status, name).toBe(200);
      expect(answer.envelope, name).toMatchObject({ code: 3001 });
    }
    await here.database.query(`UPDATE users SET disabled = false WHERE account = 'banned'`);
    expect((await client.call('userInfo', {})).account).toBe('banned');
  });
});

describe('guests', () => {
  test('the first new session makes one and hands its token back', async () => {
    const guest = visitor();
    const { uuid } = await guest.call('newSession', { type: 0 });
    expect(guest.token).not.toBe('');
    const me = await guest.call('userInfo', {});
    expect(me).toMatchObject({ guest: true, admin: false, account: '', chatgpt_balance: 0 });
    expect(me.user_name).toMatch(/^访客\d{4}$/);
    expect(await guest.call('getSession', { uuid })).toMatchObject({ owner: true });
  });

  test.each(['register', 'login'] as const)('%s takes the guest’s sessions over', async (how) => {
    const account = `from-guest-${how}`;
    if (how === 'login') await TestClient.register(here.server.baseURL, account);
    const guest = visitor();
    const own = await talk(guest, '你好，请问你是谁');
    await guest.call('saveSettings', { temperature: 3 });
    const guestToken = guest.token;
    const form = { account, name: '曾是访客', password, password2: password };
    const data = await guest.call(how, how === 'login' ? { account, password } : form);
    guest.token = data.token ?? '';
    expect(await sessionsOf(guest)).toContain(own.uuid);
    const detail = await guest.call('getSession', { uuid: own.uuid });
    expect(detail).toMatchObject({ owner: true, user_id: data.profile?.id });
    if (how === 'register') {
      expect(JSON.parse(data.profile?.setting ?? '{}')).toEqual({ temperature: 3 });
    }
    const late = await sendRaw(new TestClient(here.server.baseURL, guestToken), 'userInfo', {});
    expect(late.status, 'the guest is no more').toBe(401);
  });

  test('signing in from an account leaves that account’s sessions where they are', async () => {
    const first = await TestClient.register(here.server.baseURL, 'first-account');
    const own = await talk(first, '你好，请问你是谁');
    await TestClient.register(here.server.baseURL, 'second-account');
    const { token } = await first.call('login', { account: 'second-account', password });
    expect(await sessionsOf(new TestClient(here.server.baseURL, token))).not.toContain(own.uuid);
  });
});

describe('settings', () => {
  test('only what is given changes', async () => {
    const client = await TestClient.register(here.server.baseURL);
    await client.call('saveSettings', { temperature: 7, dark_style: 'dark' });
    const { setting } = await client.call('saveSettings', { max_history: 0 });
    expect(JSON.parse(setting)).toEqual({ temperature: 7, dark_style: 'dark', max_history: 0 });
    expect((await client.call('userInfo', {})).setting).toBe(setting);
  });
});

test('what is far too long to be right is a wrong name or password like any other', async () => {
  const long = { account: 'x'.repeat(5000), password: 'x'.repeat(5000) };
  expect(await visitor().raw('login', long)).toMatchObject({
    code: 0,
    data: { error: '用户名或密码不对' },
  });
});
