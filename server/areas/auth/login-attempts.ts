import { createHash } from 'node:crypto';
import type pg from 'pg';
import { databaseLimiter } from '#server/db/database-limiter.ts';
import { addressKey, tooMany } from '#server/http/rate-limit.ts';

/** Failed logins of an account or address in 15 minutes that need no captcha. */
const freeFailures = 3;
/** Failures in 15 minutes after which nothing is tried any more. An account is given more than one
 * address is, so that its owner can still come in from elsewhere while somebody guesses. */
const mostFailures = { account: 100, address: 30 };
/** Failures in 15 minutes of a device that the account has been used from. */
const mostOfDevice = 30;
/**
 * Wrong passwords of one login in 15 minutes, by which somebody proves that it is they, and wrong
 * codes of an account's authenticator app from one place.
 */
const mostProofs = 10;
/** Wrong codes of an account in 15 minutes from all places together that it was entered from. */
const mostCodes = 60;
/**
 * Wrong codes of an account in a day, from places that it was entered from and from all others: whoever
 * knows the password and guesses keeps its owner from no place of their own.
 */
const mostOfDay = { known: 100, elsewhere: 30 };

const quarter = 15 * 60;
const day = 24 * 3600;

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

/**
 * Counts tries at logins, passwords and codes. A try is counted before it is made, so that many at
 * once cannot pass for one, and taken back when it was no failure.
 */
export const createLoginAttempts = (pool: pg.Pool) => {
  const byAccount = databaseLimiter(pool, 'login-account', quarter);
  const byAddress = databaseLimiter(pool, 'login-address', quarter);
  const byDevice = databaseLimiter(pool, 'login-device', quarter);
  const byProof = databaseLimiter(pool, 'password-proof', quarter);
  const byDay = databaseLimiter(pool, 'codes-of-day', day);

  return {
    /**
     * @param device proves that the account was used from there before: what others try from
     *   elsewhere is not held against it
     * @throws Refusal too_many
     */
    beginLogin: async (account: string, ip: string, device: string | null) => {
      if (device !== null) {
        const key = digest(device);
        const tries = await byDevice.penalty(key);
        const takeBack = async () => {
          await byDevice.reward(key);
        };
        if (tries.consumedPoints > mostOfDevice) {
          await takeBack();
          throw tooMany(tries.msBeforeNext);
        }
        return {
          needsCaptcha: tries.consumedPoints > freeFailures,
          captchaNext: tries.consumedPoints >= freeFailures,
          takeBack,
          succeeded: async () => {
            await byDevice.delete(key);
          },
        };
      }
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

    /**
     * Before the password of a signed-in person is compared. It counts as a try at a sign-in does;
     * what strangers try at the account, or with a login that they took, is not held against the
     * other logins: the owner must be able to change the password then. @throws Refusal too_many
     */
    beginProof: async (jti: string, account: string, ip: string) => {
      const key = `login ${jti}`;
      const accountKey = digest(account);
      const address = addressKey(ip);
      const [own, , there] = await Promise.all([
        byProof.penalty(key),
        byAccount.penalty(accountKey),
        byAddress.penalty(address),
      ]);
      const takeBack = async () => {
        await Promise.all([byAccount.reward(accountKey), byAddress.reward(address)]);
      };
      const over = [
        ...(own.consumedPoints > mostProofs ? [own.msBeforeNext] : []),
        ...(there.consumedPoints > mostFailures.address ? [there.msBeforeNext] : []),
      ];
      if (over.length > 0) {
        // It is not tried.
        await takeBack();
        throw tooMany(Math.max(...over));
      }
      return {
        succeeded: async () => {
          await Promise.all([takeBack(), byProof.delete(key)]);
        },
      };
    },

    /**
     * Before a code of an authenticator app is compared. @throws Refusal too_many
     * @param from what the account was entered from before, a device or a login, has tries of its
     *   own; null: somewhere else
     */
    beginCode: async (userId: number, from: string | null) => {
      const key = `code ${userId}${from === null ? '' : ` ${digest(from)}`}`;
      const tries = await byProof.penalty(key);
      if (tries.consumedPoints > mostProofs) throw tooMany(tries.msBeforeNext);
      // Who knows the password may have entered a thousand times before codes were asked for.
      const allKey = from === null ? null : `codes ${userId}`;
      const all = allKey === null ? null : await byProof.penalty(allKey);
      if (all && all.consumedPoints > mostCodes) throw tooMany(all.msBeforeNext);
      const place = from === null ? ('elsewhere' as const) : ('known' as const);
      const dayKey = `${place} ${userId}`;
      const today = await byDay.penalty(dayKey);
      if (today.consumedPoints > mostOfDay[place]) throw tooMany(today.msBeforeNext);
      return {
        succeeded: async () => {
          await byProof.delete(key);
          if (allKey !== null) await byProof.delete(allKey);
          // A right one of now and then gives no more tries to whoever guesses.
          await byDay.reward(dayKey);
        },
      };
    },
  };
};
