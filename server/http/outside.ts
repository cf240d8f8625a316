import type { FastifyRequest } from 'fastify';
import { isPublicAddress, isPublicHost } from '../net/public-host.ts';

/** What a proxy adds to a request that it hands on. */
const forwarding =
  /^(?:x-forwarded(?:-.+)?|x-real-ip|x-client-ip|true-client-ip|forwarded|via|cf-.+)$/;

/** How many addresses the proxies wrote down, the nearest one's own left out. */
const forwardedFor = ({ headers }: FastifyRequest): number =>
  [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').filter(Boolean).length;

/**
 * Why a request may have come from the internet, in English for the log; null: it came from this
 * machine or its own network. Proxies that TRUST_PROXY does not name may hide anybody.
 */
export const whyOutside = (request: FastifyRequest): string | null => {
  const address = request.ip.replace(/^::ffff:/i, '');
  if (isPublicAddress(address)) return `address ${address}`;
  const host = request.hostname;
  if (host === '' || isPublicHost(host)) return `host ${host}`;
  const proxied = Object.keys(request.headers).find((name) => forwarding.test(name));
  if (proxied === undefined)
    // People's programs have not spoken it for decades, proxies that were told nothing do (nginx):
    // they say their own name for the host, and not a word of whom they serve.
    return request.raw.httpVersionMajor === 1 && request.raw.httpVersionMinor === 0
      ? 'HTTP/1.0, as proxies speak it'
      : null;
  // Of trusted proxies the first is among `ips`, and so is everybody whom they saw.
  const seen = (request.ips?.length ?? 1) - 1;
  return seen > 0 && seen === forwardedFor(request) ? null : `untrusted header ${proxied}`;
};
