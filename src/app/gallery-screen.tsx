import { Button } from '#src/ui/button.tsx';
import { LineChart } from '#src/ui/chart/line-chart.tsx';
import { DateRange, type DateRangeValue } from '#src/ui/date-range/date-range.tsx';
import { lastMoments, quickRange } from '#src/ui/date-range/ranges.ts';
import { FilterBar, type FilterValues } from '#src/ui/filter-bar/filter-bar.tsx';
import { Form } from '#src/ui/form/form.tsx';
import { MonthPicker } from '#src/ui/month-picker/month-picker.tsx';
import { Pager } from '#src/ui/pager/pager.tsx';
import { Steps } from '#src/ui/steps/steps.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { useMemo, useState } from 'react';
import css from './gallery.module.css';

interface Row {
  id: number;
  name: string;
  tokens: number;
  at: string;
}
const rows: Row[] = Array.from({ length: 12 }, (_, at) => ({
  id: at + 1,
  name: ['介绍一下西湖的十景，再说说哪个季节去最好', '写一封请假条', '=SUM(A1)'][at % 3] ?? '',
  tokens: (at * 7919) % 100_000,
  at: `2026-11-${String(at + 1).padStart(2, '0')}`,
}));
const columns: Column<Row>[] = [
  { key: 'name', title: '内容', value: (row) => row.name, wide: true, role: 'title' },
  { key: 'tokens', title: '扣除', value: (row) => row.tokens, align: 'end', sortable: true },
  { key: 'at', title: '时间', value: (row) => row.at, sortable: true },
  { key: 'id', title: '编号', value: (row) => row.id, spare: true },
];

/** Each part of the kit once, with what it is hard to draw. */
export const GalleryScreen = () => {
  const [page, setPage] = useState(5);
  const [filters, setFilters] = useState<FilterValues>({});
  const [range, setRange] = useState<DateRangeValue>({ quick: '1d' });
  const [month, setMonth] = useState('2026-11');
  const [step, setStep] = useState(1);
  const days = useMemo(() => rows.map(({ at }) => at), []);
  const series = useMemo(
    () => [
      { label: '提问', values: rows.map(({ tokens }) => tokens) },
      { label: '回复', values: rows.map(({ tokens }) => tokens * 1.7) },
    ],
    [],
  );
  return (
    <div className={`page ${css.gallery}`}>
      <h1>部件</h1>
      <FilterBar
        filters={[
          { kind: 'text', name: 'query', label: '关键词' },
          { kind: 'choice', name: 'type', label: '类型', options: [{ value: '0', label: '聊天' }] },
        ]}
        values={filters}
        onChange={(change) => setFilters({ ...filters, ...change })}
      />
      <DateRange value={range} onChange={setRange} ranges={lastMoments} />
      <p>{range.quick && quickRange(range.quick)?.start}</p>
      <MonthPicker value={month} onChange={setMonth} />
      <DataTable
        name="部件表格"
        columns={columns}
        rows={rows}
        rowKey={({ id }) => String(id)}
        empty={{ icon: 'receipt', text: '没有' }}
        tone={({ id }) => (id === 1 ? 'gold' : id === 2 ? 'bad' : undefined)}
        renderChosen={(chosen) => <Button size="small">处理 {chosen.length} 行</Button>}
        total={240}
        page={page}
        pageCount={20}
        onPage={setPage}
      />
      <DataTable
        name="正在读取"
        columns={columns}
        rows={undefined}
        rowKey={({ id }) => String(id)}
        empty={{ icon: 'receipt', text: '没有' }}
      />
      <LineChart title="用量" times={days} series={series} unit="tokens" />
      <LineChart title="没有数据" times={[]} series={[]} />
      <Steps steps={['选择服务', '填写密钥', '测试']} current={step} />
      <Button onClick={() => setStep((step + 1) % 4)}>下一步</Button>
      <Form
        fields={[
          { name: 'name', label: '名称', kind: 'text', required: true, max: 20 },
          { name: 'count', label: '数量', kind: 'number', min: 1, max: 100, unit: '个' },
          { name: 'on', label: '显示', kind: 'switch', hint: '关掉之后谁也看不到' },
          {
            name: 'kind',
            label: '种类',
            kind: 'choice',
            options: [
              { value: 'a', label: '聊天' },
              { value: 'b', label: '画图' },
            ],
          },
          { name: 'text', label: '说明', kind: 'long', max: 255 },
          { name: 'until', label: '到期', kind: 'moment' },
        ]}
        onSubmit={async () => {}}
      />
      <Pager page={page} count={20} onPage={setPage} />
    </div>
  );
};
