import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** A site from its first start on: how its owner comes in, and what they choose there. */

let server: TestServer;
let owner: TestClient;
const printed = () => /\/manager\/setup#([\w-]+)/.exec(server.log())?.[1] ?? '';

beforeAll(async () => {
  server = await startServer({ env: { ADMIN_PASSWORD: '', GUEST_MESSAGES: '50' } });
  owner = new TestClient(server.baseURL);
});
afterAll(() => server?.stop());

const done = async () =>
  (await owner.call('setupState', {})).steps
    .filter((step) => step.done === 1)
    .map(({ key }) => key);

test('the printed link signs the owner in once, who then chooses a password without the old one', async () => {
  const code = printed();
  expect((await owner.raw('setupEnter', { code: `${code}x` })).status).toBe(404);
  const both = await Promise.all([0, 1].map(() => owner.raw('setupEnter', { code })));
  const entered = both.filter(({ status }) => status === 200);
  expect(entered).toHaveLength(1);
  owner.token = (entered[0]!.data as { token: string }).token;
  expect(await done()).toEqual([]);
  expect((await owner.raw('setupPassword', { new_password: 'short' })).status).toBe(422);
  await owner.call('setupPassword', { new_password: 'a-password-of-mine' });
  expect(await done()).toEqual(['password']);
  // Never again by this way.
  expect((await owner.raw('setupPassword', { new_password: 'another-password' })).status).toBe(404);
  await new TestClient(server.baseURL).login('admin', 'a-password-of-mine');
});

test('an owner who lost the password gets in by a new link, once', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['dist/server/owner-main.js'], {
    env: { ...process.env, DATABASE_URL: server.databaseUrl, DATA_DIR: server.dataDir },
  });
  const code = /\/manager\/setup#([\w-]+) /.exec(stdout)?.[1] ?? '';
  const former = new TestClient(server.baseURL);
  await former.login('admin', 'a-password-of-mine');
  const database = new pg.Client({ connectionString: server.databaseUrl });
  await database.connect();
  await database.query("UPDATE logins SET confirmed_at = now() - interval '1 day'");
  await database.end();
  const back = new TestClient(server.baseURL);
  back.token = (await back.call('setupEnter', { code })).token;
  expect((await back.raw('setupEnter', { code })).status).toBe(404);
  // The link is no proof of another login, which ends once the password is another.
  expect((await former.raw('setupPassword', { new_password: 'of-somebody-else' })).code).toBe(1002);
  await back.call('setupPassword', { new_password: 'a-password-of-mine-2' });
  expect((await former.raw('userInfo', {})).status).toBe(401);
  await new TestClient(server.baseURL).login('admin', 'a-password-of-mine-2');
  owner.token = back.token;
});

test('who may come, and whether anybody can pay, is kept by the server', async () => {
  const first = await TestClient.register(server.baseURL);
  const { code: invite } = await first.call('newInvite', {});
  const form = (account: string) => ({
    account,
    name: '新来的人',
    password: 'password-1',
    password2: 'password-1',
  });
  const register = async (account: string, invited?: string) =>
    (
      await new TestClient(server.baseURL).call('register', {
        ...form(account),
        ...(invited && { invite: invited }),
      })
    ).error;

  await owner.call('saveSetup', { people: 'invited', guests: 0, payment: 0 });
  expect(await done()).toEqual(['password', 'payment', 'people']);
  expect(await register('nobody-asked')).toMatch(/邀请/);
  expect(await register('wrong-link', 'no-such-link')).toMatch(/邀请/);
  expect(await register('somebody-asked', invite)).toBeUndefined();
  expect((await new TestClient(server.baseURL).raw('newSession', { type: 0 })).code).toBe(1001);
  expect((await first.call('paymentInfo', {})).providers).toEqual([]);
  expect((await first.raw('recharge', { type: 'token', num: 1 })).code).toBe(1441);
  await first.call('newSession', { type: 0 });

  await owner.call('saveSetup', { people: 'closed' });
  expect(await register('with-a-link', invite)).toMatch(/不开放/);
  // To somebody who does not own it there is nothing here.
  expect((await first.raw('saveSetup', { people: 'open' })).status).toBe(404);
  expect((await first.raw('setupState', {})).status).toBe(404);

  await owner.call('saveSetup', { people: 'open', guests: 1, payment: 1, settle: 'address' });
  expect(await register('anybody-again')).toBeUndefined();
  await new TestClient(server.baseURL).call('newSession', { type: 0 });
  expect((await owner.call('setupState', {})).ended).toBe(0);
  await owner.call('saveSetup', { ended: 1 });
  expect((await owner.call('setupState', {})).ended).toBe(1);
});
