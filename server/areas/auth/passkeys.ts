import { createHmac, randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import type { Out, Parsed } from '#contract/calls.ts';
import { type Context, type Identity, Refusal } from '#server/http/handlers.ts';
import type { AuthContext } from './auth-deps.ts';
import { requireAnotherWay } from './other-ways.ts';
import { noteFailure, requireCode, requireLogin } from './proofs.ts';
import { admit } from './sign-in.ts';
import * as store from './ways.store.ts';

const most = 10;

/** A credential's number as WebAuthn has it: at most 1023 bytes. */
const credentialId = /^[\w-]{1,1364}$/;

/**
 * The host that a passkey is made for. Browsers know passkeys for names alone, over https or on this
 * machine. @throws Refusal proof_unsuitable
 */
const hostOf = (origin: string): string => {
  const { hostname, protocol } = new URL(origin);
  const named = isIP(hostname.replace(/^\[|\]$/g, '')) === 0;
  if (!named || (protocol !== 'https:' && hostname !== 'localhost'))
    throw new Refusal('proof_unsuitable', '通行密钥要用域名和 https 打开这个网站才能用');
  return hostname;
};

const requireOn = async (auth: AuthContext): Promise<void> => {
  if ((await auth.contacts.settings()).passkeys !== 1)
    throw new Refusal('proof_unsuitable', '这里没有打开通行密钥');
};

/** What a browser sent; null: it is no object. What stands in it the library looks at. */
const read = (text: string): object | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
};

/** A passkey signs in without the second factor. @throws Refusal proof_unsuitable, totp_wrong */
export const beginPasskey = async (
  auth: AuthContext,
  { code }: Parsed<'beginPasskey'>,
  { db, user, origin }: Context<Identity>,
): Promise<Out<'beginPasskey'>> => {
  await requireOn(auth);
  await requireCode(auth, db, user, code);
  const host = hostOf(origin);
  const own = await store.passkeysOf(db, user.id);
  if (own.length >= most)
    throw new Refusal('proof_unsuitable', `最多 ${most} 个通行密钥，请先删除不用的`);
  const { generateRegistrationOptions } = await import('@simplewebauthn/server');
  const options = await generateRegistrationOptions({
    rpName: '鹊桥',
    rpID: host,
    // What the device knows the account by tells nothing of it.
    userID: new Uint8Array(createHmac('sha256', auth.secret).update(`passkey ${user.id}`).digest()),
    userName: user.userName,
    userDisplayName: user.userName,
    attestationType: 'none',
    excludeCredentials: own
      .filter((key) => key.host === host)
      .map(({ credentialId }) => ({ id: credentialId })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  const id = randomUUID();
  await store.insertQuestion(db, { id, challenge: options.challenge, userId: user.id });
  return { id, options: JSON.stringify(options) };
};

/** @throws Refusal proof_unsuitable */
export const savePasskey = async (
  auth: AuthContext,
  input: Parsed<'savePasskey'>,
  { db, user, origin, agent, log }: Context<Identity>,
): Promise<void> => {
  await requireOn(auth);
  const host = hostOf(origin);
  const wrong = () => new Refusal('proof_unsuitable', '没有添加成功，请重新来一次');
  const challenge = await store.takeQuestion(db, input.id, user.id);
  type Answer = Parameters<typeof verifyRegistrationResponse>[0]['response'];
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const response = read(input.response) as Answer | null;
  if (challenge === null || response === null) throw wrong();
  let verified: Awaited<ReturnType<typeof verifyRegistrationResponse>>;
  try {
    verified = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: host,
      requireUserVerification: true,
    });
  } catch (error) {
    log.warn({ event: 'passkey_refused', why: String(error).slice(0, 200) }, 'no passkey was made');
    throw wrong();
  }
  if (!verified.verified) throw wrong();
  const { credential } = verified.registrationInfo;
  if (!credentialId.test(credential.id)) throw wrong();
  await auth.db.transaction(async (tx) => {
    await requireLogin(tx, user);
    if ((await store.passkeysOf(tx, user.id)).length >= most) throw wrong();
    const made = await store.insertPasskey(tx, {
      userId: user.id,
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey),
      counter: credential.counter,
      transports: (credential.transports ?? []).slice(0, 10),
      host,
      name: input.name.trim() || '通行密钥',
    });
    if (!made) throw wrong();
    await store.insertEvent(tx, { userId: user.id, kind: 'link', way: 'passkey', agent });
  });
};

/** @throws Refusal proof_unsuitable */
export const passkeyQuestion = async (
  auth: AuthContext,
  { db, origin }: Context,
): Promise<Out<'passkeyQuestion'>> => {
  await requireOn(auth);
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
  const options = await generateAuthenticationOptions({
    rpID: hostOf(origin),
    userVerification: 'required',
    allowCredentials: [],
  });
  const id = randomUUID();
  await store.insertQuestion(db, { id, challenge: options.challenge, userId: null });
  return { id, options: JSON.stringify(options) };
};

/** Signs in without a name. @throws Refusal proof_unsuitable, account_disabled */
export const signInByPasskey = async (
  auth: AuthContext,
  input: Parsed<'signInByPasskey'>,
  context: Context,
): Promise<Out<'signInByPasskey'>> => {
  await requireOn(auth);
  const host = hostOf(context.origin);
  const error = '这个通行密钥没有通过，请重试，或换一种方式登录';
  const challenge = await store.takeQuestion(auth.db, input.id, null);
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  type Answer = Parameters<typeof verifyAuthenticationResponse>[0]['response'];
  const response = read(input.response) as Answer | null;
  if (challenge === null || typeof response?.id !== 'string') return { error };
  if (!credentialId.test(response.id)) return { error };
  const found = await store.findPasskey(auth.db, response.id);
  const fails = (why: string) => {
    context.log.warn({ event: 'passkey_refused', why }, 'a passkey did not sign in');
    const userId = found?.key.userId ?? null;
    noteFailure(auth, context, found?.account ?? '', { userId, reason: 'passkey' });
    return { error };
  };
  if (found?.key.host !== host) return fails('unknown');
  const { key } = found;
  let verified: Awaited<ReturnType<typeof verifyAuthenticationResponse>>;
  try {
    verified = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: context.origin,
      expectedRPID: host,
      credential: {
        id: key.credentialId,
        publicKey: new Uint8Array(key.publicKey),
        counter: key.counter,
      },
      requireUserVerification: true,
    });
  } catch (refused) {
    return fails(String(refused).slice(0, 200));
  }
  if (!verified.verified) return fails('signature');
  const counter = { from: key.counter, to: verified.authenticationInfo.newCounter };
  return admit(
    auth,
    { userId: key.userId, account: found.account, disabled: found.disabled },
    // The device asked for a finger, a face or a number: it is had, and its person is there.
    { way: 'passkey', both: true, used: (tx) => store.notePasskeyUse(tx, key.id, counter) },
    { devices: input.devices },
    context,
  );
};

/** @throws Refusal proof_unsuitable, not_found */
export const removePasskey = async (
  auth: AuthContext,
  id: number,
  { user, agent }: Context<Identity>,
): Promise<void> => {
  await auth.db.transaction(async (tx) => {
    await requireAnotherWay(tx, user.id, { passkey: id });
    if (!(await store.removePasskey(tx, user.id, id)))
      throw new Refusal('not_found', '没有这个通行密钥');
    await store.insertEvent(tx, { userId: user.id, kind: 'unlink', way: 'passkey', agent });
  });
};
