import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { addressKey, isLocal, networkKey, providerKey } from '#server/http/rate-limit.ts';

export type Marks = ReturnType<typeof createMarks>;

/** What stands for accounts, devices and networks where they themselves must not stand. */
export const createMarks = (secret: string) => {
  const sealed = (text: string): string =>
    createHmac('sha256', secret).update(text).digest('base64url');

  /** What a browser keeps after it was used to sign in: proves just that, and opens nothing. */
  const deviceOf = (account: string, salt = randomBytes(12).toString('base64url')): string =>
    `${salt}.${sealed(`device ${account} ${salt}`)}`;

  return {
    deviceOf,
    isDeviceOf: (account: string, device = ''): boolean => {
      const expected = Buffer.from(deviceOf(account, device.split('.', 1)[0]));
      const given = Buffer.from(device);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
    /** An account for logs. */
    digestOf: (account: string): string => sealed(`account ${account}`),
    /** A network without saying which; empty where people cannot be told apart by their addresses. */
    networkOf: (ip: string): string =>
      isLocal(addressKey(ip)) ? '' : sealed(`network ${networkKey(ip)}`),
    /** The same of whoever gave the network out; empty where nobody can tell, as of IPv4. */
    providerOf: (ip: string): string => {
      const provider = isLocal(addressKey(ip)) ? null : providerKey(ip);
      return provider === null ? '' : sealed(`provider ${provider}`);
    },
  };
};
