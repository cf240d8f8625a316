import { createHash, createHmac } from 'node:crypto';

/** What services in a cloud want signed, by their public documents. */

export interface CloudAccount {
  keyId: string;
  secret: string;
}

/** SHA-256 in hexadecimal. */
export const hex = (text: string): string => createHash('sha256').update(text).digest('hex');
export const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();

/** As RFC 3986 has it, which leaves fewer signs than encodeURIComponent does. */
export const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Headers of a JSON call of 腾讯云, signed with TC3-HMAC-SHA256 for `host`. */
export const signTencent = (
  { keyId, secret }: CloudAccount,
  call: {
    host: string;
    service: string;
    action: string;
    version: string;
    region: string;
    body: string;
  },
  at: Date,
): Record<string, string> => {
  const type = 'application/json; charset=utf-8';
  const seconds = Math.floor(at.getTime() / 1000);
  const day = at.toISOString().slice(0, 10);
  const names = 'content-type;host';
  const lines = `content-type:${type}\nhost:${call.host}\n`;
  const request = ['POST', '/', '', lines, names, hex(call.body)].join('\n');
  const scope = `${day}/${call.service}/tc3_request`;
  const algorithm = 'TC3-HMAC-SHA256';
  const key = hmac(hmac(hmac(`TC3${secret}`, day), call.service), 'tc3_request');
  const signature = hmac(key, `${algorithm}\n${seconds}\n${scope}\n${hex(request)}`);
  return {
    'content-type': type,
    'x-tc-action': call.action,
    'x-tc-version': call.version,
    'x-tc-timestamp': String(seconds),
    'x-tc-region': call.region,
    authorization: `${algorithm} Credential=${keyId}/${scope}, SignedHeaders=${names}, Signature=${signature.toString('hex')}`,
  };
};
