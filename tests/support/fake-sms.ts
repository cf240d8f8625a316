import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

const keyId = 'AKIDTEST';
const secret = 'sms-secret-1';
const sha = (text: string) => createHash('sha256').update(text).digest('hex');
const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts).toString();
};

/** The signature of a request as the service works it out from what came over the wire. */
const expected = (request: IncomingMessage, body: string): string => {
  const authorization = request.headers.authorization ?? '';
  const names = /SignedHeaders=([\w;-]+)/.exec(authorization)?.[1] ?? '';
  const lines = names
    .split(';')
    .map((name) => {
      const value = String(request.headers[name] ?? '');
      return `${name}:${name === 'x-tc-action' ? value.toLowerCase() : value}\n`;
    })
    .join('');
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const canonical = [request.method, path, query, lines, names, sha(body)].join('\n');
  if (authorization.startsWith('ACS3-HMAC-SHA256 '))
    return mac(secret, `ACS3-HMAC-SHA256\n${sha(canonical)}`).toString('hex');
  const seconds = Number(request.headers['x-tc-timestamp']);
  const day = new Date(seconds * 1000).toISOString().slice(0, 10);
  const key = mac(mac(mac(`TC3${secret}`, day), 'sms'), 'tc3_request');
  return mac(
    key,
    `TC3-HMAC-SHA256\n${seconds}\n${day}/sms/tc3_request\n${sha(canonical)}`,
  ).toString('hex');
};

/** 阿里云's and 腾讯云's SendSms at one address: checks signatures, keeps what is sent. */
export const startFakeSms = async () => {
  const messages: { service: 'aliyun' | 'tencent'; phone: string; code: string }[] = [];
  const state = { refuse: false };
  const server = createServer((request, response) => {
    void (async () => {
      const body = await bodyOf(request);
      const url = new URL(request.url ?? '/', 'http://sms');
      const ours = request.headers.authorization?.endsWith(`Signature=${expected(request, body)}`);
      const tencent = request.headers['x-tc-action'] === 'SendSms';
      const answer = (value: unknown) => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(value));
      };
      if (tencent) {
        const asked = JSON.parse(body) as { PhoneNumberSet: string[]; TemplateParamSet: string[] };
        if (!ours)
          return answer({
            Response: { Error: { Code: 'AuthFailure.SignatureFailure', Message: '签名错误' } },
          });
        if (state.refuse)
          return answer({
            Response: { SendStatusSet: [{ Code: 'LimitExceeded', Message: '超过频率' }] },
          });
        const [phone = ''] = asked.PhoneNumberSet;
        const [code = ''] = asked.TemplateParamSet;
        messages.push({ service: 'tencent', phone, code });
        return answer({ Response: { SendStatusSet: [{ Code: 'Ok', Message: 'send success' }] } });
      }
      if (!ours) return answer({ Code: 'SignatureDoesNotMatch', Message: '签名不对' });
      if (state.refuse) return answer({ Code: 'isv.BUSINESS_LIMIT_CONTROL', Message: '触发流控' });
      const { code } = JSON.parse(url.searchParams.get('TemplateParam') ?? '{}') as {
        code: string;
      };
      messages.push({
        service: 'aliyun',
        phone: url.searchParams.get('PhoneNumbers') ?? '',
        code,
      });
      return answer({ Code: 'OK', Message: 'OK', BizId: '1', RequestId: '1' });
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    messages,
    state,
    settings: (sms_provider: 'aliyun' | 'tencent') => ({
      sms_provider,
      sms_key_id: keyId,
      sms_secret: secret,
      sms_app: '1400000000',
      sms_sign: '鹊桥',
      sms_template: 'SMS_1',
      sms_endpoint: `http://127.0.0.1:${port}`,
    }),
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
};
