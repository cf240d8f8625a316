import { momentColumn } from '#src/ui/table/columns.ts';
import { Tag } from '#src/ui/chip.tsx';
import { quietly } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { toast } from '#src/platform/toast.ts';
import { Act } from '#src/ui/act.tsx';
import { Button } from '#src/ui/button.tsx';
import { confirmDelete, confirmDialog } from '#src/ui/dialog.ts';
import { FilterBar } from '#src/ui/filter-bar/filter-bar.tsx';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { ChosenActs } from '#src/ui/table/chosen-acts.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { pageProps } from '#src/ui/table/page-props.ts';
import { sortInput } from '#src/ui/table/sorted.ts';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import { yuan } from '#src/widgets/pay/money.ts';
import type { Out } from '#contract/calls.ts';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { AppPublish } from './app-publish.tsx';
import { AppComments, AppDescription, AppInfo, AppVersions } from './manage-app-sheets.tsx';
import css from './manage-apps.module.css';

const route = getRouteApi('/market/manager/apps');
type Row = Out<'managedAppList'>['list'][number];

const states = { draft: '草稿', published: '已上架', down: '已下架' } as const;

const columns: readonly Column<Row>[] = [
  {
    key: 'title',
    title: '名称',
    value: (row) => row.title,
    role: 'title',
    wide: true,
    render: (row) => (
      <span className={css.name}>
        {row.cover_image_url ? (
          <img src={`${row.cover_image_url}?size=180`} alt="" loading="lazy" />
        ) : (
          <i aria-hidden="true">{Array.from(row.title)[0]}</i>
        )}
        <span>{row.title}</span>
      </span>
    ),
  },
  {
    key: 'state',
    title: '状态',
    value: (row) => states[row.state],
    role: 'plain',
    render: (row) => <Tag>{states[row.state]}</Tag>,
  },
  { key: 'type', title: '类型', value: (row) => row.type || '应用', role: 'plain' },
  { key: 'source', title: '来源', value: (row) => row.source || '官方', role: 'plain' },
  {
    key: 'price',
    title: '价格',
    value: (row) => row.price / 100,
    render: (row) => (row.price === 0 ? '免费' : yuan(row.price)),
    align: 'end',
  },
  { key: 'version', title: '版本', value: (row) => row.version || '—' },
  {
    key: 'rating',
    title: '评分',
    value: (row) => row.rating,
    render: (row) =>
      row.rating > 0 ? `★ ${row.rating.toFixed(1)}（${row.rating_count}）` : '暂无',
    align: 'end',
  },
  {
    key: 'reports',
    title: '举报',
    value: (row) => row.reports,
    align: 'end',
  },
  {
    key: 'download_count',
    title: '下载',
    value: (row) => row.download_count,
    align: 'end',
  },
  { key: 'sales', title: '卖出', value: (row) => row.sales, align: 'end' },
  {
    key: 'income',
    title: '收入',
    value: (row) => row.income / 100,
    render: (row) => yuan(row.income),
    align: 'end',
  },
  momentColumn('updated_at', '更新', { spare: true }),
];

type Part = 'acts' | 'info' | 'description' | 'versions' | 'comments' | 'publish';
const titles: Readonly<Record<Part, string>> = {
  acts: '应用',
  info: '基本信息',
  description: '介绍',
  versions: '版本',
  comments: '评论',
  publish: '发布应用',
};

const Acts = ({
  row,
  onPart,
  onDone,
}: {
  row: Row;
  onPart: (part: Part) => void;
  onDone: () => void;
}) => {
  const navigate = useNavigate();
  const down = row.state === 'published';
  const turn = async () => {
    const sure = await confirmDialog(
      down
        ? { text: `下架“${row.title}”？买过的人还能下载。`, ok: '下架', danger: true }
        : { text: `重新上架“${row.title}”？`, ok: '上架' },
    );
    if (!sure) return;
    await api.setAppState({ id: row.id, state: down ? 'down' : 'published' });
    toast(down ? '已下架' : '已上架', 'success');
    onDone();
  };
  const removeDraft = async () => {
    const sure = await confirmDelete({
      text: `删除草稿“${row.title}”？`,
    });
    if (!sure) return;
    await api.delAppDraft({ id: row.id });
    toast('删除成功', 'success');
    onDone();
  };
  if (row.state === 'draft')
    return (
      <>
        <Act icon="edit" label="接着写" onClick={() => onPart('publish')} />
        <Act icon="trash" label="删除草稿" danger onClick={() => quietly(removeDraft())} />
      </>
    );
  return (
    <>
      <Act icon="edit" label="基本信息" onClick={() => onPart('info')} />
      <Act icon="document" label="介绍" onClick={() => onPart('description')} />
      <Act icon="fork" label="版本" onClick={() => onPart('versions')} />
      <Act icon="chat" label="评论" onClick={() => onPart('comments')} />
      <Act
        icon="outward"
        label="在市场里看"
        onClick={() => void navigate({ to: '/apps/details', search: { appid: row.id } })}
      />
      <Act
        icon={down ? 'up' : 'down'}
        label={down ? '下架' : '重新上架'}
        danger={down}
        onClick={() => quietly(turn())}
      />
    </>
  );
};

/** Apps, for managers: published in two steps, their versions, comments, words and figures. */
export const ManageAppsScreen = () => {
  const { page = 1, sort, query, state } = route.useSearch();
  const show = useTableSearch();
  const [open, setOpen] = useState<{ row: Row | null; part: Part }>();
  const apps = useCall(
    'managedAppList',
    { query, state, ...sortInput('managedAppList', sort), page },
    keepLast,
  );
  const close = () => setOpen(undefined);
  const { row, part } = open ?? { row: null, part: 'acts' as const };
  return (
    <ManagePage
      title="应用市场"
      acts={
        <Button size="small" kind="primary" onClick={() => setOpen({ row: null, part: 'publish' })}>
          发布应用
        </Button>
      }
    >
      <FilterBar
        filters={[
          { kind: 'text', name: 'query', label: '名称或开发者' },
          {
            kind: 'choice',
            name: 'state',
            options: Object.entries(states).map(([value, label]) => ({ value, label })),
          },
        ]}
        values={{ query, state }}
        onChange={show}
      />
      <DataTable
        name="应用"
        columns={columns}
        {...pageProps(apps, page, show, ['managedAppList', sort])}
        rowKey={({ id }) => String(id)}
        empty={{
          icon: 'columns',
          text:
            query || state ? '没有符合的应用。' : '还没有应用。发布一个，大家就能在市场里看到。',
        }}
        tone={(each) => (each.reports > 0 ? 'bad' : each.state === 'draft' ? 'gold' : undefined)}
        onOpen={(each) => setOpen({ row: each, part: 'acts' })}
        renderChosen={(rows, keep) => (
          <ChosenActs
            rows={rows}
            nameOf={({ title }) => title}
            onDone={keep}
            acts={[
              {
                label: '上架',
                fits: (each) => each.state === 'down',
                run: ({ id }, quiet) => api.setAppState({ id, state: 'published' }, quiet),
              },
              {
                label: '下架',
                danger: true,
                fits: (each) => each.state === 'published',
                sure: (count) => `下架选中的 ${count} 个应用？买过的人还能下载。`,
                run: ({ id }, quiet) => api.setAppState({ id, state: 'down' }, quiet),
              },
            ]}
          />
        )}
      />
      <Sheet
        open={open !== undefined}
        onClose={close}
        title={row && part === 'acts' ? row.title : titles[part]}
      >
        {row && part === 'acts' && (
          <Acts row={row} onDone={close} onPart={(next) => setOpen({ row, part: next })} />
        )}
        {row && part === 'info' && <AppInfo id={row.id} onDone={close} />}
        {row && part === 'description' && <AppDescription id={row.id} onDone={close} />}
        {row && part === 'versions' && <AppVersions id={row.id} />}
        {row && part === 'comments' && <AppComments id={row.id} />}
        {open && part === 'publish' && <AppPublish id={row?.id} onDone={close} />}
      </Sheet>
    </ManagePage>
  );
};
