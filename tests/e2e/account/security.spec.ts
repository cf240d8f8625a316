import { generateSync } from 'otplib';
import type { Page } from '@playwright/test';
import pg from 'pg';
import { TestClient } from '#tests/support/client.ts';
import { clientId, clientSecret, startIdentity } from '#tests/support/fake-identity.ts';
import { startFakeMail } from '#tests/support/fake-mail.ts';
import { expect, foreignServer, signIn, test } from '#tests/support/manager-place.ts';

test.skip(foreignServer, 'needs a server of its own');

const password = 'password-1';
let people = 0;
/** Somebody of one's own on that server, and how to move their logins in time. */
const somebody = async (place: { url: string; databaseUrl: string }, worker: number) => {
  people += 1;
  const account = `secure-${worker}-${people}`;
  const client = await TestClient.register(place.url, account);
  const { id } = await client.call('userInfo', {});
  const move = async (column: 'confirmed_at' | 'created_at', days: number) => {
    const database = new pg.Client({ connectionString: place.databaseUrl });
    await database.connect();
    await database.query(
      `UPDATE logins SET ${column} = now() - make_interval(days => $2) WHERE user_id = $1`,
      [id, days],
    );
    await database.end();
  };
  return { account, password, client, move };
};

const asked = (page: Page) => page.getByRole('alertdialog', { name: '输入密码确认' });
const give = async (page: Page, text: string) => {
  await asked(page).getByLabel('登录密码').fill(text);
  await asked(page).getByRole('button', { name: '确认' }).click();
};

test('a key asks for the password again, loses nothing that was typed, and is made', async ({
  app,
  page,
  place,
}, { workerIndex }) => {
  const person = await somebody(place, workerIndex);
  await app.enterAs(person);
  await page.goto('/api');
  await person.move('confirmed_at', 1);
  await page.getByRole('button', { name: '创建 API-KEY' }).click();
  const name = page.getByRole('textbox', { name: '名称' });
  await name.fill('博客助手');
  await page.getByRole('button', { name: '创建', exact: true }).click();
  await asked(page).getByRole('button', { name: '取消' }).click();
  await expect(page.getByText('没有输入密码，所以没有做')).toBeVisible();
  await expect(name).toHaveValue('博客助手');
  await page.getByRole('button', { name: '创建', exact: true }).click();
  await give(page, 'wrong-one-1');
  await expect(asked(page).getByText('密码不对')).toBeVisible();
  await give(page, password);
  await expect(page.getByText('创建 API-KEY 成功')).toBeVisible();
  await expect(page.getByRole('listitem').filter({ hasText: '博客助手' })).toHaveCount(1);
  expect((await person.client.call('apiKeys', {})).list.map((key) => key.name)).toEqual([
    '博客助手',
  ]);
  expect(app.problems).toEqual([]);
});

test('anybody signs in by two proofs, or by a recovery code, and makes new ones', async ({
  app,
  page,
  place,
}, { workerIndex }) => {
  const person = await somebody(place, workerIndex);
  await app.enterAs(person);
  await person.move('confirmed_at', 1);
  await page.goto('/account?tab=security');
  await page.getByRole('button', { name: '打开动态验证码' }).click();
  await give(page, password);
  const words = (await page.getByText('手工输入：').textContent()) ?? '';
  const secret = /手工输入：(\w+)/.exec(words)?.[1] ?? '';
  await page.getByLabel('验证器上的六位数字').fill('12345');
  await page.getByRole('button', { name: '打开', exact: true }).click();
  await expect(page.getByText('动态验证码不对')).toBeVisible();
  await page.getByLabel('验证器上的六位数字').fill(generateSync({ secret }));
  await page.getByRole('button', { name: '打开', exact: true }).click();
  await expect(page.getByRole('heading', { name: '恢复码' })).toBeVisible();
  const codes = page.getByRole('listitem').filter({ hasText: /^(\w{6}-){3}\w{6}$/ });
  await expect(codes).toHaveCount(10);
  const [first = '', second = ''] = await codes.allInnerTexts();
  await page.getByRole('button', { name: '我保存好了' }).click();
  await expect(page.getByText(/还剩 10 个恢复码/)).toBeVisible();

  await page.evaluate(() => localStorage.clear());
  await signIn(page, person.account, password);
  const told = page.getByRole('alertdialog').getByRole('button');
  await told.last().click();
  await page.getByLabel('动态验证码').fill('000000');
  await page.getByRole('button', { name: '登录', exact: true }).click();
  await expect(page.getByText('动态验证码不对')).toBeVisible();
  await told.last().click();
  await page.getByLabel('动态验证码').fill(first);
  await page.getByRole('button', { name: '登录', exact: true }).click();
  await page.waitForURL((url) => url.pathname !== '/login');

  await page.goto('/account?tab=security');
  await expect(page.getByText(/还剩 9 个恢复码/)).toBeVisible();
  const asked = page.getByLabel('验证码', { exact: false });
  await asked.first().fill(second);
  await page.getByRole('button', { name: '换一套恢复码' }).click();
  await expect(codes).toHaveCount(10);
  const fresh = await codes.first().innerText();
  expect(fresh).not.toBe(first);
  await page.getByRole('button', { name: '我保存好了' }).click();
  await asked.last().fill(fresh);
  await page.getByRole('button', { name: '关闭动态验证码' }).click();
  await expect(page.getByRole('button', { name: '打开动态验证码' })).toBeVisible();
  expect(app.problems).toEqual([]);
});

test('a login that has grown too old says so, and leads to the next one', async ({
  app,
  page,
  place,
}, { workerIndex }) => {
  const person = await somebody(place, workerIndex);
  await app.enterAs(person);
  await page.goto('/account?tab=security');
  await expect(page.getByText('这台设备')).toBeVisible();
  await person.move('created_at', 181);
  await app.walk('/account?tab=order');
  const why = '这次登录已满 180 天，为了安全，请重新登录';
  await expect(page.getByText(why)).toBeVisible();
  await page.getByRole('button', { name: '去登录' }).click();
  await page.waitForURL(/\/login/);
  await expect(page.locator('form').getByText(why).or(page.getByText(why)).first()).toBeVisible();
  await page.getByLabel('用户名').fill(person.account);
  await page.getByLabel('密码', { exact: true }).fill(password);
  await page.getByRole('button', { name: '登录', exact: true }).click();
  await page.waitForURL(/\/account\?tab=order/);
});

/** A device with a finger to put on it, as Chromium plays it. */
const playDevice = async (page: Page) => {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const verified = (isUserVerified: boolean) =>
    session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
  const remove = () => session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
  return { verified, remove };
};

test('passkeys are added, named, signed in with instead of two proofs, and removed', async ({
  app,
  page,
  place,
}) => {
  // Passkeys are for names, not for addresses.
  const url = place.url.replace('127.0.0.1', 'localhost');
  await place.owner.call('saveSignIn', { passkeys: 1 });
  const client = await TestClient.register(place.url, 'keyed-person');
  const { secret } = await client.call('totpBegin', { password });
  const { recovery_codes: codes } = await client.call('totpEnable', {
    code: generateSync({ secret }),
  });

  const device = await playDevice(page);
  await page.goto(`${url}/`);
  await page.evaluate(
    ([token, user]) => {
      localStorage.setItem('queqiao.token', token!);
      localStorage.setItem('queqiao.user', user!);
    },
    [client.token, JSON.stringify(await client.call('userInfo', {}))],
  );
  await page.goto(`${url}/account?tab=security`);
  const part = page
    .locator('section')
    .filter({ has: page.getByRole('heading', { name: '通行密钥' }) });
  const list = part.getByRole('listitem');
  // It does without the second proof from then on, and is added with it.
  const add = async (code: string) => {
    await part.getByRole('textbox', { name: '添加：验证码' }).fill(code);
    await part.getByRole('button', { name: '添加通行密钥' }).click();
  };
  await add('000000');
  await expect(part.getByText('动态验证码不对')).toBeVisible();
  await add(codes[0]!);
  await expect(list.getByText('还没有用过')).toBeVisible();
  // The device has one for this account already: it makes no other.
  await add(codes[1]!);
  await expect(page.getByText('没有添加：')).toBeVisible();
  await list.getByRole('button', { name: '修改名称' }).first().click();
  await page.getByRole('textbox', { name: '名称' }).fill('我的手机');
  await page.getByRole('button', { name: '保存' }).click();
  await expect(page.getByText('我的手机')).toBeVisible();

  // Without a name, a password or a code.
  await page.evaluate(() => localStorage.clear());
  await page.goto(`${url}/login`);
  await page.getByRole('button', { name: '用通行密钥登录' }).click();
  await page.waitForURL((at) => at.pathname === '/');
  expect(await page.evaluate(() => localStorage.getItem('queqiao.user'))).toContain('keyed-person');
  await page.goto(`${url}/account?tab=security`);
  await expect(page.getByText('用通行密钥登录')).toBeVisible();

  // A device that did not see its person signs nobody in.
  await page.evaluate(() => localStorage.clear());
  await device.verified(false);
  await page.goto(`${url}/login`);
  await page.getByRole('button', { name: '用通行密钥登录' }).click();
  await expect(page.getByText('没有用通行密钥登录')).toBeVisible();
  await device.verified(true);

  // Nor does one that was removed here, though the device still has it.
  await page.getByRole('button', { name: '用通行密钥登录' }).click();
  await page.waitForURL((at) => at.pathname === '/');
  await page.goto(`${url}/account?tab=security`);
  await list.getByRole('button', { name: '删除' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: '删除' }).click();
  await expect(list).toHaveCount(0);
  await page.evaluate(() => localStorage.clear());
  await page.goto(`${url}/login`);
  await page.getByRole('button', { name: '用通行密钥登录' }).click();
  await expect(page.getByText('这个通行密钥没有通过')).toBeVisible();
  expect(app.problems).toEqual([]);
  await device.remove();
});

test('with nothing set the sign-in page is as plain as ever', async ({ app, page, place }) => {
  await place.owner.call('saveSignIn', { passkeys: 0 });
  await page.goto('/login');
  await expect(page.getByRole('button', { name: '登录', exact: true })).toBeVisible();
  await page.waitForLoadState('networkidle');
  await expect(page.getByText('或者')).toHaveCount(0);
  await expect(page.getByText('忘记密码')).toHaveCount(0);
  await signIn(page, 'busy-person', password);
  await page.waitForURL((at) => at.pathname === '/');
  expect(app.problems).toEqual([]);
});

/** What the image of the newest captcha says. */
const readCaptcha = async (page: Page, databaseUrl: string) => {
  await expect(page.getByAltText('验证码图片')).toBeVisible();
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  const { rows } = await database.query<{ answer: string }>(
    'SELECT answer FROM captchas ORDER BY expires_at DESC LIMIT 1',
  );
  await database.end();
  await page.getByRole('textbox', { name: '验证码', exact: true }).fill(rows[0]!.answer);
  await page.getByRole('button', { name: '获取验证码' }).click();
};

test('a mail address is bound, signs in, and brings a forgotten password back', async ({
  app,
  page,
  place,
}, { workerIndex }) => {
  const mail = await startFakeMail();
  await place.owner.call('saveSignIn', mail.settings);
  const person = await somebody(place, workerIndex);
  const to = `${person.account}@example.com`;
  const nextCode = async (act: () => Promise<void>) => {
    const before = mail.letters.length;
    await act();
    await expect.poll(() => mail.letters.length).toBe(before + 1);
    return /验证码是 (\d{6})/.exec(mail.letters.at(-1)?.text ?? '')?.[1] ?? '';
  };
  await app.enterAs(person);
  await page.goto('/account?tab=security');
  await page.getByRole('button', { name: '绑定', exact: true }).click();
  const sheet = page.getByRole('dialog', { name: '绑定邮箱' });
  await sheet.getByLabel('邮箱地址').fill(to);
  const bound = await nextCode(() => readCaptcha(page, place.databaseUrl));
  await sheet.getByLabel('验证码', { exact: true }).fill(bound);
  await sheet.getByRole('button', { name: '绑定', exact: true }).click();
  await expect(page.getByText('已绑定 s***')).toBeVisible();
  await expect(page.getByText('绑定了邮箱')).toBeVisible();

  await page.evaluate(() => localStorage.clear());
  await page.goto('/login');
  await page.getByRole('link', { name: '用邮箱验证码登录' }).click();
  await page.getByLabel('邮箱').fill(to);
  const code = await nextCode(() => readCaptcha(page, place.databaseUrl));
  await page.getByLabel('邮件里的验证码').fill(code);
  await page.getByRole('button', { name: '登录', exact: true }).click();
  await page.waitForURL((at) => at.pathname === '/');

  await page.evaluate(() => localStorage.clear());
  await page.goto('/login');
  await page.getByRole('link', { name: '忘记密码？' }).click();
  await page.getByLabel('邮箱').fill(to);
  const reset = await nextCode(() => readCaptcha(page, place.databaseUrl));
  await page.getByLabel('邮件里的验证码').fill(reset);
  await page.getByLabel('新密码', { exact: true }).fill('brand-new-9');
  await page.getByLabel('再次输入新密码', { exact: true }).fill('brand-new-8');
  await page.getByRole('button', { name: '设为新密码' }).click();
  await expect(page.getByText('两次输入的密码不一致')).toBeVisible();
  await page.getByLabel('再次输入新密码', { exact: true }).fill('brand-new-9');
  await page.getByRole('button', { name: '设为新密码' }).click();
  await page.waitForURL((at) => at.pathname === '/login');
  await signIn(page, person.account, 'brand-new-9');
  await page.waitForURL((at) => at.pathname === '/');
  await place.owner.call('saveSignIn', { mail_enabled: 0 });
  await mail.close();
  expect(app.problems).toEqual([]);
});

test('an account elsewhere is linked, and signs in from then on', async ({ app, page, place }, {
  workerIndex,
}) => {
  const identity = await startIdentity();
  const { providers } = await place.owner.call('saveProvider', {
    kind: 'oidc',
    name: '公司账号',
    issuer: identity.issuer,
    client_id: clientId,
    client_secret: clientSecret,
  });
  const [provider] = providers;
  identity.open([provider!.redirect_url]);
  const person = await somebody(place, workerIndex);
  await app.enterAs(person);
  await page.goto('/account?tab=security');
  await page.getByRole('button', { name: '关联', exact: true }).click();
  await page.waitForURL((at) => at.origin === identity.issuer);
  await page.locator('input[name=login]').fill('zhangsan');
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.locator('button[type=submit]', { hasText: 'Continue' }).click();
  await page.waitForURL((at) => at.pathname === '/account');
  await expect(page.getByText('zhangsan，')).toBeVisible();

  await page.evaluate(() => localStorage.clear());
  await page.goto('/login');
  await page.getByRole('button', { name: '用公司账号登录' }).click();
  // The provider still knows them; at most it asks once more.
  const go = page.locator('button[type=submit]', { hasText: 'Continue' });
  await expect(page.getByRole('main').or(go).first()).toBeVisible();
  if (await go.isVisible()) await go.click();
  await page.waitForURL((at) => at.pathname === '/');
  expect(await page.evaluate(() => localStorage.getItem('queqiao.user'))).toContain(person.account);

  // An address that somebody else made up signs nobody in.
  await page.evaluate(() => localStorage.clear());
  await page.goto(`/login/via-${provider!.id}?code=a&state=b`);
  await expect(page.getByText('不是从这个浏览器开始的')).toBeVisible();
  await page.getByRole('link', { name: '回到登录' }).click();
  await page.waitForURL((at) => at.pathname === '/login');
  await place.owner.call('delProvider', { id: provider!.id });
  await identity.close();
  expect(app.problems).toEqual([]);
});
