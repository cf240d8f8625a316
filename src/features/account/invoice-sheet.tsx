import { bounds } from '#contract/bounds.ts';
import { api } from '#src/platform/api.ts';
import { toast } from '#src/platform/toast.ts';
import { uuid } from '#src/platform/uuid.ts';
import { Form } from '#src/ui/form/form.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { yuan } from '#src/widgets/pay/money.ts';
import type { In, Out } from '#contract/calls.ts';
import { useState } from 'react';
import css from './lists.module.css';

type Order = Out<'tradeList'>['list'][number];

/** Asks for the invoice of an order; a repeated press asks once. */
const InvoiceSheet = ({ order, onClose }: { order: Order; onClose: () => void }) => {
  const [key] = useState(uuid);
  return (
    <Sheet open onClose={onClose} title="申请发票">
      <p className={css.lead}>
        {order.title}，{yuan(order.amount - order.refunded_amount)}
        。开好后发到您的邮箱，也会显示在订单里。
      </p>
      <Form
        draft={`invoice.${order.id}`}
        fields={[
          {
            name: 'kind',
            label: '抬头类型',
            kind: 'choice',
            required: true,
            options: [
              { value: 'personal', label: '个人' },
              { value: 'company', label: '企业' },
            ],
          },
          {
            name: 'title',
            label: '发票抬头',
            kind: 'text',
            required: true,
            ...bounds.invoice.title,
          },
          {
            name: 'tax_number',
            label: '纳税人识别号',
            kind: 'text',
            required: true,
            ...bounds.invoice.taxNumber,
            when: (values) => values['kind'] === 'company',
          },
          {
            name: 'email',
            label: '收发票的邮箱',
            kind: 'text',
            required: true,
            ...bounds.invoice.email,
          },
        ]}
        initial={{ kind: 'personal' }}
        submit="提交申请"
        onSubmit={async (values) => {
          const wish = { ...values, order_ids: [order.trade_no] } as In<'requestInvoice'>;
          await api.requestInvoice(wish, { quiet: true, idempotencyKey: key });
          toast('已收到申请，开好后发到您的邮箱', 'success');
          onClose();
        }}
      />
    </Sheet>
  );
};

export default InvoiceSheet;
