import { momentColumn, numberColumn } from '#src/ui/table/columns.ts';
import { Chip } from '#src/ui/chip.tsx';
import { useCall } from '#src/platform/call-query.ts';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import type { Ranked } from '#contract/stats.ts';
import { getRouteApi, Link } from '@tanstack/react-router';
import css from './stats.module.css';

const route = getRouteApi('/manager/ranking');

const periods = [
  { key: 'day', label: '今天' },
  { key: 'three_day', label: '三天' },
  { key: 'week', label: '一周' },
  { key: 'month', label: '一个月' },
  { key: 'list', label: '全部' },
] as const;

type Placed = Ranked & { place: number };
const columns: readonly Column<Placed>[] = [
  {
    key: 'place',
    title: '名次',
    value: ({ place }) => place,
    align: 'end',
    render: ({ place }) =>
      place <= 3 ? (
        <span className={css.medal} data-place={place}>
          {place}
        </span>
      ) : (
        place
      ),
    sortable: true,
  },
  {
    key: 'user',
    title: '用户',
    value: ({ user }) => user.user_name,
    role: 'title',
    wide: true,
    render: (row) => (
      <Link to="/manager/user" search={{ user_id: row.user_id, person: row.user_id }}>
        {row.user.user_name}
      </Link>
    ),
  },
  numberColumn('deduct_tokens', '消耗 token'),
  momentColumn('created_at', '注册时间'),
];

/** Who spent most, in four periods; the first three stand out. */
export const RankingScreen = () => {
  const { period = 'day' } = route.useSearch();
  const show = useTableSearch();
  const ranks = useCall('adminRankList', {});
  return (
    <ManagePage title="消耗排行">
      <div className={css.chips} role="group" aria-label="时间">
        {periods.map(({ key, label }) => (
          <Chip key={key} aria-pressed={key === period} onClick={() => show({ period: key })}>
            {label}
          </Chip>
        ))}
      </div>
      <DataTable
        name="消耗排行"
        columns={columns}
        rows={ranks.data?.[period].map((row, at) => ({ ...row, place: at + 1 }))}
        rowKey={({ user_id }) => String(user_id)}
        empty={{ icon: 'star', text: '这段时间还没有人消耗 token。' }}
        error={ranks.error}
        onRetry={() => void ranks.refetch()}
        tone={({ place }) => (place <= 3 ? 'gold' : undefined)}
      />
    </ManagePage>
  );
};
