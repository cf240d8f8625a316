import { bounds } from '#contract/bounds.ts';
import { api } from '#src/platform/api.ts';
import { quietly } from '#src/platform/attempt.ts';
import { useCall } from '#src/platform/call-query.ts';
import { dateTime } from '#src/platform/format.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { Form } from '#src/ui/form/form.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { Out } from '#contract/calls.ts';
import css from './manage-order.module.css';
import { yuan } from '#src/widgets/pay/money.ts';
import { stateOf, typeOf } from './order-words.ts';

const events: Readonly<Record<string, string>> = {
  created: '下单',
  paid: '付款',
  closed: '关闭',
  refund: '退款',
  refunded: '退款完成',
  refund_failed: '退款没有成功',
  refund_asked: '申请退款',
  refund_refused: '没有同意退款',
  remarks: '改备注',
  booked: '记账',
};

const Refund = ({ order }: { order: Out<'adminOrderInfo'>['order'] }) => {
  const left = (order.amount - order.refunded_amount) / 100;
  return (
    <Form
      fields={[
        {
          name: 'amount',
          label: '退款金额',
          kind: 'number',
          required: true,
          min: 0.01,
          max: left,
          step: 0.01,
          unit: '元',
        },
        { name: 'reason', kind: 'text', required: true, ...bounds.order.reason },
        {
          name: 'forgive',
          kind: 'switch',
          hint: '不打开时，余额不够扣回、会员的月份已经过去或这个月的 token 用过就不能退',
        },
      ]}
      initial={{ amount: left }}
      submit="退款"
      danger
      onSubmit={async ({ amount, reason, forgive }) => {
        const yes = await confirmDialog({
          text: `退 ${yuan(Math.round(Number(amount) * 100))} 给“${order.user_name}”，并收回相应的额度？`,
          ok: '退款',
          danger: true,
        });
        if (!yes) return;
        const { state } = await api.refundOrder(
          {
            order_id: order.order_id,
            amount: Math.round(Number(amount) * 100),
            reason: String(reason),
            forgive: forgive === true ? 1 : 0,
          },
          { quiet: true },
        );
        toast(state === 'done' ? '退款成功' : '已申请退款，等支付服务回答', 'success');
      }}
    />
  );
};

/** Why its person asked for the money back, and the answer of whoever does not pay. */
const Wish = ({ order }: { order: Out<'adminOrderInfo'>['order'] }) => (
  <section className={css.wish} aria-label="退款申请">
    <p>
      <b>用户申请退款：</b>
      {order.refund_wish}
    </p>
    {order.refund_answer !== '' && <p>没有同意：{order.refund_answer}</p>}
    {order.refund_asked_at !== null && (
      <Form
        fields={[
          {
            name: 'reason',
            label: '不同意的原因（用户会看到）',
            kind: 'text',
            required: true,
            ...bounds.order.reason,
          },
        ]}
        submit="不同意"
        onSubmit={async ({ reason }) => {
          await api.rejectRefund(
            { order_id: order.order_id, reason: String(reason) },
            { quiet: true },
          );
          toast('已经答复用户', 'success');
        }}
      />
    )}
  </section>
);

const close = async (number: string): Promise<void> => {
  const sure = await confirmDialog({
    text: '关闭这个还没有付款的订单？之后要买就重新下单。',
    ok: '关闭',
    danger: true,
  });
  if (!sure) return;
  await api.closeOrder({ order_id: number });
  toast('订单已关闭', 'success');
};

/** One order: what happened to it, its remark, its refund. */
export const ManageOrder = ({
  number,
  onClose,
}: {
  number: string | undefined;
  onClose: () => void;
}) => {
  const info = useCall(
    'adminOrderInfo',
    { order_id: number ?? '' },
    { enabled: number !== undefined },
  );
  const { data } = info;
  return (
    <Sheet open={number !== undefined} onClose={onClose} title="订单" wide>
      {info.isPending && <Skeleton lines={6} />}
      {info.isError && <QueryFailed query={info} />}
      {data && (
        <div className={css.order}>
          <h3>
            {data.order.title} · {yuan(data.order.amount)}
          </h3>
          <p className="field-hint">
            {data.order.user_name} · {typeOf(data.order)} · {stateOf(data.order)} ·{' '}
            {data.order.order_id}
          </p>
          <ol className={css.story}>
            {data.events.map((event) => (
              <li key={event.created_at + event.event}>
                <strong>{events[event.event] ?? event.event}</strong>
                <span>{dateTime(event.created_at)}</span>
                {event.manager_id !== null && <span>管理员 {event.manager_id}</span>}
              </li>
            ))}
          </ol>
          {data.order.refund_wish !== '' && <Wish order={data.order} />}
          {data.refunds.map((refund) => (
            <p key={refund.number} className="field-hint">
              退款 {yuan(refund.amount)}：{refund.reason}（
              {{ pending: '等支付服务回答', done: '已退', failed: '没有成功' }[refund.state] ??
                refund.state}
              ）
            </p>
          ))}
          <Form
            key={data.order.remarks}
            fields={[{ name: 'remarks', kind: 'long', ...bounds.order.remarks, lines: 2 }]}
            initial={{ remarks: data.order.remarks }}
            onSubmit={async ({ remarks }) => {
              await api.setOrder(
                { order_id: data.order.order_id, remarks: String(remarks ?? '') },
                { quiet: true },
              );
              toast('修改成功', 'success');
            }}
          />
          {data.order.state === 'created' && (
            <Button kind="danger" onClick={() => quietly(close(data.order.order_id))}>
              关闭订单
            </Button>
          )}
          {data.order.state === 'paid' && data.order.provider !== '' && (
            <Refund key={data.order.refunded_amount} order={data.order} />
          )}
        </div>
      )}
    </Sheet>
  );
};
