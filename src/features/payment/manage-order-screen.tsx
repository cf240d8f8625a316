import { momentColumn } from '#src/ui/table/columns.ts';
import { personColumn } from '#src/widgets/person/person-column.tsx';
import { tokensOfMillion } from '#contract/goods.ts';
import { compactNumber } from '#common/compact-number.ts';
import { Tag } from '#src/ui/chip.tsx';
import { api } from '#src/platform/api.ts';
import { dateTime } from '#src/platform/format.ts';
import { lastDays } from '#src/ui/chart/last-days.ts';
import { LineChart } from '#src/ui/chart/line-chart.tsx';
import { DateRange } from '#src/ui/date-range/date-range.tsx';
import { longRanges, quickRange } from '#src/ui/date-range/ranges.ts';
import { FilterBar } from '#src/ui/filter-bar/filter-bar.tsx';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { ChosenActs } from '#src/ui/table/chosen-acts.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { pageProps } from '#src/ui/table/page-props.ts';
import { sortInput } from '#src/ui/table/sorted.ts';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import type { AdminOrder } from '#contract/manage-order.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { ManageBills } from './manage-bills.tsx';
import { ManageOrder } from './manage-order.tsx';
import { yuan } from '#src/widgets/pay/money.ts';
import { stateOf, typeOf } from './order-words.ts';

const inYuan = (value: number): string => yuan(value * 100);

const route = getRouteApi('/manager/order');

const columns: readonly Column<AdminOrder>[] = [
  { key: 'title', title: '内容', value: (row) => row.title, role: 'title', wide: true },
  personColumn,
  { key: 'type', title: '种类', value: (row) => typeOf(row), role: 'plain' },
  {
    key: 'amount',
    title: '金额',
    value: (row) => row.amount / 100,
    render: (row) => yuan(row.amount),
    align: 'end',
  },
  {
    key: 'trade_value',
    title: '额度',
    value: (row) => row.trade_value,
    render: (row) => compactNumber(row.trade_value * tokensOfMillion),
    align: 'end',
  },
  {
    key: 'state',
    title: '状态',
    value: stateOf,
    role: 'plain',
    render: (row) => <Tag>{stateOf(row)}</Tag>,
  },
  { key: 'order_id', title: '订单号', value: (row) => row.order_id, code: true },
  {
    key: 'out_order_id',
    title: '支付单号',
    value: (row) => row.out_order_id,
    code: true,
    spare: true,
  },
  { key: 'remarks', title: '备注', value: (row) => row.remarks || '—' },
  momentColumn('created_at', '下单'),
  {
    key: 'paid_at',
    title: '付款',
    value: (row) => row.paid_at,
    render: (row) => (row.paid_at ? dateTime(row.paid_at) : '—'),
    spare: true,
  },
];

const Orders = () => {
  const { page = 1, sort, ...search } = route.useSearch();
  const show = useTableSearch();
  const [open, setOpen] = useState<string>();
  const orders = useQuery({
    queryKey: ['adminOrderList', search, sort, page],
    queryFn: ({ signal }) => {
      const quick = search.range ? quickRange(search.range, longRanges) : null;
      const start = quick?.start ?? search.start;
      const end = quick?.end ?? search.end;
      return api.adminOrderList(
        {
          page,
          ...sortInput('adminOrderList', sort),
          orderId: search.order_id,
          userId: search.user_id,
          type: search.type ?? 'all',
          timeRange: start || end ? [start ?? '', end ?? ''] : undefined,
        },
        { signal, quiet: true },
      );
    },
    placeholderData: keepPreviousData,
  });
  const { data } = orders;
  const days = useMemo(() => {
    if (!data) return null;
    const amounts = new Map(data.days.map(({ day, amount }) => [day, amount / 100]));
    const times = lastDays(30);
    return {
      times,
      series: [{ label: '收入', values: times.map((day) => amounts.get(day) ?? 0) }],
    };
  }, [data]);
  return (
    <>
      <FilterBar
        filters={[
          { kind: 'text', name: 'order_id', label: '订单号（不看别的条件）' },
          { kind: 'text', name: 'user_id', label: '用户编号', digits: true },
          {
            kind: 'choice',
            name: 'type',
            label: '支付',
            options: [
              { value: 'paid', label: '已付款' },
              { value: 'refund', label: '申请退款' },
              { value: 'gifted', label: '赠送与调整' },
              { value: 'wechat', label: '微信支付' },
              { value: 'alipay', label: '支付宝' },
              { value: 'sandbox', label: '沙箱' },
            ],
          },
        ]}
        values={search}
        onChange={show}
      />
      <DateRange
        value={{ quick: search.range, start: search.start, end: search.end }}
        onChange={(value) => show({ range: value.quick, start: value.start, end: value.end })}
      />
      {days && <LineChart title="30 天收入" show={inYuan} height={140} {...days} />}
      <DataTable
        name="订单"
        columns={columns}
        {...pageProps(orders, page, show, ['adminOrderList', sort])}
        rowKey={({ id }) => String(id)}
        empty={{ icon: 'receipt', text: '没有符合的订单。' }}
        tone={(row) => (row.paid_success ? 'good' : undefined)}
        onOpen={(row) => setOpen(row.order_id)}
        renderChosen={(rows, keep) => (
          <ChosenActs
            rows={rows}
            nameOf={({ title, order_id }) => `${title}（${order_id}）`}
            onDone={keep}
            acts={[
              {
                label: '关闭未付款的',
                danger: true,
                fits: (row) => row.state === 'created',
                sure: (count) => `关闭选中的 ${count} 个还没有付款的订单？之后要买就重新下单。`,
                run: ({ order_id }, quiet) => api.closeOrder({ order_id }, quiet),
              },
            ]}
          />
        )}
      />
      <ManageOrder number={open} onClose={() => setOpen(undefined)} />
    </>
  );
};

const tabs = [
  ['orders', '订单'],
  ['invoices', '发票'],
  ['differences', '对账差异'],
] as const;

/** Orders of everybody, requests for invoices, differences of the bills. */
export const ManageOrderScreen = () => {
  const { tab = 'orders', page = 1 } = route.useSearch();
  const show = useTableSearch();
  return (
    <ManagePage title="订单">
      <div className="segments" role="group" aria-label="看什么">
        {tabs.map(([key, label]) => (
          <button
            type="button"
            key={key}
            aria-pressed={tab === key}
            onClick={() => show({ tab: key })}
          >
            {label}
          </button>
        ))}
      </div>
      {tab === 'orders' ? <Orders /> : <ManageBills tab={tab} page={page} />}
    </ManagePage>
  );
};
