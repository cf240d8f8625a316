import '#src/platform/late-calls.ts';
import { useCall } from '#src/platform/call-query.ts';
import { relativeTime } from '#src/platform/relative-time.ts';
import { LineChart } from '#src/ui/chart/line-chart.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { Link, type LinkProps } from '@tanstack/react-router';
import { actSentence } from './act-sentence.ts';
import css from './stats.module.css';

/** How much of the log the first page shows. */
const latest = 8;

interface Waiting {
  label: string;
  count: number;
  to: LinkProps['to'];
  search?: LinkProps['search'];
}

/** What somebody waits for, and what is missing. Undefined: not all of it is known. */
const useWaiting = () => {
  const reports = useCall('reportList', { state: 'open', page: 1 });
  const scenarios = useCall('scenarioList', { scope: 'pending', page: 1 });
  const invoices = useCall('adminInvoiceList', { state: 'requested', page: 1 });
  const refunds = useCall('adminOrderList', { type: 'refund', page: 1 });
  const service = useCall('adminService', {});
  const asked = [reports, scenarios, invoices, refunds, service];
  const failed = asked.find(({ isError, data }) => isError && !data);
  if (asked.some(({ data }) => !data)) return { failed };
  const waiting: Waiting[] = [
    {
      label: '发票申请',
      count: invoices.data?.total ?? 0,
      to: '/manager/order',
      search: { tab: 'invoices' },
    },
    {
      label: '退款申请',
      count: refunds.data?.total ?? 0,
      to: '/manager/order',
      search: { type: 'refund' },
    },
    {
      label: '等了超过 24 小时的申诉',
      count: service.data?.appeals_late ?? 0,
      to: '/manager/compliance',
    },
    {
      label: '等了超过 24 小时的举报',
      count: service.data?.reports_late ?? 0,
      to: '/manager/forum',
    },
    {
      label: '内容安全等人看的',
      count: service.data?.safety_open ?? 0,
      to: '/manager/compliance',
    },
    { label: '被举报的内容', count: reports.data?.total ?? 0, to: '/manager/forum' },
    {
      label: '待审核的场景',
      count: scenarios.data?.total ?? 0,
      to: '/scenario',
      search: { scope: 'pending' },
    },
    { label: '出错的请求', count: service.data?.errors ?? 0, to: '/manager/state' },
    {
      // One thing to look into, however many it finds missing: a site of one person needs none of it.
      label: '合规还缺几项',
      count: service.data?.compliance_missing ? 1 : 0,
      to: '/manager/compliance',
    },
    { label: '没有成功的备份', count: service.data?.backup.error ? 1 : 0, to: '/manager/state' },
  ];
  return { waiting };
};

export const WaitingPart = () => {
  const { waiting, failed } = useWaiting();
  const open = waiting?.filter(({ count }) => count > 0);
  return (
    <section className={css.part} aria-labelledby="manage-waiting">
      <h2 id="manage-waiting">等着您的</h2>
      {!open && (failed ? <QueryFailed query={failed} /> : <Skeleton lines={4} />)}
      {open?.length === 0 && <p className={css.none}>没有要处理的</p>}
      {open?.map(({ label, count, to, search }) => (
        <Link key={label} to={to} search={search as never} className={css.row}>
          {label}
          <b>{count.toLocaleString('zh-CN')}</b>
        </Link>
      ))}
    </section>
  );
};

/** What managers did last, each in a line. */
export const LatestPart = () => {
  const acts = useCall('adminActList', { page: 1 });
  return (
    <section className={css.part} aria-labelledby="manage-latest">
      <h2 id="manage-latest">刚才</h2>
      {acts.isPending && <Skeleton lines={4} />}
      {acts.isError && !acts.data && <QueryFailed query={acts} />}
      {acts.data?.list.length === 0 && <p className={css.none}>还没有人改过什么</p>}
      {acts.data?.list.slice(0, latest).map((act) => (
        <Link key={act.id} to="/manager/log" className={css.row}>
          <span>
            <b>{act.user_name}</b> {actSentence(act)}
          </span>
          <time dateTime={act.created_at}>{relativeTime(act.created_at)}</time>
        </Link>
      ))}
    </section>
  );
};

/** How much was asked in the last month. */
export const RequestsPart = () => {
  const requests = useCall('adminChartList', { range: '1m' });
  const { data } = requests;
  if (!data && requests.isError) return <QueryFailed query={requests} />;
  if (!data) return <Skeleton lines={8} />;
  return (
    <LineChart
      title="一个月的请求"
      unit="次"
      stacked
      times={data.requestCounts.map(({ days }) => days)}
      series={[{ label: '请求', values: data.requestCounts.map(({ count }) => count) }]}
    />
  );
};
