import { chinaClock } from '#common/china-time.ts';
import type { AlipaySdk, AlipaySdkCommonResult } from 'alipay-sdk';
import { request } from 'undici';
import {
  type BillRow,
  type Finding,
  type PaymentProvider,
  ProviderError,
} from './payment-provider.ts';

/** An application of Alipay, precreate (当面付). Keys as PEM or as the one line that Alipay shows. */
export interface AlipaySettings {
  gateway: string;
  appId: string;
  /** Ours, PKCS#8. */
  privateKey: string;
  /** Alipay's. */
  publicKey: string;
  /** Empty: only asking tells. */
  notifyUrl: string;
}

const timeoutMs = 10_000;
const mostBytes = 32 * 1024 * 1024;

const yuan = (cents: number): string => (cents / 100).toFixed(2);
const cents = (amount: unknown): number => Math.round(Number(amount) * 100);

/** Alipay writes times of China without saying so. */
const chinaDate = (text: unknown): Date => {
  const at = new Date(`${String(text).replace(' ', 'T')}+08:00`);
  return Number.isNaN(at.getTime()) ? new Date() : at;
};
const chinaText = (at: Date): string => chinaClock(at).replace('T', ' ');

const billRows = (text: string): BillRow[] => {
  const lines = text.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
  const cellsOf = (line: string) => line.split(',').map((cell) => cell.trim());
  const head = cellsOf(lines[0] ?? '');
  const at = (name: string) => head.findIndex((each) => each.startsWith(name));
  const places = {
    number: at('商户订单号'),
    transaction: at('支付宝交易号'),
    kind: at('业务类型'),
    amount: at('订单金额'),
  };
  return lines
    .slice(1)
    .map(cellsOf)
    .filter((cells) => cells[places.kind] === '交易')
    .map((cells) => ({
      number: cells[places.number] ?? '',
      transactionId: cells[places.transaction] ?? '',
      amount: cents(cells[places.amount]),
    }));
};

const billText = (bytes: Uint8Array): string => new TextDecoder('gb18030').decode(bytes);

/** The details of a bill: a CSV in GB18030, alone or in a zip beside a summary. */
const detailsOf = async (bytes: Buffer): Promise<string> => {
  if (bytes.subarray(0, 2).toString('latin1') !== 'PK') return billText(bytes);
  const { unzipSync } = await import('fflate');
  const files = unzipSync(bytes, { filter: ({ originalSize }) => originalSize <= mostBytes });
  return (
    Object.values(files)
      .map(billText)
      .find((text) => text.includes('业务类型')) ?? ''
  );
};

/** Alipay's precreate: requests, answers and notices signed with RSA2. The library is loaded here alone. */
export const createAlipay = async (settings: AlipaySettings): Promise<PaymentProvider> => {
  const { AlipaySdk: Sdk } = await import('alipay-sdk');
  const sdk: AlipaySdk = new Sdk({
    appId: settings.appId,
    privateKey: settings.privateKey,
    alipayPublicKey: settings.publicKey,
    gateway: settings.gateway,
    keyType: 'PKCS8',
    signType: 'RSA2',
    camelcase: false,
    timeout: timeoutMs,
  });

  const call = (method: string, content: object, more: object = {}) =>
    sdk.exec(method, { bizContent: content, ...more }, { validateSign: true });

  const failed = (what: string, answer: AlipaySdkCommonResult): ProviderError =>
    new ProviderError(`${what}：${answer.code} ${answer.sub_code ?? ''} ${answer.sub_msg ?? ''}`);

  return {
    name: 'alipay',
    label: '支付宝',

    begin: async ({ number, title, amount, expiresAt }) => {
      const answer = await call(
        'alipay.trade.precreate',
        {
          out_trade_no: number,
          total_amount: yuan(amount),
          subject: title.slice(0, 250),
          time_expire: chinaText(expiresAt),
        },
        settings.notifyUrl === '' ? {} : { notify_url: settings.notifyUrl },
      );
      if (answer.code !== '10000' || typeof answer['qr_code'] !== 'string')
        throw failed('支付宝没有接受订单', answer);
      return answer['qr_code'];
    },

    ask: async (number): Promise<Finding> => {
      const answer = await call('alipay.trade.query', { out_trade_no: number });
      // Alipay knows of a precreated trade only once somebody has scanned it.
      if (answer.sub_code === 'ACQ.TRADE_NOT_EXIST') return { state: 'missing' };
      if (answer.code !== '10000') throw failed('支付宝查不到订单', answer);
      if (answer['out_trade_no'] !== number) throw new ProviderError('支付宝回答的是别的订单');
      const state = String(answer['trade_status']);
      if (state === 'TRADE_SUCCESS' || state === 'TRADE_FINISHED')
        return {
          state: 'paid',
          amount: cents(answer['total_amount']),
          transactionId: String(answer['trade_no']),
          paidAt: chinaDate(answer['send_pay_date']),
        };
      return { state: state === 'TRADE_CLOSED' ? 'closed' : 'unpaid' };
    },

    close: async (number) => {
      const answer = await call('alipay.trade.close', { out_trade_no: number });
      const known = ['ACQ.TRADE_NOT_EXIST', 'ACQ.TRADE_STATUS_ERROR'];
      if (answer.code !== '10000' && !known.includes(answer.sub_code ?? ''))
        throw failed('支付宝没有关闭订单', answer);
    },

    refund: async ({ number, refundNumber, amount, reason }) => {
      const answer = await call('alipay.trade.refund', {
        out_trade_no: number,
        out_request_no: refundNumber,
        refund_amount: yuan(amount),
        ...(reason === '' ? {} : { refund_reason: reason.slice(0, 250) }),
      });
      if (answer.code === '10000') return 'done';
      if (answer.sub_code === 'ACQ.SYSTEM_ERROR' || answer.code === '20000')
        throw failed('支付宝没有回答退款', answer);
      return 'failed';
    },

    bill: async (day) => {
      const answer = await call('alipay.data.dataservice.bill.downloadurl.query', {
        bill_type: 'trade',
        bill_date: day,
      });
      if (answer.code !== '10000') {
        if (answer.sub_code === 'isp.bill_not_exist') return [];
        throw failed('支付宝的账单取不到', answer);
      }
      const { statusCode, body } = await request(String(answer['bill_download_url']), {
        signal: AbortSignal.timeout(timeoutMs * 3),
      });
      const parts: Buffer[] = [];
      let size = 0;
      for await (const part of body) {
        size += (part as Buffer).length;
        if (size > mostBytes) throw new ProviderError('支付宝的账单太长');
        parts.push(part as Buffer);
      }
      if (statusCode !== 200) throw new ProviderError('支付宝的账单取不到');
      return billRows(await detailsOf(Buffer.concat(parts)));
    },

    readNotice: async ({ body }) => {
      const fields = Object.fromEntries(new URLSearchParams(body));
      // RSA with SHA-1 would be taken as well if the notice said so.
      if (fields['sign_type'] !== 'RSA2' || !sdk.checkNotifySignV2(fields)) return null;
      if (fields['app_id'] !== settings.appId) return null;
      const number = fields['out_trade_no'];
      return number ? { number } : null;
    },
  };
};
