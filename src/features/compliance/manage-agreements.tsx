import { listProps } from '#src/ui/table/page-props.ts';
import { momentColumn } from '#src/ui/table/columns.ts';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { dateTime } from '#src/platform/format.ts';
import { refreshSite } from '#src/platform/site.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { Form } from '#src/ui/form/form.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import {
  agreementKinds,
  type AgreementKind,
  agreementLimits,
  agreementTitles,
} from '#contract/agreement-kinds.ts';
import type { Out } from '#contract/calls.ts';
import { useState } from 'react';
import css from './compliance.module.css';

type Consent = Out<'consentList'>['list'][number];

const columns: readonly Column<Consent>[] = [
  {
    key: 'user_name',
    title: '谁',
    value: (row) => `${row.user_name}（${row.user_id}）`,
    role: 'title',
    wide: true,
  },
  { key: 'title', title: '协议', value: (row) => `${row.title} 第 ${row.version} 版` },
  momentColumn('created_at', '同意'),
  {
    key: 'withdrawn_at',
    title: '撤回',
    value: (row) => row.withdrawn_at ?? '',
    render: (row) => (row.withdrawn_at ? dateTime(row.withdrawn_at) : '—'),
    sortable: true,
  },
];

/** Writes the next version of a text. */
const Editor = ({ kind, onDone }: { kind: AgreementKind; onDone: () => void }) => {
  const list = useCall('agreements', {});
  const there = list.data?.list.some((each) => each.kind === kind) ?? false;
  const now = useCall('agreement', { kind }, { enabled: there });
  if (!list.data || (there && !now.data)) return null;
  return (
    <Form
      draft={`agreement-${kind}`}
      fields={[
        {
          name: 'text',
          label: `${agreementTitles[kind]}（Markdown）`,
          kind: 'long',
          lines: 16,
          max: agreementLimits.text,
          hint: '保存就是新的一版，同意过的人会再被问到；全部删掉是不再有这份协议',
        },
      ]}
      initial={{ text: now.data?.text ?? '' }}
      submit="保存为新的一版"
      onSubmit={async ({ text }) => {
        const { version } = await api.saveAgreement(
          { kind, text: String(text ?? '') },
          { quiet: true },
        );
        await refreshSite();
        onDone();
        toast(`已保存为第 ${version} 版`, 'success');
      }}
    />
  );
};

/** The texts that people agree to, and who agreed. */
export const ManageAgreements = () => {
  const [open, setOpen] = useState<AgreementKind>();
  const [page, setPage] = useState(1);
  const current = useCall('agreements', {});
  const consents = useCall('consentList', { page }, keepLast);
  return (
    <section className={`card ${css.part}`}>
      <h2>协议</h2>
      <p>写好之后，首页与注册页的底部就有它们；打开“注册时要同意协议”，注册才要求勾选。</p>
      <ul className={css.agreements}>
        {agreementKinds.map((kind) => {
          const now = current.data?.list.find((each) => each.kind === kind);
          return (
            <li key={kind}>
              <span>
                <strong>{agreementTitles[kind]}</strong>
                <small>
                  {now ? `第 ${now.version} 版，${dateTime(now.created_at)}` : '还没有写'}
                </small>
              </span>
              <Button size="small" onClick={() => setOpen(kind)}>
                {now ? '修改' : '写'}
              </Button>
            </li>
          );
        })}
      </ul>
      <h3>同意的记录</h3>
      <DataTable
        name="同意的记录"
        columns={columns}
        {...listProps(consents)}
        rowKey={(row) => `${row.user_id} ${row.title} ${row.version} ${row.created_at}`}
        empty={{ icon: 'check', text: '还没有人同意过协议。' }}
        tools={false}
        total={consents.data?.total}
        page={page}
        pageCount={consents.data?.page_count}
        onPage={setPage}
      />
      <Sheet
        open={open !== undefined}
        onClose={() => setOpen(undefined)}
        title={open ? agreementTitles[open] : ''}
      >
        {open && <Editor key={open} kind={open} onDone={() => setOpen(undefined)} />}
      </Sheet>
    </section>
  );
};
