import rowCss from '#src/ui/chip-row.module.css';
import { Chip, Tag } from '#src/ui/chip.tsx';
import { quietly } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { maskName } from '#src/platform/format.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDelete } from '#src/ui/dialog.ts';
import { ChosenActs, type ChosenAct } from '#src/ui/table/chosen-acts.tsx';
import { momentColumn } from '#src/ui/table/columns.ts';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { pageProps } from '#src/ui/table/page-props.ts';
import { sortInput } from '#src/ui/table/sorted.ts';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import { reportWords } from '#src/widgets/editor/report-words.ts';
import type { Out } from '#contract/calls.ts';
import { Link } from '@tanstack/react-router';
import css from './forum.module.css';

type Report = Out<'reportList'>['list'][number];

const resolve = async ({ id }: Report, remove: 0 | 1) => {
  if (
    remove === 1 &&
    !(await confirmDelete({
      title: '删除被举报的内容',
      text: '内容会从所有人面前消失，不能恢复。',
    }))
  )
    return;
  await api.resolveReport({ id, remove });
  toast(remove === 1 ? '内容已删除' : '已处理', 'success');
};

const columns: readonly Column<Report>[] = [
  {
    key: 'title',
    title: '内容',
    value: (row) => row.title || '没有标题',
    role: 'title',
    wide: true,
    render: (row) => (
      <span className={css.reported}>
        <Link
          to="/chat"
          search={{
            uuid: row.uuid,
            history_id: row.history_id === 0 ? undefined : row.history_id,
          }}
        >
          {row.title || '没有标题'}
        </Link>
        {row.excerpt !== '' && <small>{row.excerpt}</small>}
        {row.note !== '' && <small>说明：{row.note}</small>}
      </span>
    ),
  },
  {
    key: 'reason',
    title: '原因',
    value: (row) => reportWords[row.reason],
    role: 'plain',
    render: (row) => <Tag>{reportWords[row.reason]}</Tag>,
  },
  { key: 'author_name', title: '作者', value: (row) => maskName(row.author_name) },
  { key: 'user_name', title: '举报人', value: (row) => maskName(row.user_name) },
  momentColumn('created_at', '时间'),
];
const columnsOfOpen: readonly Column<Report>[] = [
  ...columns,
  {
    key: 'acts',
    title: '操作',
    role: 'bare',
    value: () => null,
    render: (row) => (
      <span className="row">
        <Button size="small" onClick={() => quietly(resolve(row, 0))}>
          没有问题
        </Button>
        <Button size="small" kind="danger" onClick={() => quietly(resolve(row, 1))}>
          删除内容
        </Button>
      </span>
    ),
  },
];
const columnsOfDone: readonly Column<Report>[] = [
  ...columns,
  {
    key: 'outcome',
    title: '结果',
    value: (row) => (row.removed ? '已删除内容' : '已判为没有问题'),
    role: 'plain',
  },
];

/** All reports of one thing are settled together. */
const thing = (row: Report): string => `${row.uuid} ${row.history_id}`;
const acts: readonly ChosenAct<Report>[] = [
  {
    label: '判为没有问题',
    thing,
    run: ({ id }, quiet) => api.resolveReport({ id, remove: 0 }, quiet),
  },
  {
    label: '删除选中的内容',
    danger: true,
    thing,
    sure: (count) => `删除 ${count} 个举报所说的内容？内容会从所有人面前消失，不能恢复。`,
    run: ({ id }, quiet) => api.resolveReport({ id, remove: 1 }, quiet),
  },
];

/** What people reported, for managers to judge. */
export const Reports = ({
  page,
  state,
  sort,
}: {
  page: number;
  state: 'done' | undefined;
  sort: string | undefined;
}) => {
  const show = useTableSearch();
  const list = useCall(
    'reportList',
    { page, state: state ?? 'open', ...sortInput('reportList', sort) },
    keepLast,
  );
  return (
    <>
      <nav className={rowCss.chipRow} aria-label="状态">
        {([undefined, 'done'] as const).map((each) => (
          <Chip
            key={each ?? 'open'}
            aria-pressed={state === each}
            onClick={() => show({ state: each })}
          >
            {each === undefined ? '未处理' : '已处理'}
          </Chip>
        ))}
      </nav>
      <DataTable
        name="举报"
        columns={state === 'done' ? columnsOfDone : columnsOfOpen}
        {...pageProps(list, page, show, ['reportList', sort])}
        rowKey={({ id }) => String(id)}
        empty={{
          icon: 'check',
          text: state === 'done' ? '还没有处理过举报。' : '没有等着处理的举报。',
        }}
        {...(state === undefined && {
          renderChosen: (rows: readonly Report[], keep: (rows?: readonly Report[]) => void) => (
            <ChosenActs
              rows={rows}
              nameOf={({ title, note }) => title || note || '没有标题'}
              onDone={keep}
              acts={acts}
            />
          ),
        })}
      />
    </>
  );
};
