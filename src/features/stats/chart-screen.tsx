import { Chip } from '#src/ui/chip.tsx';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { LineChart } from '#src/ui/chart/line-chart.tsx';
import { lastMoments } from '#src/ui/date-range/ranges.ts';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import css from './stats.module.css';

const route = getRouteApi('/manager/chart');

/** Document 3 §2: users, requests, sessions and tokens over a time. */
export const ChartScreen = () => {
  const { range = '1m' } = route.useSearch();
  const show = useTableSearch();
  const charts = useCall('adminChartList', { range }, keepLast);
  const { data } = charts;
  const drawn = useMemo(
    () =>
      data &&
      [
        {
          title: '新用户',
          unit: '人',
          rows: data.userCounts.map(({ days, count }) => ({ days, value: count })),
        },
        {
          title: '请求',
          unit: '次',
          rows: data.requestCounts.map(({ days, count }) => ({ days, value: count })),
        },
        {
          title: '会话',
          unit: '个',
          rows: data.sessionCounts.map(({ days, count }) => ({ days, value: count })),
        },
        {
          title: 'token 消耗',
          unit: 'tokens',
          rows: data.tokenCounts.map(({ days, tokens }) => ({ days, value: tokens })),
        },
      ].map(({ title, unit, rows }) => ({
        title,
        unit,
        times: rows.map(({ days }) => days),
        series: [{ label: title, values: rows.map(({ value }) => value) }],
      })),
    [data],
  );
  return (
    <ManagePage title="使用趋势">
      <div className={css.chips} role="group" aria-label="时间">
        {lastMoments.map(({ key, label }) => (
          <Chip key={key} aria-pressed={key === range} onClick={() => show({ range: key })}>
            {label}
          </Chip>
        ))}
      </div>
      {charts.isError && !data && <QueryFailed query={charts} />}
      {charts.isPending && <Skeleton lines={8} />}
      <div className={css.charts}>
        {drawn?.map((chart) => (
          <LineChart key={chart.title} {...chart} />
        ))}
      </div>
    </ManagePage>
  );
};
