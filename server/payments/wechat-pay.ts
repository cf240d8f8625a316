import { createHash } from 'node:crypto';
import { chinaClock } from '#common/china-time.ts';
import {
  type BillRow,
  type Finding,
  type PaymentProvider,
  ProviderError,
} from './payment-provider.ts';
import {
  type Answer,
  createWechatWire,
  jsonOf,
  open,
  type Sealed,
  send,
  type WechatSettings,
} from './wechat-wire.ts';

const wordOf = (answer: Answer, name: string): string => {
  const value = answer.json[name];
  return typeof value === 'string' ? value : '';
};
const codeOf = (answer: Answer): string => wordOf(answer, 'code');

const chinaTime = (at: Date): string => `${chinaClock(at)}+08:00`;

const yuanToCents = (yuan: string): number => Math.round(Number(yuan) * 100);

const failed = (what: string, answer: Answer): ProviderError =>
  new ProviderError(`${what}：${answer.status} ${codeOf(answer)} ${wordOf(answer, 'message')}`);

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
  const { baseUrl, appId, merchantId } = settings;
  const { call, isFromService } = createWechatWire(settings);
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
      const { status, bytes } = await send(settings, 'GET', url);
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
      const about = jsonOf(open(settings.apiKey, resource));
      if (about['mchid'] !== merchantId) return null;
      // Notices of refunds name no app.
      if (event.startsWith('TRANSACTION.') && about['appid'] !== appId) return null;
      const number = about['out_trade_no'];
      return typeof number === 'string' ? { number } : null;
    },
  };
};
