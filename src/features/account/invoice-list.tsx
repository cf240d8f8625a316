import { keepLast, useCall } from '#src/platform/call-query.ts';
import { dateTime } from '#src/platform/format.ts';
import { Pager } from '#src/ui/pager/pager.tsx';
import { yuan } from '#src/widgets/pay/money.ts';
import { safeLink } from '#common/markdown/safe-url.ts';
import type { Out } from '#contract/calls.ts';
import { useState } from 'react';
import css from './lists.module.css';

type Invoice = Out<'invoiceList'>['list'][number];

const states = { requested: '等待开票', issued: '已开出', rejected: '被退回' } as const;

/** What the manager wrote to it; where the invoice can be fetched is pressed. */
const Remark = ({ text }: { text: string }) => (
  <p className={css.remark}>
    {text.split(/(https?:\/\/[^\s，。；、）]+)/).map((part, at) => {
      const link = at % 2 === 1 ? safeLink(part, location.origin) : null;
      return link ? (
        <a key={part} href={link.href} target="_blank" rel="noreferrer">
          {part}
        </a>
      ) : (
        part
      );
    })}
  </p>
);

const Entry = ({ invoice }: { invoice: Invoice }) => (
  <li>
    <b>{invoice.title}</b>
    <b className="tabular">{yuan(invoice.amount)}</b>
    <span>
      {dateTime(invoice.created_at)} 申请
      {invoice.tax_number !== '' && `，税号 ${invoice.tax_number}`}，发到 {invoice.email}
    </span>
    <span className={css.state} data-state={invoice.state}>
      {states[invoice.state]}
    </span>
    {invoice.remark !== '' && <Remark text={invoice.remark} />}
  </li>
);

/** One's requests for invoices and what became of them; nothing where there are none. */
export const InvoiceList = () => {
  const [page, setPage] = useState(1);
  const { data } = useCall('invoiceList', { page }, keepLast);
  if (!data || data.total === 0) return null;
  return (
    <section className={`card ${css.invoices}`}>
      <h2>发票申请</h2>
      <ul className={css.models} aria-label="发票申请">
        {data.list.map((each) => (
          <Entry key={each.id} invoice={each} />
        ))}
      </ul>
      <Pager page={page} count={data.page_count} onPage={setPage} />
    </section>
  );
};
