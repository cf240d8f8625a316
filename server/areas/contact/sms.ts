import { randomUUID } from 'node:crypto';
import {
  type CloudAccount,
  encoded,
  hex,
  hmac,
  signTencent,
} from '#server/net/cloud-signatures.ts';
import { createRequests } from '#server/net/guarded-fetch.ts';
import type { KeptSettings } from './contact.store.ts';
import { NotSent } from './mail.ts';

/**
 * Text messages by 阿里云 (SendSms 2017-05-25, signature V3) and 腾讯云 (SendSms 2021-01-11,
 * signature v3), after their public documents.
 */
interface Signed {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export const signAliyun = (
  { keyId, secret }: CloudAccount,
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
  const headers = signTencent(
    { keyId, secret },
    {
      host: new URL(endpoint).host,
      service: 'sms',
      action: 'SendSms',
      version: '2021-01-11',
      region: settings.sms_region,
      body,
    },
    now,
  );
  const { Response: told } = (await answerOf({ url: `${endpoint}/`, headers, body })) as {
    Response?: {
      Error?: { Code?: string; Message?: string };
      SendStatusSet?: { Code?: string; Message?: string }[];
    };
  };
  const [status] = told?.SendStatusSet ?? [];
  if (told?.Error) throw new NotSent(said(told.Error.Code, told.Error.Message));
  if (status?.Code !== 'Ok') throw new NotSent(said(status?.Code, status?.Message));
};
