import { bounds } from '#contract/bounds.ts';
import type { Order } from '#contract/payment.ts';
import { api } from '#src/platform/api.ts';
import { toast } from '#src/platform/toast.ts';
import { Form } from '#src/ui/form/form.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { yuan } from '#src/widgets/pay/money.ts';
import css from './lists.module.css';

/** Asks for the money of an order. */
const RefundSheet = ({ order, onClose }: { order: Order; onClose: () => void }) => (
  <Sheet open onClose={onClose} title="申请退款">
    <p className={css.lead}>
      {order.title}，{yuan(order.amount - order.refunded_amount)}
      。管理员会看您的申请，同意后按原路退回，并收回这个订单的额度；已经用掉的部分由管理员决定退多少。每个订单可以申请一次。
    </p>
    <Form
      draft={`refund.${order.id}`}
      fields={[
        { name: 'reason', label: '为什么退', kind: 'long', required: true, ...bounds.order.reason },
      ]}
      submit="提交申请"
      onSubmit={async ({ reason }) => {
        await api.requestRefund(
          { order_id: order.trade_no, reason: String(reason) },
          { quiet: true },
        );
        toast('已提交退款申请，有了答复会告诉您', 'success');
        onClose();
      }}
    />
  </Sheet>
);

export default RefundSheet;
