import { createSign, createVerify, generateKeyPairSync, randomBytes } from 'node:crypto';
import { zipSync } from 'fflate';
import { bodyOf, listen } from './fake-service.ts';

interface Trade {
  number: string;
  amount: string;
  state: 'WAIT_BUYER_PAY' | 'TRADE_SUCCESS' | 'TRADE_CLOSED';
  trade: string;
  paidAt: Date;
  refunded: Map<string, string>;
}

const newKeys = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
type Keys = ReturnType<typeof newKeys>;

const chinaText = (at: Date): string =>
  new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');

/** Node decodes GB18030 and does not encode it: what its pairs of bytes decode to, the other way round. */
const gbBytes = (text: string): Buffer => {
  const decoder = new TextDecoder('gb18030');
  const pairs = new Map<string, [number, number]>();
  for (let lead = 0x81; lead <= 0xfe; lead += 1)
    for (let trail = 0x40; trail <= 0xfe; trail += 1)
      pairs.set(decoder.decode(Uint8Array.of(lead, trail)), [lead, trail]);
  return Buffer.from(
    Array.from(text).flatMap((letter) =>
      letter.charCodeAt(0) < 0x80 ? [letter.charCodeAt(0)] : (pairs.get(letter) ?? []),
    ),
  );
};

const contentOf = (fields: Record<string, string>): string =>
  Object.keys(fields)
    .filter((name) => fields[name] !== '' && name !== 'sign')
    .sort()
    .map((name) => `${name}=${fields[name]}`)
    .join('&');

/** Alipay's gateway as its documents describe it: precreate, query, close, refund, bills, signed with RSA2. */
export const startAlipay = async () => {
  const appId = '2021000000000001';
  const app = newKeys();
  const alipay = newKeys();
  const trades = new Map<string, Trade>();
  let badSignatures = 0;
  let strayBill: string[] = [];

  const sign = (text: string, by: Keys = alipay): string =>
    createSign('RSA-SHA256').update(text, 'utf8').sign(by.privateKey, 'base64');

  const act = (method: string, content: Record<string, string>): Record<string, string> => {
    const number = content['out_trade_no'] ?? '';
    const trade = trades.get(number);
    const good = { code: '10000', msg: 'Success', out_trade_no: number };
    const missing = {
      code: '40004',
      msg: 'Business Failed',
      sub_code: 'ACQ.TRADE_NOT_EXIST',
      sub_msg: '交易不存在',
    };
    if (method === 'alipay.trade.precreate') {
      trades.set(number, {
        number,
        amount: content['total_amount'] ?? '',
        state: 'WAIT_BUYER_PAY',
        trade: '',
        paidAt: new Date(0),
        refunded: new Map(),
      });
      return { ...good, qr_code: `https://qr.alipay.com/${number}` };
    }
    if (method === 'alipay.data.dataservice.bill.downloadurl.query')
      return {
        code: '10000',
        msg: 'Success',
        bill_download_url: `${service.url}/bill?day=${content['bill_date']}`,
      };
    // Nobody has scanned it yet: Alipay does not know it.
    if (!trade || (trade.trade === '' && method === 'alipay.trade.query')) return missing;
    if (method === 'alipay.trade.query')
      return {
        ...good,
        trade_no: trade.trade,
        trade_status: trade.state,
        total_amount: trade.amount,
        send_pay_date: chinaText(trade.paidAt),
      };
    if (method === 'alipay.trade.close') {
      trade.state = 'TRADE_CLOSED';
      return good;
    }
    if (method === 'alipay.trade.refund') {
      trade.refunded.set(content['out_request_no'] ?? '', content['refund_amount'] ?? '');
      return { ...good, fund_change: 'Y' };
    }
    return { code: '40006', msg: 'Insufficient Permissions' };
  };

  /** The day's details as Alipay packs them: between lines of remarks, in a zip beside a summary. */
  const bill = (day: string): Buffer => {
    const rows = [...trades.values()]
      .filter((trade) => trade.trade !== '' && chinaText(trade.paidAt).startsWith(day))
      .map(
        (trade) =>
          `${trade.trade}\t,${trade.number}\t,交易    ,鹊桥充值,${chinaText(trade.paidAt)},${trade.amount}`,
      );
    const details = [
      '#支付宝业务明细查询',
      `#起始日期：[${day} 00:00:00]`,
      '支付宝交易号,商户订单号,业务类型,商品名称,完成时间,订单金额（元）',
      ...rows,
      ...strayBill,
      '#-----------------业务明细列表结束-----------------',
    ].join('\r\n');
    return Buffer.from(
      zipSync({
        [`${day}_summary.csv`]: gbBytes('#支付宝业务汇总查询\r\n'),
        [`${day}_details.csv`]: gbBytes(details),
      }),
    );
  };

  const service = await listen(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://fake');
    if (url.pathname === '/bill') {
      response.end(bill(url.searchParams.get('day') ?? ''));
      return;
    }
    const fields = {
      ...Object.fromEntries(url.searchParams),
      ...Object.fromEntries(new URLSearchParams((await bodyOf(request)).toString('utf8'))),
    };
    const right = createVerify('RSA-SHA256')
      .update(contentOf(fields), 'utf8')
      .verify(app.publicKey, fields['sign'] ?? '', 'base64');
    if (!right || fields['app_id'] !== appId || fields['sign_type'] !== 'RSA2') badSignatures += 1;
    const method = fields['method'] ?? '';
    const answer = JSON.stringify(
      right
        ? act(method, JSON.parse(fields['biz_content'] ?? '{}') as Record<string, string>)
        : { code: '40002', msg: 'Invalid Arguments', sub_code: 'isv.invalid-signature' },
    );
    response.writeHead(200, { 'content-type': 'application/json;charset=utf-8' });
    response.end(`{"${method.replaceAll('.', '_')}_response":${answer},"sign":"${sign(answer)}"}`);
  });

  const oneLine = (key: Buffer): string => key.toString('base64');

  return {
    close: () => service.close(),
    trades,
    badSignatures: () => badSignatures,
    /** Lines of the bill that belong to no trade. */
    strayBill: (lines: string[]) => void (strayBill = lines),
    env: (publicUrl: string) => ({
      PAYMENT: 'alipay',
      PUBLIC_URL: publicUrl,
      ALIPAY_GATEWAY: `${service.url}/gateway.do`,
      ALIPAY_APP_ID: appId,
      ALIPAY_PRIVATE_KEY: oneLine(app.privateKey.export({ type: 'pkcs8', format: 'der' })),
      ALIPAY_PUBLIC_KEY: oneLine(alipay.publicKey.export({ type: 'spki', format: 'der' })),
    }),
    pay: (number: string): Trade => {
      const trade = trades.get(number);
      if (!trade) throw new Error(`no trade ${number}`);
      trade.state = 'TRADE_SUCCESS';
      trade.trade = `2026${randomBytes(12).toString('hex')}`;
      trade.paidAt = new Date();
      return trade;
    },
    noticeOf: (trade: Trade, by: Keys = alipay, more: Record<string, string> = {}) => {
      const fields: Record<string, string> = {
        notify_type: 'trade_status_sync',
        app_id: appId,
        charset: 'utf-8',
        sign_type: 'RSA2',
        version: '1.0',
        out_trade_no: trade.number,
        trade_no: trade.trade,
        trade_status: trade.state,
        total_amount: trade.amount,
        subject: '鹊桥充值 & 会员 100%',
        ...more,
      };
      // The documents leave sign_type out of what is signed.
      const { sign_type: type = '', ...others } = fields;
      const body = new URLSearchParams({
        ...others,
        sign_type: type,
        sign: sign(contentOf(others), by),
      }).toString();
      return {
        body,
        headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
      };
    },
    forgedBy: newKeys(),
  };
};
