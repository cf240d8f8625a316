import { useAct } from '#src/platform/use-act.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { Button } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { yuan } from '#src/widgets/pay/money.ts';
import { getRouteApi } from '@tanstack/react-router';
import css from './payment.module.css';

const route = getRouteApi('/cashier');

/** 沙箱收银台: what stands behind the sandbox's QR code. */
export const CashierScreen = () => {
  usePageTitle('沙箱收银台');
  const { key = '' } = route.useSearch();
  const { busy, run } = useAct();
  const trade = useCall('sandboxTrade', { key }, { retry: false });
  const settle = async (pay: 0 | 1) => {
    await run(async () => {
      await api.sandboxSettle({ key, pay });
      await trade.refetch();
    });
  };
  const data = trade.data;
  return (
    <div className={`page ${css.cashier}`}>
      <header className="page-head">
        <h1>沙箱收银台</h1>
      </header>
      {trade.isPending && (
        <div className="card">
          <Skeleton lines={4} />
        </div>
      )}
      {trade.isError && <EmptyState icon="warning" text="没有这个订单，请回到鹊桥重新下单。" />}
      {data && (
        <section className={`card ${css.trade}`}>
          <p>{data.title}</p>
          <p className={`${css.amount} tabular`}>{yuan(data.amount)}</p>
          <p className={css.note}>订单号 {data.trade_no}</p>
          {data.state === 'unpaid' ? (
            <>
              <p className={css.note}>这是试用的收银台，不会真的扣钱。</p>
              <div className={css.acts}>
                <Button busy={busy} onClick={() => void settle(0)}>
                  取消付款
                </Button>
                <Button kind="primary" busy={busy} onClick={() => void settle(1)}>
                  确认付款
                </Button>
              </div>
            </>
          ) : (
            <p className={css.result} role="status">
              {data.state === 'paid' ? '付款成功，请回到鹊桥' : '订单已关闭'}
            </p>
          )}
        </section>
      )}
    </div>
  );
};
