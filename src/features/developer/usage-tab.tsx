import { keepLast, useCall } from '#src/platform/call-query.ts';
import { LineChart } from '#src/ui/chart/line-chart.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { Button } from '#src/ui/button.tsx';
import { csvOf, saveText } from '#src/ui/table/csv.ts';
import { MonthPicker } from '#src/ui/month-picker/month-picker.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { numberColumn } from '#src/ui/table/columns.ts';
import { listProps } from '#src/ui/table/page-props.ts';
import type { ApiUsage } from '#contract/developer.ts';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import css from './api.module.css';
import { KeyFilter, Toggle } from './filters.tsx';
import { useKeys } from './key-queries.ts';

const route = getRouteApi('/api');

/** The day that it is in Beijing, by which the server counts. */
const beijing = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Shanghai' });
const number = (value: number) => value.toLocaleString('zh-CN');

const columns: readonly Column<ApiUsage>[] = [
  { key: 'model', title: '模型', value: (row) => row.model, role: 'title' },
  { key: 'count', title: '请求次数', align: 'end', value: (row) => row.count, sortable: true },
  numberColumn('raw_prompt_tokens', '提问 token'),
  numberColumn('cached_tokens', '其中缓存'),
  numberColumn('raw_completion_tokens', '回答 token'),
  numberColumn('reasoning_tokens', '其中思考'),
  numberColumn('tokens', '合计'),
  numberColumn('deduct_tokens', '实际扣除', {
    render: (row) => <strong>{number(row.deduct_tokens)}</strong>,
    sortable: true,
  }),
  { key: 'yuan', title: '元', align: 'end', value: (row) => row.yuan, sortable: true },
  { key: 'api_key', title: 'API-KEY', value: (row) => row.api_key, role: 'plain' },
];

/** All of a month by day, key and model, as a file for a spreadsheet. */
const saveMonth = (month: string, rows: readonly ApiUsage[], names: ReadonlyMap<number, string>) =>
  saveText(
    `API 用量 ${month}.csv`,
    csvOf([
      ['日期', 'API-KEY', ...columns.slice(0, -1).map(({ title }) => title)],
      ...rows.map((row) => [
        row.date,
        names.get(row.key_id) ?? row.api_key,
        ...columns.slice(0, -1).map(({ value }) => value(row)),
      ]),
    ]),
  );

const daysOf = (month: string, today: string): string[] => {
  const [year = 0, of = 1] = month.split('-').map(Number);
  const last = new Date(Date.UTC(year, of, 0)).getUTCDate();
  return Array.from(
    { length: last },
    (_, at) => `${month}-${String(at + 1).padStart(2, '0')}`,
  ).filter((day) => day <= today);
};

/** What the keys used: a month as a chart, a day by model and key. */
export const UsageTab = () => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const keys = useKeys();
  const [today] = useState(() => beijing.format(new Date()));
  const month =
    search.month !== undefined && search.month <= today.slice(0, 7)
      ? search.month
      : today.slice(0, 7);
  const day =
    search.day !== undefined && search.day <= today && search.day.startsWith(month)
      ? search.day
      : month === today.slice(0, 7)
        ? today
        : `${month}-01`;
  const by = search.by ?? 'count';
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  const input = { month, ...(search.key === undefined ? {} : { key_id: search.key }) };
  const usage = useCall('apiUsage', input, keepLast);
  const rows = usage.data?.list;
  const ofDay = useMemo(() => rows?.filter((row) => row.date === day), [rows, day]);
  const days = useMemo(() => daysOf(month, today), [month, today]);
  const sumOf = (of: (row: ApiUsage) => number) =>
    (rows ?? []).reduce((sum, row) => sum + of(row), 0);
  const names = new Map(keys.data?.list.map((each) => [each.id, each.name || each.mask]));
  const values = useMemo(() => {
    const sums = new Map<string, number>();
    for (const row of rows ?? [])
      sums.set(
        row.date,
        (sums.get(row.date) ?? 0) + (by === 'count' ? row.count : row.deduct_tokens),
      );
    return days.map((each) => sums.get(each) ?? 0);
  }, [rows, days, by]);
  return (
    <div className={css.tabBody}>
      <div className={css.filters}>
        <MonthPicker value={month} onChange={(next) => change({ month: next, day: undefined })} />
        <KeyFilter value={search.key} onChange={(key) => change({ key })} />
        <Toggle
          label="图表统计"
          value={by}
          choices={{ count: '请求次数', tokens: 'token 用量' }}
          onChange={(next) => change({ by: next === 'count' ? undefined : next })}
        />
      </div>
      {!rows && (usage.isError ? <QueryFailed query={usage} /> : <Skeleton lines={8} />)}
      {rows && (
        <>
          <div className={css.bar}>
            <span className={css.count}>
              本月 {number(sumOf((row) => row.count))} 次，
              {number(sumOf((row) => row.deduct_tokens))} token，
              {Number(sumOf((row) => row.yuan).toFixed(4))} 元
            </span>
            <Button
              size="small"
              disabled={!rows || rows.length === 0}
              onClick={() => saveMonth(month, rows ?? [], names)}
            >
              导出本月
            </Button>
          </div>
          <LineChart
            title={by === 'count' ? '每天的请求次数' : '每天扣除的 token'}
            times={days}
            series={[{ label: by === 'count' ? '请求' : 'token', values }]}
            unit={by === 'count' ? '次' : ''}
          />
          <div className={css.bar}>
            <h2 className={css.dayHead}>单日明细</h2>
            <input
              type="date"
              aria-label="日期"
              className={css.day}
              max={today}
              value={day}
              onChange={(event) => {
                const next = event.target.value;
                if (next !== '' && next <= today) change({ day: next, month: next.slice(0, 7) });
              }}
            />
          </div>
          <DataTable
            name={`API 用量 ${day}`}
            columns={columns}
            {...listProps(usage)}
            rows={ofDay}
            rowKey={(row) => `${row.key_id} ${row.model}`}
            empty={{
              icon: 'receipt',
              text: '这一天没有数据。用 API-KEY 调用之后，用量会记在这里。',
            }}
          />
        </>
      )}
    </div>
  );
};
