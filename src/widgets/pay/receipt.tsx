import { useCall } from '#src/platform/call-query.ts';
import { dateTime } from '#src/platform/format.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { useCanGoBack, useLocation, useRouter } from '@tanstack/react-router';
import { yuan } from './money.ts';
import css from './receipt.module.css';

/** What was paid just now, on the screen to which it led, and the way back to where one was. */
export const Receipt = () => {
  const number = useLocation({ select: ({ state }) => state.paid ?? '' });
  const { data: order } = useCall(
    'tradeStatus',
    { platform_order_id: number },
    { enabled: number !== '', staleTime: Infinity, retry: false },
  );
  const { history } = useRouter();
  const canGoBack = useCanGoBack();
  if (number === '' || order?.state !== 'paid') return null;
  return (
    <section className={`card ${css.receipt}`} aria-labelledby="receipt">
      <Icon name="check" size={28} />
      <div>
        <h2 id="receipt">
          已付款 <span className="tabular">{yuan(order.amount)}</span>
        </h2>
        <p>{order.title}</p>
        <p className={css.small}>
          {dateTime(order.paid_at ?? order.created_at)} · 订单号 {order.trade_no}
        </p>
      </div>
      <p className={css.acts}>
        {canGoBack && (
          <Button kind="primary" size="small" onClick={() => history.back()}>
            返回刚才的页面
          </Button>
        )}
        <ButtonLink size="small" to="/account" search={{ tab: 'order' }}>
          查看订单
        </ButtonLink>
      </p>
    </section>
  );
};
