import {
  createDecipheriv,
  createSign,
  createVerify,
  type KeyObject,
  randomUUID,
  X509Certificate,
} from 'node:crypto';
import { request } from 'undici';
import { type Notice, ProviderError } from './payment-provider.ts';

/** A merchant of WeChat Pay, API v3. */
export interface WechatSettings {
  baseUrl: string;
  appId: string;
  merchantId: string;
  /** Of the merchant's certificate. */
  serial: string;
  privateKey: KeyObject;
  /** 32 characters: opens notices and the service's certificates. */
  apiKey: string;
  /** Merchants of the newer kind verify by a key instead of certificates; null: certificates. */
  publicKey: { id: string; key: KeyObject } | null;
  /** Where the service sends notices. */
  notifyUrl: string;
}

const timeoutMs = 10_000;
/** A signature older than this is a replay, seconds. */
const freshness = 300;
/** Certificates are read anew this often, and for an unknown serial no more often than that, ms. */
const certificatesLast = 12 * 3_600_000;
const certificatesPause = 60_000;
const mostBytes = 32 * 1024 * 1024;

export interface Sealed {
  algorithm?: string;
  ciphertext: string;
  nonce: string;
  associated_data?: string;
}

export interface Answer {
  status: number;
  text: string;
  json: Record<string, unknown>;
}

const one = (value: string | string[] | undefined): string =>
  (Array.isArray(value) ? value[0] : value) ?? '';

/** What the service sealed for the merchant alone. */
export const open = (
  apiKey: string,
  { ciphertext, nonce, associated_data: more = '' }: Sealed,
): string => {
  const bytes = Buffer.from(ciphertext, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(apiKey), nonce);
  decipher.setAuthTag(bytes.subarray(-16));
  decipher.setAAD(Buffer.from(more));
  return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString(
    'utf8',
  );
};

const isSigned = (key: KeyObject, { body, headers }: Notice): boolean => {
  const timestamp = one(headers['wechatpay-timestamp']);
  const nonce = one(headers['wechatpay-nonce']);
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > freshness) return false;
  return createVerify('RSA-SHA256')
    .update(`${timestamp}\n${nonce}\n${body}\n`)
    .verify(key, one(headers['wechatpay-signature']), 'base64');
};

const authorization = (
  { merchantId, serial, privateKey }: WechatSettings,
  method: string,
  path: string,
  body: string,
): string => {
  const timestamp = Math.floor(Date.now() / 1000);
  const nonce = randomUUID().replaceAll('-', '');
  const signature = createSign('RSA-SHA256')
    .update(`${method}\n${path}\n${timestamp}\n${nonce}\n${body}\n`)
    .sign(privateKey, 'base64');
  return (
    `WECHATPAY2-SHA256-RSA2048 mchid="${merchantId}",nonce_str="${nonce}",` +
    `signature="${signature}",timestamp="${timestamp}",serial_no="${serial}"`
  );
};

/** Sends a request signed by the merchant; whose answer it is, is not looked at. @throws ProviderError */
export const send = async (
  settings: WechatSettings,
  method: 'GET' | 'POST',
  url: URL,
  input?: object,
) => {
  const body = input === undefined ? '' : JSON.stringify(input);
  const answer = await request(url, {
    method,
    headers: {
      accept: 'application/json',
      'user-agent': 'queqiao',
      ...(body === '' ? {} : { 'content-type': 'application/json' }),
      ...(settings.publicKey ? { 'wechatpay-serial': settings.publicKey.id } : {}),
      authorization: authorization(settings, method, url.pathname + url.search, body),
    },
    ...(body === '' ? {} : { body }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer.body) {
    size += (part as Buffer).length;
    if (size > mostBytes) throw new ProviderError('微信支付的回答太长');
    parts.push(part as Buffer);
  }
  return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(parts) };
};

/** The object that a text is; an empty one where it is none. */
export const jsonOf = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = text === '' ? {} : JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

/** Requests to the service, and whether what comes is from it: by its key, or by its certificates. */
export const createWechatWire = (settings: WechatSettings) => {
  const { baseUrl, publicKey } = settings;
  const certificates = new Map<string, { key: KeyObject; until: number }>();
  let readAt = 0;
  let tried = 0;
  let reading: Promise<void> | null = null;

  /** The certificates sign the very answer that brings them: only the merchant's key opens them. */
  const readCertificates = async (): Promise<void> => {
    tried = Date.now();
    const { status, headers, bytes } = await send(
      settings,
      'GET',
      new URL('/v3/certificates', baseUrl),
    );
    const body = bytes.toString('utf8');
    if (status !== 200) throw new ProviderError(`微信支付的证书取不到（${status}）`);
    const found = new Map<string, { key: KeyObject; until: number }>();
    const { data } = jsonOf(body) as {
      data?: { serial_no: string; encrypt_certificate: Sealed }[];
    };
    for (const each of data ?? []) {
      const certificate = new X509Certificate(open(settings.apiKey, each.encrypt_certificate));
      const until = new Date(certificate.validTo).getTime();
      if (until > Date.now())
        found.set(each.serial_no.toUpperCase(), { key: certificate.publicKey, until });
    }
    const signer = found.get(one(headers['wechatpay-serial']).toUpperCase());
    if (!signer || !isSigned(signer.key, { body, headers }))
      throw new ProviderError('微信支付的证书签名不对');
    certificates.clear();
    for (const [serial, certificate] of found) certificates.set(serial, certificate);
    readAt = Date.now();
  };

  /** The service's key of that serial; a new certificate is fetched when it first appears. */
  const keyOf = async (serial: string): Promise<KeyObject | null> => {
    if (publicKey && serial === publicKey.id) return publicKey.key;
    if (publicKey && certificates.size === 0 && serial.startsWith('PUB_KEY_ID')) return null;
    const known = () => {
      const found = certificates.get(serial.toUpperCase());
      return found && found.until > Date.now() ? found.key : null;
    };
    const stale = Date.now() - readAt > certificatesLast;
    if ((stale || !known()) && Date.now() - tried > certificatesPause) {
      reading ??= readCertificates().finally(() => {
        reading = null;
      });
      // With the ones at hand, an answer can still be judged.
      if (!known()) await reading;
      else reading.catch(() => undefined);
    } else if (reading && !known()) await reading;
    return known();
  };

  const isFromService = async (notice: Notice): Promise<boolean> => {
    const key = await keyOf(one(notice.headers['wechatpay-serial']));
    return key !== null && isSigned(key, notice);
  };

  /** Asks the service. @throws ProviderError where the answer is not signed by it */
  const call = async (method: 'GET' | 'POST', path: string, input?: object): Promise<Answer> => {
    const { status, headers, bytes } = await send(settings, method, new URL(path, baseUrl), input);
    const text = bytes.toString('utf8');
    if (!(await isFromService({ body: text, headers })))
      throw new ProviderError(`微信支付的回答没有正确的签名（${status}）`);
    return { status, text, json: jsonOf(text) };
  };

  return { isFromService, call };
};
