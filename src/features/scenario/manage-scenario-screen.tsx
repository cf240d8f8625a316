import { Chip, Tag } from '#src/ui/chip.tsx';
import { bounds } from '#contract/bounds.ts';
import { quietly } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { FilterBar } from '#src/ui/filter-bar/filter-bar.tsx';
import { Form } from '#src/ui/form/form.tsx';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { ChosenActs } from '#src/ui/table/chosen-acts.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { pageProps } from '#src/ui/table/page-props.ts';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import type { Out } from '#contract/calls.ts';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';

const route = getRouteApi('/manager/scenario');

type Row = Out<'scenarioList'>['list'][number];
type Category = Out<'scenarioCategory'>['list'][number];

/** Document 3 §9. */
const pageSize = 12;

const states = { private: '私有', pending: '等待审核', public: '公开' } as const;

const remove = async (row: Row): Promise<void> => {
  const yes = await confirmDialog({ text: `删除场景“${row.name}”？`, ok: '删除', danger: true });
  if (!yes) return;
  await api.removeScenario({ id: row.id });
  toast('删除成功', 'success');
};

const columnsOf = (categories: readonly Category[]): readonly Column<Row>[] => [
  { key: 'name', title: '名称', value: (row) => row.name, role: 'title' },
  { key: 'prompt', title: '提示词', value: (row) => row.prompt, wide: true, role: 'plain' },
  {
    key: 'category',
    title: '分类',
    value: (row) => categories.find(({ id }) => id === row.category)?.name ?? '—',
  },
  { key: 'user_name', title: '作者', value: (row) => row.user_name || '内置' },
  {
    key: 'state',
    title: '状态',
    role: 'plain',
    value: (row) => states[row.state],
    render: (row) => <Tag>{row.display ? states[row.state] : `${states[row.state]}，不显示`}</Tag>,
  },
  {
    key: 'session_count',
    title: '会话',
    value: (row) => row.session_count,
    align: 'end',
    sortable: true,
  },
  {
    key: 'acts',
    title: '操作',
    role: 'bare',
    value: () => null,
    render: (row) => (
      <Button size="small" kind="danger" onClick={() => quietly(remove(row))}>
        删除
      </Button>
    ),
  },
];

const ScenarioForm = ({
  row,
  categories,
  onSaved,
}: {
  row: Row | null;
  categories: readonly Category[];
  onSaved: () => void;
}) => (
  <Form
    draft={`manage-scenario.${row?.id ?? 'new'}`}
    fields={[
      { name: 'name', kind: 'text', required: true, ...bounds.scenario.name },
      {
        name: 'prompt',
        kind: 'long',
        required: true,
        ...bounds.scenario.prompt,
        hint: '{{input}} 处放用户的话；没有时放在最后',
      },
      { name: 'desc_', label: '说明', kind: 'text', ...bounds.scenario.description },
      { name: 'sample', label: '结果示例', kind: 'long', ...bounds.scenario.sample },
      {
        name: 'category',
        kind: 'choice',
        required: true,
        options: categories.map(({ id, name }) => ({ value: String(id), label: name })),
      },
      { name: 'color', kind: 'colour' },
      { name: 'display', kind: 'switch' },
      {
        name: 'state',
        kind: 'choice',
        required: true,
        options: Object.entries(states).map(([value, label]) => ({ value, label })),
        hint: '公开：审核通过；私有：退回给作者',
        when: () => row !== null && row.user_id !== null,
      },
    ]}
    initial={
      row
        ? { ...row, category: String(row.category), display: row.display === 1 }
        : { color: '#2563eb', display: true, category: String(categories[0]?.id ?? '') }
    }
    onSubmit={async (values) => {
      await api.manageScenario(
        {
          ...(row ? { id: row.id } : {}),
          name: String(values['name']),
          prompt: String(values['prompt']),
          desc_: String(values['desc_'] ?? ''),
          sample: String(values['sample'] ?? ''),
          color: String(values['color']),
          category: Number(values['category']),
          display: values['display'] === true ? 1 : 0,
          ...(typeof values['state'] === 'string'
            ? { state: values['state'] as Row['state'] }
            : {}),
        },
        { quiet: true },
      );
      toast('保存成功', 'success');
      onSaved();
    }}
  />
);

const Categories = ({ categories }: { categories: readonly Category[] }) => {
  const [chosen, setChosen] = useState<Category>();
  return (
    <>
      <p>
        {categories.map((category) => (
          <Chip
            key={category.id}
            aria-pressed={chosen?.id === category.id}
            onClick={() => setChosen(chosen?.id === category.id ? undefined : category)}
          >
            {category.name}
          </Chip>
        ))}
      </p>
      <Form
        key={chosen?.id ?? 'new'}
        fields={[
          {
            name: 'name',
            label: chosen ? '分类名' : '新的分类',
            kind: 'text',
            required: true,
            ...bounds.scenario.category,
          },
          { name: 'sort', kind: 'number', required: true, ...bounds.sort },
        ]}
        initial={{ name: chosen?.name, sort: chosen?.sort ?? 100 }}
        submit={chosen ? '保存' : '添加'}
        renderExtra={() =>
          chosen && (
            <Button
              kind="danger"
              onClick={() =>
                quietly(api.delScenarioCategory({ id: chosen.id }).then(() => setChosen(undefined)))
              }
            >
              删除这个分类
            </Button>
          )
        }
        onSubmit={async ({ name, sort }) => {
          await api.saveScenarioCategory(
            { ...(chosen ? { id: chosen.id } : {}), name: String(name), sort: Number(sort) },
            { quiet: true },
          );
          setChosen(undefined);
          toast('保存成功', 'success');
        }}
      />
    </>
  );
};

/** Scenarios of the program and of people, those that wait first on demand, and their categories. */
export const ManageScenarioScreen = () => {
  const { page = 1, category, scope = 'all' } = route.useSearch();
  const show = useTableSearch();
  const [open, setOpen] = useState<Row | 'new' | 'categories'>();
  const categories = useCall('scenarioCategory', {});
  const scenarios = useCall(
    'scenarioList',
    { page, page_size: pageSize, category, scope },
    keepLast,
  );
  const known = categories.data?.list ?? [];
  const close = () => setOpen(undefined);
  return (
    <ManagePage
      title="场景"
      acts={
        <>
          <Button size="small" onClick={() => setOpen('categories')}>
            分类
          </Button>
          <Button size="small" kind="primary" onClick={() => setOpen('new')}>
            新建场景
          </Button>
        </>
      }
    >
      <FilterBar
        filters={[
          {
            kind: 'choice',
            name: 'scope',
            label: '状态',
            options: [
              { value: 'pending', label: '等待审核' },
              { value: 'public', label: '公开的' },
            ],
          },
          {
            kind: 'choice',
            name: 'category',
            options: known.map(({ id, name }) => ({ value: String(id), label: name })),
          },
        ]}
        values={{ category, scope: scope === 'all' ? undefined : scope }}
        onChange={show}
      />
      <DataTable
        name="场景"
        columns={columnsOf(known)}
        {...pageProps(scenarios, page, show)}
        rowKey={({ id }) => String(id)}
        empty={{ icon: 'fork', text: '没有符合的场景。' }}
        tone={(row) => (row.state === 'pending' ? 'gold' : undefined)}
        onOpen={setOpen}
        renderChosen={(rows, keep) => (
          <ChosenActs
            rows={rows}
            nameOf={({ name }) => name}
            onDone={keep}
            acts={[
              {
                label: '通过选中的',
                fits: (row) => row.state === 'pending',
                run: ({ id, name, prompt, desc_, sample, color, category }, quiet) =>
                  api.manageScenario(
                    {
                      id,
                      name,
                      prompt,
                      desc_,
                      sample,
                      color,
                      category,
                      state: 'public',
                      display: 1,
                    },
                    quiet,
                  ),
              },
              {
                label: '删除选中的',
                danger: true,
                sure: (count) => `删除选中的 ${count} 个场景？用它们开始的会话不受影响。`,
                run: ({ id }, quiet) => api.removeScenario({ id }, quiet),
              },
            ]}
          />
        )}
      />
      <Sheet
        open={open !== undefined}
        onClose={close}
        wide={open !== 'categories'}
        title={open === 'categories' ? '场景分类' : open === 'new' ? '新建场景' : '修改场景'}
      >
        {open === 'categories' && <Categories categories={known} />}
        {open && open !== 'categories' && (
          <ScenarioForm
            key={open === 'new' ? 'new' : open.id}
            row={open === 'new' ? null : open}
            categories={known}
            onSaved={close}
          />
        )}
      </Sheet>
    </ManagePage>
  );
};
