import { isIP } from 'node:net';
import { isPublicAddress } from './guarded-fetch.ts';

const ownNames = /\.(?:local|lan|home|internal|test|localhost)$/i;

/** The host of an address that is not of this machine or its network; empty: it is. */
export const publicHostOf = (address: string): string => {
  const { hostname } = URL.canParse(address) ? new URL(address) : { hostname: '' };
  return isPublicHost(hostname) ? hostname : '';
};

/** Whether strangers on the internet may know a host by this name or address. */
export const isPublicHost = (hostname: string): boolean => {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host)) return isPublicAddress(host);
  return host.includes('.') && !ownNames.test(host);
};
