import type pg from 'pg';
import { countWithin } from '#server/db/count-within.ts';
import type { Executor } from '#server/db/database.ts';
import { databaseLimiter } from '#server/db/database-limiter.ts';
import { addressKey, isLocal, networkKey, providerKey, tooMany } from '#server/http/rate-limit.ts';

/** Registrations of an address in a day beyond the free ones, without and with a proof of work. */
const mostRegistrations = { plain: 20, proven: 200 };
/**
 * So many times what an address has, all of its network have, and all networks of one provider: a line
 * of IPv6 comes with 65,536 addresses, some providers give such lines away, and each account is given
 * tokens.
 */
const shares = { network: 3, provider: 30 };
/** In ten minutes from one address: a school's class at once. Its network has ten times as many. */
const burst = { registrations: 40, guests: 60, network: 10 };

const day = 24 * 3600;
const tenMinutes = 600;

/** The keys that an address counts under, each with how many times as many it may have. */
const countedUnder = (ip: string, network: number): { key: string; share: number }[] => {
  const address = addressKey(ip);
  const provider = providerKey(ip);
  const own = { key: address, share: 1 };
  // A proxy on this machine may hide whoever comes through it.
  if (isLocal(address)) return [own];
  const all = [own, { key: networkKey(ip), share: network }];
  return provider ? [...all, { key: provider, share: shares.provider }] : all;
};

/** Counts tries at registrations, before they are made, and guests. */
export const createRegistrationAttempts = (
  pool: pg.Pool,
  options: { freeRegistrations: number },
) => {
  const registrations = databaseLimiter(pool, 'register', day);
  const bursts = databaseLimiter(pool, 'burst', tenMinutes);

  /** @throws Refusal too_many when too many came from an address or its network lately */
  const countBurst = async (ip: string) => {
    const address = addressKey(ip);
    // A proxy on this machine may hide whoever comes through it.
    if (isLocal(address)) return;
    const [one, all] = await Promise.all([
      bursts.penalty(`registrations ${address}`),
      bursts.penalty(`registrations ${networkKey(ip)}`),
    ]);
    const most = burst.registrations + options.freeRegistrations;
    if (one.consumedPoints > most) throw tooMany(one.msBeforeNext);
    if (all.consumedPoints > most * burst.network) throw tooMany(all.msBeforeNext);
  };

  return {
    /**
     * Counts in the transaction that makes the guest: one that waited for a second connection while
     * it holds a first would, with a few others, keep everybody from the database.
     * @throws Refusal too_many
     */
    countGuest: async (db: Executor, ip: string) => {
      const address = addressKey(ip);
      if (isLocal(address)) return;
      for (const { key, share } of countedUnder(ip, burst.network)) {
        const counted = await countWithin(db, `burst:guests ${key}`, tenMinutes * 1000);
        if (counted.points > burst.guests * share) throw tooMany(counted.left);
      }
    },

    /** @throws Refusal too_many */
    beginRegistration: async (ip: string, { proven }: { proven: boolean }) => {
      await countBurst(ip);
      const most = mostRegistrations[proven ? 'proven' : 'plain'] + options.freeRegistrations;
      const keys = countedUnder(ip, shares.network);
      const counts = await Promise.all(
        keys.map(async ({ key, share }) => {
          const { consumedPoints, msBeforeNext } = await registrations.penalty(key);
          return { share, consumedPoints, msBeforeNext };
        }),
      );
      const takeBack = async () => {
        await Promise.all(keys.map(({ key }) => registrations.reward(key)));
      };
      const full = counts.find(({ consumedPoints, share }) => consumedPoints > most * share);
      if (full) {
        await takeBack();
        throw tooMany(full.msBeforeNext);
      }
      const free = options.freeRegistrations;
      return {
        needsCaptcha: counts.some(({ consumedPoints, share }) => consumedPoints > free * share),
        captchaNext: counts.some(({ consumedPoints, share }) => consumedPoints >= free * share),
        takeBack,
      };
    },
  };
};
