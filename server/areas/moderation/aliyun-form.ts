import { createHmac, randomUUID } from 'node:crypto';
import { encoded } from '#server/net/cloud-signatures.ts';
import {
  type Asked,
  object,
  passed,
  type Json,
  type Send,
  type ServiceForm,
  textOf,
  type Verdict,
} from './safety-forms.ts';

/**
 * 阿里云 内容安全增强版: RPC requests, signed with HMAC-SHA1. A text goes along with one; a picture is
 * put into a bucket of theirs first, with a key that they lend for it.
 */

const usualAddress = 'https://green-cip.cn-shanghai.aliyuncs.com/';
const sha1 = (key: string, text: string): string =>
  createHmac('sha1', key).update(text).digest('base64');

/** What a call answered. @throws Error where it says that it failed */
const callOf = async (
  { keyId, secret, address, now }: Asked,
  send: Send,
  call: Record<string, string>,
): Promise<Json> => {
  const params: Record<string, string> = {
    AccessKeyId: keyId,
    Format: 'JSON',
    SignatureMethod: 'HMAC-SHA1',
    SignatureNonce: randomUUID(),
    SignatureVersion: '1.0',
    Timestamp: now.toISOString().replace(/\.\d+Z$/, 'Z'),
    Version: '2022-03-02',
    ...call,
  };
  const query = Object.keys(params)
    .sort()
    .map((name) => `${encoded(name)}=${encoded(params[name]!)}`)
    .join('&');
  const signature = sha1(`${secret}&`, `POST&${encoded('/')}&${encoded(query)}`);
  const answer = await send({
    url: address || usualAddress,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `${query}&Signature=${encoded(signature)}`,
  });
  const { Code: code, Data: data, Message: message, Msg: said } = object(await answer.json());
  if (code !== 200) throw new Error(`阿里云 ${String(code)} ${textOf(message) || textOf(said)}`);
  return object(data);
};

/** Where the key that was lent is good for. @throws Error for an address that is none of theirs */
const placeOf = (endpoint: string, bucket: string, { address }: Asked): URL => {
  const url = new URL(endpoint.includes('://') ? endpoint : `https://${endpoint}`);
  const own = url.protocol === 'https:' && url.hostname.endsWith('.aliyuncs.com');
  // An operator's own address is another service of this form, with its own store.
  if (!own && address === '') throw new Error(`阿里云 gave ${url.hostname} for pictures`);
  if (!/^[a-z0-9-]{3,63}$/.test(bucket)) throw new Error('阿里云 gave no bucket');
  // An IP has no names below it: there the bucket is the first part of the path.
  if (/^[\d.]+$/.test(url.hostname)) return new URL(`/${bucket}/`, url);
  url.hostname = `${bucket}.${url.hostname}`;
  return new URL('/', url);
};

/** Puts a picture where the service reads it from. */
const upload = async (picture: Buffer, asked: Asked, send: Send) => {
  const lent = await callOf(asked, send, { Action: 'DescribeUploadToken' });
  const bucket = textOf(lent['BucketName']);
  const name = `${textOf(lent['FileNamePrefix'])}${randomUUID()}.jpg`;
  const place = placeOf(textOf(lent['OssInternetEndPoint']), bucket, asked);
  // A name that is an address of its own would lead elsewhere.
  place.pathname += name;
  const date = asked.now.toUTCString();
  const type = 'image/jpeg';
  const token = textOf(lent['SecurityToken']);
  const signed = `PUT\n\n${type}\n${date}\nx-oss-security-token:${token}\n/${bucket}/${name}`;
  const signature = sha1(textOf(lent['AccessKeySecret']), signed);
  await send({
    method: 'PUT',
    url: place.href,
    headers: {
      'content-type': type,
      date,
      'x-oss-security-token': token,
      authorization: `OSS ${textOf(lent['AccessKeyId'])}:${signature}`,
    },
    body: new Uint8Array(picture),
  });
  return { ossBucketName: bucket, ossObjectName: name, dataId: randomUUID() };
};

const verdictOf = ({ RiskLevel: risk, Result: result }: Json): Verdict => {
  if (risk !== 'high' && risk !== 'medium') return passed;
  const [first] = Array.isArray(result) ? (result as Json[]) : [];
  const reason = textOf(first?.['Description']) || textOf(first?.['Label']);
  return { level: risk === 'high' ? 'refuse' : 'review', reason };
};

export const aliyun: ServiceForm = async (judged, asked, send) => {
  if ('picture' in judged)
    return verdictOf(
      await callOf(asked, send, {
        Action: 'ImageModeration',
        Service: asked.business || 'baselineCheck',
        ServiceParameters: JSON.stringify(await upload(judged.picture, asked, send)),
      }),
    );
  const usual = judged.way === 'in' ? 'llm_query_moderation' : 'llm_response_moderation';
  return verdictOf(
    await callOf(asked, send, {
      Action: 'TextModerationPlus',
      Service: asked.business || usual,
      ServiceParameters: JSON.stringify({ content: judged.text }),
    }),
  );
};
