import { createHash, createHmac, randomUUID } from 'node:crypto';
import { createRequests } from '#server/net/guarded-fetch.ts';
import type { KeptSettings } from './contact.store.ts';
import { NotSent } from './mail.ts';

/**
 * Text messages by 阿里云 (SendSms 2017-05-25, signature V3) and 腾讯云 (SendSms 2021-01-11,
 * signature v3), after their public documents.
 */
interface Account {
  keyId: string;
  secret: string;
}
interface Signed {
  url: string;
  headers: Record<string, string>;
  body: string;
}

const hex = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();
/** As RFC 3986 has it, which leaves fewer signs than encodeURIComponent does. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );

export const signAliyun = (
  { keyId, secret }: Account,
  call: { endpoint: string; action: string; version: string; query: Record<string, string> },
  at: Date,
  nonce: string,
): Signed => {
  const { host } = new URL(call.endpoint);
  const query = Object.entries(call.query)
    .map(([name, value]) => [encoded(name), encoded(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&');
  const signed: Record<string, string> = {
    host,
    'x-acs-action': call.action,
    'x-acs-content-sha256': hex(''),
    'x-acs-date': at.toISOString().replace(/\.\d+/, ''),
    'x-acs-signature-nonce': nonce,
    'x-acs-version': call.version,
  };
  const names = Object.keys(signed).join(';');
  const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`);
  const request = ['POST', '/', query, lines.join(''), names, hex('')].join('\n');
  const algorithm = 'ACS3-HMAC-SHA256';
  const signature = hmac(secret, `${algorithm}\n${hex(request)}`).toString('hex');
  const { host: _, ...headers } = signed;
  return {
    url: `${call.endpoint}/?${query}`,
    headers: {
      ...headers,
      authorization: `${algorithm} Credential=${keyId},SignedHeaders=${names},Signature=${signature}`,
    },
    body: '',
  };
};

export const signTencent = (
  { keyId, secret }: Account,
  call: { endpoint: string; action: string; version: string; region: string; body: string },
  at: Date,
): Signed => {
  const { host } = new URL(call.endpoint);
  const service = 'sms';
  const type = 'application/json; charset=utf-8';
  const seconds = Math.floor(at.getTime() / 1000);
  const day = at.toISOString().slice(0, 10);
  const names = 'content-type;host;x-tc-action';
  const request = [
    'POST',
    '/',
    '',
    `content-type:${type}\nhost:${host}\nx-tc-action:${call.action.toLowerCase()}\n`,
    names,
    hex(call.body),
  ].join('\n');
  const scope = `${day}/${service}/tc3_request`;
  const algorithm = 'TC3-HMAC-SHA256';
  const key = hmac(hmac(hmac(`TC3${secret}`, day), service), 'tc3_request');
  const signature = hmac(key, `${algorithm}\n${seconds}\n${scope}\n${hex(request)}`).toString(
    'hex',
  );
  return {
    url: `${call.endpoint}/`,
    headers: {
      'content-type': type,
      'x-tc-action': call.action,
      'x-tc-version': call.version,
      'x-tc-timestamp': String(seconds),
      'x-tc-region': call.region,
      authorization: `${algorithm} Credential=${keyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
    },
    body: call.body,
  };
};

const usualEndpoints = {
  aliyun: 'https://dysmsapi.aliyuncs.com',
  tencent: 'https://sms.tencentcloudapi.com',
} as const;

const ask = createRequests(null, 64 * 1024);

const answerOf = async ({ url, headers, body }: Signed): Promise<Record<string, unknown>> => {
  let answer: Response;
  try {
    answer = await ask(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(15_000) });
  } catch {
    throw new NotSent('短信服务没有回应');
  }
  try {
    return (await answer.json()) as Record<string, unknown>;
  } catch {
    throw new NotSent(`短信服务的回答读不懂（HTTP ${answer.status}）`);
  }
};

const said = (...parts: unknown[]): string =>
  parts
    .filter((part) => typeof part === 'string')
    .join(' ')
    .slice(0, 300);

/** @throws NotSent */
export const sendMessage = async (
  settings: KeptSettings,
  secret: string,
  { phone, code }: { phone: string; code: string },
): Promise<void> => {
  const { sms_provider: service, sms_key_id: keyId, sms_sign, sms_template } = settings;
  if (service === '') throw new NotSent('没有设置短信服务');
  const endpoint = (settings.sms_endpoint || usualEndpoints[service]).replace(/\/+$/, '');
  const now = new Date();
  if (service === 'aliyun') {
    const answer = await answerOf(
      signAliyun(
        { keyId, secret },
        {
          endpoint,
          action: 'SendSms',
          version: '2017-05-25',
          query: {
            PhoneNumbers: phone,
            SignName: sms_sign,
            TemplateCode: sms_template,
            TemplateParam: JSON.stringify({ code }),
          },
        },
        now,
        randomUUID().replaceAll('-', ''),
      ),
    );
    if (answer['Code'] !== 'OK') throw new NotSent(said(answer['Code'], answer['Message']));
    return;
  }
  const body = JSON.stringify({
    PhoneNumberSet: [`+86${phone}`],
    SmsSdkAppId: settings.sms_app,
    SignName: sms_sign,
    TemplateId: sms_template,
    TemplateParamSet: [code],
  });
  const { Response: told } = (await answerOf(
    signTencent(
      { keyId, secret },
      { endpoint, action: 'SendSms', version: '2021-01-11', region: settings.sms_region, body },
      now,
    ),
  )) as {
    Response?: {
      Error?: { Code?: string; Message?: string };
      SendStatusSet?: { Code?: string; Message?: string }[];
    };
  };
  const [status] = told?.SendStatusSet ?? [];
  if (told?.Error) throw new NotSent(said(told.Error.Code, told.Error.Message));
  if (status?.Code !== 'Ok') throw new NotSent(said(status?.Code, status?.Message));
};
