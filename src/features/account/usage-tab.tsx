import { Tag } from '#src/ui/chip.tsx';
import { ChipChoice } from '#src/ui/chip-choice.tsx';
import { ButtonLink } from '#src/ui/button.tsx';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { compactNumber } from '#common/compact-number.ts';
import { dateTime } from '#src/platform/format.ts';
import { useChatModels, useImageModels } from '#src/platform/queries.ts';
import { LineChart } from '#src/ui/chart/line-chart.tsx';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { MonthPicker } from '#src/ui/month-picker/month-picker.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { tokensInYuan, yuan, yuanOfTokens } from '#src/widgets/pay/money.ts';
import type { Out } from '#contract/calls.ts';
import { Receipt } from '#src/widgets/pay/receipt.tsx';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import css from './lists.module.css';
import { kindName } from './kinds.ts';

const route = getRouteApi('/account');

type Usage = Out<'usage'>;
type Row = Usage['list'][number];

/** YYYY-MM-DD, where the ledger counts days. */
const today = (): string => new Date(Date.now() + 8 * 3_600_000).toISOString().slice(0, 10);
const isThisMonth = (month: string): boolean => today().startsWith(month);

/** The days of a month up to today, YYYY-MM-DD. */
const daysOf = (month: string): string[] => {
  const [year = 0, nth = 1] = month.split('-').map(Number);
  const last = new Date(Date.UTC(year, nth, 0)).getUTCDate();
  const now = today();
  return Array.from(
    { length: last },
    (_, at) => `${month}-${String(at + 1).padStart(2, '0')}`,
  ).filter((day) => day <= now);
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

/** Colours that can be told apart. */
const mostSeries = 4;

/** A series for each of those that took most, and one for all others. */
const seriesOf = <Key extends string | number>(
  rows: readonly Row[],
  days: readonly string[],
  keyOf: (row: Row) => Key,
  labelOf: (key: Key) => string,
  inYuan: boolean,
) => {
  const keys = [...sums(rows, keyOf)]
    .filter(([, sum]) => sum.deducted > 0)
    .sort(([, a], [, b]) => b.deducted - a.deducted)
    .map(([key]) => key);
  const named = keys.slice(0, mostSeries);
  const one = (label: string, isOf: (key: Key) => boolean) => {
    const own = sums(
      rows.filter((row) => isOf(keyOf(row))),
      (row) => row.date,
    );
    const deducted = days.map((day) => own.get(day)?.deducted ?? 0);
    return { label, values: inYuan ? deducted.map(yuanOfTokens) : deducted };
  };
  const all = named.map((key) => one(labelOf(key), (each) => each === key));
  return keys.length > mostSeries ? [...all, one('其他', (each) => !named.includes(each))] : all;
};

const showYuan = (value: number): string => yuan(value * 100);

const Charts = ({ usage, labelOf }: { usage: Usage; labelOf: (model: string) => string }) => {
  const [by, setBy] = useState<'model' | 'kind'>('model');
  const [inYuan, setInYuan] = useState(false);
  const days = useMemo(() => daysOf(usage.month), [usage.month]);
  const spent = useMemo(
    () =>
      by === 'model'
        ? seriesOf(usage.list, days, ({ model }) => model, labelOf, inYuan)
        : seriesOf(usage.list, days, ({ type }) => type, kindName, inYuan),
    [usage.list, days, by, inYuan, labelOf],
  );
  const requests = useMemo(() => {
    const byDay = sums(usage.list, (row) => row.date);
    return [{ label: '请求', values: days.map((day) => byDay.get(day)?.count ?? 0) }];
  }, [usage.list, days]);
  const months = useMemo(() => [...usage.items].reverse(), [usage.items]);
  const ofMonths = months.map((each) => each.deduct_tokens);
  const money = inYuan ? { show: showYuan } : { unit: 'token' };
  return (
    <div className={css.charts}>
      <div className={css.bar}>
        <ChipChoice
          label="分组"
          value={by}
          choices={[
            { value: 'model', label: '按模型' },
            { value: 'kind', label: '按类型' },
          ]}
          onChange={setBy}
        />
        <ChipChoice
          label="单位"
          value={inYuan ? 'yuan' : 'token'}
          choices={[
            { value: 'token', label: 'token' },
            { value: 'yuan', label: '元' },
          ]}
          onChange={(unit) => setInYuan(unit === 'yuan')}
        />
      </div>
      <LineChart
        stacked
        title={inYuan ? '每天的花费' : '每天扣除的 token'}
        times={days}
        series={spent}
        {...money}
      />
      <LineChart title="每天的请求" times={days} series={requests} unit="次" height={160} />
      <LineChart
        title={inYuan ? '近十二个月的花费' : '近十二个月扣除的 token'}
        times={months.map((each) => `${each.month}-01`)}
        series={[
          {
            label: inYuan ? '花费' : '扣除',
            values: inYuan ? ofMonths.map(yuanOfTokens) : ofMonths,
          },
        ]}
        height={160}
        {...money}
      />
    </div>
  );
};

/** Days that a forecast looks back. */
const forecastDays = 7;

/** Of the month that runs: what today took, and what the month comes to if it goes on like the last week. */
const outlook = (usage: Usage): { today: number; month: number } | null => {
  const days = daysOf(usage.month);
  const [year = 0, nth = 1] = usage.month.split('-').map(Number);
  const left = new Date(Date.UTC(year, nth, 0)).getUTCDate() - days.length;
  if (left < 0 || !isThisMonth(usage.month)) return null;
  const byDay = sums(usage.list, (row) => row.date);
  const took = (day: string) => byDay.get(day)?.deducted ?? 0;
  // Today is not over: it says nothing of a whole day.
  const before = days.slice(0, -1).slice(-forecastDays);
  const each =
    before.length > 0 ? before.reduce((sum, day) => sum + took(day), 0) / before.length : 0;
  const now = usage.items[0]?.deduct_tokens ?? 0;
  const today = took(days.at(-1) ?? '');
  return { today, month: Math.round(now + Math.max(0, each - today) + left * each) };
};

const Totals = ({ usage, now }: { usage: Usage; now: Usage['items'][number] }) => {
  const { user } = useAuth();
  const ahead = outlook(usage);
  return (
    <dl className={`${css.totals} tabular`}>
      <div>
        <dt>扣除</dt>
        <dd>
          {compactNumber(now.deduct_tokens)} <small>{tokensInYuan(now.deduct_tokens)}</small>
        </dd>
      </div>
      {ahead && (
        <>
          <div>
            <dt>今天</dt>
            <dd>
              {compactNumber(ahead.today)} <small>{tokensInYuan(ahead.today)}</small>
            </dd>
          </div>
          <div>
            <dt title="照最近七天的用法">预计本月</dt>
            <dd>
              {compactNumber(ahead.month)} <small>{tokensInYuan(ahead.month)}</small>
            </dd>
          </div>
        </>
      )}
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
          {compactNumber(user?.chatgpt_balance ?? usage.userInfo.chatgpt_balance)}{' '}
          <Link to="/account" search={{ tab: 'recharge' }}>
            <small>充值</small>
          </Link>
        </dd>
      </div>
    </dl>
  );
};

const UsageTab = () => {
  const { month } = route.useSearch();
  const navigate = route.useNavigate();
  const { token } = useAuth();
  const { data: chats } = useChatModels();
  const { data: painters } = useImageModels();
  const usage = useCall(
    'usage',
    month && /^\d{4}-(?:0[1-9]|1[0-2])$/.test(month) ? { month } : {},
    { enabled: token !== '', ...keepLast },
  );
  const data = usage.data;
  const now = data?.items[0];
  const labelOf = useMemo(() => {
    const labels = new Map(
      [...(chats ?? []), ...(painters ?? [])].map(({ name, label }) => [name, label]),
    );
    return (name: string) => labels.get(name) ?? name;
  }, [chats, painters]);
  const byModel = [...sums(data?.list ?? [], (row) => row.model)].sort(
    ([, a], [, b]) => b.deducted - a.deducted || b.count - a.count,
  );
  return (
    <>
      <Receipt />
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
      {usage.isError && <QueryFailed query={usage} />}
      {data && now && (
        <>
          <Totals usage={data} now={now} />
          {data.list.length === 0 ? (
            <EmptyPlace
              drawing="autumn"
              text="这个月还没有用过。每个模型用了多少、每天花了多少，会画在这里。"
              action={
                <ButtonLink to="/" search={{ new: 1 }}>
                  新建会话
                </ButtonLink>
              }
              example={{
                label: '一个 token 有多长',
                prompt: '一个 token 大约是几个汉字？举三个例子。',
              }}
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
