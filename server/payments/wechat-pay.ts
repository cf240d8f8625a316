import {
  createDecipheriv,
  createHash,
  createSign,
  createVerify,
  type KeyObject,
  randomUUID,
  X509Certificate,
} from 'node:crypto';
import { request } from 'undici';
import {
  type BillRow,
  type Finding,
  type Notice,
  type PaymentProvider,
  ProviderError,
} from './payment-provider.ts';

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

interface Sealed {
  algorithm?: string;
  ciphertext: string;
  nonce: string;
  associated_data?: string;
}

interface Answer {
  status: number;
  text: string;
  json: Record<string, unknown>;
}

const one = (value: string | string[] | undefined): string =>
  (Array.isArray(value) ? value[0] : value) ?? '';

const wordOf = (answer: Answer, name: string): string => {
  const value = answer.json[name];
  return typeof value === 'string' ? value : '';
};
const codeOf = (answer: Answer): string => wordOf(answer, 'code');

/** China keeps one time, eight hours ahead, without summer time. */
const chinaTime = (at: Date): string =>
  `${new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 19)}+08:00`;

const yuanToCents = (yuan: string): number => Math.round(Number(yuan) * 100);

/** Payments of a bill: lines of values behind backticks, headed by their names. */
const paymentsOf = (text: string): BillRow[] => {
  const [head = '', ...lines] = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const names = head.split(',').map((name) => name.trim());
  const at = (name: string) => names.indexOf(name);
  const places = {
    number: at('商户订单号'),
    transaction: at('微信订单号'),
    state: at('交易状态'),
    amount: at('应结订单金额') < 0 ? at('订单金额') : at('应结订单金额'),
  };
  return lines
    .filter((line) => line.startsWith('`'))
    .map((line) => line.slice(1).split(',`'))
    .filter((cells) => cells.length >= names.length && cells[places.state] === 'SUCCESS')
    .map((cells) => ({
      number: cells[places.number] ?? '',
      transactionId: cells[places.transaction] ?? '',
      amount: yuanToCents(cells[places.amount] ?? ''),
    }));
};

/** WeChat Pay v3, Native: requests signed by us, answers and notices signed by the service. */
export const createWechatPay = (settings: WechatSettings): PaymentProvider => {
  const { baseUrl, appId, merchantId, publicKey } = settings;
  const certificates = new Map<string, { key: KeyObject; until: number }>();
  let readAt = 0;
  let tried = 0;
  let reading: Promise<void> | null = null;

  const open = ({ ciphertext, nonce, associated_data: more = '' }: Sealed): string => {
    const bytes = Buffer.from(ciphertext, 'base64');
    const decipher = createDecipheriv('aes-256-gcm', Buffer.from(settings.apiKey), nonce);
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

  const authorization = (method: string, path: string, body: string): string => {
    const timestamp = Math.floor(Date.now() / 1000);
    const nonce = randomUUID().replaceAll('-', '');
    const signature = createSign('RSA-SHA256')
      .update(`${method}\n${path}\n${timestamp}\n${nonce}\n${body}\n`)
      .sign(settings.privateKey, 'base64');
    return (
      `WECHATPAY2-SHA256-RSA2048 mchid="${merchantId}",nonce_str="${nonce}",` +
      `signature="${signature}",timestamp="${timestamp}",serial_no="${settings.serial}"`
    );
  };

  const send = async (method: 'GET' | 'POST', url: URL, input?: object) => {
    const body = input === undefined ? '' : JSON.stringify(input);
    const answer = await request(url, {
      method,
      headers: {
        accept: 'application/json',
        'user-agent': 'queqiao',
        ...(body === '' ? {} : { 'content-type': 'application/json' }),
        ...(publicKey ? { 'wechatpay-serial': publicKey.id } : {}),
        authorization: authorization(method, url.pathname + url.search, body),
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

  const jsonOf = (text: string): Record<string, unknown> => {
    try {
      const value: unknown = text === '' ? {} : JSON.parse(text);
      return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
    } catch {
      return {};
    }
  };

  /** The certificates sign the very answer that brings them: only the merchant's key opens them. */
  const readCertificates = async (): Promise<void> => {
    tried = Date.now();
    const { status, headers, bytes } = await send('GET', new URL('/v3/certificates', baseUrl));
    const body = bytes.toString('utf8');
    if (status !== 200) throw new ProviderError(`微信支付的证书取不到（${status}）`);
    const found = new Map<string, { key: KeyObject; until: number }>();
    const { data } = jsonOf(body) as {
      data?: { serial_no: string; encrypt_certificate: Sealed }[];
    };
    for (const each of data ?? []) {
      const certificate = new X509Certificate(open(each.encrypt_certificate));
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

  const call = async (method: 'GET' | 'POST', path: string, input?: object): Promise<Answer> => {
    const { status, headers, bytes } = await send(method, new URL(path, baseUrl), input);
    const text = bytes.toString('utf8');
    if (!(await isFromService({ body: text, headers })))
      throw new ProviderError(`微信支付的回答没有正确的签名（${status}）`);
    return { status, text, json: jsonOf(text) };
  };

  const failed = (what: string, answer: Answer): ProviderError =>
    new ProviderError(`${what}：${answer.status} ${codeOf(answer)} ${wordOf(answer, 'message')}`);

  return {
    name: 'wechat',
    label: '微信支付',

    begin: async ({ number, title, amount, expiresAt }) => {
      const answer = await call('POST', '/v3/pay/transactions/native', {
        appid: appId,
        mchid: merchantId,
        description: title.slice(0, 120),
        out_trade_no: number,
        time_expire: chinaTime(expiresAt),
        notify_url: settings.notifyUrl,
        amount: { total: amount, currency: 'CNY' },
      });
      const url = answer.json['code_url'];
      if (answer.status !== 200 || typeof url !== 'string')
        throw failed('微信支付没有接受订单', answer);
      return url;
    },

    ask: async (number): Promise<Finding> => {
      const answer = await call(
        'GET',
        `/v3/pay/transactions/out-trade-no/${number}?mchid=${encodeURIComponent(merchantId)}`,
      );
      if (answer.status === 404) return { state: 'missing' };
      if (answer.status !== 200) throw failed('微信支付查不到订单', answer);
      const trade = answer.json;
      if (
        trade['appid'] !== appId ||
        trade['mchid'] !== merchantId ||
        trade['out_trade_no'] !== number
      )
        throw new ProviderError('微信支付回答的是别的订单');
      const state = String(trade['trade_state']);
      if (state === 'SUCCESS' || state === 'REFUND') {
        const { total } = trade['amount'] as { total: number };
        return {
          state: state === 'SUCCESS' ? 'paid' : 'refunded',
          amount: total,
          transactionId: String(trade['transaction_id']),
          paidAt: new Date(String(trade['success_time'])),
        };
      }
      return { state: state === 'CLOSED' || state === 'REVOKED' ? 'closed' : 'unpaid' };
    },

    close: async (number) => {
      const answer = await call('POST', `/v3/pay/transactions/out-trade-no/${number}/close`, {
        mchid: merchantId,
      });
      const known = ['ORDER_CLOSED', 'ORDER_NOT_EXIST', 'ORDERNOTEXIST', 'ORDER_NOT_FOUND'];
      if (answer.status !== 204 && !known.includes(codeOf(answer)))
        throw failed('微信支付没有关闭订单', answer);
    },

    refund: async ({ number, refundNumber, amount, total, reason }) => {
      const answer = await call('POST', '/v3/refund/domestic/refunds', {
        out_trade_no: number,
        out_refund_no: refundNumber,
        ...(reason === '' ? {} : { reason: reason.slice(0, 80) }),
        amount: { refund: amount, total, currency: 'CNY' },
      });
      if (answer.status === 200) {
        const state = String(answer.json['status']);
        if (state === 'SUCCESS') return 'done';
        return state === 'CLOSED' || state === 'ABNORMAL' ? 'failed' : 'pending';
      }
      // Refused for good; anything else may be tried again with the same number.
      if ([400, 403, 404].includes(answer.status) && codeOf(answer) !== 'FREQUENCY_LIMITED')
        return 'failed';
      throw failed('微信支付没有回答退款', answer);
    },

    bill: async (day) => {
      const answer = await call('GET', `/v3/bill/tradebill?bill_date=${day}&bill_type=ALL`);
      if (answer.status !== 200) {
        if (['NO_STATEMENT_EXIST', 'STATEMENT_CREATING'].includes(codeOf(answer)))
          return codeOf(answer) === 'NO_STATEMENT_EXIST' ? [] : null;
        throw failed('微信支付的账单取不到', answer);
      }
      const { download_url: address, hash_value: hash } = answer.json as Record<string, string>;
      // The address is the service's own; a foreign one would be handed our signature.
      const url = new URL(address ?? '', baseUrl);
      if (new URL(baseUrl).protocol !== url.protocol)
        throw new ProviderError('微信支付的账单地址不对');
      const { status, bytes } = await send('GET', url);
      const sum = createHash('sha1').update(bytes).digest('hex');
      if (status !== 200 || sum !== hash?.toLowerCase())
        throw new ProviderError('微信支付的账单不完整');
      return paymentsOf(bytes.toString('utf8'));
    },

    readNotice: async (notice) => {
      if (!(await isFromService(notice))) return null;
      const { event_type: event, resource } = jsonOf(notice.body) as {
        event_type?: string;
        resource?: Sealed;
      };
      if (!event || !resource || resource.algorithm !== 'AEAD_AES_256_GCM') return null;
      const about = jsonOf(open(resource));
      if (about['mchid'] !== merchantId) return null;
      // Notices of refunds name no app.
      if (event.startsWith('TRANSACTION.') && about['appid'] !== appId) return null;
      const number = about['out_trade_no'];
      return typeof number === 'string' ? { number } : null;
    },
  };
};
