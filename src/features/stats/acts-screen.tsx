import { momentColumn } from '#src/ui/table/columns.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { dateTime } from '#src/platform/format.ts';
import { FilterBar } from '#src/ui/filter-bar/filter-bar.tsx';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { pageProps } from '#src/ui/table/page-props.ts';
import { sortInput } from '#src/ui/table/sorted.ts';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import type { ManagerAct } from '#contract/stats.ts';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { actSentence } from './act-sentence.ts';
import { changeWords, sentWords, subjectLink, subjectOf, subjectWords } from './act-words.ts';
import css from './stats.module.css';

const route = getRouteApi('/manager/log');

const columns: readonly Column<ManagerAct>[] = [
  momentColumn('created_at', '时间'),
  {
    key: 'summary',
    title: '做了什么',
    value: (row) => `${row.user_name} ${actSentence(row)}`,
    render: (row) => (
      <>
        <b>{row.user_name}</b> {actSentence(row)}
      </>
    ),
    role: 'title',
  },
  {
    key: 'subject',
    title: '对象',
    value: (row) => subjectWords(row.subject),
    render: (row) => <Subject of={row.subject} />,
  },
  {
    key: 'to',
    title: '改了什么',
    value: (row) => changeWords(row.from, row.to).join('；') || '—',
    wide: true,
    role: 'plain',
  },
  { key: 'ip', title: '地址', value: (row) => row.ip, spare: true },
];

/** What an act is about; leads to the person, the order or the session. */
const Subject = ({ of }: { of: string }) => {
  const words = subjectWords(of) || '—';
  const link = subjectLink(of);
  return link ? <Link {...link}>{words}</Link> : words;
};

/** Who changed what, when, from what to what. */
export const ActsScreen = () => {
  const { page = 1, sort, ...search } = route.useSearch();
  const show = useTableSearch();
  const [open, setOpen] = useState<ManagerAct>();
  const acts = useCall(
    'adminActList',
    { ...search, ...sortInput('adminActList', sort), page },
    keepLast,
  );
  return (
    <ManagePage title="操作记录">
      <FilterBar
        filters={[
          {
            kind: 'choice',
            name: 'user_id',
            label: '管理员',
            options: (acts.data?.managers ?? []).map((each) => ({
              value: String(each.user_id),
              label: each.user_name,
            })),
          },
          { kind: 'text', name: 'subject', label: '对象，如 用户 12' },
          {
            kind: 'choice',
            name: 'call',
            label: '动作',
            options: (acts.data?.calls ?? []).map(({ call, summary }) => ({
              value: call,
              // What is for programs is left out.
              label: summary.replaceAll(/（[^）]*）/g, '').split(/[；。]/)[0] ?? call,
            })),
          },
        ]}
        values={{ ...search, subject: subjectWords(search.subject ?? '') }}
        onChange={(change) =>
          show({ ...change, ...(change.subject && { subject: subjectOf(change.subject) }) })
        }
      />
      <DataTable
        name="操作记录"
        columns={columns}
        {...pageProps(acts, page, show, ['adminActList', sort])}
        rowKey={({ id }) => String(id)}
        empty={{ icon: 'lock', text: '还没有记录。管理员每改一样东西，这里都会多一行。' }}
        onOpen={setOpen}
      />
      <Sheet open={open !== undefined} onClose={() => setOpen(undefined)} title="操作记录" wide>
        {open && (
          <div className={css.diff}>
            <p>
              <b>{open.user_name}</b> {actSentence(open)}
            </p>
            <span>
              {dateTime(open.created_at)} · {open.ip}
            </span>
            <span>
              <Subject of={open.subject} />
            </span>
            {changeWords(open.from, open.to).length > 0 && <h3>改了什么</h3>}
            {changeWords(open.from, open.to).map((words) => (
              <span key={words}>{words}</span>
            ))}
            {sentWords(open.input).length > 0 && <h3>提交的内容</h3>}
            {sentWords(open.input).map((words) => (
              <span key={words}>{words}</span>
            ))}
          </div>
        )}
      </Sheet>
    </ManagePage>
  );
};
