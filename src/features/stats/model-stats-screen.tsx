import { api } from '#src/platform/api.ts';
import { LineChart } from '#src/ui/chart/line-chart.tsx';
import { DateRange } from '#src/ui/date-range/date-range.tsx';
import { lastMoments, quickRange } from '#src/ui/date-range/ranges.ts';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { numberColumn } from '#src/ui/table/columns.ts';
import { isBusy } from '#src/ui/table/page-props.ts';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import type { Out } from '#contract/calls.ts';
import type { ModelStatRow } from '#contract/stats.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import css from './stats.module.css';

const route = getRouteApi('/manager/model_stats');

const seconds = (ms: number) => (ms === 0 ? '—' : `${(ms / 1000).toFixed(1)} 秒`);
const time = (
  key: 'first_time' | 'success_time' | 'error_time',
  title: string,
): Column<ModelStatRow> => ({
  key,
  title,
  value: (row) => row[key],
  render: (row) => seconds(row[key]),
  align: 'end',
  sortable: true,
});
const columns: readonly Column<ModelStatRow>[] = [
  {
    key: 'model',
    title: '模型',
    value: ({ model }) => model,
    role: 'title',
    wide: true,
    sortable: true,
  },
  numberColumn('request_count', '请求'),
  numberColumn('error_count', '出错'),
  {
    key: 'rate',
    title: '出错率',
    value: (row) => (row.request_count === 0 ? 0 : row.error_count / row.request_count),
    render: (row) => `${((row.error_count / Math.max(1, row.request_count)) * 100).toFixed(1)}%`,
    align: 'end',
    sortable: true,
  },
  numberColumn('tokens', 'token'),
  time('first_time', '首字'),
  time('success_time', '成功用时'),
  time('error_time', '出错用时'),
  numberColumn('user_count', '人数'),
];

type UserStat = Out<'adminModelStats'>['modelUserStats'][number];
const userColumns: readonly Column<UserStat>[] = [
  {
    key: 'user_name',
    title: '用户',
    value: (row) => row.user_name,
    role: 'title',
    wide: true,
    render: (row) => (
      <Link to="/manager/user" search={{ user_id: row.user_id, person: row.user_id }}>
        {row.user_name}
      </Link>
    ),
  },
  { key: 'model', title: '模型', value: (row) => row.model },
  {
    key: 'request_count',
    title: '请求',
    value: (row) => row.request_count,
    align: 'end',
    sortable: true,
  },
  {
    key: 'error_count',
    title: '出错',
    value: (row) => row.error_count,
    align: 'end',
    sortable: true,
  },
];

/** So many models have a line of their own in the charts. */
const drawnModels = 5;

const linesOf = (
  data: Out<'adminModelStats'>,
  key: 'request_count' | 'error_count' | 'first_time' | 'success_time',
) => {
  const times = [...new Set(data.list.map(({ time_point }) => time_point))].sort();
  const models = data.models.slice(0, drawnModels);
  const counts = key === 'request_count' || key === 'error_count';
  const at = new Map(data.list.map((row) => [`${row.model} ${row.time_point}`, row]));
  return {
    times,
    series: models.map(({ model, [key]: median }) => ({
      label: model,
      // Where nobody asked, no time was taken: that is not one of 0 seconds.
      values: times.map((point) => at.get(`${model} ${point}`)?.[key] ?? (counts ? 0 : null)),
      ...(counts ? {} : { median }),
    })),
  };
};

/** What people's devices saw of each model: how often, how fast, how well. */
export const ModelStatsScreen = () => {
  const { range = '1d', start_date: start, end_date: end } = route.useSearch();
  const show = useTableSearch();
  const own = start !== undefined || end !== undefined;
  const stats = useQuery({
    queryKey: ['adminModelStats', own ? `${start} ${end}` : range],
    queryFn: ({ signal }) => {
      const quick = quickRange(range);
      return api.adminModelStats(
        own
          ? { start_date: start, end_date: end }
          : { start_date: quick?.start, end_date: quick?.end },
        { signal, quiet: true },
      );
    },
    placeholderData: keepPreviousData,
  });
  const { data } = stats;
  const requests = useMemo(() => data && linesOf(data, 'request_count'), [data]);
  const first = useMemo(() => data && linesOf(data, 'first_time'), [data]);
  return (
    <ManagePage title="模型统计">
      <DateRange
        ranges={lastMoments}
        value={own ? { start, end } : { quick: range }}
        onChange={(value) =>
          show({ range: value.quick, start_date: value.start, end_date: value.end })
        }
      />
      <div className={css.charts}>
        {requests && <LineChart title="请求" unit="次" {...requests} />}
        {first && <LineChart title="首字用时" show={seconds} {...first} />}
      </div>
      <DataTable
        name="模型统计"
        columns={columns}
        rows={data?.models}
        rowKey={({ model }) => model}
        empty={{ icon: 'code', text: '这段时间没有人使用模型。' }}
        error={stats.error}
        busy={isBusy(stats)}
        onRetry={() => void stats.refetch()}
      />
      <h2>用得最多的人</h2>
      <DataTable
        name="模型用户统计"
        columns={userColumns}
        rows={data?.modelUserStats}
        rowKey={({ model, user_id }) => `${model} ${user_id}`}
        empty={{ icon: 'people', text: '这段时间没有人使用模型。' }}
      />
    </ManagePage>
  );
};
