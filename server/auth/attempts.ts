import { createHash } from 'node:crypto';
import type pg from 'pg';
import { RateLimiterPostgres } from 'rate-limiter-flexible';
import { addressKey, tooMany } from '../http/rate-limit.ts';

/** Failed logins of an account or address in 15 minutes that need no captcha. */
const freeFailures = 3;
/** Failures in 15 minutes after which nothing is tried any more. An account is given more than one
 * address is, so that its owner can still come in from elsewhere while somebody guesses. */
const mostFailures = { account: 100, address: 30 };
const mostRegistrations = 200;

const quarter = 15 * 60;
const day = 24 * 3600;

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

/**
 * Counts tries at logins and registrations in the database, so that all processes count together.
 * A try is counted before it is made, so that many at once cannot pass for one, and taken back when
 * it was no failure.
 */
export const createAttempts = (pool: pg.Pool, options: { freeRegistrations: number }) => {
  const limiter = (keyPrefix: string, duration: number) =>
    new RateLimiterPostgres({
      storeClient: pool,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      clearExpiredByTimeout: false,
      keyPrefix,
      points: 1,
      duration,
    });
  const byAccount = limiter('login-account', quarter);
  const byAddress = limiter('login-address', quarter);
  const registrations = limiter('register', day);

  return {
    /** @throws Refusal too_many */
    beginLogin: async (account: string, ip: string) => {
      const accountKey = digest(account);
      const address = addressKey(ip);
      const [a, b] = await Promise.all([byAccount.penalty(accountKey), byAddress.penalty(address)]);
      const takeBack = async () => {
        await Promise.all([byAccount.reward(accountKey), byAddress.reward(address)]);
      };
      const overAccount = a.consumedPoints > mostFailures.account;
      const overAddress = b.consumedPoints > mostFailures.address;
      if (overAccount || overAddress) {
        await takeBack();
        throw tooMany(Math.max(overAccount ? a.msBeforeNext : 0, overAddress ? b.msBeforeNext : 0));
      }
      return {
        needsCaptcha: a.consumedPoints > freeFailures || b.consumedPoints > freeFailures,
        /** The next failure is the one after which a captcha is asked for. */
        captchaNext: a.consumedPoints >= freeFailures || b.consumedPoints >= freeFailures,
        /** It was not tried. */
        takeBack,
        succeeded: async () => {
          await Promise.all([byAccount.delete(accountKey), byAddress.reward(address)]);
        },
      };
    },

    /** @throws Refusal too_many */
    beginRegistration: async (ip: string) => {
      const address = addressKey(ip);
      const count = await registrations.penalty(address);
      const takeBack = async () => {
        await registrations.reward(address);
      };
      if (count.consumedPoints > mostRegistrations + options.freeRegistrations) {
        await takeBack();
        throw tooMany(count.msBeforeNext);
      }
      return {
        needsCaptcha: count.consumedPoints > options.freeRegistrations,
        captchaNext: count.consumedPoints >= options.freeRegistrations,
        takeBack,
      };
    },
  };
};
