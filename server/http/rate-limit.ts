import { isIP } from 'node:net';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { CallSpec } from '../../contract/call.ts';
import { Refusal } from './handlers.ts';

const expanded = (address: string): string[] => {
  const [head = '', tail] = address.split('::');
  const left = head.split(':').filter(Boolean);
  if (tail === undefined) return left;
  const right = tail.split(':').filter(Boolean);
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right];
};

/** What counts as one address: an IPv4 address, or the /64 that one IPv6 customer has. */
export const addressKey = (ip: string): string => {
  const plain = ip.replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIP(plain) !== 6) return plain;
  return `${expanded(plain.split('%')[0] ?? '')
    .slice(0, 4)
    .join(':')}::/64`;
};

/** What counts as one network: the /24 of an IPv4 address, the /48 of one of IPv6. */
export const networkKey = (ip: string): string => {
  const address = addressKey(ip);
  return address.includes(':')
    ? `${address.split(':').slice(0, 3).join(':')}::/48`
    : `${address.split('.').slice(0, 3).join('.')}.0/24`;
};

/** This machine itself, or a proxy on it whose clients cannot be told apart. */
export const isLocal = (key: string): boolean => key.startsWith('127.') || key === '0:0:0:0::/64';

export const tooMany = (milliseconds: number): Refusal =>
  new Refusal('too_many', undefined, { retry_after: Math.max(1, Math.ceil(milliseconds / 1000)) });

const consume = async (limiter: RateLimiterMemory, key: string, weight = 1): Promise<void> => {
  try {
    await limiter.consume(key, weight);
  } catch (refused) {
    throw tooMany((refused as RateLimiterRes).msBeforeNext);
  }
};

/**
 * Counts what somebody does in so many seconds, by any key, in this process.
 * @throws Refusal too_many
 */
export const createKeyLimit = (
  points: number,
  duration = 60,
): ((key: string, weight?: number) => Promise<void>) => {
  const limiter = new RateLimiterMemory({ points, duration });
  return (key, weight) => consume(limiter, key, weight);
};

/** Counts what one person does in a minute, in this process. @throws Refusal too_many */
export const createPersonLimit = (
  points: number,
): ((userId: number, weight?: number) => Promise<void>) => {
  const limit = createKeyLimit(points);
  return (userId, weight) => limit(String(userId), weight);
};

/** Counts what comes from an address in a minute, in this process. @throws Refusal too_many */
export const createAddressLimit = (points: number): ((ip: string) => Promise<void>) => {
  const limiter = new RateLimiterMemory({ points, duration: 60 });
  return (ip) => consume(limiter, addressKey(ip));
};

/** Counts requests by address, in this process. @throws Refusal too_many */
export const createRateLimit = (options: { general: number; credentials: number }) => {
  const general = new RateLimiterMemory({ points: options.general, duration: 60 });
  const credentials = new RateLimiterMemory({ points: options.credentials, duration: 60 });
  return async (spec: CallSpec, ip: string): Promise<void> => {
    const key = addressKey(ip);
    if (!isLocal(key)) await consume(general, key);
    if (spec.limit === 'credentials') await consume(credentials, key);
  };
};

const day = 86_400;

/** What guests may ask services for in a day: each of them, all of an address, all of a network. */
export const createGuestLimit = (uses: number) => {
  const limits = {
    guest: createKeyLimit(uses, day),
    address: createKeyLimit(uses * 20, day),
    network: createKeyLimit(uses * 60, day),
  };
  return async (userId: number, ip: string): Promise<void> => {
    const address = addressKey(ip);
    try {
      await limits.guest(String(userId));
      if (isLocal(address)) return;
      await limits.address(address);
      await limits.network(networkKey(ip));
    } catch {
      throw new Refusal('login_required', '今天免费体验的次数用完了，登录之后可以继续');
    }
  };
};
