import { compactColumn, momentColumn } from '#src/ui/table/columns.ts';
import { Tag } from '#src/ui/chip.tsx';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { dateTime } from '#src/platform/format.ts';
import { FilterBar, type Filter } from '#src/ui/filter-bar/filter-bar.tsx';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { ChosenActs } from '#src/ui/table/chosen-acts.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { pageProps } from '#src/ui/table/page-props.ts';
import { sortInput } from '#src/ui/table/sorted.ts';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import type { PeopleGroup } from '#contract/people-group.ts';
import type { AdminUser } from '#contract/manage-user.ts';
import { getRouteApi } from '@tanstack/react-router';
import { ManagePerson } from './manage-person.tsx';

const route = getRouteApi('/manager/user');

const filters = (groups: readonly PeopleGroup[]): readonly Filter[] => [
  { kind: 'text', name: 'query', label: '用户名或名称' },
  { kind: 'text', name: 'user_id', label: '用户编号', digits: true },
  {
    kind: 'choice',
    name: 'kind',
    options: [
      { value: 'account', label: '注册用户' },
      { value: 'guest', label: '访客' },
      { value: 'vip', label: '会员' },
      { value: 'subscriber', label: '源码订阅' },
      { value: 'disabled', label: '已禁用' },
      { value: 'manager', label: '管理员' },
    ],
  },
  ...(groups.length === 0
    ? []
    : [
        {
          kind: 'choice',
          name: 'people_group',
          options: groups.map(({ id, name }) => ({ value: String(id), label: name })),
        } satisfies Filter,
      ]),
];

const tags = (row: AdminUser): string[] =>
  [
    row.rank === 'owner' && '所有者',
    row.rank === 'manager' && '管理员',
    row.guest && '访客',
    row.vip && '会员',
    row.subscribe === 1 && '基础订阅',
    row.subscribe === 2 && '高级订阅',
    row.disabled && '已禁用',
    row.session_blacklist && '禁止新建',
    row.session_private && '强制私有',
  ].filter((tag) => typeof tag === 'string');

const columns: readonly Column<AdminUser>[] = [
  { key: 'user_id', title: '编号', value: (row) => row.user_id },
  { key: 'user_name', title: '名称', value: (row) => row.user_name, role: 'title', wide: true },
  { key: 'account', title: '用户名', value: (row) => row.account },
  {
    key: 'tags',
    title: '标记',
    value: (row) => tags(row).join(' '),
    role: 'plain',
    render: (row) => (
      <span className="row">
        {tags(row).map((tag) => (
          <Tag key={tag}>{tag}</Tag>
        ))}
      </span>
    ),
  },
  compactColumn('chatgpt_balance', '余额'),
  {
    key: 'vip_expired_at',
    title: '会员到期',
    value: (row) => row.vip_expired_at,
    render: (row) => (row.vip_expired_at ? dateTime(row.vip_expired_at).slice(0, 10) : '—'),
  },
  momentColumn('created_at', '注册'),
];

/** Everybody; a row leads to the person's page with all that can be changed. */
export const ManageUserScreen = () => {
  const { person, page = 1, sort, ...search } = route.useSearch();
  const show = useTableSearch();
  const groups = useCall('peopleGroups', {});
  const users = useCall(
    'adminUserList',
    { ...search, ...sortInput('adminUserList', sort), page },
    keepLast,
  );
  return (
    <ManagePage title="用户">
      <FilterBar filters={filters(groups.data?.list ?? [])} values={search} onChange={show} />
      <DataTable
        name="用户"
        columns={columns}
        {...pageProps(users, page, show, ['adminUserList', sort])}
        rowKey={({ user_id }) => String(user_id)}
        empty={{ icon: 'people', text: '没有符合的用户。' }}
        tone={(row) => (row.disabled ? 'bad' : row.rank ? 'gold' : undefined)}
        onOpen={(row) => show({ person: row.user_id, page })}
        renderChosen={(rows, keep) => (
          <ChosenActs
            rows={rows}
            nameOf={({ user_name }) => user_name}
            onDone={keep}
            acts={[
              {
                label: '禁止新建会话',
                fits: (row) => !row.session_blacklist,
                run: (row, quiet) =>
                  api.updateUser({ user_id: row.user_id, session_blacklist: 1 }, quiet),
              },
              {
                label: '禁用账号',
                danger: true,
                fits: (row) => !row.disabled,
                sure: (count) => `禁用选中的 ${count} 个账号？本人不能再登录和使用。`,
                run: (row, quiet) => api.updateUser({ user_id: row.user_id, disabled: 1 }, quiet),
              },
              {
                label: '启用账号',
                fits: (row) => row.disabled === 1,
                run: (row, quiet) => api.updateUser({ user_id: row.user_id, disabled: 0 }, quiet),
              },
            ]}
          />
        )}
      />
      <Sheet
        open={person !== undefined}
        onClose={() => show({ person: undefined, page: page === 1 ? undefined : page })}
        title="用户资料"
        wide
      >
        {person !== undefined && <ManagePerson key={person} userId={person} />}
      </Sheet>
    </ManagePage>
  );
};
