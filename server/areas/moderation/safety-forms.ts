import { createHash, createHmac, randomUUID } from 'node:crypto';
import { encoded, signTencent } from '#server/net/cloud-signatures.ts';

/** How services that judge texts and pictures are asked, by their public documents. */

export type Level = 'pass' | 'review' | 'refuse';
export interface Verdict {
  level: Level;
  /** In words for the person; empty: it passed. */
  reason: string;
}

interface Asked {
  keyId: string;
  secret: string;
  business: string;
  /** Empty: the public one. */
  address: string;
  now: Date;
}

interface Sent {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** What is to be judged: a text, or a picture's bytes. */
export type Judged = { text: string; way: 'in' | 'out' } | { picture: Buffer };

interface ServiceForm {
  /** Null: it does not judge such things. */
  request: (judged: Judged, asked: Asked) => Sent | null;
  /** @throws Error for an answer that is none */
  read: (answer: unknown) => Verdict;
}

const passed: Verdict = { level: 'pass', reason: '' };
type Json = Record<string, unknown>;
const object = (value: unknown): Json => {
  if (typeof value !== 'object' || value === null) throw new Error('the answer is no object');
  return value as Json;
};
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** 阿里云 内容安全增强版, TextModerationPlus: an RPC request, signed with HMAC-SHA1. */
const aliyun: ServiceForm = {
  request: (judged, { keyId, secret, business, address, now }) => {
    if (!('text' in judged)) return null;
    const usual = judged.way === 'in' ? 'llm_query_moderation' : 'llm_response_moderation';
    const params: Record<string, string> = {
      AccessKeyId: keyId,
      Action: 'TextModerationPlus',
      Format: 'JSON',
      Service: business || usual,
      ServiceParameters: JSON.stringify({ content: judged.text }),
      SignatureMethod: 'HMAC-SHA1',
      SignatureNonce: randomUUID(),
      SignatureVersion: '1.0',
      Timestamp: now.toISOString().replace(/\.\d+Z$/, 'Z'),
      Version: '2022-03-02',
    };
    const query = Object.keys(params)
      .sort()
      .map((name) => `${encoded(name)}=${encoded(params[name]!)}`)
      .join('&');
    const signature = createHmac('sha1', `${secret}&`)
      .update(`POST&${encoded('/')}&${encoded(query)}`)
      .digest('base64');
    return {
      url: address || 'https://green-cip.cn-shanghai.aliyuncs.com/',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `${query}&Signature=${encoded(signature)}`,
    };
  },
  read: (answer) => {
    const { Code: code, Data: data, Message: message } = object(answer);
    if (code !== 200) throw new Error(`阿里云 ${String(code)} ${textOf(message)}`);
    const { RiskLevel: risk, Result: result } = object(data);
    if (risk !== 'high' && risk !== 'medium') return passed;
    const [first] = Array.isArray(result) ? (result as Json[]) : [];
    const reason = textOf(first?.['Description']) || textOf(first?.['Label']);
    return { level: risk === 'high' ? 'refuse' : 'review', reason };
  },
};

/** 腾讯云 TextModeration and ImageModeration: JSON, signed with TC3-HMAC-SHA256. */
const tencent: ServiceForm = {
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
};

/** 网易易盾 v5: a form, signed with MD5 over its sorted fields and the key. */
const netease: ServiceForm = {
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
};

export const serviceForms = { aliyun, tencent, netease } as const;
