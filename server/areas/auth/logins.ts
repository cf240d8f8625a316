import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Out } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import type { Authenticator, Identified } from '#server/http/handlers.ts';
import * as store from './auth.store.ts';
import { createTokens, loginSeconds } from './token.ts';

/** How long a ticket can be used, ms. */
const ticketLifetime = 60_000;

const hashOf = (ticket: string): Buffer => createHash('sha256').update(ticket).digest();

/**
 * What stands for a login on the wire: tokens and tickets.
 * @param loginDays a login ends so many days after it began, however it is used
 */
export const createLogins = (secret: string, loginDays: number) => {
  const tokens = createTokens(secret);

  const identifyLogin = async (
    db: Executor,
    jti: string,
    userId?: number,
  ): Promise<Identified | null> => {
    const row = await store.findLogin(db, jti, loginDays);
    if (!row || (userId !== undefined && row.id !== userId)) return null;
    const { disabled, ...person } = row;
    return { identity: { ...person, jti }, disabled };
  };

  const identify: Authenticator['identify'] = async (db, token) => {
    const claims = await tokens.read(token);
    if (!claims) return null;
    const identified = await identifyLogin(db, claims.jti, claims.userId);
    if (!identified || identified.disabled || !claims.aging) return identified;
    try {
      await store.prolongLogin(db, claims.jti, loginSeconds);
    } catch {
      // A database that cannot write, as on a full disk, must not end a login that still runs.
      return identified;
    }
    return { ...identified, refreshed: await tokens.sign(claims.userId, claims.jti) };
  };

  const whyEnded: Authenticator['whyEnded'] = async (db, token) => {
    const claims = await tokens.read(token);
    return claims && (await store.isTooOld(db, claims.jti, loginDays))
      ? `这次登录已满 ${loginDays} 天，为了安全，请重新登录`
      : '登录已失效，请重新登录';
  };

  const redeemTicket: Authenticator['redeemTicket'] = async (db, ticket, historyId) => {
    const jti = await store.takeTicket(db, hashOf(ticket), historyId);
    return jti === null ? null : identifyLogin(db, jti);
  };

  const issueToken: Authenticator['issueToken'] = async (
    db,
    userId,
    agent,
    { fresh = false, network = '' } = {},
  ) => {
    const jti = randomUUID();
    const made = await store.insertLogin(db, {
      jti,
      userId,
      agent,
      fresh,
      network,
      seconds: loginSeconds,
    });
    return made ? tokens.sign(userId, jti) : null;
  };

  return {
    identify,
    whyEnded,
    redeemTicket,
    issueToken,

    issueAgain: async (db: Executor, userId: number, agent: string) =>
      (await store.hasLogin(db, userId)) ? issueToken(db, userId, agent) : null,

    signedIn: async (db: Executor, jtis: string[]) =>
      new Set(await store.standingLogins(db, jtis, loginDays)),

    /** @param historyId the one reply whose stream it opens; left out: any one stream or download */
    makeTicket: async (db: Executor, jti: string, historyId?: number): Promise<Out<'ticket'>> => {
      const ticket = randomBytes(32).toString('base64url');
      const expiresAt = new Date(Date.now() + ticketLifetime);
      await store.insertTicket(db, { hash: hashOf(ticket), jti, expiresAt, historyId });
      return { ticket, expires_at: expiresAt.toISOString() };
    },
  };
};
