import { orderTypes } from '#contract/kinds.ts';
import { attempt } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { queryClient, refreshScreens } from '#src/platform/query-client.ts';
import { serverNow } from '#src/platform/server-clock.ts';
import { toast } from '#src/platform/toast.ts';
import { finePointer, useMedia } from '#src/platform/use-media.ts';
import { Button, buttonClass } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { Out } from '#contract/calls.ts';
import { orderPolling } from '#contract/goods.ts';
import { useEffect, useState } from 'react';
import { yuan } from './money.ts';
import css from './pay-dialog.module.css';
import { closePayment, forgetPayment } from './pay-order.ts';

type Order = Out<'recharge'>;

const looks = {
  wechat: { name: '微信支付', hint: '请用微信“扫一扫”付款', open: '打开微信' },
  alipay: { name: '支付宝', hint: '请用支付宝“扫一扫”付款', open: '打开支付宝' },
  sandbox: {
    name: '沙箱收银台',
    hint: '用手机扫码，或直接打开收银台。不会真的扣钱',
    open: '打开收银台',
  },
  '': { name: '付款', hint: '', open: '' },
} as const;

/** The address behind the code; the sandbox may be reached at this page's own address. */
const absolute = (url: string) => (url.startsWith('/') ? new URL(url, location.origin).href : url);

/** What opens the payment app on the phone that shows the code. */
const appLink = ({ provider, url }: Order): string => {
  if (provider === 'alipay')
    return `alipays://platformapi/startapp?saId=10000007&qrcode=${encodeURIComponent(url)}`;
  return provider === 'wechat' ? url : absolute(url);
};

const useCode = (url: string) => {
  const [image, setImage] = useState('');
  useEffect(() => {
    let wanted = true;
    const draw = async () => {
      const { toDataURL } = await import('qrcode');
      const made = await toDataURL(absolute(url), { width: 440, margin: 2 });
      if (wanted) setImage(made);
    };
    void draw();
    return () => {
      wanted = false;
    };
  }, [url]);
  return image;
};

const useNow = () => {
  const [now, setNow] = useState(() => serverNow());
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
};

const clock = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number) => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  return `${hours > 0 ? `${hours}:` : ''}${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
};

const PayDialog = ({ order, onPaid }: { order: Order; onPaid: (number: string) => void }) => {
  const look = looks[order.provider];
  const image = useCode(order.url);
  const now = useNow();
  const [pressed, setPressed] = useState(false);
  // Beside a mouse there is no payment app that could be opened.
  const opens = !useMedia(finePointer) || order.provider === 'sandbox';
  const recharge = order.type === orderTypes.token;
  // Asked while the dialog stands; afterwards waits.ts and the worker go on by themselves.
  const asked = useCall(
    'tradeStatus',
    { platform_order_id: order.trade_no },
    {
      refetchInterval: orderPolling,
      refetchIntervalInBackground: true,
      retry: false,
      gcTime: 0,
      meta: { steady: true },
    },
  );
  const state = asked.data?.state ?? 'created';
  useEffect(() => {
    if (state !== 'paid') return;
    forgetPayment(order.trade_no);
    void refreshScreens();
    // Some are only for those who paid.
    void queryClient.invalidateQueries({ queryKey: ['models'] });
    toast(recharge ? '充值成功' : '成功', 'success');
    onPaid(order.trade_no);
  }, [state, order.trade_no, recharge, onPaid]);
  const failed = asked.isError && asked.failureCount > 0;
  useEffect(() => {
    if (failed) toast(recharge ? '充值失败' : '失败', 'error');
  }, [failed, recharge]);

  const look1 = async () => {
    setPressed(true);
    const { data } = await asked.refetch();
    if (data?.state === 'created') toast('还没有收到付款，到账后这里会自动完成');
    setPressed(false);
  };
  const cancel = async () => {
    const sure = await confirmDialog({
      title: '取消订单',
      text: '取消之后，这个二维码不能再付款。',
      ok: '取消订单',
      danger: true,
    });
    if (!sure) return;
    await attempt(async () => {
      const closed = await api.closeTrade({ platform_order_id: order.trade_no });
      if (closed.state === 'closed') forgetPayment(order.trade_no);
    });
  };
  const left = new Date(order.expires_at).getTime() - now;
  // The server's word counts: a phone's clock may be hours off.
  const over = state === 'closed' || (state === 'created' && asked.data?.url === '');

  return (
    <Sheet open onClose={closePayment} title={look.name}>
      <div className={css.pay} data-provider={order.provider}>
        <p className={css.title}>{order.title}</p>
        <p className={`${css.amount} tabular`}>{yuan(order.amount)}</p>
        {over ? (
          <>
            <p className={css.over}>订单已关闭。如果已经付款，到账后会自动补上。</p>
            <Button onClick={() => forgetPayment(order.trade_no)}>返回重新下单</Button>
          </>
        ) : (
          <>
            <div className={css.code}>
              {image === '' ? (
                <Skeleton lines={5} />
              ) : (
                <img src={image} width={220} height={220} alt={`${look.name}二维码`} />
              )}
            </div>
            <p className={css.hint}>{look.hint}</p>
            {left > 0 && (
              <p className={`${css.clock} tabular`} role="timer">
                请在 {clock(left)} 内付款
              </p>
            )}
            <div className={css.acts}>
              {opens && (
                <a
                  className={buttonClass({ kind: 'primary' })}
                  href={appLink(order)}
                  {...(order.provider === 'sandbox' ? { target: '_blank', rel: 'opener' } : {})}
                >
                  {look.open}
                </a>
              )}
              <Button
                kind={opens ? 'plain' : 'primary'}
                busy={pressed}
                onClick={() => void look1()}
              >
                我已支付
              </Button>
            </div>
            {order.provider === 'wechat' && opens && image !== '' && (
              <a className={css.more} href={image} download="wechat-pay.png">
                在这部手机上付款：保存二维码，到微信里扫
              </a>
            )}
            <button type="button" className={css.more} onClick={() => void cancel()}>
              取消订单
            </button>
          </>
        )}
        <p className={css.number}>订单号 {order.trade_no}</p>
      </div>
    </Sheet>
  );
};

export default PayDialog;
