import { Tag } from '#src/ui/chip.tsx';
import { bounds } from '#contract/bounds.ts';
import { quietly } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDelete } from '#src/ui/dialog.ts';
import { FilterBar } from '#src/ui/filter-bar/filter-bar.tsx';
import { Form } from '#src/ui/form/form.tsx';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { ChosenActs, type ChosenAct } from '#src/ui/table/chosen-acts.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { pageProps } from '#src/ui/table/page-props.ts';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import type { ManagedKeyword } from '#contract/prompt.ts';
import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import css from './manage-prompt.module.css';

const route = getRouteApi('/manager/prompt');

const types: Readonly<Record<ManagedKeyword['type'], string>> = {
  quality: '画质',
  composition: '构图',
  looks: '外貌',
  effect: '效果',
  draw: '画风',
  command: '参数',
};
const states = { own: '自己添加的', changed: '改过的', removed: '不再提供的' };

const stateOf = (row: ManagedKeyword): string => {
  if (row.removed) return '不再提供';
  if (!row.built_in) return '自己添加';
  return row.changed ? '改过' : '自带';
};

const remove = async (row: ManagedKeyword): Promise<void> => {
  const sure = await confirmDelete({
    text: row.built_in
      ? `不再提供“${row.lang_zh}”？以后可以恢复。`
      : `删除关键词“${row.lang_zh}”？`,
    ok: row.built_in ? '不再提供' : '删除',
  });
  if (!sure) return;
  await api.removeKeyword({ id: row.id });
  toast(row.built_in ? '不再提供了' : '删除成功', 'success');
};

const restore = async (row: ManagedKeyword): Promise<void> => {
  await api.removeKeyword({ id: row.id, restore: 1 });
  toast('恢复了原样', 'success');
};

const columns: readonly Column<ManagedKeyword>[] = [
  { key: 'lang_zh', title: '中文', value: (row) => row.lang_zh, role: 'title' },
  { key: 'text', title: '英文', value: (row) => row.text, role: 'plain', wide: true },
  { key: 'type', title: '类型', value: (row) => types[row.type], role: 'plain' },
  { key: 'dir', title: '分组', value: (row) => `${row.dir} · ${row.sub_dir}` },
  {
    key: 'state',
    title: '状态',
    value: stateOf,
    render: (row) => <Tag>{stateOf(row)}</Tag>,
  },
  {
    key: 'acts',
    title: '操作',
    role: 'bare',
    value: () => null,
    render: (row) => (
      <span className={css.acts}>
        {row.built_in === 1 && (row.changed === 1 || row.removed === 1) && (
          <Button size="small" onClick={() => quietly(restore(row))}>
            恢复
          </Button>
        )}
        {row.removed === 0 && (
          <Button size="small" kind="danger" onClick={() => quietly(remove(row))}>
            {row.built_in ? '不再提供' : '删除'}
          </Button>
        )}
      </span>
    ),
  },
];

const optionsOf = (names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }));

const chosenActs: readonly ChosenAct<ManagedKeyword>[] = [
  {
    label: '恢复选中的',
    fits: (each) => each.built_in === 1 && (each.changed === 1 || each.removed === 1),
    run: ({ id }, quiet) => api.removeKeyword({ id, restore: 1 }, quiet),
  },
  {
    label: '不再提供选中的',
    danger: true,
    fits: (each) => each.removed === 0,
    sure: (count) => `不再提供选中的 ${count} 个词？自己添加的就删除了。`,
    run: ({ id }, quiet) => api.removeKeyword({ id }, quiet),
  },
];

/** The library of words for images: the program's own, changed or not, and those of managers. */
export const ManageKeywords = ({ tabs }: { tabs: ReactNode }) => {
  const { page = 1, query, type, state } = route.useSearch();
  const show = useTableSearch();
  const [open, setOpen] = useState<ManagedKeyword | 'new'>();
  const chosen = Object.keys(types).find((each) => each === type) as
    | ManagedKeyword['type']
    | undefined;
  const words = useCall('manageKeywordList', { page, query, type: chosen, state }, keepLast);
  const row = open === 'new' ? undefined : open;
  return (
    <ManagePage
      title="提示词"
      acts={
        <Button size="small" kind="primary" onClick={() => setOpen('new')}>
          添加关键词
        </Button>
      }
    >
      {tabs}
      <FilterBar
        filters={[
          { kind: 'text', name: 'query', label: '找一个词' },
          { kind: 'choice', name: 'type', label: '类型', options: optionsOf(types) },
          { kind: 'choice', name: 'state', label: '状态', options: optionsOf(states) },
        ]}
        values={{ query, type: chosen, state }}
        onChange={show}
      />
      <DataTable
        name="画图关键词"
        columns={columns}
        {...pageProps(words, page, show)}
        rowKey={({ id }) => String(id)}
        empty={{ icon: 'edit', text: '没有符合的关键词。' }}
        tone={(each) => (each.removed ? 'bad' : each.changed ? 'gold' : undefined)}
        onOpen={setOpen}
        renderChosen={(rows, keep) => (
          <ChosenActs
            rows={rows}
            nameOf={({ lang_zh }) => lang_zh}
            onDone={keep}
            acts={chosenActs}
          />
        )}
      />
      <Sheet
        open={open !== undefined}
        onClose={() => setOpen(undefined)}
        title={open === 'new' ? '添加关键词' : '修改关键词'}
      >
        {open && (
          <Form
            key={row?.id ?? 'new'}
            draft={`keyword.${row?.id ?? 'new'}`}
            fields={[
              {
                name: 'lang_zh',
                kind: 'text',
                required: true,
                ...bounds.keyword.chinese,
              },
              {
                name: 'text',
                label: '英文',
                kind: 'text',
                required: true,
                ...bounds.keyword.text,
                hint: '放进提示词的就是它；参数类写成 --ar 16:9 这样',
              },
              {
                name: 'type',
                kind: 'choice',
                required: true,
                options: optionsOf(types),
              },
              { name: 'dir', kind: 'text', required: true, ...bounds.keyword.group },
              {
                name: 'sub_dir',
                kind: 'text',
                required: true,
                ...bounds.keyword.group,
                hint: `已经有：${(words.data?.dirs ?? []).slice(0, 12).join('、')}……`,
              },
            ]}
            initial={{
              lang_zh: row?.lang_zh,
              text: row?.text,
              type: row?.type ?? chosen ?? 'draw',
              dir: row?.dir ?? '绘画',
              sub_dir: row?.sub_dir ?? '风格',
            }}
            onSubmit={async (values) => {
              await api.manageKeyword(
                {
                  ...(row ? { id: row.id } : {}),
                  type: values['type'] as ManagedKeyword['type'],
                  text: String(values['text']),
                  lang_zh: String(values['lang_zh']),
                  dir: String(values['dir']),
                  sub_dir: String(values['sub_dir']),
                },
                { quiet: true },
              );
              toast('保存成功', 'success');
              setOpen(undefined);
            }}
          />
        )}
      </Sheet>
    </ManagePage>
  );
};
