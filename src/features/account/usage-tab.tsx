import { Chip, Tag } from '#src/ui/chip.tsx';
import { ChipChoice } from '#src/ui/chip-choice.tsx';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { compactNumber } from '#common/compact-number.ts';
import { dateTime } from '#src/platform/format.ts';
import { useChatModels, useImageModels } from '#src/platform/queries.ts';
import { saveOwn } from '#src/platform/save-file.ts';
import { useAct } from '#src/platform/use-act.ts';
import { LineChart } from '#src/ui/chart/line-chart.tsx';
import { DateRange } from '#src/ui/date-range/date-range.tsx';
import { lastSpans } from '#src/ui/date-range/ranges.ts';
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
import type { AccountSearch } from './account-search.ts';
import { kindName } from './kinds.ts';
import { barsOf, daysBetween, daysOf, monthEnd, spanOf, spanProblem, today } from './usage-span.ts';

const route = getRouteApi('/account');

type Usage = Out<'usage'>;
type Row = Usage['list'][number];

/** The days that are told. */
const toldDays = ({ range, month }: Usage): string[] =>
  range ? daysBetween(range.from, range.to) : daysOf(month);

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
  { starts, barOf }: ReturnType<typeof barsOf>,
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
      (row) => barOf(row.date),
    );
    const deducted = starts.map((start) => own.get(start)?.deducted ?? 0);
    return { label, values: inYuan ? deducted.map(yuanOfTokens) : deducted };
  };
  const all = named.map((key) => one(labelOf(key), (each) => each === key));
  return keys.length > mostSeries ? [...all, one('其他', (each) => !named.includes(each))] : all;
};

const showYuan = (value: number): string => yuan(value * 100);

const Charts = ({ usage, labelOf }: { usage: Usage; labelOf: (model: string) => string }) => {
  const [by, setBy] = useState<'model' | 'kind'>('model');
  const [inYuan, setInYuan] = useState(false);
  const bars = useMemo(() => barsOf(toldDays(usage)), [usage]);
  const spent = useMemo(
    () =>
      by === 'model'
        ? seriesOf(usage.list, bars, ({ model }) => model, labelOf, inYuan)
        : seriesOf(usage.list, bars, ({ type }) => type, kindName, inYuan),
    [usage.list, bars, by, inYuan, labelOf],
  );
  const requests = useMemo(() => {
    const byBar = sums(usage.list, (row) => bars.barOf(row.date));
    return [{ label: '请求', values: bars.starts.map((start) => byBar.get(start)?.count ?? 0) }];
  }, [usage.list, bars]);
  const months = useMemo(() => [...usage.items].reverse(), [usage.items]);
  const ofMonths = months.map((each) => each.deduct_tokens);
  const each = bars.by === 'day' ? '每天' : '每周';
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
        title={inYuan ? `${each}的花费` : `${each}扣除的 token`}
        by={bars.by}
        times={bars.starts}
        series={spent}
        {...money}
      />
      <LineChart
        stacked
        title={`${each}的请求`}
        by={bars.by}
        times={bars.starts}
        series={requests}
        unit="次"
        height={160}
      />
      <LineChart
        stacked
        by="month"
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
const outlook = (usage: Usage): { today: number; month: number } => {
  const days = daysOf(usage.month);
  const left = Number(monthEnd(usage.month).slice(-2)) - days.length;
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

/** What the told days come to. */
const totalOf = ({ range, items, list }: Usage) => {
  const [month] = items;
  const all = sums(list, () => 'all').get('all');
  return {
    deducted: all?.deducted ?? 0,
    count: all?.count ?? 0,
    session: range?.session ?? month?.session ?? 0,
  };
};

/** @param running the month that runs, where the told days reach into it */
const Totals = ({ usage, running }: { usage: Usage; running: Usage | undefined }) => {
  const { user } = useAuth();
  const ahead = running && outlook(running);
  const isToday = toldDays(usage).at(-1) === today();
  const all = totalOf(usage);
  return (
    <dl className={`${css.totals} tabular`}>
      <div>
        <dt>扣除</dt>
        <dd>
          {compactNumber(all.deducted)} <small>{tokensInYuan(all.deducted)}</small>
        </dd>
      </div>
      {ahead && (
        <>
          {isToday && (
            <div>
              <dt>今天</dt>
              <dd>
                {compactNumber(ahead.today)} <small>{tokensInYuan(ahead.today)}</small>
              </dd>
            </div>
          )}
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
        <dd>{all.count.toLocaleString('zh-CN')}</dd>
      </div>
      <div>
        <dt>新会话</dt>
        <dd>{all.session.toLocaleString('zh-CN')}</dd>
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

/** Which days are looked at: a month, the last ones, or from one to another; and all of them as a file. */
const SpanBar = ({
  asked,
  data,
}: {
  asked: ReturnType<typeof spanOf>;
  data: Usage | undefined;
}) => {
  const { month, range, from, to } = route.useSearch();
  const navigate = route.useNavigate();
  const { busy, run } = useAct();
  const show = (next: Pick<AccountSearch, 'month' | 'range' | 'from' | 'to'>) =>
    void navigate({ search: { tab: 'usage', ...next }, replace: true });
  const isRange = asked.from !== undefined || asked.to !== undefined;
  const problem = spanProblem(asked);
  const days = data ? toldDays(data) : [];
  const save = () =>
    run(() => saveOwn('/api/transaction_file', { from: days[0] ?? '', to: days.at(-1) ?? '' }));
  return (
    <>
      <div className={css.bar}>
        {isRange ? (
          <Chip onClick={() => show({})}>按月看</Chip>
        ) : (
          <MonthPicker
            value={data?.month ?? month ?? ''}
            onChange={(next) => show({ month: next })}
          />
        )}
        <DateRange
          byDay
          last={today()}
          ranges={lastSpans}
          value={{ quick: range, start: from, end: to }}
          problem={problem}
          onChange={({ quick, start, end }) => show({ range: quick, from: start, to: end })}
        />
      </div>
      <div className={css.bar}>
        {days.length > 0 && (
          <span className="field-hint">
            {days[0]} 至 {days.at(-1)}，共 {days.length} 天
          </span>
        )}
        <Button
          size="small"
          busy={busy}
          disabled={problem !== undefined || data?.list.length === 0}
          onClick={() => void save()}
        >
          导出消费记录
        </Button>
        {data?.vipInfo.vip === 1 && data.vipInfo.vip_expired_at && (
          <Tag kind="vip">会员至 {dateTime(data.vipInfo.vip_expired_at).slice(0, 10)}</Tag>
        )}
      </div>
    </>
  );
};

const UsageTab = () => {
  const asked = spanOf(route.useSearch());
  const { token } = useAuth();
  const { data: chats } = useChatModels();
  const { data: painters } = useImageModels();
  const usage = useCall('usage', asked, {
    enabled: token !== '' && spanProblem(asked) === undefined,
    ...keepLast,
  });
  const data = usage.data;
  // A range may have too few days of the month to tell how it goes on.
  const reaches = data !== undefined && data.month === today().slice(0, 7);
  const month = useCall('usage', {}, { enabled: reaches && data.range !== undefined });
  const running = !reaches ? undefined : data.range ? month.data : data;
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
      <SpanBar asked={asked} data={data} />
      {usage.isLoading && (
        <div className="card">
          <Skeleton lines={6} />
        </div>
      )}
      {usage.isError && <QueryFailed query={usage} />}
      {data && (
        <>
          <Totals usage={data} running={running} />
          {data.list.length === 0 ? (
            <EmptyPlace
              drawing="autumn"
              text="这段时间还没有用过。每个模型用了多少、每天花了多少，会画在这里。"
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
