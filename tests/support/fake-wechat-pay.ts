import {
  createCipheriv,
  createHash,
  createSign,
  createVerify,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  randomUUID,
} from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { selfSigned } from './certificate.ts';
import { bodyOf, listen } from './fake-service.ts';

interface Trade {
  number: string;
  amount: number;
  state: 'NOTPAY' | 'SUCCESS' | 'CLOSED' | 'REFUND';
  transaction: string;
  paidAt: Date;
  notifyUrl: string;
  refunds: Map<string, number>;
}

interface Signer {
  serial: string;
  publicKey: KeyObject;
  privateKey: KeyObject;
}

const newSigner = (serial = randomBytes(16).toString('hex').toUpperCase()): Signer => ({
  serial,
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }),
});

/** WeChat Pay v3 as its documents describe its wire: Native, refunds, bills, certificates, notices. */
export const startWechatPay = async () => {
  const merchant = newSigner();
  const apiKey = randomBytes(16).toString('hex');
  const ids = { appId: 'wx0123456789abcdef', merchantId: '1900000001' };
  let signer = newSigner();
  const trades = new Map<string, Trade>();
  let down = false;
  let refusesRefunds = false;
  let strayBill: string[] = [];
  /** Requests whose signature was wrong: there must be none. */
  let badSignatures = 0;

  const seal = (text: string, more: string) => {
    const nonce = randomBytes(6).toString('hex');
    const cipher = createCipheriv('aes-256-gcm', Buffer.from(apiKey), nonce);
    cipher.setAAD(Buffer.from(more));
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return {
      algorithm: 'AEAD_AES_256_GCM',
      nonce,
      associated_data: more,
      ciphertext: body.toString('base64'),
    };
  };

  const signed = (body: string, by = signer, at = Date.now()) => {
    const timestamp = String(Math.floor(at / 1000));
    const nonce = randomBytes(16).toString('hex');
    return {
      'wechatpay-serial': by.serial,
      'wechatpay-timestamp': timestamp,
      'wechatpay-nonce': nonce,
      'wechatpay-signature': createSign('RSA-SHA256')
        .update(`${timestamp}\n${nonce}\n${body}\n`)
        .sign(by.privateKey, 'base64'),
    };
  };

  const answer = (response: ServerResponse, status: number, value?: unknown): void => {
    const body = value === undefined ? '' : JSON.stringify(value);
    response.writeHead(status, { 'content-type': 'application/json', ...signed(body) });
    response.end(body);
  };

  const isSigned = (request: IncomingMessage, body: string): boolean => {
    const header = request.headers.authorization ?? '';
    const field = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(header)?.[1] ?? '';
    return (
      header.startsWith('WECHATPAY2-SHA256-RSA2048 ') &&
      field('mchid') === ids.merchantId &&
      field('serial_no') === merchant.serial &&
      createVerify('RSA-SHA256')
        .update(
          `${request.method}\n${request.url}\n${field('timestamp')}\n${field('nonce_str')}\n${body}\n`,
        )
        .verify(merchant.publicKey, field('signature'), 'base64')
    );
  };

  const viewOf = (trade: Trade) => ({
    appid: ids.appId,
    mchid: ids.merchantId,
    out_trade_no: trade.number,
    trade_state: trade.state,
    ...(trade.transaction && {
      transaction_id: trade.transaction,
      success_time: trade.paidAt.toISOString(),
      amount: { total: trade.amount, payer_total: trade.amount, currency: 'CNY' },
    }),
  });

  const bill = (day: string): string => {
    const dayOf = (at: Date) => new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 10);
    const rows = [...trades.values()]
      .filter((trade) => trade.transaction !== '' && dayOf(trade.paidAt) === day)
      .map(
        (trade) =>
          `\`${trade.paidAt.toISOString()},\`${ids.appId},\`${trade.transaction},\`${trade.number},\`SUCCESS,\`${(trade.amount / 100).toFixed(2)}`,
      );
    return [
      '\uFEFF交易时间,公众账号ID,微信订单号,商户订单号,交易状态,应结订单金额',
      ...rows,
      ...strayBill,
      '总交易单数,应结订单总金额',
      `\`${rows.length},\`0`,
    ].join('\r\n');
  };

  const service = await listen(async (request, response) => {
    const body = (await bodyOf(request)).toString('utf8');
    if (down) return void response.destroy();
    if (!isSigned(request, body)) {
      badSignatures += 1;
      return answer(response, 401, { code: 'SIGN_ERROR', message: '错误的签名' });
    }
    const url = new URL(request.url ?? '/', 'http://fake');
    const input = (body === '' ? {} : JSON.parse(body)) as Record<string, unknown>;
    if (url.pathname === '/v3/certificates') {
      const pem = selfSigned(signer, signer.serial);
      return answer(response, 200, {
        data: [{ serial_no: signer.serial, encrypt_certificate: seal(pem, 'certificate') }],
      });
    }
    if (url.pathname === '/v3/pay/transactions/native') {
      const number = String(input['out_trade_no']);
      if (input['appid'] !== ids.appId || input['mchid'] !== ids.merchantId)
        return answer(response, 400, { code: 'PARAM_ERROR', message: '参数错误' });
      trades.set(number, {
        number,
        amount: (input['amount'] as { total: number }).total,
        state: 'NOTPAY',
        transaction: '',
        paidAt: new Date(0),
        notifyUrl: String(input['notify_url']),
        refunds: new Map(),
      });
      return answer(response, 200, { code_url: `weixin://wxpay/bizpayurl?pr=${number}` });
    }
    if (url.pathname === '/v3/refund/domestic/refunds') {
      const trade = trades.get(String(input['out_trade_no']));
      const { refund } = input['amount'] as { refund: number };
      if (!trade || refusesRefunds)
        return answer(response, 403, { code: 'NOT_ENOUGH', message: '余额不足' });
      trade.refunds.set(String(input['out_refund_no']), refund);
      const back = [...trade.refunds.values()].reduce((sum, each) => sum + each, 0);
      if (back > trade.amount) return answer(response, 400, { code: 'PARAM_ERROR' });
      trade.state = 'REFUND';
      return answer(response, 200, { status: 'SUCCESS' });
    }
    if (url.pathname === '/v3/bill/tradebill') {
      const day = url.searchParams.get('bill_date') ?? '';
      return answer(response, 200, {
        hash_type: 'SHA1',
        hash_value: createHash('sha1').update(bill(day)).digest('hex'),
        download_url: `${service.url}/billdownload/file?token=${day}`,
      });
    }
    if (url.pathname === '/billdownload/file')
      return void response.end(bill(url.searchParams.get('token') ?? ''));
    const path = /^\/v3\/pay\/transactions\/out-trade-no\/(\w+)(\/close)?$/.exec(url.pathname);
    const trade = trades.get(path?.[1] ?? '');
    if (!trade) return answer(response, 404, { code: 'ORDER_NOT_EXIST', message: '订单不存在' });
    if (path?.[2]) {
      if (trade.state === 'SUCCESS') return answer(response, 400, { code: 'ORDERPAID' });
      trade.state = 'CLOSED';
      return answer(response, 204);
    }
    return answer(response, 200, viewOf(trade));
  });

  const noticeOf = (trade: Trade, by = signer, at = Date.now()) => {
    const body = JSON.stringify({
      id: randomUUID(),
      create_time: new Date(at).toISOString(),
      event_type: 'TRANSACTION.SUCCESS',
      resource_type: 'encrypt-resource',
      summary: '支付成功',
      resource: seal(JSON.stringify(viewOf(trade)), 'transaction'),
    });
    return { body, headers: { 'content-type': 'application/json', ...signed(body, by, at) } };
  };

  return {
    url: service.url,
    close: () => service.close(),
    trades,
    badSignatures: () => badSignatures,
    env: (publicUrl: string) => ({
      PAYMENT: 'wechat',
      PUBLIC_URL: publicUrl,
      WECHAT_BASE_URL: service.url,
      WECHAT_APPID: ids.appId,
      WECHAT_MCHID: ids.merchantId,
      WECHAT_SERIAL: merchant.serial,
      WECHAT_PRIVATE_KEY: merchant.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      WECHAT_APIV3_KEY: apiKey,
    }),
    setDown: (now: boolean) => void (down = now),
    refuseRefunds: (now: boolean) => void (refusesRefunds = now),
    strayBill: (lines: string[]) => void (strayBill = lines),
    /** From now on it signs with another key, under another serial. */
    rotate: () => {
      signer = newSigner();
    },
    pay: (number: string, amount?: number): Trade => {
      const trade = trades.get(number);
      if (!trade) throw new Error(`no trade ${number}`);
      trade.state = 'SUCCESS';
      trade.transaction = `4200${randomBytes(12).toString('hex')}`;
      trade.paidAt = new Date();
      if (amount !== undefined) trade.amount = amount;
      return trade;
    },
    noticeOf,
    /** As somebody sends it who knows all but the keys. */
    forgedBy: newSigner(),
  };
};
