import { listProps } from '#src/ui/table/page-props.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { dateTime } from '#src/platform/format.ts';
import { useMe } from '#src/platform/queries.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import type { Manager } from '#contract/stats.ts';
import { AddManager, rankNames } from './add-manager.tsx';
import css from './stats.module.css';

const columns: readonly Column<Manager>[] = [
  { key: 'user_name', title: '名称', value: (row) => row.user_name, role: 'title', wide: true },
  { key: 'account', title: '用户名', value: (row) => row.account },
  { key: 'rank', title: '级别', value: (row) => rankNames[row.rank] },
  { key: 'totp', title: '动态验证码', value: (row) => (row.totp ? '已打开' : '没有') },
  {
    key: 'last_act_at',
    title: '最近操作',
    value: (row) => row.last_act_at,
    render: (row) => (row.last_act_at ? dateTime(row.last_act_at) : '—'),
    sortable: true,
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
  const managers = useCall('managerList', {});
  return (
    <>
      <h2>管理员</h2>
      <DataTable
        name="管理员"
        columns={columns}
        {...listProps(managers)}
        rowKey={({ user_id }) => String(user_id)}
        empty={{ icon: 'person', text: '还没有别的管理员。' }}
        tools={false}
      />
      <AddManager />
    </>
  );
};

/** Who governs, and the way to what guards one's own sign-in. */
export const SecurityScreen = () => {
  const me = useMe();
  return (
    <ManagePage title="安全与管理员">
      <div className={`card ${css.stack}`}>
        <h2>自己的登录</h2>
        <p>密码、动态验证码与登录的设备在账户的“安全”里。管理员请打开动态验证码。</p>
        <ButtonLink to="/account" search={{ tab: 'security' }}>
          去账户安全
        </ButtonLink>
      </div>
      {me.data?.owner && <Managers />}
    </ManagePage>
  );
};
