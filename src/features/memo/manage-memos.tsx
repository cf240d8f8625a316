import { api } from '@/platform/api.ts';
import { dateTime } from '@/platform/format.ts';
import { ManagePage } from '@/ui/manage-page.tsx';
import { DataTable, type Column } from '@/ui/table/data-table.tsx';
import { useTableSearch } from '@/ui/table/use-table-search.ts';
import type { Out } from '@contract/calls.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';

const route = getRouteApi('/manager/memo');

type Row = Out<'manageMemoList'>['list'][number];

const columns: readonly Column<Row>[] = [
  { key: 'text', title: '便笺', value: (row) => row.text, role: 'title', wide: true },
  { key: 'user_id', title: '谁', value: (row) => row.user_id },
  {
    key: 'created_at',
    title: '时间',
    value: (row) => row.created_at,
    render: (row) => dateTime(row.created_at),
  },
];

export const ManageMemos = () => {
  const { page = 1 } = route.useSearch();
  const show = useTableSearch();
  const memos = useQuery({
    queryKey: ['manageMemoList', page],
    queryFn: ({ signal }) => api.manageMemoList({ page }, { signal, quiet: true }),
    placeholderData: keepPreviousData,
  });
  return (
    <ManagePage title="便笺">
      <DataTable
        name="便笺"
        columns={columns}
        rows={memos.data?.list}
        rowKey={({ id }) => String(id)}
        empty={{ icon: 'document', text: '还没有人写便笺。' }}
        error={memos.error}
        onRetry={() => void memos.refetch()}
        total={memos.data?.total}
        page={page}
        pageCount={memos.data?.page_count}
        onPage={(next) => show({ page: next })}
      />
    </ManagePage>
  );
};
