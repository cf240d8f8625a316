import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { byteSize, dateTime } from '#src/platform/format.ts';
import { jobWords } from '#src/platform/job-text.ts';
import { useMe } from '#src/platform/queries.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button } from '#src/ui/button.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { numberColumn } from '#src/ui/table/columns.ts';
import type { Out } from '#contract/calls.ts';
import { Figures } from './figures.tsx';
import css from './stats.module.css';

type State = Out<'adminService'>;

const uptime = (seconds: number): string => {
  if (seconds >= 86_400) return `${Math.floor(seconds / 86_400)} 天`;
  return seconds >= 3600
    ? `${Math.floor(seconds / 3600)} 小时`
    : `${Math.floor(seconds / 60)} 分钟`;
};
const number = (value: number) => value.toLocaleString('zh-CN');

type Instance = State['instances'][number];

/** Of one that lives, when it began; of one that fell silent, when it was last heard. */
const sinceOf = ({ alive, started_at: started, seen_at: seen }: Instance): string =>
  alive ? `${dateTime(started).slice(5)} 起` : `${dateTime(seen).slice(5)} 之后没有回应`;

const instanceColumns: readonly Column<Instance>[] = [
  {
    key: 'address',
    title: '进程',
    value: (row) => `${row.address || '只做任务'}${row.own ? '（这一个）' : ''}`,
    role: 'title',
    wide: true,
  },
  { key: 'host', title: '机器', value: (row) => row.host || '未知' },
  { key: 'version', title: '版本', value: (row) => row.version || '未知' },
  {
    key: 'load',
    title: '忙',
    value: (row) => row.load ?? 0,
    render: (row) => (row.load === null ? '未知' : `${Math.round(row.load * 100)}%`),
    align: 'end',
    sortable: true,
  },
  {
    key: 'memory',
    title: '内存',
    value: (row) => row.memory ?? 0,
    render: (row) => (row.memory === null ? '未知' : byteSize(row.memory)),
    align: 'end',
    sortable: true,
  },
  { key: 'since', title: '从何时', value: sinceOf },
  {
    key: 'seen',
    title: '最近报到',
    value: (row) => row.seen_at,
    render: (row) => dateTime(row.seen_at).slice(5),
    sortable: true,
  },
];

const callColumns: readonly Column<State['calls'][number]>[] = [
  { key: 'path', title: '请求', value: (row) => row.path || row.name, role: 'title', wide: true },
  { key: 'count', title: '次数', value: (row) => row.count, align: 'end', sortable: true },
  { key: 'errors', title: '出错', value: (row) => row.errors, align: 'end', sortable: true },
  { key: 'mean', title: '平均（毫秒）', value: (row) => row.mean, align: 'end', sortable: true },
  {
    key: 'slowest',
    title: '最慢（毫秒）',
    value: (row) => row.slowest,
    align: 'end',
    sortable: true,
  },
];
const tableColumns: readonly Column<State['tables'][number]>[] = [
  { key: 'name', title: '表', value: (row) => row.name, role: 'title', wide: true },
  numberColumn('rows', '行数（约）'),
  {
    key: 'bytes',
    title: '大小',
    value: (row) => row.bytes,
    render: (row) => byteSize(row.bytes),
    align: 'end',
    sortable: true,
  },
];
const wordsOf: Readonly<Record<string, { name: string } | undefined>> = jobWords;
const jobColumns: readonly Column<State['jobs'][number]>[] = [
  {
    key: 'kind',
    title: '任务',
    value: (row) => wordsOf[row.kind]?.name ?? row.kind,
    role: 'title',
  },
  {
    key: 'state',
    title: '状态',
    value: (row) =>
      ({ queued: '排队', running: '进行中', done: '完成', error: '没成功', cancelled: '已取消' })[
        row.state
      ] ?? row.state,
  },
  { key: 'count', title: '数量', value: (row) => row.count, align: 'end', sortable: true },
];

/** Makes a backup now, and tells how the last one went. */
const BackupNow = ({ state: { backup } }: { state: State }) => {
  const { busy, run } = useAct();
  return (
    <section className={css.backup}>
      <h2>备份</h2>
      <p>
        {backup.hours > 0
          ? `每 ${backup.hours} 小时自动备份一次。`
          : '没有设置自动备份（BACKUP_HOURS）。'}
        {backup.bucket === ''
          ? '备份在服务器的 DATA_DIR/backups 里，请另外复制一份到别处。'
          : `备份在服务器的 DATA_DIR/backups 里，也存进对象存储的 ${backup.bucket}。`}
      </p>
      {backup.error !== '' && <p className={css.bad}>上一次没有成功：{backup.error}</p>}
      <Button
        busy={busy || backup.running}
        onClick={() => void run(() => api.adminBackup({}), '已开始备份')}
      >
        {backup.running ? '正在备份……' : '现在备份'}
      </Button>
    </section>
  );
};

/** How the service does: versions, disk, database, jobs, slow calls. */
export const StateScreen = () => {
  const state = useCall('adminService', {}, { refetchInterval: 10_000 });
  const me = useMe();
  const { data } = state;
  if (state.isError && !data) return <QueryFailed query={state} />;
  return (
    <ManagePage title="服务状态">
      {!data && <Skeleton lines={8} />}
      {data && (
        <>
          <Figures
            figures={[
              { label: '版本', value: data.version, note: `Node ${data.node.slice(1)}` },
              { label: '运行了', value: uptime(data.uptime), note: `${data.processes} 个进程` },
              {
                label: '请求',
                value: number(data.requests),
                note: `出错 ${number(data.errors)}（本进程启动以来）`,
              },
              { label: '内存', value: byteSize(data.memory) },
              {
                label: '磁盘剩余',
                value: data.disk_free === null ? '未知' : byteSize(data.disk_free),
                note: data.disk_total === null ? '' : `共 ${byteSize(data.disk_total)}`,
              },
              {
                label: '数据库',
                value: byteSize(data.database_size),
                note: `PostgreSQL ${data.database}，${data.connections} 个连接`,
              },
              {
                label: '排队的任务',
                value: number(data.queue),
                note: `待建搜索 ${number(data.search_queue)}`,
              },
              {
                label: '最近备份',
                value: data.last_backup ? dateTime(data.last_backup.created_at).slice(5) : '没有',
                note: data.last_backup ? byteSize(data.last_backup.bytes) : '',
              },
              {
                label: '监控地址',
                value: data.metrics ? '已打开' : '没有打开',
                note: data.metrics ? '/metrics' : '设置 METRICS_TOKEN 之后可用',
              },
              {
                label: '合规',
                value:
                  data.compliance_missing === 0 ? '都有了' : `还缺 ${data.compliance_missing} 项`,
                note: '在“合规”里看是哪些',
              },
            ]}
          />
          {me.data?.owner && <BackupNow state={data} />}
          <h2>进程</h2>
          <DataTable
            name="进程"
            columns={instanceColumns}
            rows={data.instances}
            rowKey={({ id }) => String(id)}
            empty={{ icon: 'spark', text: '还没有进程报到。' }}
            tools={false}
            tone={(row) => (row.alive ? undefined : 'bad')}
          />
          <h2>任务（一天内）</h2>
          <DataTable
            name="任务"
            columns={jobColumns}
            rows={data.jobs}
            rowKey={({ kind, state: of }) => `${kind} ${of}`}
            empty={{ icon: 'spark', text: '一天内没有任务。' }}
            tools={false}
          />
          <h2>最慢的请求</h2>
          <DataTable
            name="请求"
            columns={callColumns}
            rows={data.calls}
            rowKey={({ name }) => name}
            empty={{ icon: 'code', text: '还没有请求。' }}
            tone={(row) => (row.errors > 0 ? 'bad' : undefined)}
          />
          <h2>最大的表</h2>
          <DataTable
            name="数据表"
            columns={tableColumns}
            rows={data.tables}
            rowKey={({ name }) => name}
            empty={{ icon: 'columns', text: '还没有数据。' }}
            tools={false}
          />
        </>
      )}
    </ManagePage>
  );
};
