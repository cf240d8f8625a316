import rowCss from '#src/ui/chip-row.module.css';
import { Chip } from '#src/ui/chip.tsx';
import { api } from '#src/platform/api.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDelete } from '#src/ui/dialog.ts';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import { useForumGroups } from '#src/widgets/editor/groups.ts';
import { limits } from '#contract/limits.ts';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import css from './forum.module.css';
import { BlockedWords } from './blocked-words.tsx';
import { type Group, GroupForm } from './group-form.tsx';
import { Reports } from './reports.tsx';

const route = getRouteApi('/manager/forum');

const Groups = () => {
  const groups = useForumGroups();
  const [open, setOpen] = useState<Partial<Group>>();
  const remove = async (group: Group) => {
    const sure = await confirmDelete({
      title: `删除分组“${group.name}”`,
      text: '其中的问题会归到默认分组。',
    });
    if (!sure) return;
    await api.delForumGroup({ id: group.id });
    await groups.refetch();
    toast('分组已删除', 'success');
  };
  const columns: readonly Column<Group>[] = [
    { key: 'id', title: '编号', value: (row) => row.id },
    {
      key: 'name',
      title: '名称',
      value: (row) => row.name,
      role: 'title',
      wide: true,
      render: (row) => (
        <>
          <span className={css.colour} style={{ background: row.color }} />
          {row.name}
        </>
      ),
    },
    { key: 'sort', title: '排序', value: (row) => row.sort, align: 'end', sortable: true },
    {
      key: 'acts',
      title: '操作',
      role: 'bare',
      value: () => null,
      render: (row) =>
        row.id === limits.defaultGroup ? (
          '默认分组'
        ) : (
          <Button
            size="small"
            kind="danger"
            onClick={() => void remove(row).catch(() => undefined)}
          >
            删除
          </Button>
        ),
    },
  ];
  return (
    <>
      <p className={css.buttons}>
        <Button size="small" kind="primary" onClick={() => setOpen({})}>
          新建分组
        </Button>
      </p>
      <DataTable
        name="分组"
        columns={columns}
        rows={groups.data}
        rowKey={({ id }) => String(id)}
        empty={{ icon: 'columns', text: '还没有分组。' }}
        error={groups.error}
        onRetry={() => void groups.refetch()}
        onOpen={setOpen}
      />
      <Sheet
        open={open !== undefined}
        onClose={() => setOpen(undefined)}
        title={open?.id === undefined ? '新建分组' : '修改分组'}
      >
        {open && (
          <GroupForm
            key={open.id ?? 'new'}
            group={open}
            onSaved={() => {
              void groups.refetch();
              setOpen(undefined);
              toast('分组已保存', 'success');
            }}
          />
        )}
      </Sheet>
    </>
  );
};

const tabs = [
  ['reports', '举报'],
  ['groups', '分组'],
  ['words', '屏蔽词'],
] as const;

/** The forum, for managers: what was reported, and its groups. */
export const ManageForumScreen = () => {
  const { tab = 'reports', state, query, sort, page = 1 } = route.useSearch();
  const show = useTableSearch();
  return (
    <ManagePage title="社区">
      <div className={rowCss.chipRow} role="group" aria-label="看什么">
        {tabs.map(([key, label]) => (
          <Chip
            key={key}
            aria-pressed={tab === key}
            onClick={() => show({ tab: key, state: undefined, query: undefined })}
          >
            {label}
          </Chip>
        ))}
      </div>
      {tab === 'reports' && <Reports page={page} state={state} sort={sort} />}
      {tab === 'groups' && <Groups />}
      {tab === 'words' && <BlockedWords page={page} query={query} />}
    </ManagePage>
  );
};
