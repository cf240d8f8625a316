import { momentColumn } from '#src/ui/table/columns.ts';
import { bounds } from '#contract/bounds.ts';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { dateTime } from '#src/platform/format.ts';
import { toast } from '#src/platform/toast.ts';
import { Form } from '#src/ui/form/form.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { pageProps } from '#src/ui/table/page-props.ts';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import type { AdminInvoice, Difference } from '#contract/manage-order.ts';
import { useState } from 'react';
import css from './manage-order.module.css';
import { yuan } from '#src/widgets/pay/money.ts';

const invoiceStates = { requested: '等待开票', issued: '已开', rejected: '已退回' } as const;
/** What was refunded after it was asked for: not what the invoice itself says. */
const refundOf = ({ refunded_amount: back, amount }: AdminInvoice): string =>
  back === 0 ? '' : back < amount ? `已退款 ${yuan(back)}` : '已退款';
const invoiceState = (row: AdminInvoice): string =>
  [invoiceStates[row.state], refundOf(row)].filter(Boolean).join(' · ');
const invoiceColumns: readonly Column<AdminInvoice>[] = [
  { key: 'title', title: '抬头', value: (row) => row.title, role: 'title', wide: true },
  { key: 'user_name', title: '用户', value: (row) => row.user_name },
  {
    key: 'amount',
    title: '金额',
    value: (row) => row.amount / 100,
    render: (row) => yuan(row.amount),
    align: 'end',
    sortable: true,
  },
  { key: 'tax_number', title: '税号', value: (row) => row.tax_number || '—' },
  { key: 'email', title: '邮箱', value: (row) => row.email },
  { key: 'state', title: '状态', value: invoiceState, role: 'plain' },
  momentColumn('created_at', '申请'),
];
const differenceColumns: readonly Column<Difference>[] = [
  { key: 'number', title: '单号', value: (row) => row.number, role: 'title' },
  { key: 'detail', title: '差异', value: (row) => row.detail, wide: true },
  { key: 'provider', title: '支付', value: (row) => row.provider },
  momentColumn('created_at', '发现'),
  { key: 'note', title: '处理', value: (row) => row.note || '—' },
];

const Invoices = ({ page }: { page: number }) => {
  const show = useTableSearch();
  const [open, setOpen] = useState<AdminInvoice>();
  const invoices = useCall('adminInvoiceList', { page }, keepLast);
  return (
    <>
      <DataTable
        name="发票申请"
        columns={invoiceColumns}
        {...pageProps(invoices, page, show)}
        rowKey={({ id }) => String(id)}
        empty={{ icon: 'document', text: '还没有人申请发票。' }}
        tone={(row) =>
          refundOf(row) !== '' ? 'bad' : row.state === 'requested' ? 'gold' : undefined
        }
        onOpen={setOpen}
      />
      <Sheet open={open !== undefined} onClose={() => setOpen(undefined)} title="发票申请" wide>
        {open && (
          <div className={css.order}>
            <dl className={css.facts}>
              <dt>抬头</dt>
              <dd>{open.title}</dd>
              <dt>税号</dt>
              <dd>{open.tax_number || '个人'}</dd>
              <dt>金额</dt>
              <dd>{yuan(open.amount)}</dd>
              <dt>邮箱</dt>
              <dd>{open.email}</dd>
              <dt>订单</dt>
              <dd>{open.order_ids.join('、')}</dd>
              {open.refunded_amount > 0 && (
                <>
                  <dt>退款</dt>
                  <dd>{refundOf(open)}</dd>
                </>
              )}
            </dl>
            {open.state === 'requested' ? (
              <Form
                fields={[
                  {
                    name: 'state',
                    label: '怎么处理',
                    kind: 'choice',
                    required: true,
                    options: [
                      { value: 'issued', label: '已开出' },
                      { value: 'rejected', label: '退回' },
                    ],
                  },
                  {
                    name: 'remark',
                    label: '给用户的话',
                    kind: 'long',
                    max: 500,
                    hint: '发票的下载地址，或退回的原因',
                  },
                ]}
                initial={{ state: 'issued' }}
                onSubmit={async ({ state, remark }) => {
                  await api.handleInvoice(
                    {
                      id: open.id,
                      state: state === 'rejected' ? 'rejected' : 'issued',
                      remark: String(remark ?? ''),
                    },
                    { quiet: true },
                  );
                  setOpen(undefined);
                  toast('保存成功', 'success');
                }}
              />
            ) : (
              <p>
                {invoiceStates[open.state]}：{open.remark || '没有说明'}
              </p>
            )}
          </div>
        )}
      </Sheet>
    </>
  );
};

const Differences = ({ page }: { page: number }) => {
  const show = useTableSearch();
  const [open, setOpen] = useState<Difference>();
  const differences = useCall('differenceList', { page, open: 0 }, keepLast);
  return (
    <>
      <DataTable
        name="对账差异"
        columns={differenceColumns}
        {...pageProps(differences, page, show)}
        rowKey={({ id }) => String(id)}
        empty={{ icon: 'check', text: '账单和订单没有差异。' }}
        tone={(row) => (row.resolved_at ? undefined : 'bad')}
        onOpen={setOpen}
      />
      <Sheet open={open !== undefined} onClose={() => setOpen(undefined)} title="对账差异">
        {open && (
          <>
            <p>
              {open.number}：{open.detail}
            </p>
            {open.resolved_at ? (
              <p>
                {dateTime(open.resolved_at)} 处理：{open.note}
              </p>
            ) : (
              <Form
                fields={[
                  {
                    name: 'note',
                    label: '怎么处理的',
                    kind: 'long',
                    required: true,
                    ...bounds.difference,
                  },
                ]}
                submit="已处理"
                onSubmit={async ({ note }) => {
                  await api.resolveDifference({ id: open.id, note: String(note) }, { quiet: true });
                  setOpen(undefined);
                  toast('保存成功', 'success');
                }}
              />
            )}
          </>
        )}
      </Sheet>
    </>
  );
};

export const ManageBills = ({ tab, page }: { tab: 'invoices' | 'differences'; page: number }) =>
  tab === 'invoices' ? <Invoices page={page} /> : <Differences page={page} />;
