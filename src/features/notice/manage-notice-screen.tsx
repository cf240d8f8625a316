import { summaryOf } from '#common/markdown/digest.ts';
import { useAct } from '#src/platform/use-act.ts';
import { quietly } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { errorText } from '#src/platform/api-error.ts';
import { byteSize, dateTime } from '#src/platform/format.ts';
import { sendForm } from '#src/platform/send-form.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { FilterBar } from '#src/ui/filter-bar/filter-bar.tsx';
import { useFormDraft } from '#src/ui/form/form-draft.ts';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { ChosenActs } from '#src/ui/table/chosen-acts.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { pageProps } from '#src/ui/table/page-props.ts';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import { MarkdownField } from '#src/widgets/editor/markdown-field.tsx';
import type { AdminNotice } from '#contract/manage-notice.ts';
import { getRouteApi } from '@tanstack/react-router';
import { format } from 'date-fns';
import { useState } from 'react';
import css from './manage-notice.module.css';

const route = getRouteApi('/manager/notice');

const Editor = ({ notice, onDone }: { notice: AdminNotice | null; onDone: () => void }) => {
  const original = notice?.content ?? '';
  const kept = useFormDraft(`notice.${notice?.id ?? 'new'}`, {
    text: original,
    at:
      notice && !notice.published ? format(new Date(notice.publish_at), "yyyy-MM-dd'T'HH:mm") : '',
  });
  const text = String(kept.values['text']);
  const at = String(kept.values['at']);
  const [file, setFile] = useState<File | null>(null);
  const [removed, setRemoved] = useState(false);
  const [failed, setFailed] = useState('');
  const { busy, run } = useAct((error) => setFailed(errorText(error)));
  const changed = text !== original;
  const publish = async () => {
    if (text.trim() === '') {
      setFailed('请填写公告内容');
      return;
    }
    setFailed('');
    await run(async () => {
      await sendForm(
        'saveNotice',
        {
          notice: text,
          ...(notice ? { id: notice.id } : {}),
          ...(at === '' ? {} : { publish_at: new Date(at).toISOString() }),
          ...(removed ? { remove_file: '1' } : {}),
        },
        { file },
      );
      kept.drop();
      toast(notice ? '修改成功' : at === '' ? '发表成功' : '到时间会自动发布', 'success');
      onDone();
    });
  };
  const discard = async () => {
    if (changed) {
      const yes = await confirmDialog({ text: '放弃这些修改？', ok: '放弃', danger: true });
      if (!yes) return;
      kept.discard();
    }
    onDone();
  };
  return (
    <div className={css.editor}>
      {kept.resumed && <p className="field-hint">接着上次没有发布的草稿。</p>}
      <MarkdownField
        label="公告内容"
        value={text}
        max={100_000}
        onChange={(next) => kept.set({ text: next, at })}
      />
      <label className={css.line}>
        定时发布
        <input
          type="datetime-local"
          className="text-input"
          value={at}
          onChange={(event) => kept.set({ text, at: event.target.value })}
        />
        <small className="field-hint">留空：现在就发布</small>
      </label>
      <label className={css.line}>
        附件（一个）
        <input type="file" onChange={(event) => setFile(event.target.files?.[0] ?? null)} />
      </label>
      {notice && notice.file_name && !removed && !file && (
        <p className={css.file}>
          {notice.file_name}（{byteSize(notice.file_size)}）
          <Button size="small" kind="ghost" onClick={() => setRemoved(true)}>
            去掉
          </Button>
        </p>
      )}
      {failed && (
        <p className={css.failed} role="alert">
          {failed}
        </p>
      )}
      <div className={css.acts}>
        <Button onClick={() => void discard()}>放弃</Button>
        <Button kind="primary" busy={busy} onClick={() => void publish()}>
          {notice ? '保存' : at === '' ? '发布' : '定时发布'}
        </Button>
      </div>
    </div>
  );
};

const remove = async (row: AdminNotice): Promise<void> => {
  const yes = await confirmDialog({ text: '删除这条公告？', ok: '删除', danger: true });
  if (!yes) return;
  await api.delNotice({ id: row.id });
  toast('删除成功', 'success');
};

const columns: readonly Column<AdminNotice>[] = [
  { key: 'id', title: '编号', value: (row) => row.id },
  {
    key: 'content',
    title: '内容',
    value: (row) => row.content,
    role: 'title',
    wide: true,
    render: (row) => summaryOf(row.content).slice(0, 43),
  },
  { key: 'file', title: '附件', value: (row) => row.file_name || '—' },
  {
    key: 'view_count',
    title: '已读',
    value: (row) => row.view_count,
    align: 'end',
    sortable: true,
  },
  {
    key: 'publish_at',
    title: '发布',
    value: (row) => row.publish_at,
    render: (row) => `${dateTime(row.publish_at)}${row.published ? '' : '（定时）'}`,
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

/** Notices: written with a draft each second, seen before, published now or later. */
export const ManageNoticeScreen = () => {
  const { page = 1, query } = route.useSearch();
  const show = useTableSearch();
  const [open, setOpen] = useState<AdminNotice | 'new'>();
  const notices = useCall('adminNoticeList', { query, page }, keepLast);
  return (
    <ManagePage
      title="公告"
      acts={
        <Button size="small" kind="primary" onClick={() => setOpen('new')}>
          写公告
        </Button>
      }
    >
      <FilterBar
        filters={[{ kind: 'text', name: 'query', label: '公告里的词' }]}
        values={{ query }}
        onChange={show}
      />
      <DataTable
        name="公告"
        columns={columns}
        {...pageProps(notices, page, show)}
        rowKey={({ id }) => String(id)}
        empty={{ icon: 'document', text: '还没有公告。写一条，大家打开鹊桥就会看到。' }}
        tone={(row) => (row.published ? undefined : 'gold')}
        onOpen={setOpen}
        renderChosen={(rows, keep) => (
          <ChosenActs
            rows={rows}
            nameOf={({ content }) => content.replace(/^#+\s*/, '').slice(0, 20)}
            onDone={keep}
            acts={[
              {
                label: '删除选中的',
                danger: true,
                sure: (count) => `删除选中的 ${count} 条公告？`,
                run: ({ id }, quiet) => api.delNotice({ id }, quiet),
              },
            ]}
          />
        )}
      />
      <Sheet
        open={open !== undefined}
        onClose={() => setOpen(undefined)}
        title={open === 'new' ? '写公告' : '改公告'}
        wide
      >
        {open && (
          <Editor
            key={open === 'new' ? 'new' : open.id}
            notice={open === 'new' ? null : open}
            onDone={() => setOpen(undefined)}
          />
        )}
      </Sheet>
    </ManagePage>
  );
};
