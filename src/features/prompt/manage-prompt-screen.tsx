import { bounds } from '#contract/bounds.ts';
import { promptTypes } from '#contract/kinds.ts';
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
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { pageProps } from '#src/ui/table/page-props.ts';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import type { PromptTemplate } from '#contract/prompt.ts';
import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { ManageKeywords } from './manage-keywords.tsx';

const route = getRouteApi('/manager/prompt');

const remove = async (row: PromptTemplate): Promise<void> => {
  const yes = await confirmDialog({
    text: `删除模板“${row.prompt_json.title}”？`,
    ok: '删除',
    danger: true,
  });
  if (!yes) return;
  await api.removePrompt({ id: row.id });
  toast('删除成功', 'success');
};

const columns: readonly Column<PromptTemplate>[] = [
  { key: 'title', title: '标题', value: (row) => row.prompt_json.title, role: 'title' },
  {
    key: 'content',
    title: '内容',
    value: (row) => row.prompt_json.content,
    wide: true,
    role: 'plain',
  },
  {
    key: 'type',
    title: '类型',
    value: (row) => (row.type === promptTypes.chat ? '聊天' : '画图'),
    role: 'plain',
  },
  {
    key: 'attrs',
    title: '模型',
    value: ({ attrs }) =>
      [
        attrs.include.length > 0 && `只用于 ${attrs.include.join('、')}`,
        attrs.exclude.length > 0 && `不用于 ${attrs.exclude.join('、')}`,
      ]
        .filter(Boolean)
        .join('；') || '全部',
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

const namesIn = (text: unknown): string[] =>
  typeof text === 'string' ? text.split(/[\s,，、]+/).filter((name) => name !== '') : [];

/** Templates that everybody sees. */
const Templates = ({ tabs }: { tabs: ReactNode }) => {
  const { page = 1, query, type } = route.useSearch();
  const show = useTableSearch();
  const [open, setOpen] = useState<PromptTemplate | 'new'>();
  const prompts = useCall(
    'managePromptList',
    { page, query, type: type === undefined ? undefined : Number(type) },
    keepLast,
  );
  const row = open === 'new' ? undefined : open;
  return (
    <ManagePage
      title="提示词"
      acts={
        <Button size="small" kind="primary" onClick={() => setOpen('new')}>
          新建模板
        </Button>
      }
    >
      {tabs}
      <FilterBar
        filters={[
          { kind: 'text', name: 'query', label: '关键词' },
          {
            kind: 'choice',
            name: 'type',
            options: [
              { value: '0', label: '聊天' },
              { value: '1', label: '画图' },
            ],
          },
        ]}
        values={{ query, type }}
        onChange={show}
      />
      <DataTable
        name="提示词"
        columns={columns}
        {...pageProps(prompts, page, show)}
        rowKey={({ id }) => String(id)}
        empty={{ icon: 'edit', text: '还没有模板。新建一个，大家写提问时就能选。' }}
        onOpen={setOpen}
      />
      <Sheet
        open={open !== undefined}
        onClose={() => setOpen(undefined)}
        title={open === 'new' ? '新建模板' : '修改模板'}
      >
        {open && (
          <Form
            key={row?.id ?? 'new'}
            draft={`manage-prompt.${row?.id ?? 'new'}`}
            fields={[
              {
                name: 'title',
                kind: 'text',
                required: true,
                ...bounds.template.title,
              },
              {
                name: 'content',
                kind: 'long',
                lines: 5,
                required: true,
                ...bounds.template.content,
                hint: '{{城市}} 这样的空格，使用时会让人填',
              },
              {
                name: 'type',
                kind: 'choice',
                required: true,
                options: [
                  { value: '0', label: '聊天' },
                  { value: '1', label: '画图' },
                ],
              },
              {
                name: 'include',
                label: '只用于这些模型',
                kind: 'text',
                hint: '几个用逗号分开；留空：全部',
              },
              { name: 'exclude', label: '不用于这些模型', kind: 'text' },
            ]}
            initial={{
              title: row?.prompt_json.title,
              content: row?.prompt_json.content,
              type: String(row?.type ?? 0),
              include: row?.attrs.include.join('、'),
              exclude: row?.attrs.exclude.join('、'),
            }}
            onSubmit={async (values) => {
              await api.managePrompt(
                {
                  ...(row ? { id: row.id } : {}),
                  type: Number(values['type']),
                  attrs: {
                    include: namesIn(values['include']),
                    exclude: namesIn(values['exclude']),
                  },
                  prompt_json: {
                    title: String(values['title']),
                    content: String(values['content']),
                  },
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

const tabs = [
  ['templates', '模板'],
  ['keywords', '画图关键词'],
] as const;

/** What helps people to write: templates, and the library of words for images. */
export const ManagePromptScreen = () => {
  const { tab = 'templates' } = route.useSearch();
  const show = useTableSearch();
  const choice = (
    <div className="segments" role="group" aria-label="看什么">
      {tabs.map(([key, label]) => (
        <button
          type="button"
          key={key}
          aria-pressed={tab === key}
          onClick={() => show({ tab: key, query: undefined, type: undefined, state: undefined })}
        >
          {label}
        </button>
      ))}
    </div>
  );
  return tab === 'templates' ? <Templates tabs={choice} /> : <ManageKeywords tabs={choice} />;
};
