import { Tag } from '#src/ui/chip.tsx';
import { ButtonLink } from '#src/ui/button.tsx';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { compactNumber } from '#common/compact-number.ts';
import { dateTime } from '#src/platform/format.ts';
import { useChatModels, useImageModels } from '#src/platform/queries.ts';
import { LineChart } from '#src/ui/chart/line-chart.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { LoadFailed } from '#src/ui/load-failed.tsx';
import { MonthPicker } from '#src/ui/month-picker/month-picker.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { tokensInYuan } from '#src/widgets/pay/money.ts';
import type { Out } from '#contract/calls.ts';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import css from './lists.module.css';
import { kindName } from './kinds.ts';

const route = getRouteApi('/account');

type Usage = Out<'usage'>;
type Row = Usage['list'][number];

/** The days of a month up to today, YYYY-MM-DD. */
const daysOf = (month: string): string[] => {
  const [year = 0, nth = 1] = month.split('-').map(Number);
  const last = new Date(Date.UTC(year, nth, 0)).getUTCDate();
  const today = new Date(Date.now() + 8 * 3_600_000).toISOString().slice(0, 10);
  return Array.from(
    { length: last },
    (_, at) => `${month}-${String(at + 1).padStart(2, '0')}`,
  ).filter((day) => day <= today);
};

const sums = <Key extends string | number>(rows: readonly Row[], keyOf: (row: Row) => Key) => {
  const found = new Map<Key, { count: number; deducted: number; tokens: number }>();
  for (const row of rows) {
    const sum = found.get(keyOf(row)) ?? { count: 0, deducted: 0, tokens: 0 };
    sum.count += row.count;
    sum.deducted += row.deduct_tokens;
    sum.tokens += row.tokens;
    found.set(keyOf(row), sum);
  }
  return found;
};

/** Lines that can be told apart. */
const mostLines = 4;

/** A line for each of the models that took most, and one for all others. */
const modelLines = (
  rows: readonly Row[],
  days: readonly string[],
  labelOf: (model: string) => string,
) => {
  const byModel = [...sums(rows, (row) => row.model)]
    .filter(([, sum]) => sum.deducted > 0)
    .sort(([, a], [, b]) => b.deducted - a.deducted)
    .map(([model]) => model);
  const named = byModel.slice(0, mostLines);
  const line = (label: string, isOf: (model: string) => boolean) => {
    const own = sums(
      rows.filter((row) => isOf(row.model)),
      (row) => row.date,
    );
    return { label, values: days.map((day) => own.get(day)?.deducted ?? 0) };
  };
  const lines = named.map((model) => line(labelOf(model), (each) => each === model));
  return byModel.length > mostLines
    ? [...lines, line('其他', (each) => !named.includes(each))]
    : lines;
};

const Charts = ({ usage, labelOf }: { usage: Usage; labelOf: (model: string) => string }) => {
  const days = useMemo(() => daysOf(usage.month), [usage.month]);
  const byDay = useMemo(() => sums(usage.list, (row) => row.date), [usage.list]);
  const lines = useMemo(() => {
    const kinds = [...new Set(usage.list.map((row) => row.type))].sort((a, b) => a - b);
    const each = kinds.map((type) => {
      const own = sums(
        usage.list.filter((row) => row.type === type),
        (row) => row.date,
      );
      return { label: kindName(type), values: days.map((day) => own.get(day)?.deducted ?? 0) };
    });
    const all = { label: '全部', values: days.map((day) => byDay.get(day)?.deducted ?? 0) };
    return each.length > 1 ? [all, ...each] : [all];
  }, [usage.list, days, byDay]);
  const requests = useMemo(
    () => [{ label: '请求', values: days.map((day) => byDay.get(day)?.count ?? 0) }],
    [days, byDay],
  );
  const models = modelLines(usage.list, days, labelOf);
  const months = useMemo(() => [...usage.items].reverse(), [usage.items]);
  return (
    <div className={css.charts}>
      <LineChart title="每天扣除的 token" times={days} series={lines} unit="token" />
      {models.length > 0 && (
        <LineChart title="各模型每天扣除的 token" times={days} series={models} unit="token" />
      )}
      <LineChart title="每天的请求" times={days} series={requests} unit="次" height={160} />

      <LineChart
        title="近十二个月扣除的 token"
        times={months.map((each) => `${each.month}-01`)}
        series={[{ label: '扣除', values: months.map((each) => each.deduct_tokens) }]}
        unit="token"
        height={160}
      />
    </div>
  );
};

const UsageTab = () => {
  const { month } = route.useSearch();
  const navigate = route.useNavigate();
  const { token, user } = useAuth();
  const models = [...(useChatModels().data ?? []), ...(useImageModels().data ?? [])];
  const usage = useCall(
    'usage',
    month && /^\d{4}-(?:0[1-9]|1[0-2])$/.test(month) ? { month } : {},
    { enabled: token !== '', ...keepLast },
  );
  const data = usage.data;
  const now = data?.items[0];
  const labelOf = (name: string) => models.find((each) => each.name === name)?.label ?? name;
  const byModel = [...sums(data?.list ?? [], (row) => row.model)].sort(
    ([, a], [, b]) => b.deducted - a.deducted || b.count - a.count,
  );
  return (
    <>
      <div className={css.bar}>
        <MonthPicker
          value={data?.month ?? month ?? ''}
          onChange={(next) =>
            void navigate({ search: { tab: 'usage', month: next }, replace: true })
          }
        />
        {data?.vipInfo.vip === 1 && data.vipInfo.vip_expired_at && (
          <Tag kind="vip">会员至 {dateTime(data.vipInfo.vip_expired_at).slice(0, 10)}</Tag>
        )}
      </div>
      {usage.isPending && (
        <div className="card">
          <Skeleton lines={6} />
        </div>
      )}
      {usage.isError && (
        <LoadFailed
          error={usage.error}
          busy={usage.isFetching}
          onRetry={() => void usage.refetch()}
        />
      )}
      {data && now && (
        <>
          <dl className={`${css.totals} tabular`}>
            <div>
              <dt>扣除</dt>
              <dd>
                {compactNumber(now.deduct_tokens)} <small>{tokensInYuan(now.deduct_tokens)}</small>
              </dd>
            </div>
            <div>
              <dt>请求</dt>
              <dd>{now.request.toLocaleString('zh-CN')}</dd>
            </div>
            <div>
              <dt>新会话</dt>
              <dd>{now.session.toLocaleString('zh-CN')}</dd>
            </div>
            <div>
              <dt>余额</dt>
              <dd>
                {compactNumber(user?.chatgpt_balance ?? data.userInfo.chatgpt_balance)}{' '}
                <Link to="/account" search={{ tab: 'recharge' }}>
                  <small>充值</small>
                </Link>
              </dd>
            </div>
          </dl>
          {data.list.length === 0 ? (
            <EmptyState
              icon="receipt"
              text="这个月还没有用过。"
              action={
                <ButtonLink to="/" search={{ new: 1 }}>
                  新建会话
                </ButtonLink>
              }
            />
          ) : (
            <>
              <Charts usage={data} labelOf={labelOf} />
              <ul className={`card ${css.models} tabular`} aria-label="各模型">
                {byModel.map(([name, sum]) => (
                  <li key={name}>
                    <b>{labelOf(name)}</b>
                    <b>{compactNumber(sum.deducted)}</b>
                    <span>
                      {sum.count} 次 · 计量 {compactNumber(sum.tokens)}
                    </span>
                    <span>{tokensInYuan(sum.deducted)}</span>
                  </li>
                ))}
              </ul>
            </>
          )}
        </>
      )}
    </>
  );
};

export default UsageTab;
