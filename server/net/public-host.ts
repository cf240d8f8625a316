import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Blocks that translate to IPv4 addresses: what they stand for counts. */
const embedded = (address: ipaddr.IPv6): ipaddr.IPv4 | null => {
  const { parts } = address;
  const [first = 0, second = 0, third = 0] = parts;
  const v4 = (high = 0, low = 0) => new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255]);
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  // NAT64, well known (RFC 6052).
  if (first === 0x64 && second === 0xff9b && parts.slice(2, 6).every((part) => part === 0))
    return v4(parts[6], parts[7]);
  // 6to4.
  if (first === 0x2002) return v4(second, third);
  return null;
};

/** Whether an address belongs to one machine of the public internet. */
export const isPublicAddress = (text: string): boolean => {
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  if (address.kind() === 'ipv4') return address.range() === 'unicast';
  const within = embedded(address as ipaddr.IPv6);
  if (within) return within.range() === 'unicast';
  // Of IPv6 only 2000::/3 is given out at all.
  const [first = 0] = (address as ipaddr.IPv6).parts;
  return address.range() === 'unicast' && first >> 13 === 1;
};

const ownNames = /\.(?:local|lan|home|internal|test|localhost)$/i;

/** The host of an address that is not of this machine or its network; empty: it is. */
export const publicHostOf = (address: string): string => {
  const { hostname } = URL.canParse(address) ? new URL(address) : { hostname: '' };
  return isPublicHost(hostname) ? hostname : '';
};

/** Whether strangers on the internet may know a host by this name or address. */
export const isPublicHost = (hostname: string): boolean => {
  const host = hostname.replace(/^\[|\]$|\.$/g, '');
  if (isIP(host)) return isPublicAddress(host);
  return host.includes('.') && !ownNames.test(host);
};
