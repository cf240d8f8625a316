import type pg from 'pg';
import type { RateLimiterPostgres } from 'rate-limiter-flexible';
import type { ContactKind } from '#contract/sign-in.ts';
import { databaseLimiter } from '#server/db/database-limiter.ts';
import { addressKey, isLocal, networkKey, tooMany } from '#server/http/rate-limit.ts';

const hour = 3600;
const day = 24 * hour;

/** Codes that are asked for, most of them: a message costs money, and fills somebody's phone. */
const most = {
  /** To one address in an hour: by one network, and by all strangers. */
  value: { network: 4, all: 12 },
  /** To one address in a day, by strangers. */
  valueOfDay: 20,
  /** By its own person, which strangers cannot use up: in an hour from their devices, and in a day. */
  own: { device: 4, day: 40 },
  /** By one signed-in person in a day. */
  person: 15,
  /** From an address and a network in an hour. */
  address: 20,
  network: 120,
};

/** Where a code is asked for that the account behind the address was entered from before. */
export type KnownPlace = 'device' | 'network';

/** Counts codes that are asked for and tried. */
export const createCodeLimits = (pool: pg.Pool) => {
  const hourly = databaseLimiter(pool, 'codes-hour', hour);
  const daily = databaseLimiter(pool, 'codes-day', day);
  const checks = databaseLimiter(pool, 'code-checks', hour / 4);

  const count = async (limit: RateLimiterPostgres, key: string, top: number): Promise<void> => {
    const counted = await limit.penalty(key);
    if (counted.consumedPoints > top) throw tooMany(counted.msBeforeNext);
  };
  const total = (kind: ContactKind) => `all ${kind} ${new Date().toISOString().slice(0, 10)}`;

  return {
    /**
     * Before a code is made, also one that goes to nobody. @throws Refusal too_many
     * @param value a mark of the address, not itself
     * @param place null: a stranger may be asking
     */
    ask: async (asked: {
      kind: ContactKind;
      value: string;
      ip: string;
      userId: number | null;
      place: KnownPlace | null;
    }): Promise<void> => {
      const { value, ip, userId, place } = asked;
      const address = addressKey(ip);
      const network = networkKey(ip);
      // The narrowest first: who is refused by it takes nothing from what others share.
      if (userId !== null) await count(daily, `person ${userId}`, most.person);
      // A proxy on this machine may hide whoever comes through it.
      if (!isLocal(address)) {
        await count(hourly, `address ${address}`, most.address);
        await count(hourly, `network ${network}`, most.network);
      }
      if (place === 'device') await count(hourly, `value ${value} device`, most.own.device);
      else await count(hourly, `value ${value} ${network}`, most.value.network);
      if (place !== null) return count(daily, `value ${value} own`, most.own.day);
      await count(hourly, `value ${value}`, most.value.all);
      await count(daily, `value ${value}`, most.valueOfDay);
    },

    /**
     * Before one is sent: all people's together in a day. False: there were too many. Those that
     * strangers may have asked for, and those to addresses that nobody has proved yet, get half of
     * them, or whoever names others' numbers keeps everybody from signing in.
     * @param strange it is one of those
     */
    maySend: async (kind: ContactKind, top: number, strange: boolean): Promise<boolean> => {
      const toStrange = strange ? await daily.penalty(`strange ${total(kind)}`) : null;
      if (toStrange && toStrange.consumedPoints > Math.ceil(top / 2)) return false;
      return (await daily.penalty(total(kind))).consumedPoints <= top;
    },

    sentToday: async (kind: ContactKind): Promise<number> =>
      (await daily.get(total(kind)))?.consumedPoints ?? 0,

    /** Before a code is compared, whichever it is. @throws Refusal too_many */
    check: async (ip: string): Promise<void> => {
      const address = addressKey(ip);
      if (!isLocal(address)) await count(checks, address, 60);
    },
  };
};
