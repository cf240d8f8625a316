import { createHash, randomUUID } from 'node:crypto';
import { signTencent } from '#server/net/cloud-signatures.ts';

/** How services that judge texts and pictures are asked, by their public documents. */

export type Level = 'pass' | 'review' | 'refuse';
export interface Verdict {
  level: Level;
  /** In words for the person; empty: it passed. */
  reason: string;
}

export interface Asked {
  keyId: string;
  secret: string;
  /** For texts or pictures, whichever is judged. */
  business: string;
  /** Empty: the public one. */
  address: string;
  now: Date;
}

interface Sent {
  url: string;
  method?: 'PUT';
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer>;
}
/** @throws Error where the service does not answer in time, or not with 200 */
export type Send = (sent: Sent) => Promise<Response>;

/** What is to be judged: a text, or a picture as JPEG. */
export type Judged = { text: string; way: 'in' | 'out' } | { picture: Buffer };

/** Has something judged. @throws Error for an answer that is none */
export type ServiceForm = (judged: Judged, asked: Asked, send: Send) => Promise<Verdict>;

export const passed: Verdict = { level: 'pass', reason: '' };
export type Json = Record<string, unknown>;
export const object = (value: unknown): Json => {
  if (typeof value !== 'object' || value === null) throw new Error('the answer is no object');
  return value as Json;
};
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Of a service that is asked once. */
const oneRequest =
  ({
    request,
    read,
  }: {
    request: (judged: Judged, asked: Asked) => Sent;
    read: (answer: unknown) => Verdict;
  }): ServiceForm =>
  async (judged, asked, send) =>
    read(await (await send(request(judged, asked))).json());

/** 腾讯云 TextModeration and ImageModeration: JSON, signed with TC3-HMAC-SHA256. */
const tencent = oneRequest({
  request: (judged, { keyId, secret, business, address, now }) => {
    const [service, action, content] =
      'text' in judged
        ? ['tms', 'TextModeration', { Content: Buffer.from(judged.text).toString('base64') }]
        : ['ims', 'ImageModeration', { FileContent: judged.picture.toString('base64') }];
    const host = `${service}.tencentcloudapi.com`;
    const body = JSON.stringify({ ...(content as object), ...(business && { BizType: business }) });
    const version = '2020-12-29';
    const region = 'ap-guangzhou';
    const headers = signTencent(
      { keyId, secret },
      { host, service, action, version, region, body },
      now,
    );
    return {
      url: address || `https://${host}/`,
      headers: { ...headers, ...(address === '' && { host }) },
      body,
    };
  },
  read: (answer) => {
    const {
      Error: error,
      Suggestion: suggestion,
      Label: label,
    } = object(object(answer)['Response']);
    if (error) throw new Error(`腾讯云 ${JSON.stringify(error).slice(0, 200)}`);
    if (suggestion === 'Pass') return passed;
    if (suggestion !== 'Block' && suggestion !== 'Review') throw new Error('腾讯云没有给出结果');
    return { level: suggestion === 'Block' ? 'refuse' : 'review', reason: textOf(label) };
  },
});

/** 网易易盾 v5: a form, signed with MD5 over its sorted fields and the key. */
const netease = oneRequest({
  request: (judged, { keyId, secret, business, address, now }) => {
    const about: Record<string, string> =
      'text' in judged
        ? { content: judged.text, version: 'v5.3' }
        : {
            images: JSON.stringify([
              { name: 'image', type: 2, data: judged.picture.toString('base64') },
            ]),
            version: 'v5.3',
          };
    const fields: Record<string, string> = {
      ...about,
      secretId: keyId,
      businessId: business,
      timestamp: String(now.getTime()),
      nonce: String(Math.floor(Math.random() * 1e9)),
      dataId: randomUUID(),
    };
    const signature = createHash('md5')
      .update(
        `${Object.keys(fields)
          .sort()
          .map((name) => name + fields[name]!)
          .join('')}${secret}`,
      )
      .digest('hex');
    const path = 'text' in judged ? 'text' : 'image';
    return {
      url: `${address || 'https://as.dun.163.com'}/v5/${path}/check`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ...fields, signature }).toString(),
    };
  },
  read: (answer) => {
    const { code, msg, result } = object(answer);
    if (code !== 200) throw new Error(`网易易盾 ${String(code)} ${textOf(msg)}`);
    // Of pictures there is one result each.
    const { antispam } = object(Array.isArray(result) ? result[0] : result);
    const { suggestion, label } = object(antispam);
    if (suggestion === 0) return passed;
    if (suggestion !== 1 && suggestion !== 2) throw new Error('网易易盾没有给出结果');
    return { level: suggestion === 2 ? 'refuse' : 'review', reason: `分类 ${String(label)}` };
  },
});

export const serviceForms = { tencent, netease } as const;
