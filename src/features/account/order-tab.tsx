import { tokensOfMillion } from '#contract/goods.ts';
import { compactNumber } from '#common/compact-number.ts';
import { useCall } from '#src/platform/call-query.ts';
import { ApiError } from '#src/platform/api-error.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { dateTime } from '#src/platform/format.ts';
import { toast } from '#src/platform/toast.ts';
import { emptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { listProps } from '#src/ui/table/page-props.ts';
import { yuan } from '#src/widgets/pay/money.ts';
import { reopen } from '#src/widgets/pay/pay-order.ts';
import { PayHost } from '#src/widgets/pay/pay-host.tsx';
import type { Out } from '#contract/calls.ts';
import { getRouteApi } from '@tanstack/react-router';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { useState } from 'react';
import { InvoiceList } from './invoice-list.tsx';
import css from './lists.module.css';

const InvoiceSheet = lazyAsked(() => import('./invoice-sheet.tsx'));
const RefundSheet = lazyAsked(() => import('./refund-sheet.tsx'));
const route = getRouteApi('/account');

type Order = Out<'tradeList'>['list'][number];

const invoiceWords = {
  '': '',
  requested: '发票开具中',
  issued: '发票已开',
  rejected: '发票被退回',
} as const;

const refundWords = {
  '': '',
  open: '',
  requested: '退款申请中',
  rejected: '没有同意退款',
} as const;

const stateText = (order: Order): string => {
  if (order.provider === '') return order.trade_value < 0 ? '扣除' : '赠送';
  if (order.state === 'created') return order.url === '' ? '已过期' : '待付款';
  if (order.state === 'closed') return '已关闭';
  if (order.state === 'refunded') return '已退款';
  return order.refunded_amount > 0 ? `已退 ${yuan(order.refunded_amount)}` : '已付款';
};

interface Acts {
  pay: (order: Order) => Promise<void>;
  invoice: (order: Order) => void;
  refund: (order: Order) => void;
}

/** What stands of an order, and what can be done with it. */
const columnsOf = (acts: Acts): Column<Order>[] => [
  { key: 'title', title: '内容', value: (order) => order.title, role: 'title', wide: true },
  {
    key: 'amount',
    sortable: true,
    title: '金额',
    value: (order) => order.amount / 100,
    render: (order) => (order.provider === '' ? '—' : yuan(order.amount)),
    align: 'end',
  },
  {
    key: 'trade_value',
    sortable: true,
    title: 'token',
    value: (order) => order.trade_value,
    render: (order) =>
      order.trade_value === 0 ? '—' : compactNumber(order.trade_value * tokensOfMillion),
    align: 'end',
  },
  {
    key: 'state',
    title: '状态',
    value: stateText,
    render: (order) => (
      <span className={css.state} data-state={order.url === '' ? order.state : 'open'}>
        {stateText(order)}
        {[invoiceWords[order.invoice], refundWords[order.refund]].map(
          (word) => word !== '' && ` · ${word}`,
        )}
        {order.refund_answer !== '' && (
          <small className={css.answer}>管理员：{order.refund_answer}</small>
        )}
      </span>
    ),
  },
  {
    key: 'created_at',
    sortable: true,
    title: '时间',
    value: (order) => order.created_at,
    render: (order) => dateTime(order.paid_at ?? order.created_at),
  },
  {
    key: 'trade_no',
    title: '订单号',
    code: true,
    value: (order) => order.trade_no,
    render: (order) => <span className={css.number}>{order.trade_no}</span>,
  },
  {
    key: 'acts',
    title: '操作',
    value: () => null,
    role: 'bare',
    render: (order) => (
      <span className={css.acts}>
        {order.url !== '' && (
          <Button kind="primary" size="small" onClick={() => void acts.pay(order)}>
            去支付
          </Button>
        )}
        {order.state === 'paid' && order.provider !== '' && order.invoice === '' && (
          <Button size="small" onClick={() => acts.invoice(order)}>
            开发票
          </Button>
        )}
        {order.refund === 'open' && (
          <Button size="small" onClick={() => acts.refund(order)}>
            申请退款
          </Button>
        )}
      </span>
    ),
  },
];

const OrderTab = () => {
  const { page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const { token } = useAuth();
  const [invoicing, setInvoicing] = useState<Order | null>(null);
  const [refunding, setRefunding] = useState<Order | null>(null);
  const orders = useCall('tradeList', { page }, { enabled: token !== '' });
  const payAgain = async (order: Order) => {
    try {
      const state = await reopen(
        order.trade_no,
        (paid) => void navigate({ search: { tab: 'usage' }, state: { paid } }),
      );
      if (state === 'created') return;
      if (state === 'paid') toast('这个订单已经付款', 'success');
      else toast('这个订单已经关闭，请重新下单');
      await orders.refetch();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  };
  const columns = columnsOf({ pay: payAgain, invoice: setInvoicing, refund: setRefunding });
  return (
    <>
      <DataTable
        name="订单"
        columns={columns}
        {...listProps(orders)}
        rowKey={(order) => order.trade_no}
        page={page}
        pageCount={orders.data?.page_count ?? 0}
        total={orders.data?.total ?? 0}
        onPage={(next, replace) => void navigate({ search: { tab: 'order', page: next }, replace })}
        empty={emptyPlace(
          'lotus',
          '还没有订单。每一次付款都会记在这里，也在这里开发票、申请退款。',
          <ButtonLink kind="primary" to="/account" search={{ tab: 'recharge' }}>
            去充值
          </ButtonLink>,
          { label: '先算算要多少', prompt: '一个 token 有多长？1 万 tokens 够聊多少？' },
        )}
      />
      <InvoiceList />
      <PayHost />
      {invoicing && <InvoiceSheet order={invoicing} onClose={() => setInvoicing(null)} />}
      {refunding && <RefundSheet order={refunding} onClose={() => setRefunding(null)} />}
    </>
  );
};

export default OrderTab;
