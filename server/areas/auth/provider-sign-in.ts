import { createHash, randomBytes, randomInt } from 'node:crypto';
import type { Out, Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import type { Transaction } from '#server/db/database.ts';
import { type Context, type Identity, Refusal } from '#server/http/handlers.ts';
import { createRequests } from '#server/net/guarded-fetch.ts';
import type { AuthContext } from './auth-deps.ts';
import { insertUser } from './auth.store.ts';
import { nameFault, normalName } from './names.ts';
import { requireAnotherWay } from './other-ways.ts';
import { dialects } from './providers/dialects.ts';
import { NotVouched, type Provider, type Vouched } from './providers/vouched.ts';
import { requireLogin } from './proofs.ts';
import { admit, enter, takeOverGuest } from './sign-in.ts';
import * as store from './ways.store.ts';

/** To any address, as owners choose them; no redirect is followed. */
const ask = createRequests(null, 1024 * 1024);

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();
const random = (): string => randomBytes(32).toString('base64url');

export const providerSecret = (kind: string): string => `sign-in provider ${kind}`;

const opened = (auth: AuthContext, row: store.ProviderRow): Provider => ({
  id: row.id,
  kind: row.kind,
  name: row.name,
  issuer: row.issuer,
  clientId: row.clientId,
  secret:
    row.clientSecret === null
      ? ''
      : (auth.keys.open(row.clientSecret, providerSecret(row.kind)) ?? ''),
  agentId: row.agentId,
  scope: row.scope,
});

/** Each provider leads back to an address of its own: what one gave is never taken to another. */
export const redirectUrl = (origin: string, id: number): string => `${origin}/login/via-${id}`;

const over = '这次登录已经过期，或不是从这个浏览器开始的，请重新来一次';

/** @throws Refusal not_found, unavailable */
const begin = async (
  auth: AuthContext,
  id: number,
  context: Context,
  by: Identity | null,
): Promise<Out<'beginProvider'>> => {
  const row = await store.findProvider(context.db, id);
  if (!row?.enabled) throw new Refusal('not_found', '这里没有打开这种登录方式');
  const flow = {
    redirectUrl: redirectUrl(context.origin, id),
    state: random(),
    nonce: random(),
    verifier: random(),
  };
  const secret = random();
  const provider = opened(auth, row);
  let url: string;
  try {
    url = await dialects[provider.kind].address(provider, flow, ask);
  } catch (error) {
    if (!(error instanceof NotVouched)) throw error;
    context.log.error({ event: 'provider_away', provider: id, why: error.message }, 'no sign-in');
    throw new Refusal('unavailable', `“${provider.name}”现在没有回应，请稍后再试或换一种方式登录`);
  }
  await store.insertFlow(auth.db, {
    stateHash: hashOf(flow.state),
    secretHash: hashOf(secret),
    providerId: id,
    redirectUrl: flow.redirectUrl,
    nonce: flow.nonce,
    verifier: flow.verifier,
    jti: by?.jti ?? null,
    userId: by?.id ?? null,
  });
  return { url, state: flow.state, secret };
};

export const beginProvider = (auth: AuthContext, id: number, context: Context) =>
  begin(auth, id, context, null);
export const linkProvider = (auth: AuthContext, id: number, context: Context<Identity>) =>
  begin(auth, id, context, context.user);

/** The name that a new account begins with. */
const nameFor = async (auth: AuthContext, context: Context, label: string): Promise<string> => {
  const name = normalName(Array.from(label).slice(0, limits.name.max).join(''));
  const plain = `用户${String(randomInt(1_000_000)).padStart(6, '0')}`;
  if (name === '' || nameFault(name)) return plain;
  try {
    await auth.refuseBlocked(context.db, name);
    return name;
  } catch (error) {
    if (error instanceof Refusal) return plain;
    throw error;
  }
};

/** An account without a password, for who comes for the first time. @throws Refusal too_many */
const register = async (
  auth: AuthContext,
  providerId: number,
  who: Vouched,
  context: Context,
): Promise<Out<'finishProvider'>> => {
  const shut = await auth.whyNoAccount(context.db, undefined);
  if (shut) return { error: shut };
  await auth.attempts.beginRegistration(context.ip, { proven: true });
  const userName = await nameFor(auth, context, who.label);
  const network = auth.marks.networkOf(context.ip);
  const madeInProvider = auth.marks.providerOf(context.ip);
  const account = `u${randomBytes(8).toString('hex')}`;
  const signedIn = await auth.db.transaction(async (tx) => {
    const userId = await insertUser(tx, { madeIn: network, madeInProvider, account, userName });
    if (userId === null) throw new Error('a random account was taken');
    // Two at once: the second one's account goes again with this transaction.
    if (!(await store.insertIdentity(tx, { userId, providerId, ...who })))
      throw new Refusal('conflict', over);
    await auth.openWallet(tx, userId, auth.settings.signupTokens);
    await takeOverGuest(auth, tx, context.user, userId);
    await auth.registered(tx, userId, { code: undefined, network, provider: madeInProvider });
    const { agent, ip } = context;
    return enter(auth, tx, { userId, agent, ip, way: 'provider' });
  });
  return { ...signedIn, device: auth.marks.deviceOf(account) };
};

const link = async (
  auth: AuthContext,
  flow: { jti: string | null; userId: number | null },
  identity: Vouched & { providerId: number },
  { user, agent }: Context,
): Promise<Out<'finishProvider'>> => {
  // Linking is finished by the very login that began it.
  if (!user || user.jti !== flow.jti || user.id !== flow.userId)
    return { error: '登录的账号变了，没有关联，请重新来一次' };
  const made = await auth.db.transaction(async (tx) => {
    await requireLogin(tx, user);
    if (!(await store.insertIdentity(tx, { userId: user.id, ...identity }))) return false;
    await store.insertEvent(tx, { userId: user.id, kind: 'link', way: 'provider', agent });
    return true;
  });
  return made
    ? { linked: true }
    : { error: '没有关联：对方的账号已经关联了这里的一个账号，或您已经关联过它的另一个账号' };
};

/**
 * Cut short, two people of a provider could become one; what no database holds was never somebody's.
 * @throws NotVouched
 */
const identified = (who: Vouched): Vouched => {
  if (!/^\P{Cc}{1,500}$/u.test(who.subject)) throw new NotVouched('an impossible subject');
  return who;
};

/** Whoever comes back from a provider. @throws Refusal account_disabled, too_many */
export const finishProvider = async (
  auth: AuthContext,
  input: Parsed<'finishProvider'>,
  context: Context,
): Promise<Out<'finishProvider'>> => {
  const query = new URLSearchParams(input.query);
  const [state = '', ...more] = query.getAll('state');
  if (state === '' || more.length > 0) return { error: over };
  const given = {
    stateHash: hashOf(state),
    secretHash: hashOf(input.secret),
    providerId: input.id,
  };
  const drop = (tx: Transaction) => store.dropFlow(tx, given.stateHash);
  const row = await store.findProvider(context.db, input.id);
  if (!row?.enabled) return { error: over };
  const waiting = await store.waitingFlow(auth.db, given);
  const found = waiting?.userId ? await store.personOf(auth.db, waiting.userId) : null;
  if (found) return admit(auth, found, { way: 'provider', used: drop }, input, context);
  const flow = await store.takeFlow(auth.db, given);
  if (!flow) return { error: over };
  if (query.has('error')) return { error: `“${row.name}”没有同意，可以重新来一次` };
  const provider = opened(auth, row);
  let who: Vouched;
  try {
    who = identified(await dialects[provider.kind].vouch(provider, { ...flow, state }, query, ask));
  } catch (error) {
    if (!(error instanceof NotVouched)) throw error;
    context.log.warn(
      { event: 'sign_in_failed', reason: 'provider', provider: row.id, why: error.message },
      'a provider did not vouch',
    );
    return { error: `没有从“${row.name}”得到可信的回答，请重新来一次` };
  }
  const identity = {
    issuer: who.issuer,
    subject: who.subject,
    label: Array.from(who.label.replaceAll(/\p{Cc}/gu, ''))
      .slice(0, 60)
      .join(''),
  };
  if (flow.jti !== null) return link(auth, flow, { ...identity, providerId: row.id }, context);
  const known = await store.identityOf(auth.db, { ...identity, providerId: row.id });
  if (!known) {
    if ((await auth.contacts.settings()).provider_register === 1)
      return register(auth, row.id, identity, context);
    return {
      error: `这个“${row.name}”账号还没有关联：请先用密码登录，再到“账户 → 安全”里关联它`,
    };
  }
  // It waits there for the second factor, if one is asked for.
  const back = { ...flow, userId: known.userId };
  if (!(await store.keepBack(auth.db, back, { ...identity, providerId: row.id })))
    return { error: over };
  return admit(auth, known, { way: 'provider', used: drop }, input, context);
};

/** @throws Refusal proof_unsuitable, not_found */
export const unlinkProvider = async (
  auth: AuthContext,
  id: number,
  { user, agent }: Context<Identity>,
): Promise<void> => {
  await auth.db.transaction(async (tx) => {
    await requireAnotherWay(tx, user.id, { identity: id });
    if (!(await store.removeIdentity(tx, user.id, id)))
      throw new Refusal('not_found', '没有关联这个账号');
    await store.insertEvent(tx, { userId: user.id, kind: 'unlink', way: 'provider', agent });
  });
};
