import { momentColumn } from '#src/ui/table/columns.ts';
import { personColumn } from '#src/widgets/person/person-column.tsx';
import { Tag } from '#src/ui/chip.tsx';
import { quietly } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { toast } from '#src/platform/toast.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { confirmDelete } from '#src/ui/dialog.ts';
import { FilterBar, type Filter } from '#src/ui/filter-bar/filter-bar.tsx';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { ChosenActs } from '#src/ui/table/chosen-acts.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { pageProps } from '#src/ui/table/page-props.ts';
import { sortInput } from '#src/ui/table/sorted.ts';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import type { AdminSession } from '#contract/manage-session.ts';
import { getRouteApi } from '@tanstack/react-router';
import { ManageHistory } from './manage-history.tsx';

const route = getRouteApi('/manager/session');

export const typeName = (type: number): string =>
  ({ 0: '聊天', 1: '画图', 2: '问答', 3: '语音', 4: '视频' })[type] ?? `类型 ${type}`;

const flags = (yes: string, no: string) => [
  { value: '1', label: yes },
  { value: '0', label: no },
];
const filters: readonly Filter[] = [
  { kind: 'text', name: 'query', label: '标题或消息里的词' },
  { kind: 'text', name: 'user_id', label: '用户编号', digits: true },
  { kind: 'text', name: 'uuid', label: '会话编号或 UUID' },
  {
    kind: 'choice',
    name: 'type',
    options: [0, 1, 2, 4].map((type) => ({ value: String(type), label: typeName(type) })),
  },
  { kind: 'choice', name: 'private', label: '公开', options: flags('私有', '公开') },
  { kind: 'choice', name: 'deleted', label: '状态', options: flags('已删除', '正常') },
];

const remove = async (row: AdminSession): Promise<void> => {
  const sure = await confirmDelete({
    text: `删除“${row.prompt || '没有标题的会话'}”？它的主人也看不到它了。`,
  });
  if (!sure) return;
  await api.adminDeleteSession({ session_id: row.id });
  toast('会话已删除', 'success');
};

const turn = async (row: AdminSession): Promise<void> => {
  await api.adminSetSession({ session_id: row.id, private: row.private === 1 ? 0 : 1 });
  toast('会话状态更改', 'success');
};

const columns: readonly Column<AdminSession>[] = [
  { key: 'id', title: '编号', value: (row) => row.id },
  {
    key: 'prompt',
    title: '标题',
    value: (row) => row.prompt,
    role: 'title',
    wide: true,
    render: (row) => (
      <>
        {row.prompt || '（没有标题）'}
        {row.match && row.match.history_id !== null && (
          <small className="field-hint">{row.match.snippet}</small>
        )}
      </>
    ),
  },
  { key: 'type', title: '类型', value: (row) => typeName(row.type), role: 'plain' },
  personColumn,
  { key: 'model', title: '模型', value: (row) => row.model, role: 'plain' },
  {
    key: 'reply_count',
    title: '回复',
    value: (row) => row.reply_count,
    align: 'end',
  },
  {
    key: 'like_count',
    title: '赞',
    value: (row) => row.like_count,
    align: 'end',
    spare: true,
  },
  {
    key: 'state',
    title: '状态',
    role: 'plain',
    value: (row) => (row.deleted ? '已删除' : row.private ? '私有' : '公开'),
    render: (row) => <Tag>{row.deleted ? '已删除' : row.private ? '私有' : '公开'}</Tag>,
  },
  momentColumn('created_at', '建立', { role: 'plain' }),
  {
    key: 'acts',
    title: '操作',
    role: 'bare',
    value: () => null,
    render: (row) =>
      row.deleted ? null : (
        <span className="row">
          <Button size="small" onClick={() => quietly(turn(row))}>
            {row.private ? '设为公开' : '设为私有'}
          </Button>
          <Button size="small" kind="danger" onClick={() => quietly(remove(row))}>
            删除
          </Button>
        </span>
      ),
  },
];

const number = (value: string | undefined) => (value === undefined ? undefined : Number(value));
const flag = (value: '0' | '1' | undefined) => value;

/** All sessions, deleted ones highlighted; a row leads to its messages. */
export const ManageSessionScreen = () => {
  const { session, page = 1, sort, ...search } = route.useSearch();
  const show = useTableSearch();
  const uuid = /^(\d+|[0-9a-f-]{36})$/i.test(search.uuid ?? '') ? search.uuid : undefined;
  const sessions = useCall(
    'adminSessionList',
    {
      page,
      ...sortInput('adminSessionList', sort),
      user_id: search.user_id,
      uuid,
      query: search.query,
      type: number(search.type),
      private: flag(search.private),
      deleted: flag(search.deleted),
    },
    keepLast,
  );
  return (
    <ManagePage
      title="会话"
      acts={
        <ButtonLink size="small" to="/manager/scenario">
          场景管理
        </ButtonLink>
      }
    >
      <FilterBar filters={filters} values={search} onChange={show} />
      <DataTable
        name="会话"
        columns={columns}
        {...pageProps(sessions, page, show, ['adminSessionList', sort])}
        rowKey={({ id }) => String(id)}
        empty={{ icon: 'chat', text: '没有符合的会话。' }}
        tone={(row) => (row.deleted ? 'bad' : undefined)}
        onOpen={(row) => show({ session: row.id, page })}
        renderChosen={(rows, keep) => (
          <ChosenActs
            rows={rows}
            nameOf={({ id, prompt }) => prompt || `会话 ${id}`}
            onDone={keep}
            acts={[
              {
                label: '设为私有',
                fits: (row) => !row.deleted && !row.private,
                run: ({ id }, quiet) => api.adminSetSession({ session_id: id, private: 1 }, quiet),
              },
              {
                label: '删除',
                danger: true,
                fits: (row) => !row.deleted,
                sure: (count) => `删除选中的 ${count} 个会话？`,
                run: ({ id }, quiet) => api.adminDeleteSession({ session_id: id }, quiet),
              },
            ]}
          />
        )}
      />
      <ManageHistory
        sessionId={session}
        onClose={() => show({ session: undefined, page: page === 1 ? undefined : page })}
      />
    </ManagePage>
  );
};
