import { isIP } from 'node:net';
import { isPublicAddress } from './guarded-fetch.ts';

const ownNames = /\.(?:local|lan|home|internal|test|localhost)$/i;

/** Whether strangers on the internet may know a host by this name or address. */
export const isPublicHost = (hostname: string): boolean => {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host)) return isPublicAddress(host);
  return host.includes('.') && !ownNames.test(host);
};
