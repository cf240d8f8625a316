import { listProps } from '#src/ui/table/page-props.ts';
import { momentColumn } from '#src/ui/table/columns.ts';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { FilterBar } from '#src/ui/filter-bar/filter-bar.tsx';
import { Form } from '#src/ui/form/form.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import type { Out } from '#contract/calls.ts';
import { useState } from 'react';
import css from './forum.module.css';

type Word = Out<'blockedWordList'>['list'][number];

const remove = async (row: Word): Promise<void> => {
  await api.delBlockedWord({ id: row.id });
  toast('删除成功', 'success');
};

const columns: readonly Column<Word>[] = [
  { key: 'word', title: '词', value: (row) => row.word, role: 'title', wide: true },
  momentColumn('created_at', '添加'),
  {
    key: 'acts',
    title: '操作',
    role: 'bare',
    value: () => null,
    render: (row) => (
      <Button size="small" kind="danger" onClick={() => void remove(row).catch(() => undefined)}>
        删除
      </Button>
    ),
  },
];

/** Words that nobody may write where everybody reads. */
export const BlockedWords = ({ page, query }: { page: number; query: string | undefined }) => {
  const show = useTableSearch();
  const [adding, setAdding] = useState(false);
  const words = useCall('blockedWordList', { query, page }, keepLast);
  return (
    <>
      <FilterBar
        filters={[{ kind: 'text', name: 'query', label: '找一个词' }]}
        values={{ query }}
        onChange={show}
      >
        <Button size="small" kind="primary" onClick={() => setAdding(true)}>
          添加屏蔽词
        </Button>
      </FilterBar>
      <DataTable
        name="屏蔽词"
        columns={columns}
        {...listProps(words)}
        rowKey={({ id }) => String(id)}
        empty={{
          icon: 'lock',
          text: '没有屏蔽词。添加之后，大家看得到的问答、应用评论与名称里都不能有它们。',
        }}
        total={words.data?.total}
        page={page}
        pageCount={words.data?.page_count}
        onPage={(next, instead) => show({ page: next }, instead)}
      />
      <Sheet open={adding} onClose={() => setAdding(false)} title="添加屏蔽词">
        <p className={css.note}>不分大小写，中间有空格也算。太短的词会误伤别的词。</p>
        <Form
          draft="blocked-words"
          fields={[
            {
              name: 'words',
              label: '词，一行一个',
              kind: 'long',
              lines: 6,
              required: true,
              max: 10_000,
            },
          ]}
          submit="添加"
          onSubmit={async (values) => {
            const { added } = await api.addBlockedWords(
              {
                words: String(values['words'] ?? '')
                  .split('\n')
                  .map((word) => word.trim())
                  .filter((word) => word !== ''),
              },
              { quiet: true },
            );
            setAdding(false);
            toast(`添加了 ${added} 个词`, 'success');
          }}
        />
      </Sheet>
    </>
  );
};
