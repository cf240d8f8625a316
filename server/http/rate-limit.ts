import { isIP } from 'node:net';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { CallSpec } from '#contract/call.ts';
import type { Waiter } from '#server/fair-queue.ts';
import { Refusal } from './handlers.ts';
import { SharedLimiter } from './shared-limit.ts';

const expanded = (address: string): string[] => {
  const [head = '', tail] = address.split('::');
  const left = head.split(':').filter(Boolean);
  if (tail === undefined) return left;
  const right = tail.split(':').filter(Boolean);
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right];
};

const mapped = [0, 0, 0, 0, 0, 0xffff].join(' ');

/** What counts as one address: an IPv4 address, or the /64 that one IPv6 customer has. */
export const addressKey = (ip: string): string => {
  const plain = ip.replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIP(plain) !== 6) return plain;
  const parts = expanded(plain.split('%')[0] ?? '');
  // An IPv4 address within IPv6, its numbers in hexadecimal.
  if (
    parts
      .slice(0, 6)
      .map((each) => Number.parseInt(each, 16))
      .join(' ') === mapped
  )
    return parts
      .slice(6)
      .flatMap((each) => [Number.parseInt(each, 16) >> 8, Number.parseInt(each, 16) & 255])
      .join('.');
  return `${parts.slice(0, 4).join(':')}::/64`;
};

/**
 * What counts as one network: the /24 of an IPv4 address; of one of IPv6 the /40, as who is given a
 * /32 has 65,536 networks of the size that customers get.
 */
export const networkKey = (ip: string): string => {
  const address = addressKey(ip);
  if (!address.includes(':')) return `${address.split('.').slice(0, 3).join('.')}.0/24`;
  const [first, second, third = '0'] = address.split(':');
  const part = Number.parseInt(third, 16) & 0xff_00;
  return `${first}:${second}:${part.toString(16)}::/40`;
};

/** Who has given such a network out: the /32 of one of IPv6; null: of IPv4 nobody can tell. */
export const providerKey = (ip: string): string | null => {
  const address = addressKey(ip);
  return address.includes(':') ? `${address.split(':').slice(0, 2).join(':')}::/32` : null;
};

/** This machine itself, or a proxy on it whose clients cannot be told apart. */
export const isLocal = (key: string): boolean => key.startsWith('127.') || key === '0:0:0:0::/64';

/** Who asks where people are counted: visitors of a network are one person, as its guests are. */
export const askerOf = (user: Waiter | null, ip: string): Waiter =>
  user ?? { person: networkKey(ip), guest: true };

export const tooMany = (milliseconds: number, why?: string): Refusal =>
  new Refusal('too_many', why, { retry_after: Math.max(1, Math.ceil(milliseconds / 1000)) });

const consume = async (limiter: RateLimiterMemory, key: string, weight = 1): Promise<void> => {
  try {
    await limiter.consume(key, weight);
  } catch (refused) {
    throw tooMany((refused as RateLimiterRes).msBeforeNext);
  }
};

/**
 * Counts what somebody does in so many seconds, by any key.
 * @param name what is limited: processes count together what has a name, otherwise each for itself
 * @throws Refusal too_many
 */
export const createKeyLimit = (
  points: number,
  duration = 60,
  name = '',
): ((key: string, weight?: number) => Promise<void>) => {
  const limiter =
    name === ''
      ? new RateLimiterMemory({ points, duration })
      : new SharedLimiter({ name, points, duration });
  return (key, weight) => consume(limiter, key, weight);
};

/** Counts by any key what has happened, which refuses what would happen next; as above otherwise. */
export const createKeyCount = (points: number, duration: number, name: string) => {
  const limiter = new SharedLimiter({ name, points, duration });
  return {
    add: async (key: string, weight: number): Promise<void> =>
      void (await limiter.penalty(key, weight)),
    /** For how long more a key is used up, as far as this process knows, ms; 0: it is not. */
    usedUp: async (key: string): Promise<number> => {
      const now = await limiter.get(key);
      return now !== null && now.consumedPoints > points ? now.msBeforeNext : 0;
    },
  };
};

/** Counts what one person does in a minute; `name` as above. @throws Refusal too_many */
export const createPersonLimit = (
  points: number,
  name = '',
): ((userId: number, weight?: number) => Promise<void>) => {
  const limit = createKeyLimit(points, 60, name);
  return (userId, weight) => limit(String(userId), weight);
};

/** Counts what comes from an address in a minute; `name` as above. @throws Refusal too_many */
export const createAddressLimit = (points: number, name = ''): ((ip: string) => Promise<void>) => {
  const limit = createKeyLimit(points, 60, name);
  return (ip) => limit(addressKey(ip));
};

/** How many addresses' worth of requests a network may make, and all that one provider gave out. */
const shares = { network: 20, provider: 60 };

/** Counts in a minute by address, and unless it is this machine's by network and provider. */
const createPlaceLimit = (points: number, name: string): ((ip: string) => Promise<void>) => {
  const limits = {
    address: createKeyLimit(points, 60, name),
    network: createKeyLimit(points * shares.network, 60, `${name} of a network`),
    provider: createKeyLimit(points * shares.provider, 60, `${name} of a provider`),
  };
  return async (ip) => {
    const address = addressKey(ip);
    // The narrowest first: who is refused by it takes nothing from what others share.
    await limits.address(address);
    if (isLocal(address)) return;
    await limits.network(networkKey(ip));
    const provider = providerKey(ip);
    if (provider) await limits.provider(provider);
  };
};

/** Counts requests by where they come from. @throws Refusal too_many */
export const createRateLimit = (options: { general: number; credentials: number }) => {
  const general = createPlaceLimit(options.general, 'requests');
  const credentials = createPlaceLimit(options.credentials, 'credentials');
  return async (spec: CallSpec, ip: string): Promise<void> => {
    if (!isLocal(addressKey(ip))) await general(ip);
    if (spec.limit === 'credentials') await credentials(ip);
  };
};

const day = 86_400;

/** What guests may ask services for in a day: each of them, all of an address, a network, a provider. */
export const createGuestLimit = (uses: number) => {
  const limits = {
    guest: createKeyLimit(uses, day, 'guest'),
    address: createKeyLimit(uses * 20, day, 'guests of an address'),
    network: createKeyLimit(uses * 60, day, 'guests of a network'),
    provider: createKeyLimit(uses * 600, day, 'guests of a provider'),
  };
  return async (userId: number, ip: string): Promise<void> => {
    const address = addressKey(ip);
    try {
      await limits.guest(String(userId));
      if (isLocal(address)) return;
      await limits.address(address);
      await limits.network(networkKey(ip));
      const provider = providerKey(ip);
      if (provider) await limits.provider(provider);
    } catch {
      throw new Refusal('login_required', '今天免费体验的次数用完了，登录之后可以继续');
    }
  };
};

const megabyte = 1024 * 1024;
/** Bytes of bodies in a minute: of one person, and of all guests and visitors of an address. */
const mostBytes = { person: 1024 * megabyte, address: 192 * megabyte, untold: 4096 * megabyte };

type ByteLimit = (
  bytes: number,
  ip: string,
  user: { id: number; guest: boolean } | null,
) => Promise<void>;

/** Counts the bytes that somebody sends in a minute. @throws Refusal too_many */
export const createByteLimit = (): ByteLimit => {
  const kilobytes = (bytes: number): number => Math.ceil(bytes / 1024);
  const person = createPersonLimit(kilobytes(mostBytes.person), 'kilobytes');
  const address = createKeyLimit(kilobytes(mostBytes.address), 60, 'kilobytes of an address');
  const untold = createKeyLimit(kilobytes(mostBytes.untold), 60, 'kilobytes of this machine');
  return async (bytes, ip, user) => {
    if (!(bytes > 0)) return;
    if (user && !user.guest) return person(user.id, kilobytes(bytes));
    const key = addressKey(ip);
    await (isLocal(key) ? untold : address)(key, kilobytes(bytes));
  };
};

/**
 * Streams of events that may be open at once: each page has one of its jobs and one of each reply
 * that is being written, so that ten pages of a person on five devices have their room. Programs
 * with a key have many more.
 */
const mostStreams = { person: 128, program: 512, address: 256, network: 768, untold: 4096 };

export type StreamLimit = (
  user: { id: number; guest: boolean } | null,
  ip: string,
  by?: 'person' | 'program',
) => () => void;

/** The streams of events that a process has open, and may have: each costs it memory. */
export interface StreamRoom {
  open: number;
  readonly most: number;
}

/**
 * Counts the streams of events that are open, in this process; gives what to call once it is closed.
 * @throws Refusal too_many; unavailable, where the process has no room for one more of anybody
 */
export const createStreamLimit = (room: StreamRoom): StreamLimit => {
  const open = new Map<string, number>();
  return (user, ip, by = 'person') => {
    if (room.open >= room.most)
      throw new Refusal('unavailable', '现在打开的页面太多，服务器忙不过来，请稍后再试', {
        retry_after: 10,
      });
    const address = addressKey(ip);
    const bounds = new Map<string, number>();
    if (user) bounds.set(`${by} ${user.id}`, mostStreams[by]);
    // An address may be that of a school: who is known counts alone.
    if (!user || user.guest) {
      bounds.set(address, isLocal(address) ? mostStreams.untold : mostStreams.address);
      if (!isLocal(address)) bounds.set(networkKey(ip), mostStreams.network);
    }
    for (const [key, most] of bounds)
      if ((open.get(key) ?? 0) >= most)
        throw new Refusal('too_many', '同时打开的连接太多，请关闭一些页面后再试', {
          retry_after: 10,
        });
    for (const key of bounds.keys()) open.set(key, (open.get(key) ?? 0) + 1);
    room.open += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      room.open -= 1;
      for (const key of bounds.keys()) {
        const rest = (open.get(key) ?? 1) - 1;
        if (rest === 0) open.delete(key);
        else open.set(key, rest);
      }
    };
  };
};
