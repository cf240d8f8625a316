import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { StartupError } from '../db/startup-error.ts';
import { isPublicHost } from '../net/public-host.ts';
import type { Settings } from '../settings.ts';
import { createAlipay } from './alipay.ts';
import type { PaymentProvider } from './payment-provider.ts';
import { createWechatPay } from './wechat-pay.ts';

/** What people read where nobody can pay. */
export const noPayment = '这个站点没有开通付款';

/** A key as its text (line ends may be written `\n`), or the path of a file with it. */
const keyText = (name: string, given: string): string => {
  if (given === '') throw new StartupError(`用它收款还要设置 ${name}`);
  if (/^(?:\/|\.{1,2}[/\\]|[A-Za-z]:\\)/.test(given) && given.length < 1000) {
    if (!existsSync(given)) throw new StartupError(`${name} 指的文件不存在：${given}`);
    return readFileSync(given, 'utf8');
  }
  return given.replaceAll('\\n', '\n');
};

/** One line of base64, as Alipay shows keys, becomes PEM. */
const pem = (text: string, kind: 'PRIVATE KEY' | 'PUBLIC KEY'): string =>
  text.includes('-----BEGIN')
    ? text
    : `-----BEGIN ${kind}-----\n${text.replace(/\s/g, '').replace(/.{64}/g, '$&\n')}\n-----END ${kind}-----\n`;

const readKey = (name: string, given: string, kind: 'PRIVATE KEY' | 'PUBLIC KEY'): KeyObject => {
  const text = pem(keyText(name, given), kind);
  try {
    return kind === 'PRIVATE KEY' ? createPrivateKey(text) : createPublicKey(text);
  } catch {
    throw new StartupError(`${name} 不是一个可以读的密钥`);
  }
};

const required = (name: string, given: string): string => {
  if (given === '') throw new StartupError(`用它收款还要设置 ${name}`);
  return given;
};

/**
 * The payment services that are set up, in their order, and why there are none.
 * @param createSandbox makes 沙箱收银台, which needs the database
 * @throws StartupError when a key is missing or cannot be read
 */
export const createProviders = async (
  settings: Settings,
  createSandbox: () => PaymentProvider,
): Promise<{ providers: PaymentProvider[]; closedReason: string }> => {
  const { payment, publicUrl } = settings;
  const providers: PaymentProvider[] = [];
  let closedReason = payment.length === 0 ? noPayment : '';
  for (const name of payment) {
    if (name === 'sandbox') {
      const host = URL.canParse(publicUrl) ? new URL(publicUrl).hostname : '';
      if (isPublicHost(host) && settings.sandboxAllowed !== host)
        closedReason = '这个站点还没有接通微信支付或支付宝，暂时不能付款';
      else providers.push(createSandbox());
    } else if (name === 'wechat') {
      const { wechat } = settings;
      if (publicUrl === '') throw new StartupError('微信支付要知道通知发到哪里：请设置 PUBLIC_URL');
      const apiKey = required('WECHAT_APIV3_KEY', wechat.apiKey);
      if (Buffer.byteLength(apiKey) !== 32)
        throw new StartupError('WECHAT_APIV3_KEY 应为 32 个字符');
      providers.push(
        createWechatPay({
          baseUrl: wechat.baseUrl,
          appId: required('WECHAT_APPID', wechat.appId),
          merchantId: required('WECHAT_MCHID', wechat.merchantId),
          serial: required('WECHAT_SERIAL', wechat.serial),
          privateKey: readKey('WECHAT_PRIVATE_KEY', wechat.privateKey, 'PRIVATE KEY'),
          apiKey,
          publicKey:
            wechat.publicKeyId === ''
              ? null
              : {
                  id: wechat.publicKeyId,
                  key: readKey('WECHAT_PUBLIC_KEY', wechat.publicKey, 'PUBLIC KEY'),
                },
          notifyUrl: `${publicUrl}/api/pay/wechat/notice`,
        }),
      );
    } else {
      const { alipay } = settings;
      const privateKey = readKey('ALIPAY_PRIVATE_KEY', alipay.privateKey, 'PRIVATE KEY');
      const publicKey = readKey('ALIPAY_PUBLIC_KEY', alipay.publicKey, 'PUBLIC KEY');
      providers.push(
        await createAlipay({
          gateway: alipay.gateway,
          appId: required('ALIPAY_APP_ID', alipay.appId),
          privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
          publicKey: publicKey.export({ type: 'spki', format: 'pem' }) as string,
          notifyUrl: publicUrl === '' ? '' : `${publicUrl}/api/pay/alipay/notice`,
        }),
      );
    }
  }
  return { providers, closedReason: providers.length > 0 ? '' : closedReason };
};
