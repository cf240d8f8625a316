import { generateSync } from 'otplib';
import { beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { amidEnd } from '../support/ended-login.ts';
import { passkeyDevice, type Said } from '../support/passkey-device.ts';
import { ADMIN_PASSWORD } from '../support/server.ts';
import { stage } from '../support/stage.ts';

/** What a device may say that is no browser's: none of it signs anybody in. */
const here = stage();
// Passkeys are for names, not for addresses.
let origin = '';
let person: TestClient;
let owner: TestClient;
let id = 0;
const device = passkeyDevice();
const thief = passkeyDevice();

interface Asked {
  id: string;
  challenge: string;
}
const asked = ({ id, options }: { id: string; options: string }): Asked => ({
  id,
  challenge: (JSON.parse(options) as { challenge: string }).challenge,
});
const begin = async (client: TestClient) => asked(await client.call('beginPasskey', {}));
const question = async () => asked(await new TestClient(origin).call('passkeyQuestion', {}));
const save = (client: TestClient, { id }: Asked, response: string) =>
  client.raw('savePasskey', { id, name: '手机', response });
/** Whom an answer signs in; null: nobody, and it is said why not. */
const signIn = async (of: Asked, response: string): Promise<number | null> => {
  const client = new TestClient(origin);
  const { status, data } = await client.raw<{ error?: string; profile?: { id: number } }>(
    'signInByPasskey',
    { id: of.id, response },
  );
  expect(status).toBe(200);
  expect(data.profile?.id ?? data.error).toBeTruthy();
  return data.profile?.id ?? null;
};
let counter = 1;
/** Answers a question of its own. */
const answer = async (said: Partial<Said>, by = device, credential?: string) => {
  const of = await question();
  counter += 1;
  return signIn(of, by.assert({ challenge: of.challenge, origin, counter, ...said }, credential));
};

beforeAll(async () => {
  origin = here.server.baseURL.replace('127.0.0.1', 'localhost');
  owner = new TestClient(origin);
  await owner.login('admin', ADMIN_PASSWORD);
  await owner.call('saveSignIn', { passkeys: 1 });
  person = await TestClient.register(origin);
  ({ id } = await person.call('userInfo', {}));
  const of = await begin(person);
  const made = await save(
    person,
    of,
    device.register({ challenge: of.challenge, origin, counter }),
  );
  expect(made.code).toBe(0);
});

test('an answer signs in once, at this address, by its own key, with its person there', async () => {
  const of = await question();
  const good = device.assert({ challenge: of.challenge, origin, counter: (counter += 1) });
  const all = await Promise.all(Array.from({ length: 8 }, () => signIn(of, good)));
  expect(all.filter((each) => each === id)).toHaveLength(1);
  expect(await signIn(await question(), good)).toBeNull();
  const lies: Partial<Said>[] = [
    { origin: 'https://evil.example' },
    { origin: 'http://localhost:1' },
    { host: 'evil.example' },
    { type: 'webauthn.create' },
    { flags: 0x01 },
    { flags: 0x04 },
    { counter: 1 },
    { counter: 0 },
  ];
  for (const lie of lies) expect(await answer(lie), JSON.stringify(lie)).toBeNull();
  expect(await answer({}, thief), 'a key that nobody has').toBeNull();
  expect(await answer({}, thief, device.id), 'in the name of another').toBeNull();
  // Two devices with one key count alike.
  const copies = await Promise.all(Array.from({ length: 5 }, () => question()));
  const said = { origin, counter: (counter += 10) };
  const cloned = await Promise.all(
    copies.map((each) => signIn(each, device.assert({ challenge: each.challenge, ...said }))),
  );
  expect(cloned.filter((each) => each !== null)).toHaveLength(1);
  expect(await answer({ counter: (counter += 10) })).toBe(id);
});

test('a key is added by whoever asked, once, and takes nobody else’s place', async () => {
  const other = await TestClient.register(origin);
  const fails = async (of: Asked, response: string) =>
    expect((await save(other, of, response)).code).toBe(1446);
  let of = await begin(other);
  const taken = Buffer.from(device.id, 'base64url');
  await fails(of, thief.register({ challenge: of.challenge, origin }, taken));
  of = await begin(person);
  await fails(of, thief.register({ challenge: of.challenge, origin }));
  of = await question();
  await fails(of, thief.register({ challenge: of.challenge, origin }));
  for (const lie of [
    { origin: 'https://evil.example' },
    { flags: 0x01 },
    { host: 'evil.example' },
  ]) {
    of = await begin(other);
    await fails(of, thief.register({ challenge: of.challenge, origin, ...lie }));
  }
  of = await begin(other);
  await fails(of, thief.register({ challenge: of.challenge, origin }, Buffer.alloc(1024, 7)));
  const one = await begin(other);
  const twice = passkeyDevice().register({ challenge: one.challenge, origin });
  const saved = await Promise.all(Array.from({ length: 5 }, () => save(other, one, twice)));
  expect(saved.filter(({ code }) => code === 0)).toHaveLength(1);
  const visitor = new TestClient(origin);
  expect((await visitor.raw('beginPasskey', {})).status).toBe(401);
  expect((await save(visitor, one, twice)).status).toBe(401);
  // What was asked for adding a key answers no sign-in.
  of = await begin(person);
  const said = { challenge: of.challenge, origin, counter: (counter += 10) };
  expect(await signIn(of, device.assert(said))).toBeNull();
});

test('what is no answer at all is refused in words', async () => {
  for (const response of [
    'null',
    '[]',
    '{"id":1}',
    '{"id":"a\\u0000b"}',
    '{"id":"\\ud800"}',
    `{"id":"${'a'.repeat(2000)}"}`,
    `{"id":"${device.id}","rawId":"${device.id}","type":"public-key","response":{}}`,
    '['.repeat(9000),
  ]) {
    expect(await signIn(await question(), response), response.slice(0, 30)).toBeNull();
    const of = await begin(person);
    expect((await save(person, of, response)).code, response.slice(0, 30)).toBe(1446);
  }
});

test('where a second factor is on, a key that does without it is added with a code of it', async () => {
  const guarded = await TestClient.register(origin);
  const { secret } = await guarded.call('totpBegin', {});
  const { recovery_codes: codes } = await guarded.call('totpEnable', {
    code: generateSync({ secret }),
  });
  for (const code of ['', '000000'])
    expect((await guarded.raw('beginPasskey', { code })).code, code).toBe(1444);
  const of = asked(await guarded.call('beginPasskey', { code: codes[0] }));
  const made = passkeyDevice().register({ challenge: of.challenge, origin });
  expect((await save(guarded, of, made)).code).toBe(0);
  expect((await guarded.raw('beginPasskey', { code: codes[0] })).code).toBe(1444);
});

test('who takes an account back leaves no key of another in it', async () => {
  const victim = await TestClient.register(origin);
  const early = await begin(victim);
  const { secret } = await victim.call('totpBegin', {});
  await victim.call('totpEnable', { code: generateSync({ secret }) });
  const made = passkeyDevice().register({ challenge: early.challenge, origin });
  expect((await save(victim, early, made)).code, 'asked before a code was wanted').toBe(1446);

  const other = await TestClient.register(origin);
  const { id: otherId } = await other.call('userInfo', {});
  const key = passkeyDevice();
  const of = await begin(other);
  expect((await save(other, of, key.register({ challenge: of.challenge, origin }))).code).toBe(0);
  expect(await answer({}, key)).toBe(otherId);
  const { full_key: forPrograms } = await other.call('genKey', {});
  await here.database.query(
    `INSERT INTO push_devices (device, user_id, jti, endpoint, p256dh, auth)
     SELECT gen_random_uuid(), user_id, jti, 'https://push.example.com/x', 'x', 'x'
     FROM logins WHERE user_id = $1 LIMIT 1`,
    [otherId],
  );
  await owner.call('resetPassword', { user_id: otherId });
  expect(await answer({}, key)).toBeNull();
  const program = { headers: { authorization: `Bearer ${forPrograms}` } };
  expect((await fetch(`${origin}/v1/models`, program)).status).toBe(401);
  const pushed = 'SELECT FROM push_devices WHERE user_id = $1';
  expect((await here.database.query(pushed, [otherId])).rowCount).toBe(0);
});

test('a login that ends at that moment adds no key', async () => {
  const leaver = await TestClient.register(origin);
  const { id: leaverId } = await leaver.call('userInfo', {});
  const of = await begin(leaver);
  const made = passkeyDevice().register({ challenge: of.challenge, origin });
  const saved = await amidEnd(here.server, leaverId, () => save(leaver, of, made));
  expect(saved.status).toBe(401);
});
