import { api } from '@/platform/api.ts';
import { dateTime } from '@/platform/format.ts';
import { useMe } from '@/platform/queries.ts';
import { toast } from '@/platform/toast.ts';
import { Button } from '@/ui/button.tsx';
import { confirmDialog } from '@/ui/dialog.ts';
import { Form } from '@/ui/form/form.tsx';
import { ManagePage } from '@/ui/manage-page.tsx';
import { DataTable, type Column } from '@/ui/table/data-table.tsx';
import type { Out } from '@contract/calls.ts';
import type { Manager } from '@contract/stats.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import css from './stats.module.css';

const code = { name: 'code', label: '验证码', kind: 'text', required: true, max: 40 } as const;

const SecondFactor = () => {
  const state = useQuery({
    queryKey: ['totpState'],
    queryFn: ({ signal }) => api.totpState({}, { signal, quiet: true }),
  });
  const [begun, setBegun] = useState<Out<'totpBegin'>>();
  const [recovery, setRecovery] = useState<string[]>();
  if (recovery)
    return (
      <div className={`card ${css.stack}`}>
        <h2>恢复码</h2>
        <p>手机丢了的时候，每个恢复码可以登录一次。它们只显示这一次，请现在抄下来。</p>
        <p className={css.recovery}>
          {recovery.map((each) => (
            <span key={each}>{each}</span>
          ))}
        </p>
        <Button kind="primary" onClick={() => setRecovery(undefined)}>
          我抄好了
        </Button>
      </div>
    );
  if (state.data?.enabled)
    return (
      <div className={`card ${css.stack}`}>
        <h2>动态验证码：已打开</h2>
        <p>登录时除了密码，还要手机上的验证码。还剩 {state.data.recovery_left} 个恢复码。</p>
        <Form
          fields={[code]}
          submit="关闭动态验证码"
          danger
          onSubmit={async (values) => {
            await api.totpDisable({ code: String(values['code']) }, { quiet: true });
            setBegun(undefined);
            toast('动态验证码已关闭', 'success');
          }}
        />
      </div>
    );
  if (begun)
    return (
      <div className={`card ${css.stack}`}>
        <h2>用验证器扫一扫</h2>
        <img
          className={css.code}
          alt="动态验证码的二维码"
          src={`data:image/svg+xml;utf8,${encodeURIComponent(begun.svg)}`}
        />
        <p>扫不了的话，手工输入：{begun.secret}</p>
        <Form
          fields={[{ ...code, label: '验证器上的六位数字' }]}
          submit="打开"
          onSubmit={async (values) => {
            const { recovery_codes: codes } = await api.totpEnable(
              { code: String(values['code']) },
              { quiet: true },
            );
            setRecovery(codes);
          }}
        />
      </div>
    );
  return (
    <div className={`card ${css.stack}`}>
      <h2>动态验证码</h2>
      <p>打开之后，别人就是知道了您的密码，没有您的手机也登录不了。</p>
      <Button kind="primary" onClick={() => void api.totpBegin({}).then(setBegun, () => undefined)}>
        打开动态验证码
      </Button>
    </div>
  );
};

const columns: readonly Column<Manager>[] = [
  { key: 'user_name', title: '名称', value: (row) => row.user_name, role: 'title', wide: true },
  { key: 'account', title: '用户名', value: (row) => row.account },
  { key: 'rank', title: '级别', value: (row) => (row.rank === 'owner' ? '所有者' : '管理员') },
  { key: 'totp', title: '动态验证码', value: (row) => (row.totp ? '已打开' : '没有') },
  {
    key: 'last_act_at',
    title: '最近操作',
    value: (row) => row.last_act_at,
    render: (row) => (row.last_act_at ? dateTime(row.last_act_at) : '—'),
  },
  {
    key: 'acts',
    title: '操作',
    role: 'bare',
    value: () => null,
    render: (row) => (
      <Button
        size="small"
        onClick={() => {
          void (async () => {
            const yes = await confirmDialog({
              text: `“${row.user_name}”不再能进入管理。`,
              ok: '撤下',
              danger: true,
            });
            if (yes) await api.setManager({ user_id: row.user_id, rank: 'none' });
          })().catch(() => undefined);
        }}
      >
        撤下
      </Button>
    ),
  },
];

const Managers = () => {
  const managers = useQuery({
    queryKey: ['managerList'],
    queryFn: ({ signal }) => api.managerList({}, { signal, quiet: true }),
  });
  return (
    <>
      <h2>管理员</h2>
      <DataTable
        name="管理员"
        columns={columns}
        rows={managers.data?.list}
        rowKey={({ user_id }) => String(user_id)}
        empty={{ icon: 'person', text: '还没有别的管理员。' }}
        error={managers.error}
        onRetry={() => void managers.refetch()}
        tools={false}
      />
      <div className={`card ${css.stack}`}>
        <h2>添加管理员</h2>
        <Form
          fields={[
            {
              name: 'user_id',
              label: '用户编号',
              kind: 'number',
              required: true,
              min: 1,
              hint: '在“用户”里可以看到',
            },
            {
              name: 'rank',
              label: '级别',
              kind: 'choice',
              required: true,
              options: [
                { value: 'manager', label: '管理员' },
                { value: 'owner', label: '所有者' },
              ],
              hint: '所有者还可以添加、撤下管理员',
            },
          ]}
          initial={{ rank: 'manager' }}
          submit="添加"
          onSubmit={async ({ user_id: id, rank }) => {
            await api.setManager(
              { user_id: Number(id), rank: rank === 'owner' ? 'owner' : 'manager' },
              { quiet: true },
            );
            toast('已添加', 'success');
          }}
        />
      </div>
    </>
  );
};

/** One's own second proof of identity, and who governs. */
export const SecurityScreen = () => {
  const me = useMe();
  return (
    <ManagePage title="安全与管理员">
      <SecondFactor />
      {me.data?.owner && <Managers />}
    </ManagePage>
  );
};
