import { compactColumn, momentColumn } from '#src/ui/table/columns.ts';
import { personColumn } from '#src/widgets/person/person-column.tsx';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDelete } from '#src/ui/dialog.ts';
import { FilterBar } from '#src/ui/filter-bar/filter-bar.tsx';
import { Form } from '#src/ui/form/form.tsx';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { ChosenActs } from '#src/ui/table/chosen-acts.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { pageProps } from '#src/ui/table/page-props.ts';
import { sortInput } from '#src/ui/table/sorted.ts';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import type { AdminTrainProject } from '#contract/manage-train.ts';
import { trainLimits, trainTexts } from '#contract/train-limits.ts';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';

const route = getRouteApi('/manager/train');

const types: Readonly<Record<number, string>> = {
  0: '知识库',
  1: '画风',
  2: '翻译',
  3: '已打包的翻译',
};
const states: Readonly<Record<number, string>> = {
  0: '还没训练完',
  1: '训练好了',
  2: '没有成功',
  3: '已打包',
};
const options = (names: Readonly<Record<number, string>>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }));

const columns: readonly Column<AdminTrainProject>[] = [
  { key: 'id', title: '编号', value: (row) => row.id },
  { key: 'name', title: '名称', value: (row) => row.name, role: 'title', wide: true },
  { key: 'key', title: 'Key', value: (row) => row.key, role: 'plain' },
  { key: 'type', title: '类型', value: (row) => types[row.type] ?? row.type, role: 'plain' },
  personColumn,
  {
    key: 'status',
    title: '状态',
    value: (row) => states[row.status] ?? row.status,
    role: 'plain',
    render: (row) => <span className="tag">{states[row.status] ?? row.status}</span>,
  },
  {
    key: 'private',
    title: '公开',
    value: (row) => (row.private ? '私有' : '公开'),
    role: 'plain',
  },
  {
    key: 'progress',
    title: '完成',
    value: (row) => row.over_num,
    render: (row) =>
      `${row.over_num} / ${row.total_num}${row.failed_num > 0 ? `（${row.failed_num} 个失败）` : ''}`,
    align: 'end',
  },
  compactColumn('token', 'token'),
  momentColumn('created_at', '建立'),
  { key: 'desc', title: '说明', value: (row) => row.desc || '—', spare: true },
];

const Project = ({ project, onDone }: { project: AdminTrainProject; onDone: () => void }) => {
  const remove = async () => {
    const sure = await confirmDelete({
      title: `删除“${project.name}”`,
      text: '它的文件一起删除，正在进行的训练随之停止，不能恢复。',
    });
    if (!sure) return;
    await api.delTrainProject({ id: project.id });
    toast('删除成功', 'success');
    onDone();
  };
  return (
    <>
      <p className="field-hint">
        {types[project.type]} · {project.key} · {project.user_name}（{project.user_id}）
      </p>
      <Form
        fields={[
          {
            name: 'name',
            label: '模型名称',
            kind: 'text',
            required: true,
            missing: trainTexts.name,
            max: trainLimits.name,
          },
          { name: 'desc', label: '说明', kind: 'long', max: trainLimits.description },
          { name: 'private', kind: 'switch', hint: '私有的只有它的主人能用' },
        ]}
        initial={{ name: project.name, desc: project.desc, private: project.private === 1 }}
        onSubmit={async (_, { private: hidden, ...words }) => {
          await api.setTrainProject(
            {
              id: project.id,
              ...Object.fromEntries(
                Object.entries(words).map(([key, value]) => [key, String(value ?? '')]),
              ),
              ...(hidden === undefined ? {} : { private: hidden === true ? 1 : 0 }),
            },
            { quiet: true },
          );
          toast('模型修改成功', 'success');
          onDone();
        }}
        renderExtra={() => (
          <Button kind="danger" onClick={() => void remove().catch(() => undefined)}>
            删除
          </Button>
        )}
      />
    </>
  );
};

const number = (value: string | undefined) =>
  value !== undefined && /^\d$/.test(value) ? Number(value) : undefined;

/** Everybody's trainings and translations; a row leads to what can be changed of one. */
export const ManageTrainScreen = () => {
  const { page = 1, sort, ...search } = route.useSearch();
  const show = useTableSearch();
  const [open, setOpen] = useState<AdminTrainProject>();
  const projects = useCall(
    'adminTrainList',
    {
      ...search,
      ...sortInput('adminTrainList', sort),
      type: number(search.type),
      status: number(search.status),
      page,
    },
    keepLast,
  );
  return (
    <ManagePage
      title="训练"
      acts={
        <Link className="button button-small" to="/manager/model" search={{ tab: 'models' }}>
          模型与价格
        </Link>
      }
    >
      <FilterBar
        filters={[
          { kind: 'text', name: 'name', label: '模型名称' },
          { kind: 'text', name: 'unique_key', label: 'Key' },
          { kind: 'text', name: 'user_id', label: '用户编号', digits: true },
          { kind: 'choice', name: 'type', label: '类型', options: options(types) },
          { kind: 'choice', name: 'status', label: '状态', options: options(states) },
        ]}
        values={search}
        onChange={show}
      />
      <DataTable
        name="训练"
        columns={columns}
        {...pageProps(projects, page, show, ['adminTrainList', sort])}
        rowKey={({ id }) => String(id)}
        empty={{ icon: 'document', text: '没有符合的项目。' }}
        tone={(row) => (row.status === 2 || row.failed_num > 0 ? 'bad' : undefined)}
        onOpen={setOpen}
        renderChosen={(rows, keep) => (
          <ChosenActs
            rows={rows}
            nameOf={({ name }) => name}
            onDone={keep}
            acts={[
              {
                label: '设为私有',
                fits: (row) => !row.private,
                run: ({ id }, quiet) => api.setTrainProject({ id, private: 1 }, quiet),
              },
              {
                label: '删除',
                danger: true,
                sure: (count) =>
                  `删除选中的 ${count} 个项目？它们的文件一起删除，正在进行的训练随之停止，不能恢复。`,
                run: ({ id }, quiet) => api.delTrainProject({ id }, quiet),
              },
            ]}
          />
        )}
      />
      <Sheet
        open={open !== undefined}
        onClose={() => setOpen(undefined)}
        title={open?.name ?? ''}
        wide
      >
        {open && <Project key={open.id} project={open} onDone={() => setOpen(undefined)} />}
      </Sheet>
    </ManagePage>
  );
};
