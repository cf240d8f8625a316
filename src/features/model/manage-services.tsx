import { listProps } from '#src/ui/table/page-props.ts';
import { compactColumn } from '#src/ui/table/columns.ts';
import { Tag } from '#src/ui/chip.tsx';
import { quietly } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { relativeTime } from '#src/platform/relative-time.ts';
import { toast } from '#src/platform/toast.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { Sheet } from '#src/ui/sheet.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import type { AdminChannel, ChannelKind } from '#contract/manage-model.ts';
import { useState } from 'react';
import { ChannelHealth } from './channel-health.tsx';
import { channelState } from './channel-state.ts';
import { ImportChannels } from './import-channels.tsx';
import { draftOfChannel } from './service-draft.ts';
import { ServiceForm } from './service-form.tsx';

const sources = {
  'built-in': '内置',
  environment: '环境变量',
  manager: '管理员',
  local: '本机发现',
};

const test = async (row: AdminChannel): Promise<void> => {
  toast(`正在试 ${row.label}…`);
  const trial = await api.testChannel({
    id: row.id,
    kind: row.kind as ChannelKind,
    base_url: row.base_url,
    model: row.models[0] && (row.mapping[row.models[0]] ?? row.models[0]),
  });
  toast(trial.message, trial.ok ? 'success' : 'error');
};

const askBalance = async (row: AdminChannel, onTold: () => void): Promise<void> => {
  const { amount, unit, message } = await api.channelBalance({ id: row.id });
  if (amount === null) toast(message, 'error');
  else toast(`${row.label} 还有 ${amount.toLocaleString('zh-CN')} ${unit}`, 'success');
  onTold();
};

const remove = async (row: AdminChannel): Promise<void> => {
  const yes = await confirmDialog({
    text: `删除“${row.label}”？只有它才有的模型就不能用了。`,
    ok: '删除',
    danger: true,
  });
  if (!yes) return;
  await api.delChannel({ id: row.id });
  toast('删除成功', 'success');
};

const own = (row: AdminChannel) => row.source === 'manager' || row.source === 'local';

const Acts = ({
  row,
  onLook,
  onDone,
}: {
  row: AdminChannel;
  onLook: (row: AdminChannel) => void;
  onDone: () => void;
}) => (
  <span className="row">
    <Button size="small" onClick={() => quietly(test(row))}>
      测试
    </Button>
    <Button size="small" onClick={() => onLook(row)}>
      健康
    </Button>
    {row.kind === 'openai-compatible' && (
      <Button size="small" onClick={() => quietly(askBalance(row, onDone))}>
        余额
      </Button>
    )}
    {own(row) && (
      <>
        <Button
          size="small"
          onClick={() => quietly(api.setChannel({ id: row.id, enabled: row.enabled ? 0 : 1 }))}
        >
          {row.enabled ? '停用' : '启用'}
        </Button>
        {row.source === 'manager' && (
          <Button size="small" kind="danger" onClick={() => quietly(remove(row))}>
            删除
          </Button>
        )}
      </>
    )}
  </span>
);

const columnsOf = (
  look: (row: AdminChannel) => void,
  reload: () => void,
): readonly Column<AdminChannel>[] => [
  { key: 'label', title: '名称', value: (row) => row.label, role: 'title' },
  {
    key: 'state',
    title: '状态',
    role: 'plain',
    value: channelState,
    render: (row) => <Tag>{channelState(row)}</Tag>,
  },
  {
    key: 'tag',
    title: '标签',
    value: (row) => row.tag,
    render: (row) => row.tag || '—',
    rare: true,
  },
  { key: 'source', title: '来自', value: (row) => sources[row.source], spare: true },
  { key: 'base_url', title: '地址', value: (row) => row.base_url, wide: true, rare: true },
  {
    key: 'key',
    title: '密钥',
    value: (row) => row.key_count,
    render: (row) =>
      row.key_count === 0
        ? '没有'
        : row.key_count === 1
          ? row.key_hint
          : `${row.key_hint} 等 ${row.key_count} 个`,
  },
  { key: 'models', title: '模型', value: (row) => row.models.length, align: 'end' },
  {
    key: 'weight',
    sortable: true,
    title: '权重',
    value: (row) => row.weight,
    align: 'end',
    spare: true,
  },
  {
    key: 'failures',
    sortable: true,
    title: '成功 / 出错',
    value: (row) => row.failures,
    render: (row) => `${row.successes} / ${row.failures}`,
    align: 'end',
  },
  {
    key: 'latency',
    sortable: true,
    title: '首字',
    value: (row) => row.latency,
    render: (row) => (row.latency === null ? '—' : `${(row.latency / 1000).toFixed(1)} 秒`),
    align: 'end',
  },
  {
    key: 'factor',
    sortable: true,
    title: '倍率',
    value: (row) => row.factor,
    render: (row) => (row.factor === 1 ? '—' : `×${row.factor}`),
    align: 'end',
    spare: true,
  },
  {
    key: 'balance',
    sortable: true,
    title: '余额',
    value: (row) => row.balance?.amount ?? null,
    render: (row) =>
      row.balance ? `${row.balance.amount.toLocaleString('zh-CN')} ${row.balance.unit}` : '—',
    align: 'end',
    rare: true,
  },
  compactColumn('spent', '30 天消耗'),
  {
    key: 'last_error',
    title: '最近的错误',
    value: (row) => row.last_error,
    render: (row) =>
      row.last_error && row.last_failure_at
        ? `${row.last_error}（${relativeTime(row.last_failure_at)}）`
        : row.last_error || '—',
    rare: true,
  },
  {
    key: 'acts',
    title: '操作',
    role: 'bare',
    value: () => null,
    render: (row) =>
      row.source === 'built-in' ? null : <Acts row={row} onLook={look} onDone={reload} />,
  },
];

/** The services: what they have, how they do, and their forms. */
export const ManageServices = () => {
  const [open, setOpen] = useState<AdminChannel>();
  const [importing, setImporting] = useState(false);
  const [looked, setLooked] = useState<AdminChannel>();
  const channels = useCall('channelList', {}, { refetchInterval: 15_000 });
  return (
    <>
      <div>
        <Button size="small" onClick={() => setImporting(true)}>
          从 new-api / one-api 导入
        </Button>
      </div>
      <ImportChannels open={importing} onClose={() => setImporting(false)} />
      <DataTable
        name="模型服务"
        columns={columnsOf(setLooked, () => void channels.refetch())}
        {...listProps(channels)}
        rowKey={({ id }) => String(id)}
        empty={{
          icon: 'link',
          text: '还没有接入模型服务。',
          action: (
            <ButtonLink kind="primary" to="/manager/start">
              接入服务
            </ButtonLink>
          ),
        }}
        tone={(row) => (channelState(row).endsWith('出错') ? 'bad' : undefined)}
        onOpen={(row) =>
          own(row)
            ? setOpen(row)
            : toast('这个服务来自环境变量或内置，请在服务器上改；模型的价格可以在“模型”里改')
        }
      />
      <ChannelHealth channel={looked} onClose={() => setLooked(undefined)} />
      <Sheet
        open={open !== undefined}
        onClose={() => setOpen(undefined)}
        title={open?.label ?? ''}
        wide
      >
        {open && (
          <ServiceForm
            key={open.id}
            draft={draftOfChannel(open)}
            onSaved={() => setOpen(undefined)}
          />
        )}
      </Sheet>
    </>
  );
};
